#include "partition/prices.h"

#include <set>

#include "partition/bans.h"
#include "partition/runtime_estimate.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

class Pricing {
 public:
  Pricing(const JointView& view, const PartitionOptions& options, const Plan& plan)
      : view_(view), options_(options), seen_(view.role.size(), 0), kept_(view.role.size(), 0) {
    for (const auto* list : {&plan.saved, &plan.saved_objects, &plan.saved_symbols})
      for (const SavedValue& value : *list) {
        kept_[static_cast<size_t>(value.node)] = 1;
        if (const int32_t memory = view.storage(value.node); memory >= 0) kept_memory_.insert(memory);
      }
  }

  Price of(NodeId saved) {
    Price price;
    price.possible = view_.is_call(saved);
    ++round_;
    pending_ = {saved};
    seen_[static_cast<size_t>(saved)] = round_;
    while (!pending_.empty() && price.possible && price.nodes < kMostPricedNodes) {
      const NodeId id = pending_.back();
      pending_.pop_back();
      repeat(id, price);
    }
    return price;
  }

 private:
  void repeat(NodeId id, Price& price) {
    if (must_run_once(view_, id)) {
      price.possible = false;
      price.obstacle = view_.node(id).name;
      return;
    }
    ++price.nodes;
    if (!view_.is_view(id) && !view_.is_getitem(id) && !view_.is_symbol(id))
      price.runtime += estimate_runtime(view_, id, options_);
    for (const NodeId read : view_.inputs_of(id)) {
      int64_t& seen = seen_[static_cast<size_t>(read)];
      if (seen == round_) continue;
      seen = round_;
      if (kept_[static_cast<size_t>(read)]) continue;
      if (view_.is_call(read)) pending_.push_back(read);
      // An input whose view is handed over is in memory already.
      if (view_.is_input(read) && !kept_memory_.contains(view_.storage(read))) price.extra_bytes += view_.bytes(read);
    }
  }

  const JointView& view_;
  const PartitionOptions& options_;
  std::vector<int64_t> seen_;  // by NodeId: the round in which it was last met
  std::vector<uint8_t> kept_;
  std::set<int32_t> kept_memory_;  // numbers of storages
  std::vector<NodeId> pending_;
  int64_t round_ = 0;
};

}  // namespace

void price_saved_values(const JointView& view, const PartitionOptions& options, Plan& plan) {
  Pricing pricing(view, options, plan);
  for (SavedValue& value : plan.saved) value.price = pricing.of(value.node);
}

}  // namespace sapwood::partition
