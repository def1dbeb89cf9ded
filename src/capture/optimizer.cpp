#include "capture/optimizer.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <unordered_map>

namespace sapwood::capture {
namespace {

using graph::Argument;
using graph::NodeId;
using graph::PartitionerTag;

/// Short forms for emitting optimizer nodes that look like `like`.
class Emitter {
 public:
  Emitter(Recorder& recorder, at::Tensor like) : recorder_(recorder), like_(std::move(like)) {}

  using Kwargs = std::vector<std::pair<std::string, Argument>>;
  NodeId operator()(std::string_view target, graph::ArgumentList args, Kwargs kwargs = {}) const {
    return recorder_.call(PartitionerTag::kOptimizer, target, std::move(args), std::move(kwargs), like_);
  }
  /// `mul_` with a number, which ATen computes with the number first: in low precision the order matters.
  NodeId scale(NodeId x, Argument factor) const {
    return (*this)("aten.mul.Tensor", {std::move(factor), Argument::node(x)});
  }
  NodeId add_scaled(NodeId x, NodeId y, Argument alpha) const {
    return (*this)("aten.add.Tensor", {Argument::node(x), Argument::node(y)}, {{"alpha", std::move(alpha)}});
  }

 private:
  Recorder& recorder_;
  at::Tensor like_;
};

class SgdProgram final : public OptimizerProgram {
 public:
  using OptimizerProgram::OptimizerProgram;

 private:
  using Options = torch::optim::SGDOptions;
  enum Number { kWeightDecay, kMomentum, kUndamped, kMinusLr };

  std::vector<std::string> scalar_names() const override {
    return {"weight_decay", "momentum", "1 - dampening", "-lr"};
  }
  std::vector<double> scalar_values(const torch::optim::OptimizerOptions& options, int64_t) const override {
    const auto& o = static_cast<const Options&>(options);
    return {o.weight_decay(), o.momentum(), 1 - o.dampening(), -1 * o.lr()};
  }
  void append_options(const torch::optim::OptimizerOptions& options, std::vector<int64_t>& key) const override {
    const auto& o = static_cast<const Options&>(options);
    key.push_back((o.weight_decay() != 0) | (o.momentum() != 0) << 1 | o.nesterov() << 2);
  }
  std::vector<std::pair<std::string, at::Tensor>> tensors(
      const torch::optim::OptimizerParamState& state) const override {
    return {{"momentum_buffer", static_cast<const torch::optim::SGDParamState&>(state).momentum_buffer()}};
  }
  int64_t* step_count(torch::optim::OptimizerParamState&) const override { return nullptr; }

  void emit_update(Recorder& recorder, const Slot& slot) override {
    const auto& o = static_cast<const Options&>(optimizer_.param_groups()[slot.group].options());
    const Emitter emit(recorder, slot.parameter);
    const NodeId parameter = recorder.read(slot.parameter);
    NodeId step = recorder.read(slot.parameter.grad());
    if (o.weight_decay() != 0) step = emit.add_scaled(step, parameter, number(slot, kWeightDecay));
    if (o.momentum() != 0) {
      const at::Tensor& buffer =
          static_cast<const torch::optim::SGDParamState&>(*state_of(slot.parameter)).momentum_buffer();
      NodeId momentum = emit.scale(recorder.read(buffer), number(slot, kMomentum));
      momentum = emit.add_scaled(momentum, step, number(slot, kUndamped));
      recorder.write(buffer, momentum);
      step = o.nesterov() ? emit.add_scaled(step, momentum, number(slot, kMomentum)) : momentum;
    }
    recorder.write(slot.parameter, emit.add_scaled(parameter, step, number(slot, kMinusLr)));
  }
};

/// Adam and AdamW differ in where the weight decay goes: into the gradient, or straight into the parameter.
template <typename Options, typename State, bool kDecoupled>
class AdamProgram final : public OptimizerProgram {
 public:
  using OptimizerProgram::OptimizerProgram;

 private:
  enum Number { kDecay, kBeta1, kOneMinusBeta1, kBeta2, kOneMinusBeta2, kBiasCorrection2Sqrt, kEps, kMinusStepSize };

  std::vector<std::string> scalar_names() const override {
    return {kDecoupled ? "1 - lr * weight_decay" : "weight_decay",
            "beta1",
            "1 - beta1",
            "beta2",
            "1 - beta2",
            "sqrt(1 - beta2^step)",
            "eps",
            "-lr / (1 - beta1^step)"};
  }
  std::vector<double> scalar_values(const torch::optim::OptimizerOptions& options, int64_t step) const override {
    const auto& o = static_cast<const Options&>(options);
    const auto [beta1, beta2] = o.betas();
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
    const double decay = kDecoupled ? 1 - o.lr() * o.weight_decay() : o.weight_decay();
    return {decay, beta1, 1 - beta1, beta2, 1 - beta2, std::sqrt(correction2), o.eps(), -(o.lr() / correction1)};
  }
  void append_options(const torch::optim::OptimizerOptions& options, std::vector<int64_t>& key) const override {
    const auto& o = static_cast<const Options&>(options);
    key.push_back((o.weight_decay() != 0) | o.amsgrad() << 1);
  }
  std::vector<std::pair<std::string, at::Tensor>> tensors(
      const torch::optim::OptimizerParamState& state) const override {
    const auto& s = static_cast<const State&>(state);
    return {{"exp_avg", s.exp_avg()}, {"exp_avg_sq", s.exp_avg_sq()}, {"max_exp_avg_sq", s.max_exp_avg_sq()}};
  }
  int64_t* step_count(torch::optim::OptimizerParamState& state) const override {
    return &static_cast<State&>(state).step();
  }

  void emit_update(Recorder& recorder, const Slot& slot) override {
    const auto& o = static_cast<const Options&>(optimizer_.param_groups()[slot.group].options());
    const auto& state = static_cast<const State&>(*state_of(slot.parameter));
    const Emitter emit(recorder, slot.parameter);
    const auto node = [](NodeId id) { return Argument::node(id); };
    NodeId parameter = recorder.read(slot.parameter);
    NodeId grad = recorder.read(slot.parameter.grad());
    if (o.weight_decay() != 0) {
      if (kDecoupled)
        parameter = emit.scale(parameter, number(slot, kDecay));
      else
        grad = emit.add_scaled(grad, parameter, number(slot, kDecay));
    }
    const NodeId mean = emit.add_scaled(emit.scale(recorder.read(state.exp_avg()), number(slot, kBeta1)), grad,
                                        number(slot, kOneMinusBeta1));
    recorder.write(state.exp_avg(), mean);
    const NodeId square =
        emit("aten.addcmul.default",
             {node(emit.scale(recorder.read(state.exp_avg_sq()), number(slot, kBeta2))), node(grad), node(grad)},
             {{"value", number(slot, kOneMinusBeta2)}});
    recorder.write(state.exp_avg_sq(), square);
    NodeId largest = square;
    if (o.amsgrad()) {
      largest = emit("aten.maximum.default", {node(square), node(recorder.read(state.max_exp_avg_sq()))});
      recorder.write(state.max_exp_avg_sq(), largest);
    }
    const NodeId scaled =
        emit("aten.div.Scalar", {node(emit("aten.sqrt.default", {node(largest)})), number(slot, kBiasCorrection2Sqrt)});
    const NodeId denominator = emit("aten.add.Scalar", {node(scaled), number(slot, kEps)});
    recorder.write(slot.parameter, emit("aten.addcdiv.default", {node(parameter), node(mean), node(denominator)},
                                        {{"value", number(slot, kMinusStepSize)}}));
  }
};

}  // namespace

std::unique_ptr<OptimizerProgram> OptimizerProgram::recognise(torch::optim::Optimizer& optimizer) {
  using namespace torch::optim;
  const std::type_info& type = typeid(optimizer);
  if (type == typeid(SGD)) return std::make_unique<SgdProgram>(optimizer);
  if (type == typeid(Adam)) return std::make_unique<AdamProgram<AdamOptions, AdamParamState, false>>(optimizer);
  if (type == typeid(AdamW)) return std::make_unique<AdamProgram<AdamWOptions, AdamWParamState, true>>(optimizer);
  return nullptr;
}

torch::optim::OptimizerParamState* OptimizerProgram::state_of(const at::Tensor& parameter) const {
  auto& states = optimizer_.state();
  const auto found = states.find(parameter.unsafeGetTensorImpl());
  return found == states.end() ? nullptr : found->second.get();
}

Argument OptimizerProgram::number(const Slot& slot, size_t which) const {
  return Argument::node(sets_[slot.scalar_set].nodes[which]);
}

/// The scalars for the `earlier + 1`-th update of parameters like `parameter`; made at the first such parameter.
size_t OptimizerProgram::scalar_set(Recorder& recorder, size_t group, const at::Tensor& parameter, int64_t earlier) {
  const int64_t steps = steps_of(parameter);
  for (size_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].group == group && sets_[i].earlier == earlier && steps_of(sets_[i].parameter) == steps) return i;
  ScalarSet set{group, parameter, earlier, {}};
  const std::vector<double> values = scalar_values(optimizer_.param_groups()[group].options(), steps + earlier + 1);
  const std::vector<std::string> names = scalar_names();
  for (size_t k = 0; k < names.size(); ++k)
    set.nodes.push_back(recorder.scalar(fmt::format("{} (group {})", names[k], group), values[k],
                                        static_cast<int64_t>(sets_.size() * names.size() + k)));
  sets_.push_back(std::move(set));
  return sets_.size() - 1;
}

int64_t OptimizerProgram::steps_of(const at::Tensor& parameter) const {
  auto* state = state_of(parameter);
  const int64_t* count = state == nullptr ? nullptr : step_count(*state);
  return count == nullptr ? 0 : *count;
}

void OptimizerProgram::declare_state(Recorder& recorder, const at::Tensor& parameter, const std::string& name) {
  auto* state = state_of(parameter);
  if (state == nullptr) return;
  const auto held = tensors(*state);
  for (size_t k = 0; k < held.size(); ++k) {
    if (!held[k].second.defined()) continue;
    recorder.declare(held[k].second, graph::InputRole::kState, held[k].first + " of " + name,
                     static_cast<int64_t>(state_index_.size()));
    state_index_.emplace_back(slots_.size(), k);
  }
}

void OptimizerProgram::emit(Recorder& recorder, const std::function<std::string(const at::Tensor&)>& name_of) {
  slots_.clear();
  sets_.clear();
  state_index_.clear();
  std::unordered_map<const c10::TensorImpl*, int64_t> updates;  // a parameter that is listed twice is updated twice
  const auto& groups = optimizer_.param_groups();
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const at::Tensor& parameter : groups[g].params()) {
      if (!parameter.grad().defined()) continue;
      declare_state(recorder, parameter, name_of(parameter));
      const int64_t earlier = updates[parameter.unsafeGetTensorImpl()]++;
      slots_.push_back({parameter, g, scalar_set(recorder, g, parameter, earlier)});
      emit_update(recorder, slots_.back());
    }
  }
}

void OptimizerProgram::append_structure(std::vector<int64_t>& key) const {
  std::vector<int64_t>
      counts;  // distinct step counts, in order of appearance: which are equal matters, not what they are
  for (const auto& group : optimizer_.param_groups()) {
    append_options(group.options(), key);
    for (const at::Tensor& parameter : group.params()) {
      key.push_back(reinterpret_cast<int64_t>(parameter.unsafeGetTensorImpl()));
      if (state_of(parameter) == nullptr) {
        key.push_back(-1);
        continue;
      }
      const auto known = std::find(counts.begin(), counts.end(), steps_of(parameter));
      key.push_back(known - counts.begin());
      if (known == counts.end()) counts.push_back(steps_of(parameter));
    }
  }
}

at::Tensor OptimizerProgram::state_tensor(int64_t index) const {
  const auto [slot, which] = state_index_[static_cast<size_t>(index)];
  auto* state = state_of(slots_[slot].parameter);
  return state == nullptr ? at::Tensor() : tensors(*state)[which].second;
}

void OptimizerProgram::scalars(std::vector<double>& values) const {
  values.clear();
  for (const ScalarSet& set : sets_) {
    const auto numbers =
        scalar_values(optimizer_.param_groups()[set.group].options(), steps_of(set.parameter) + set.earlier + 1);
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
}

void OptimizerProgram::advance() {
  for (const Slot& slot : slots_) {
    auto* state = state_of(slot.parameter);
    if (state == nullptr) continue;
    if (int64_t* count = step_count(*state)) ++*count;
  }
}

}  // namespace sapwood::capture
