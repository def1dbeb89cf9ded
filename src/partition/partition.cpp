#include "partition/partition.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "partition/agreement.h"
#include "partition/budget.h"
#include "partition/default_partition.h"
#include "partition/explain.h"
#include "partition/extract.h"
#include "partition/peak.h"
#include "partition/prices.h"
#include "partition/saved_values.h"
#include "partition/selection.h"
#include "partition/snapshot.h"
#include "partition/tag_rules.h"
#include "passes/common_subexpression.h"
#include "passes/dead_code.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;

/// Describes saved values, and notices which of them need no memory of their own.
class Describer {
 public:
  explicit Describer(const Explanation& explain) : explain_(explain), inputs_(explain.view.input_storages()) {}

  std::vector<SavedValue> operator()(const std::vector<NodeId>& values) {
    std::vector<SavedValue> described;
    for (const NodeId id : values) described.push_back(describe(id));
    return described;
  }

 private:
  SavedValue describe(NodeId id) {
    const JointView& view = explain_.view;
    const int32_t storage = view.storage(id);
    SavedValue value;
    value.node = id;
    value.bytes = view.is_symbol(id) ? 0 : view.bytes(id);
    value.reason = explain_.why_saved(id);
    value.is_input =
        view.is_input(id) || view.role_of(id) == Role::kAttribute || std::ranges::binary_search(inputs_, storage);
    value.shares_memory = storage >= 0 && !saved_.insert(storage).second;
    return value;
  }

  const Explanation& explain_;
  std::vector<int32_t> inputs_;
  std::unordered_set<int32_t> saved_;
};

/// Recomputed is what both parts compute.
std::vector<RecomputedValue> recomputed_values(const Explanation& explain, const Parts& parts) {
  const JointView& view = explain.view;
  std::vector<RecomputedValue> values;
  for (const NodeId id : parts.backward.nodes) {
    if (!view.is_call(id) || !parts.forward.keeps(id)) continue;
    const bool shares_memory = view.info(id).is_view;
    values.push_back({id, shares_memory ? 0 : view.bytes(id), explain.why_recomputed(id)});
  }
  std::ranges::sort(values, {},
                    [&](const RecomputedValue& value) { return view.position[static_cast<size_t>(value.node)]; });
  return values;
}

Plan make_plan(const Explanation& explain, const SavedSets& chosen, const PartitionOptions& options, Method method) {
  const SavedSets sets = settle(explain.view, chosen);
  Plan plan;
  plan.method = method;
  Describer describe(explain);
  plan.saved = describe(sets.tensors);
  plan.saved_objects = describe(sets.objects);
  plan.saved_symbols = describe(sets.symbols);
  const Parts parts = select_parts(explain.view, sets, method);
  plan.recomputed = recomputed_values(explain, parts);
  plan.peak_bytes = simulate_peak(explain.view, parts).peak();
  price_saved_values(explain.view, options, plan);
  return plan;
}

/// What all ranks save, and why, where there are others.
std::string agree(const Graph& joint, const PartitionOptions& options, std::vector<NodeId>& saved) {
  if (!options.ranks) return {};
  AgreementResult result = agree_on_saved_values(joint, std::move(saved), *options.ranks);
  saved = std::move(result.saved);
  return result.reason;
}

Plan default_plan(const Graph& joint, const PartitionOptions& options) {
  JointView view = view_joint(joint, false);
  apply_tag_rules(view, true);
  const Classification classes = classify(view);
  if (options.compatibility == Compatibility::kRepaired) check_marks(view, classes);
  SavedSets chosen = choose_default(view);
  std::string agreement = agree(joint, options, chosen.tensors);
  Plan plan = make_plan({view, classes, nullptr}, chosen, options, Method::kDefault);
  plan.agreement = std::move(agreement);
  return plan;
}

Plan min_cut_plan(Graph& joint, const PartitionOptions& options, Decision& decision) {
  JointView view = view_joint(joint, options.cse);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  if (options.compatibility == Compatibility::kRepaired) check_marks(view, classes);
  if (!classes.has_backward) return default_plan(joint, options);
  if (options.recompute_only_free)
    return make_plan({view, classes, nullptr}, split_by_kind(view, choose_all_but_free(view, classes)), options,
                     Method::kMinCut);
  PartitionOptions resolved = options;
  resolved.activation_memory_budget = resolve_budget(view, classes, options);
  decision = choose_saved_values(view, classes, resolved);
  std::string agreement = agree(joint, options, decision.saved);
  const Bans* bans = decision.cut ? &decision.cut->bans : nullptr;
  Plan plan = make_plan({view, classes, bans}, split_by_kind(view, decision.saved), options, Method::kMinCut);
  plan.budget = decision.budget;
  plan.agreement = std::move(agreement);
  plan.cut_value = decision.cut ? decision.cut->value : 0;
  return plan;
}

/// A graph that writes in the middle can't be checkpointed by the default rule: what is read again may have changed.
bool is_unsafe_for_default(const Graph& joint) {
  return has_recompute_marks(joint) && !is_functional(view_joint(joint, false));
}

}  // namespace

void prepare_joint(Graph& joint, const PartitionOptions& options) {
  const bool cuts = options.method == Method::kMinCut || is_unsafe_for_default(joint);
  if (cuts) passes::remove_dead_nodes(joint);
  if (options.compatibility == Compatibility::kRepaired) take_snapshots(joint);
  if (!cuts || !options.cse) return;
  if (options.compatibility == Compatibility::kTorch213) {
    passes::merge_common_subexpressions_as_torch(joint);
  } else {
    passes::merge_common_subexpressions(joint);
  }
}

Plan partition(Graph& joint, const PartitionOptions& options, Decision* decision) {
  check_options(options);
  Decision unasked;
  const bool cut = options.method == Method::kMinCut || is_unsafe_for_default(joint);
  prepare_joint(joint, options);
  Plan plan = cut ? min_cut_plan(joint, options, decision ? *decision : unasked) : default_plan(joint, options);
  plan.budget_met = plan.saved_bytes() <= options.activation_memory_bytes.value_or(INT64_MAX) &&
                    plan.peak_bytes <= options.activation_memory_peak_bytes.value_or(INT64_MAX);
  plan.graphsafe_rng = options.graphsafe_rng_functionalization;
  drop_snapshots(joint, saved_sets(plan).tensors);
  plan.quantization = options.quantization;
  plan.offload = options.offload;
  if (plan.quantization.enabled || plan.offload.enabled) {
    ForwardBackward parts = extract(joint, plan);
    plan.quantized = std::move(parts.quantized);
    plan.offloaded = std::move(parts.offloaded);
  }
  return plan;
}

}  // namespace sapwood::partition
