#include "driver/function_pair.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <set>
#include <unordered_map>

#include "base/error.h"
#include "check/check.h"
#include "graph/verify.h"
#include "passes/dead_code.h"

namespace sapwood::driver {
namespace {

using graph::InputRole;
using graph::kNoNode;
using graph::NodeId;
using graph::OutputRole;
using graph::PartitionerTag;

/// A tangent with the strides that the graph was captured with.
at::Tensor like_captured(const at::Tensor& tangent, const graph::TensorMeta& meta) {
  std::vector<int64_t> strides;
  for (const graph::SymExpr& s : *meta.stride) strides.push_back(s.value());
  if (tangent.strides() == strides) return tangent;
  return at::empty_strided(tangent.sizes(), strides, tangent.options()).copy_(tangent);
}

const graph::InputSpec* spec_named(const graph::JointGraph& joint, const std::string& name) {
  for (const graph::InputSpec& input : joint.inputs)
    if (joint.graph[input.node].name == name) return &input;
  return nullptr;
}

/// Storages that the forward writes to, in the joint graph's numbers.
std::set<int32_t> written_storages(const graph::JointGraph& joint) {
  std::set<int32_t> result;
  for (const graph::OutputSpec& output : joint.outputs)
    if (output.role == graph::OutputRole::kWriteBack) result.insert(*joint.graph[output.target].tensor()->storage);
  return result;
}

bool is_in(const std::set<int32_t>& storages, const graph::Node& node) {
  return node.tensor() != nullptr && node.tensor()->storage && storages.contains(*node.tensor()->storage);
}

/// Tells the partitioner which inputs cost nothing to keep: those that the function holds, unless it writes to them, as
/// then a copy has to be kept.
void mark_static_inputs(graph::JointGraph& joint) {
  const std::set<int32_t> written = written_storages(joint);
  int64_t primal = 0;
  for (const graph::InputSpec& input : joint.inputs) {
    if (input.role == InputRole::kTangent) continue;
    if (input.role == InputRole::kConstant && !is_in(written, joint.graph[input.node]))
      joint.graph.static_lifetime_inputs.push_back(primal);
    ++primal;
  }
}

/// The checker shares nothing with the partitioner. What it can't prove isn't run: the function stays eager.
void expect_proven(const graph::Graph& joint, const partition::ForwardBackward& halves) {
  const std::vector<check::Finding> found = check::check_pair(joint, halves.forward, halves.backward);
  if (found.empty()) return;
  const check::Finding& first = found.front();
  throw_unsupported("compile", "the plan checker can't prove that forward and backward do what was captured: " +
                                   first.message + " (node '" + first.node + "' of the " + first.graph + ", rule " +
                                   first.rule + "); this is a defect of Sapwood, please report it");
}

}  // namespace

RecordedFunction record_function(const CompiledFunction::Fn& fn, const Tensors& inputs, const TangentLayouts& layouts) {
  RecordedFunction result;
  capture::Recorder recorder({.differentiable_constants = true});
  Tensors stand_ins;
  for (size_t i = 0; i < inputs.size(); ++i) {
    stand_ins.push_back(inputs[i].requires_grad() ? inputs[i].view_as(inputs[i]) : inputs[i].detach());
    result.of_input.push_back(inputs[i].requires_grad());
    if (inputs[i].requires_grad()) result.leaves.push_back(stand_ins.back());
    recorder.declare(stand_ins[i], InputRole::kUserInput, fmt::format("input {}", i), static_cast<int64_t>(i));
  }
  recorder.record(PartitionerTag::kForward, [&] { result.outputs = fn(stand_ins); });
  std::vector<std::pair<NodeId, graph::OutputSpec>> outputs;
  Tensors roots, &tangents = result.tangents;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const at::Tensor& t = result.outputs[i];
    if (!t.defined()) throw_user("compile", "the function returned an undefined tensor");
    outputs.push_back({recorder.read(t), {OutputRole::kUserOutput, kNoNode}});
    if (!t.requires_grad()) continue;
    roots.push_back(t);
    tangents.push_back(layouts.ones(i, t));
    recorder.declare(tangents.back(), InputRole::kTangent, fmt::format("tangent {}", tangents.size() - 1),
                     static_cast<int64_t>(tangents.size()) - 1);
  }
  for (const at::Tensor& p : recorder.differentiable_constants()) result.leaves.push_back(p);
  if (roots.empty()) recorder.fail("no output needs a gradient");
  if (!roots.empty() && !result.leaves.empty())
    recorder.record(PartitionerTag::kBackward, [&] {
      result.gradients = torch::autograd::grad(roots, result.leaves, tangents, /*retain_graph=*/true,
                                               /*create_graph=*/false, /*allow_unused=*/true);
    });
  for (size_t i = 0; i < result.gradients.size(); ++i)
    if (result.gradients[i].defined())
      outputs.push_back(
          {recorder.read(result.gradients[i]), {OutputRole::kGradient, recorder.placeholder_of(result.leaves[i])}});
  result.recording = recorder.finish(std::move(outputs));
  return result;
}

std::shared_ptr<FunctionPair> FunctionPair::compile(RecordedFunction& recorded, Partitioner partitioner) {
  auto pair = std::make_shared<FunctionPair>();
  pair->joint_ = std::move(recorded.recording.step);
  graph::Graph& joint = pair->joint_.graph;
  passes::remove_dead_nodes_but_draws(joint);
  graph::verify_or_throw(joint, "capture");
  for (size_t i = 0; i < pair->joint_.inputs.size(); ++i) {
    const bool is_held = pair->joint_.inputs[i].role == InputRole::kConstant;
    pair->held_.push_back(is_held ? recorded.recording.placeholder_tensors[i] : at::Tensor());
  }
  mark_static_inputs(pair->joint_);
  for (size_t i = 0; i < recorded.gradients.size(); ++i)
    if (recorded.gradients[i].defined()) pair->gradient_of_.push_back(static_cast<int64_t>(i));
  for (const at::Tensor& t : recorded.outputs) pair->differentiable_.push_back(t.requires_grad());
  pair->of_input_ = recorded.of_input;
  size_t of_inputs = 0;
  for (const bool has_leaf : pair->of_input_) of_inputs += has_leaf;
  pair->parameters_.assign(recorded.leaves.begin() + static_cast<int64_t>(of_inputs), recorded.leaves.end());

  partition::PartitionOptions options;
  options.method = partitioner == Partitioner::kDefault ? partition::Method::kDefault : partition::Method::kMinCut;
  options.recompute_only_free = partitioner == Partitioner::kAuto;
  options.cse = false;
  pair->plan_ = partition::partition(joint, options);
  pair->split(recorded.outputs.size());
  pair->forward_ = exec::Executable::build(pair->forward_step_, {});
  pair->backward_ = exec::Executable::build(pair->backward_step_, {});
  return pair;
}

/// Cuts the joint graph and says for every input and output of the halves what it is.
void FunctionPair::split(size_t num_outputs) {
  auto halves = partition::extract(joint_.graph, plan_);
  expect_proven(joint_.graph, halves);
  forward_step_.graph = std::move(halves.forward);
  backward_step_.graph = std::move(halves.backward);
  std::unordered_map<std::string, int64_t> forward_inputs;
  for (const NodeId id : forward_step_.graph.placeholders()) {
    const graph::InputSpec* spec = spec_named(joint_, forward_step_.graph[id].name);
    if (spec == nullptr) throw_internal("compile", "the forward has an input that the joint graph lacks");
    forward_inputs[forward_step_.graph[id].name] = static_cast<int64_t>(forward_step_.inputs.size());
    forward_step_.inputs.push_back({id, spec->role, spec->index, spec->name});
  }
  // The forward's outputs: the user's, write-backs, then saved values. Saved inputs are passed by reference instead,
  // unless the forward writes to their memory.
  const std::set<int32_t> written = written_storages(joint_);
  std::vector<NodeId> values = forward_step_.graph.output_values();
  const auto leading = static_cast<size_t>(joint_.graph.num_forward_outputs);
  std::unordered_map<std::string, int64_t> saved_index;
  std::vector<NodeId> kept(values.begin(), values.begin() + static_cast<int64_t>(leading));
  for (size_t i = 0; i < leading; ++i) {
    graph::OutputSpec spec = joint_.outputs[i];
    if (i >= num_outputs) spec.target = forward_step_.graph.find(joint_.graph[spec.target].name);
    forward_step_.outputs.push_back(spec);
  }
  for (size_t i = leading; i < values.size(); ++i) {
    const graph::Node& node = forward_step_.graph[values[i]];
    saved_index[node.name] = static_cast<int64_t>(saved_.size());
    if (node.kind == graph::NodeKind::kPlaceholder && !is_in(written, node)) {
      saved_.push_back({.input = forward_inputs.at(node.name)});
    } else {
      saved_.push_back({.output = static_cast<int64_t>(kept.size())});
      kept.push_back(values[i]);
      forward_step_.outputs.push_back({OutputRole::kUserOutput, kNoNode});
    }
  }
  forward_step_.graph.erase(forward_step_.graph.output());
  forward_step_.graph.output(kept);
  for (const NodeId id : backward_step_.graph.placeholders()) {
    const std::string& name = backward_step_.graph[id].name;
    const graph::InputSpec* spec = spec_named(joint_, name);
    const bool is_tangent = spec != nullptr && spec->role == InputRole::kTangent;
    if (!is_tangent && !saved_index.contains(name))
      throw_internal("compile", "the backward wants a value that the forward doesn't save");
    backward_arguments_.push_back(is_tangent ? -1 - spec->index : saved_index.at(name));
    backward_step_.inputs.push_back({id, is_tangent ? InputRole::kTangent : InputRole::kUserInput,
                                     static_cast<int64_t>(backward_step_.inputs.size()), name});
  }
  for (size_t i = leading; i < joint_.outputs.size(); ++i) {
    if (joint_.outputs[i].role != OutputRole::kGradient)
      throw_unsupported("compile", "the backward of the function writes to a tensor; only its forward may");
    backward_step_.outputs.push_back({OutputRole::kUserOutput, kNoNode});
  }
}

const at::Tensor& FunctionPair::source(size_t placeholder, const Tensors& inputs) const {
  const graph::InputSpec& spec = forward_step_.inputs[placeholder];
  if (spec.role == InputRole::kUserInput) return inputs[static_cast<size_t>(spec.index)];
  for (size_t i = 0; i < joint_.inputs.size(); ++i)
    if (joint_.inputs[i].name == spec.name &&
        joint_.graph[joint_.inputs[i].node].name == forward_step_.graph[spec.node].name)
      return held_[i];
  throw_internal("compile", "a tensor that the function reads was lost");
}

FunctionPair::ForwardResult FunctionPair::forward(const Tensors& inputs) {
  const std::scoped_lock lock(forward_mutex_);
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < forward_step_.inputs.size(); ++i) arguments.emplace_back(source(i, inputs));
  const Tensors results = forward_->run(arguments);
  ForwardResult result;
  for (size_t i = 0; i < differentiable_.size(); ++i) result.outputs.push_back(results[i]);
  for (const SavedSource& s : saved_)
    result.saved.push_back(s.input >= 0 ? arguments[static_cast<size_t>(s.input)].toTensor()
                                        : results[static_cast<size_t>(s.output)]);
  return result;
}

Tensors FunctionPair::backward(const Tensors& saved, const Tensors& tangents) {
  const std::scoped_lock lock(backward_mutex_);
  const at::NoGradGuard no_grad;
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < backward_arguments_.size(); ++i) {
    const int64_t index = backward_arguments_[i];
    if (index >= 0)
      arguments.emplace_back(saved[static_cast<size_t>(index)]);
    else
      arguments.emplace_back(like_captured(tangents[static_cast<size_t>(-1 - index)],
                                           *backward_step_.graph[backward_step_.inputs[i].node].tensor()));
  }
  const Tensors results = backward_->run(arguments);
  size_t of_inputs = 0;
  for (const bool has_leaf : of_input_) of_inputs += has_leaf;
  Tensors leaf_gradients(of_inputs + parameters_.size());
  for (size_t i = 0; i < results.size(); ++i) leaf_gradients[static_cast<size_t>(gradient_of_[i])] = results[i];
  Tensors gradients;
  size_t next = 0;
  for (const bool has_leaf : of_input_) gradients.push_back(has_leaf ? leaf_gradients[next++] : at::Tensor());
  gradients.insert(gradients.end(), leaf_gradients.begin() + static_cast<int64_t>(next), leaf_gradients.end());
  return gradients;
}

Tensors FunctionPair::written(const Tensors& inputs) const {
  Tensors result;
  for (const graph::OutputSpec& output : joint_.outputs) {
    if (output.role != OutputRole::kWriteBack) continue;
    for (size_t i = 0; i < joint_.inputs.size(); ++i)
      if (joint_.inputs[i].node == output.target) {
        const bool is_input = joint_.inputs[i].role == InputRole::kUserInput;
        const at::Tensor& tensor = is_input ? inputs[static_cast<size_t>(joint_.inputs[i].index)] : held_[i];
        if (tensor.defined()) result.push_back(tensor);
      }
  }
  return result;
}

}  // namespace sapwood::driver
