#include "pair_run.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "check/check.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Graph;
using graph::kNoNode;
using graph::NodeId;

IValue copied(const IValue& value) {
  if (value.isGenerator()) return value.toGenerator().clone();
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  const at::Tensor tensor = value.toTensor();
  int64_t extent = tensor.storage_offset() + (tensor.numel() == 0 ? 0 : 1);
  for (int64_t d = 0; tensor.numel() != 0 && d < tensor.dim(); ++d) extent += (tensor.size(d) - 1) * tensor.stride(d);
  const at::Tensor block = tensor.as_strided({extent}, {1}, 0).clone();
  return block.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

/// The state that the forward saves is the first item of the wrapped call.
bool is_saved_state(const Graph& forward, NodeId id) {
  const graph::Node& node = forward[id];
  if (!node.is_call("operator.getitem") || *node.args[1].as<int64_t>() != 0) return false;
  return forward[forward.inputs(id).front()].is_call("higher_order.run_and_save_rng_state");
}

const graph::Device kAccelerator{"cuda", 0};

void move_to_accelerator(graph::Argument& argument) {
  if (auto* device = argument.as<graph::Device>()) *device = kAccelerator;
}

void move_to_accelerator(graph::Value& value) {
  if (auto* tensor = value.as<graph::TensorMeta>()) tensor->device = kAccelerator;
  if (auto* tuple = value.as<graph::TupleValue>())
    for (graph::Value& item : tuple->items) move_to_accelerator(item);
  if (auto* list = value.as<graph::ListValue>())
    for (graph::Value& item : list->items) move_to_accelerator(item);
}

}  // namespace

Graph on_accelerator(Graph graph) {
  for (const NodeId id : graph.order()) {
    graph::Node node = graph[id];
    for (graph::Argument& argument : node.args) move_to_accelerator(argument);
    for (auto& [key, argument] : node.kwargs) move_to_accelerator(argument);
    if (node.val) move_to_accelerator(node.val.edit());
    graph.set_args(id, node.args);
    graph.set_kwargs(id, node.kwargs);
    graph.set_val(id, node.val);
  }
  return graph;
}

Values copies(const Values& values) {
  Values result;
  for (const IValue& value : values) result.push_back(copied(value));
  return result;
}

ByName named_inputs(const Graph& joint, const Values& inputs) {
  ByName by_name;
  const std::vector<NodeId> placeholders = joint.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) by_name[joint[placeholders[i]].name] = inputs[i];
  return by_name;
}

void hand_over(const Graph& forward, const Values& outputs, ByName& by_name) {
  const std::vector<NodeId> ids = forward.output_values();
  int states = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kNoNode) continue;
    by_name[forward[ids[i]].name] = outputs[i];
    if (is_saved_state(forward, ids[i])) by_name["rng_state_output_" + std::to_string(states++)] = outputs[i];
  }
}

Values gather(const Graph& part, const ByName& by_name, uint64_t seed) {
  std::optional<Values> made;  // for the generators
  Values values;
  const std::vector<NodeId> placeholders = part.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const graph::Node& node = part[placeholders[i]];
    const auto found = by_name.find(node.name);
    if (found == by_name.end() && !(node.val && node.val->as<graph::OpaqueValue>()))
      throw std::runtime_error("nothing is handed over as '" + node.name + "'");
    if (found == by_name.end() && !made) made = make_random_inputs(part, seed);
    values.push_back(found == by_name.end() ? (*made)[i] : found->second);
  }
  return values;
}

StepRun run_joint(const Graph& joint, const Values& inputs, uint64_t seed, const RunOptions& options) {
  StepRun result;
  result.inputs = copies(inputs);
  at::manual_seed(seed);
  result.outputs = run(joint, result.inputs, options);
  return result;
}

StepRun run_pair(const Graph& joint, const partition::ForwardBackward& pair, const Values& inputs, uint64_t seed,
                 const RunOptions& options) {
  StepRun result;
  result.inputs = copies(inputs);
  ByName by_name = named_inputs(joint, result.inputs);
  at::manual_seed(seed);
  result.outputs = run(pair.forward, gather(pair.forward, by_name, seed), options);
  hand_over(pair.forward, result.outputs, by_name);
  result.outputs.resize(static_cast<size_t>(joint.num_forward_outputs));
  const Values gradients = run(pair.backward, gather(pair.backward, by_name, seed), options);
  result.outputs.insert(result.outputs.end(), gradients.begin(), gradients.end());
  return result;
}

void expect_acquitted(const Graph& joint, const partition::ForwardBackward& pair) {
  for (const check::Finding& finding : check::check_pair(joint, pair.forward, pair.backward))
    ADD_FAILURE() << check::describe(finding);
}

bool same_bits(const IValue& a, const IValue& b) {
  if (a.isGenerator() && b.isGenerator()) return true;
  if (!a.isTensor() || !b.isTensor()) return a.isTensor() == b.isTensor() && a == b;
  if (!a.toTensor().defined() || !b.toTensor().defined()) return a.toTensor().defined() == b.toTensor().defined();
  const at::Tensor x = a.toTensor().contiguous();
  const at::Tensor y = b.toTensor().contiguous();
  if (x.sizes() != y.sizes() || x.scalar_type() != y.scalar_type()) return false;
  return x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

std::optional<std::string> first_difference(const Graph& joint, const StepRun& whole, const StepRun& pair) {
  if (whole.outputs.size() != pair.outputs.size()) return "the number of outputs";
  const std::vector<NodeId> outputs = joint.output_values();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!same_bits(whole.outputs[i], pair.outputs[i]))
      return "output " + std::to_string(i) + " (" + (outputs[i] == kNoNode ? "None" : joint[outputs[i]].name) + ")";
  const std::vector<NodeId> inputs = joint.placeholders();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!same_bits(whole.inputs[i], pair.inputs[i]))
      return "input " + std::to_string(i) + " (" + joint[inputs[i]].name + ") after the step";
  return std::nullopt;
}

}  // namespace sapwood::interp
