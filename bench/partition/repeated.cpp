#include "partition/repeated.h"

#include <algorithm>
#include <string>
#include <vector>

#include "partition/classify.h"
#include "partition/joint_view.h"
#include "partition/remap.h"

namespace sapwood::bench {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::Value;

/// Calls `visit` for every tensor in a value.
template <typename Visitor>
void for_each_tensor(Value& value, Visitor&& visit) {
  const auto each = [&](std::vector<Value>& items) {
    for (Value& item : items) for_each_tensor(item, visit);
  };
  if (auto* tensor = value.as<graph::TensorMeta>()) return visit(*tensor);
  if (auto* tuple = value.as<graph::TupleValue>()) return each(tuple->items);
  if (auto* list = value.as<graph::ListValue>()) return each(list->items);
}

class Repeated {
 public:
  Repeated(const Graph& joint, int copies) : joint_(joint), maps_(static_cast<size_t>(copies)) {
    for (auto& map : maps_) map.assign(joint.id_bound(), kNoNode);
    for (const NodeId id : joint.order()) {
      if (!joint[id].val) continue;
      Value value = *joint[id].val;
      for_each_tensor(value, [&](const graph::TensorMeta& tensor) {
        if (tensor.storage) storages_ = std::max(storages_, *tensor.storage + 1);
      });
    }
  }

  Graph build() {
    result_.symbols = joint_.symbols;
    result_.ops = joint_.ops;
    result_.subgraphs = joint_.subgraphs;
    result_.attributes = joint_.attributes;
    const auto view = partition::view_joint(joint_, false);
    const auto classes = partition::classify(view);
    const std::vector<NodeId> order = joint_.order();
    const auto add_all = [&](auto&& wanted) {
      for (size_t copy = 0; copy < maps_.size(); ++copy)
        for (const NodeId id : order)
          if (wanted(id)) add(id, copy);
    };
    const auto is_input = [&](NodeId id) { return joint_[id].kind == NodeKind::kPlaceholder; };
    const auto is_inner = [&](NodeId id) { return !is_input(id) && joint_[id].kind != NodeKind::kOutput; };
    add_all(is_input);
    add_all([&](NodeId id) { return is_inner(id) && !classes.in_closure(id); });
    add_all([&](NodeId id) { return is_inner(id) && classes.in_closure(id); });
    add_outputs();
    return std::move(result_);
  }

 private:
  void add(NodeId id, size_t copy) {
    Node node = joint_[id];
    node.users.clear();
    node.name = result_.unique_name("c" + std::to_string(copy) + "_" + node.name);
    if (node.val) {
      for_each_tensor(node.val.edit(), [&](graph::TensorMeta& tensor) {
        if (tensor.storage) *tensor.storage += static_cast<int32_t>(copy) * storages_;
      });
    }
    partition::remap_nodes(node, [&](NodeId old) { return maps_[copy][static_cast<size_t>(old)]; });
    maps_[copy][static_cast<size_t>(id)] = result_.add(std::move(node));
  }

  void add_outputs() {
    const std::vector<NodeId> values = joint_.output_values();
    const auto split = static_cast<size_t>(joint_.num_forward_outputs);
    std::vector<NodeId> outputs;
    const auto add_range = [&](size_t begin, size_t end) {
      for (const auto& map : maps_)
        for (size_t i = begin; i < end; ++i)
          outputs.push_back(values[i] == kNoNode ? kNoNode : map[static_cast<size_t>(values[i])]);
    };
    add_range(0, split);
    add_range(split, values.size());
    result_.num_forward_outputs = static_cast<int64_t>(split * maps_.size());
    result_.output(outputs);
  }

  const Graph& joint_;
  std::vector<std::vector<NodeId>> maps_;
  int32_t storages_ = 0;  ///< of one copy
  Graph result_;
};

}  // namespace

Graph repeated(const Graph& joint, int copies) { return Repeated(joint, copies).build(); }

}  // namespace sapwood::bench
