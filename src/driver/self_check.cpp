#include "driver/self_check.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "capture/value_hash.h"
#include "passes/dead_code.h"

namespace sapwood::driver {
namespace {

using Tensors = TrainStep::Tensors;

at::Tensor generator_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::scoped_lock<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::scoped_lock<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

/// Largest absolute difference of two tensors; infinite if shapes, dtypes or the places of infinities differ, or if
/// bits differ and there are NaNs. The sign of zero isn't compared.
double difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return INFINITY;
  if (!a.defined() || capture::value_hash(a) == capture::value_hash(b)) return 0;
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return INFINITY;
  const at::Tensor x = a.detach().to(at::kDouble), y = b.detach().to(at::kDouble);
  const double largest = (x - y).abs().masked_fill_(x.eq(y), 0).max().item<double>();  // equal infinities count as 0
  return std::isnan(largest) ? INFINITY : largest;
}

bool is_close(const at::Tensor& a, double largest) {
  if (largest == 0) return true;
  if (at::get_num_threads() == 1 || !a.is_floating_point()) return false;
  const at::Tensor magnitudes = a.detach().abs();
  const double scale = a.numel() == 0 ? 0 : magnitudes.masked_fill_(magnitudes.isinf(), 0).max().item<double>();
  return largest <= 1e-4 * std::max(scale, 1e-3);
}

/// What a step changes, as it was at one moment.
struct Moment {
  Moment(const StepParts& parts, std::vector<at::Tensor> live) : state(std::move(live)) {
    for (const NamedTensor& p : named_parameters(parts)) gradients.emplace_back(p.tensor, p.tensor.grad());
  }
  void restore() const {
    for (const auto& [parameter, grad] : gradients) parameter.mutable_grad() = grad;
    state.restore();
  }

  StateCopy state;
  std::vector<std::pair<at::Tensor, at::Tensor>> gradients;  ///< parameter, and which tensor its `.grad` is
};

/// The first node at which two recordings of a step part ways in what they call: the step function hides state.
std::string first_structural_difference(const graph::JointGraph& captured, const graph::JointGraph& now) {
  const auto a = captured.graph.order(), b = now.graph.order();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const graph::Node &x = captured.graph[a[i]], &y = now.graph[b[i]];
    if (x.target == y.target && x.args == y.args && x.kwargs == y.kwargs) continue;
    const std::string at = x.meta->stack_trace.empty() ? "" : " at " + x.meta->stack_trace;
    return fmt::format("node %{} ({}){}: this step calls {} there, or calls it with other constants", x.name,
                       x.target.str(), at, y.target.str());
  }
  return a.size() == b.size() ? "" : fmt::format("the captured step has {} nodes, this one {}", a.size(), b.size());
}

/// The first node whose value in a replay isn't the one of the eager run.
std::string first_value_difference(CompiledStep& compiled, const capture::Recording& eager, const Tensors& inputs) {
  std::unordered_map<std::string, uint64_t> expected;
  for (const graph::NodeId id : eager.step.graph.order())
    if (static_cast<size_t>(id) < eager.value_hashes.size())
      expected[eager.step.graph[id].name] = eager.value_hashes[static_cast<size_t>(id)];
  std::string first;
  compiled.replay_observed(inputs, [&](const graph::Node& node, const c10::IValue& value) {
    const auto found = expected.find(node.name);
    if (!first.empty() || found == expected.end() || found->second == 0 || !value.isTensor() ||
        !value.toTensor().defined())
      return;
    if (capture::value_hash(value.toTensor()) == found->second) return;
    first = fmt::format("node %{} ({})", node.name, node.target.str());
    if (!node.meta->stack_trace.empty()) first += " at " + node.meta->stack_trace;
  });
  return first;
}

/// Where a replay and the eager run of the same step part ways. Runs the step again, from the state that it finds.
std::string first_difference(CompiledStep& compiled, capture::Recording& eager, const Tensors& inputs) {
  if (!eager.failure.empty()) return eager.failure;
  passes::remove_dead_nodes_but_draws(eager.step.graph);
  std::string node = first_structural_difference(compiled.step(), eager.step);
  if (node.empty()) node = first_value_difference(compiled, eager, inputs);
  return node.empty() ? "no recorded node, so it is the update or the way in which nodes run together" : node;
}

}  // namespace

StateCopy::StateCopy(std::vector<at::Tensor> live) : live_(std::move(live)), generator_(generator_state()) {
  for (const at::Tensor& t : live_) copies_.push_back(t.detach().clone());
}

void StateCopy::restore() const {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < live_.size(); ++i) live_[i].detach().copy_(copies_[i]);
  set_generator_state(generator_);
}

void Comparison::add(const std::string& name, const at::Tensor& eager, const at::Tensor& replayed) {
  const double d = difference(eager, replayed);
  largest = std::max(largest, d);
  if (!is_close(eager, d) && first.empty()) first = fmt::format("{} (largest difference {:.3g})", name, d);
}

void Comparison::add_states(const StateCopy& replayed, const std::vector<std::string>& names) {
  for (size_t i = 0; i < replayed.live().size(); ++i)
    add(i < names.size() ? names[i] : fmt::format("written tensor {}", i), replayed.live()[i], replayed.copies()[i]);
  add("the state of the random generator", generator_state(), replayed.generator());
}

CheckResult check_replay(CompiledStep& compiled, const StepParts& parts, const Tensors& inputs, MicroStep micro) {
  CheckResult result;
  std::vector<at::Tensor> live;
  std::vector<std::string> names;
  for (const NamedTensor& t : compiled.written_tensors(inputs)) {
    live.push_back(t.tensor);
    names.push_back(t.name);
  }
  const Moment before(parts, live);
  Tensors replayed;
  std::string failure;
  try {
    replayed = compiled.replay(inputs);
  } catch (const c10::Error& error) {
    failure = error.what_without_backtrace();
  } catch (...) {
    before.restore();
    throw;
  }
  const Moment after(parts, live);
  before.restore();

  capture::Recording eager =
      record_step(parts, inputs, micro, {.hash_values = true, .locate_sources = false}, result.outputs);
  if (!failure.empty()) {  // eager went through: the fault is the replay's
    result.equal = false;
    result.difference = "the replay failed: " + failure;
    return result;
  }
  Comparison comparison;
  for (size_t i = 0; i < result.outputs.size(); ++i)
    comparison.add(fmt::format("output {}", i), result.outputs[i], replayed[i]);
  comparison.add_states(after.state, names);
  for (const auto& [parameter, grad] : after.gradients)
    if (grad.defined() && parameter.grad().defined()) comparison.add("a gradient", parameter.grad(), grad);
  result.largest_difference = comparison.largest;
  result.equal = comparison.first.empty();
  if (result.equal) return result;

  const Moment now(parts, live);
  before.restore();
  result.difference = fmt::format("a replay differed from eager: {} differs from eager; first: {}", comparison.first,
                                  first_difference(compiled, eager, inputs));
  now.restore();
  return result;
}

}  // namespace sapwood::driver
