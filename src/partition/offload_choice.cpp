#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "ops/op_table.h"
#include "partition/elementwise_layout.h"
#include "partition/offload.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

bool is_marked(const Node& node) {
  const CheckpointPolicy policy = node.meta->recompute;
  return policy == CheckpointPolicy::kMustCpuOffload || policy == CheckpointPolicy::kPreferCpuOffload;
}

class Chooser {
 public:
  Chooser(const ForwardBackward& pair, const PairFacts& facts, const OffloadOptions& options)
      : forward_(pair.forward),
        backward_(pair.backward),
        options_(options),
        static_inputs_(facts.static_inputs.begin(), facts.static_inputs.end()) {
    const std::vector<NodeId> outputs = forward_.output_values();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == kNoNode) continue;
      if (std::cmp_less(i, facts.user_outputs)) users_.insert(outputs[i]);
      if (first_position_.emplace(outputs[i], i).second) note_storage(outputs[i]);
    }
  }

  OffloadCandidates run() {
    OffloadCandidates result;
    std::set<std::string, std::less<>> names(options_.names.begin(), options_.names.end());
    for (NodeId id = forward_.first(); id != kNoNode; id = forward_[id].next) {
      const bool named = names.erase(forward_[id].name) > 0;
      if (!named && !is_marked(forward_[id])) continue;
      const std::string reason = why_not(id);
      if (reason.empty())
        result.chosen.push_back(id);
      else
        result.refused.push_back({forward_[id].name, reason});
    }
    for (const std::string& name : options_.names)
      if (names.erase(name) > 0) result.refused.push_back({name, "the forward has no value of this name"});
    std::ranges::sort(result.chosen, {}, [&](NodeId id) { return first_position_.at(id); });
    return result;
  }

 private:
  void note_storage(NodeId id) {
    const graph::TensorMeta* tensor = forward_[id].tensor();
    if (tensor && tensor->storage) keepers_[*tensor->storage].push_back(id);
  }

  /// Empty: it can be offloaded. The first reasons are PyTorch's, in its order.
  std::string why_not(NodeId id) const {
    const Node& node = forward_[id];
    if (!first_position_.contains(id) || node.kind == NodeKind::kOutput) return "it isn't saved for the backward";
    if (users_.contains(id)) return "it is an output of the user's, who reads it on its device";
    if (static_inputs_.contains(node.name)) return "it is an input that stays in memory in any case";
    if (node.kind == NodeKind::kCallFunction && ops::describe(forward_, node).remat == ops::Remat::kView)
      return "it is a view; its base can be offloaded";
    if (node.target == "operator.getitem") return "it is one result of an operator with several";
    const graph::TensorMeta* tensor = node.tensor();
    if (!tensor) return "it is no tensor";
    if (!is_row_major(*tensor)) return "it isn't contiguous, so that its copy would change its layout twice";
    return why_useless(id, *tensor);
  }

  std::string why_useless(NodeId id, const graph::TensorMeta& tensor) const {
    if (tensor.device.type == "cpu") return "it is in host memory already";
    if (options_.separate_stream && forward_[id].kind == NodeKind::kPlaceholder)
      return "it is an input, and the wait for the copy would free the caller's memory";
    if (const NodeId other = other_keeper(id, tensor); other != kNoNode)
      return "'" + forward_[other].name + "' is handed out too and keeps the same memory";
    const NodeId input = backward_.find(forward_[id].name);
    if (input == kNoNode || backward_[input].kind != NodeKind::kPlaceholder)
      throw_internal("offload",
                     "the forward saves '" + forward_[id].name + "', but the backward has no placeholder of this name");
    return backward_[input].users.empty() ? "nothing in the backward reads it" : "";
  }

  /// Another output with the same storage, or an input of the forward, whose memory is the caller's.
  NodeId other_keeper(NodeId id, const graph::TensorMeta& tensor) const {
    if (!tensor.storage) return kNoNode;
    for (const NodeId keeper : keepers_.at(*tensor.storage))
      if (keeper != id) return keeper;
    return kNoNode;
  }

  const Graph& forward_;
  const Graph& backward_;
  const OffloadOptions& options_;
  std::set<std::string, std::less<>> static_inputs_;
  std::set<NodeId> users_;
  std::map<NodeId, size_t> first_position_;
  std::map<int32_t, std::vector<NodeId>> keepers_;  // outputs by storage
};

}  // namespace

OffloadCandidates choose_offloads(const ForwardBackward& pair, const PairFacts& facts, const OffloadOptions& options) {
  return Chooser(pair, facts, options).run();
}

}  // namespace sapwood::partition
