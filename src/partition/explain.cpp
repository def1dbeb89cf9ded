#include "partition/explain.h"

#include "partition/default_partition.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;
using ops::OpClass;

/// "aten.mm.default" -> "mm".
std::string short_name(const JointView& view, NodeId id) {
  const std::string& packet = view.info(id).packet.empty() ? view.node(id).name : view.info(id).packet;
  return packet.substr(packet.rfind('.') + 1);
}

/// The operator that made the value; for an item of a tuple the operator that made the tuple.
NodeId producer(const JointView& view, NodeId id) {
  while (view.is_getitem(id) && !view.inputs_of(id).empty()) id = view.inputs_of(id).front();
  return id;
}

/// The value itself, or, through views and items, the first one that mustn't be recomputed.
NodeId banned_source(const JointView& view, const Bans& bans, NodeId id) {
  while (!bans.contains(id) && (view.is_getitem(id) || view.info(id).op_class == OpClass::kView)) {
    if (view.inputs_of(id).empty()) break;
    id = view.inputs_of(id).front();
  }
  return id;
}

std::string cost_of_repeating(const JointView& view, NodeId id) {
  const std::string again = "recomputing " + short_name(view, id) + " would repeat ";
  if (view.draws(id)) return "random: drawing it again would give other numbers";
  switch (view.info(id).op_class) {
    case OpClass::kMatmul:
      return again + "a matrix product";
    case OpClass::kConvolution:
      return again + "a convolution";
    case OpClass::kAttention:
      return again + "the whole attention";
    case OpClass::kRecurrent:
      return again + "the recurrent layer";
    case OpClass::kNormalization:
      return again + "the statistics of the normalization";
    case OpClass::kSoftmax:
      return again + "two reductions over its input";
    case OpClass::kPooling:
      return again + "the pooling";
    case OpClass::kScan:
      return again + "a scan or a sort";
    case OpClass::kLoss:
      return again + "the loss";
    case OpClass::kIndexing:
      return again + "reads at scattered addresses";
    case OpClass::kCollective:
      return "a collective must run exactly once on every rank";
    default:
      return short_name(view, id) + " is not on the list of cheap operators";
  }
}

NodeId first_backward_reader(const JointView& view, const Classification& classes, NodeId id) {
  for (const NodeId user : view.users_of(id))
    if (view.role_of(user) != Role::kOutput && classes.in_closure(user)) return user;
  return kNoNode;
}

std::string reader_clause(const JointView& view, const Classification& classes, NodeId id) {
  const NodeId reader = first_backward_reader(view, classes, id);
  return reader == kNoNode ? "the backward computes other values from it" : short_name(view, reader) + " reads it";
}

std::string ban_clause(const JointView& view, BanReason reason, NodeId id) {
  switch (reason) {
    case BanReason::kMustSave:
      return view.is_collective(id) ? "a collective must run exactly once on every rank"
                                    : "a checkpoint policy asks to save it";
    case BanReason::kNotInAllowlist:
    case BanReason::kRandom:
    case BanReason::kHeavy:
    case BanReason::kNonBuiltin:
      return cost_of_repeating(view, id);
    case BanReason::kOverwritten:
      return "it is computed from memory that is overwritten later";
    case BanReason::kMaterialized:
      return "it must be in memory there in any case, so recomputing it would write it a second time";
    case BanReason::kTooFar:
      return "it is too far from the backward to be recomputed";
    case BanReason::kReduction:
      return "it is a reduction, at least 4 times smaller than what it is computed from";
    case BanReason::kUsedFarApart:
      return "its readers are too far apart to share one fused recomputation";
    case BanReason::kLongChain:
      return "recomputing it would start a chain of more than 100 operators";
    case BanReason::kPrimal:
    case BanReason::kForwardSeed:
    case BanReason::kNone:
      return "";
  }
  return "";
}

}  // namespace

std::string Explanation::why_saved(NodeId id) const {
  if (view.is_symbol(id)) return "a size that the backward needs";
  if (view.role_of(id) == Role::kPrimal) {
    if (view.is_static[static_cast<size_t>(id)]) return "input of the step: free to keep";
    return reader_clause(view, classes, id) + "; it is an input, so there is nothing to recompute it from";
  }
  if (view.role_of(id) == Role::kForwardSeed) return "random seed: the backward must use the same one";
  const std::string reader = reader_clause(view, classes, id) + "; ";
  const NodeId source = producer(view, id);
  if (bans) {
    const NodeId banned = banned_source(view, *bans, id);
    const std::string clause = ban_clause(view, bans->reason[static_cast<size_t>(banned)], banned);
    if (!clause.empty()) return reader + clause;
    return reader + "keeping it costs less than keeping what it is computed from";
  }
  if (view.must_save(id)) return reader + ban_clause(view, BanReason::kMustSave, id);
  if (is_free_to_recompute(view, id)) return reader + "it shares the memory of its base";
  if (view.info(source).op_class == OpClass::kPointwise)
    return reader + "recomputing " + short_name(view, source) + " would cost a pass over memory";
  return reader + cost_of_repeating(view, source);
}

std::string Explanation::why_recomputed(NodeId id) const {
  if (view.must_recompute(id)) return "a checkpoint policy asks to recompute it";
  if (view.info(id).op_class == OpClass::kView) return "a view: it costs nothing to make again";
  if (view.is_symbol(id)) return "arithmetic on sizes costs nothing";
  if (is_free_to_recompute(view, id)) return "a constant: it is made from nothing";
  const NodeId source = producer(view, id);
  const std::string name = short_name(view, source);
  if (view.info(source).is_fusible())
    return name +
           " is cheap and fuses into what reads it; keeping it would cost more memory than what it is computed from";
  return name + " is computed from values that are kept in any case";
}

}  // namespace sapwood::partition
