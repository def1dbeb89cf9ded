#pragma once

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "graph/joint_graph.h"
#include "interp/interpreter.h"
#include "runtime/exec/executable.h"

namespace sapwood::exec::testing {

using graph::Argument;
using graph::Graph;
using graph::JointGraph;
using graph::NodeId;

inline std::vector<int64_t> contiguous(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
  return strides;
}

inline graph::TensorMeta tensor_meta(const std::vector<int64_t>& sizes, std::vector<int64_t> strides = {},
                                     graph::DType dtype = graph::DType::kFloat32) {
  graph::TensorMeta meta;
  meta.dtype = dtype;
  if (strides.empty()) strides = contiguous(sizes);
  meta.shape.assign(sizes.begin(), sizes.end());
  meta.stride.emplace(strides.begin(), strides.end());
  meta.offset = 0;
  return meta;
}

inline Argument arg(NodeId id) { return Argument::node(id); }

/// Builds steps: roles are noted as placeholders and outputs are added.
struct StepBuilder {
  JointGraph step;
  std::vector<NodeId> results;

  Graph& g() { return step.graph; }
  NodeId input(const std::string& name, const graph::TensorMeta& meta,
               graph::InputRole role = graph::InputRole::kUserInput) {
    const NodeId id = g().placeholder(name, graph::Value(meta));
    step.inputs.push_back({id, role, static_cast<int64_t>(step.inputs.size()), name});
    return id;
  }
  NodeId number(const std::string& name) {
    const NodeId id = g().placeholder(name, graph::Value(graph::SymFloatValue{name, 0.5}));
    step.inputs.push_back({id, graph::InputRole::kScalar, static_cast<int64_t>(step.inputs.size()), name});
    return id;
  }
  NodeId call(const std::string& target, graph::ArgumentList args, const graph::TensorMeta& meta,
              graph::PartitionerTag tag = graph::PartitionerTag::kForward) {
    const NodeId id = g().call(target, std::move(args), graph::Value(meta));
    g().meta(id).partitioner_tag = tag;
    return id;
  }
  void returns(NodeId value) {
    results.push_back(value);
    step.outputs.push_back({graph::OutputRole::kUserOutput, graph::kNoNode});
  }
  void writes(NodeId target, NodeId value) {
    results.push_back(value);
    step.outputs.push_back({graph::OutputRole::kWriteBack, target});
  }
  const JointGraph& finish() {
    g().output(results);
    return step;
  }
};

/// Bit for bit, except that any NaN equals any other; "" or what differs.
inline std::string difference(const at::Tensor& expected, const at::Tensor& got) {
  if (expected.defined() != got.defined()) return "one is undefined";
  if (!expected.defined()) return "";
  if (expected.sizes() != got.sizes() || expected.scalar_type() != got.scalar_type()) return "sizes or dtypes differ";
  const at::Tensor a = expected.contiguous();
  const at::Tensor b = got.contiguous();
  const size_t width = a.itemsize();
  int64_t bad = 0;
  std::string first;
  const at::Tensor nan = a.is_floating_point() ? a.isnan().logical_and(b.isnan()).reshape({-1}) : at::Tensor();
  for (int64_t i = 0; i < a.numel(); ++i) {
    const auto* x = static_cast<const char*>(a.const_data_ptr()) + static_cast<size_t>(i) * width;
    const auto* y = static_cast<const char*>(b.const_data_ptr()) + static_cast<size_t>(i) * width;
    if (std::memcmp(x, y, width) == 0 || (nan.defined() && nan.const_data_ptr<bool>()[i])) continue;
    if (bad++ == 0 && a.is_floating_point())
      first = " at " + std::to_string(i) + ": " + std::to_string(a.reshape({-1})[i].item<double>()) + " and " +
              std::to_string(b.reshape({-1})[i].item<double>());
  }
  return bad == 0 ? "" : std::to_string(bad) + " of " + std::to_string(a.numel()) + " elements differ" + first;
}

inline std::vector<c10::IValue> copies(const std::vector<c10::IValue>& inputs) {
  std::vector<c10::IValue> result;
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor()) {
      result.push_back(input);
      continue;
    }
    const at::Tensor& t = input.toTensor();
    const int64_t elements = static_cast<int64_t>(t.storage().nbytes() / t.itemsize());
    const at::Tensor whole = t.as_strided({elements}, {1}, 0).clone();
    result.emplace_back(whole.as_strided(t.sizes(), t.strides(), t.storage_offset()));
  }
  return result;
}

/// What the step must return and leave in its inputs: interpreted, write-backs after everything else.
struct Expectation {
  std::vector<at::Tensor> outputs;
  std::vector<c10::IValue> inputs;
};

inline Expectation expect(const JointGraph& step, const std::vector<c10::IValue>& given, uint64_t seed) {
  Expectation result;
  result.inputs = copies(given);
  at::manual_seed(seed);
  std::vector<c10::IValue> values = interp::run(step.graph, result.inputs);
  for (c10::IValue& value : values)
    value = value.isTensor() && value.toTensor().defined() ? c10::IValue(value.toTensor().clone()) : c10::IValue();
  const std::vector<NodeId> placeholders = step.graph.placeholders();
  for (size_t i = 0; i < values.size(); ++i) {
    const bool written = !step.outputs.empty() && step.outputs[i].role == graph::OutputRole::kWriteBack;
    result.outputs.push_back(written || values[i].isNone() ? at::Tensor() : values[i].toTensor());
    if (!written) continue;
    const auto target =
        std::find(placeholders.begin(), placeholders.end(), step.outputs[i].target) - placeholders.begin();
    result.inputs[static_cast<size_t>(target)].toTensor().copy_(values[i].toTensor());
  }
  return result;
}

/// Builds and runs the step twice with every combination of options; fails on any bit that differs from the
/// interpreter.
inline void check_step(const JointGraph& step, const std::vector<c10::IValue>& given, uint64_t seed = 1) {
  for (const ExecutableOptions& options : {ExecutableOptions{false, false}, ExecutableOptions{false, true},
                                           ExecutableOptions{true, false}, ExecutableOptions{true, true}}) {
    const std::string label =
        std::string(options.fuse_pointwise ? "fused" : "unfused") + (options.plan_memory ? ", arena" : ", no arena");
    const std::unique_ptr<Executable> executable = Executable::build(step, options);
    for (int repetition = 0; repetition < 2; ++repetition) {
      const Expectation expected = expect(step, given, seed);
      const std::vector<c10::IValue> inputs = copies(given);
      at::manual_seed(seed);
      const std::vector<at::Tensor> outputs = executable->run(inputs);
      ASSERT_EQ(outputs.size(), expected.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(difference(expected.outputs[i], outputs[i]), "")
            << label << ", output " << i << ", run " << repetition;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].isTensor()) continue;
        EXPECT_EQ(difference(expected.inputs[i].toTensor(), inputs[i].toTensor()), "") << label << ", input " << i;
      }
    }
  }
}

}  // namespace sapwood::exec::testing
