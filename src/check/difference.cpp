#include "check/difference.h"

namespace sapwood::check {
namespace {

using graph::Node;
using graph::NodeId;

}  // namespace

std::string first_difference(const PairContext& context, const PartReader& part, NodeId id, NodeId joint) {
  const Node& mine = part.graph()[id];
  const Node& theirs = context.facts.node(joint);
  if (mine.target != theirs.target) return "there '" + theirs.name + "' calls " + theirs.target;
  const std::vector<NodeId> my_reads = mentions(mine);
  const std::vector<NodeId> their_reads = mentions(theirs);
  if (my_reads.size() != their_reads.size())
    return "there it reads " + std::to_string(their_reads.size()) + " values, here " + std::to_string(my_reads.size());
  for (size_t i = 0; i < my_reads.size(); ++i) {
    if (part.value_of(my_reads[i]) == context.table.value_of(their_reads[i])) continue;
    return "it reads '" + part.graph()[my_reads[i]].name + "' in place of '" + context.facts.node(their_reads[i]).name +
           "'";
  }
  return "a constant argument differs";
}

std::string PairContext::name_of(ValueId value) const {
  if (value == kNoValue) return "nothing";
  const Derived* made = derived(value);
  if (!made) return "'" + facts.node(table.node_of(value)).name + "'";
  const std::string of = made->of == kNoValue ? "nothing" : name_of(made->of);
  switch (made->kind) {
    case DerivedKind::kHostPending:
    case DerivedKind::kHost:
      return "the offloaded copy of " + of;
    case DerivedKind::kDevicePending:
      return "the copy of " + of + " that isn't there yet";
    case DerivedKind::kRandomTuple:
    case DerivedKind::kRandomState:
      return "the generator state of " + of;
    case DerivedKind::kGenerator:
      return "generator " + std::to_string(made->number);
    case DerivedKind::kScale:
      return "the scale of " + of;
    case DerivedKind::kInside:
      return "an intermediate of an insertion";
    default:
      return "the quantised form of " + of;
  }
}

}  // namespace sapwood::check
