#pragma once

#include <string>
#include <vector>

#include "graph/joint_graph.h"

namespace sapwood::test {

/// Writes small training steps by hand.
class StepBuilder {
 public:
  graph::NodeId input(const std::string& name, std::vector<int64_t> shape, graph::InputRole role) {
    graph::NodeId id = step.graph.placeholder(name, graph::Value(tensor(std::move(shape))));
    step.graph.meta(id).partitioner_tag = graph::PartitionerTag::kForward;
    step.inputs.push_back({id, role, static_cast<int64_t>(step.inputs.size()), name});
    return id;
  }

  graph::NodeId call(const std::string& target, graph::ArgumentList args, std::vector<int64_t> shape) {
    return call_value(target, std::move(args), graph::Value(tensor(std::move(shape))));
  }

  graph::NodeId call_value(const std::string& target, graph::ArgumentList args, graph::Value value) {
    const graph::NodeId id = step.graph.call(target, std::move(args), std::move(value));
    step.graph.meta(id).partitioner_tag = part;
    return id;
  }

  /// A view of `base`.
  graph::NodeId view(const std::string& target, graph::NodeId base, graph::ArgumentList args,
                     std::vector<int64_t> shape) {
    graph::TensorMeta meta = tensor(std::move(shape));
    meta.storage = step.graph[base].tensor()->storage;
    args.insert(args.begin(), graph::Argument::node(base));
    return call_value(target, std::move(args), graph::Value(meta));
  }

  void output(graph::NodeId value, graph::OutputRole role, graph::NodeId target = graph::kNoNode) {
    values_.push_back(value);
    step.outputs.push_back({role, target});
  }

  graph::JointGraph finish() {
    step.graph.output(values_);
    return step;
  }

  graph::TensorMeta tensor(std::vector<int64_t> shape) {
    graph::TensorMeta meta;
    int64_t elements = 1;
    for (const int64_t size : shape) elements *= size;
    meta.shape.assign(shape.begin(), shape.end());
    std::vector<graph::SymExpr> strides;
    int64_t stride = elements;
    for (const int64_t size : shape) strides.emplace_back(stride = size == 0 ? 0 : stride / size);
    meta.stride = strides;
    meta.offset = graph::SymExpr(0);
    meta.storage = next_storage_++;
    meta.storage_bytes = graph::SymExpr(elements * 4);
    return meta;
  }

  graph::JointGraph step;
  graph::PartitionerTag part = graph::PartitionerTag::kForward;

 private:
  std::vector<graph::NodeId> values_;
  int32_t next_storage_ = 0;
};

inline graph::Argument arg(graph::NodeId id) { return graph::Argument::node(id); }

}  // namespace sapwood::test
