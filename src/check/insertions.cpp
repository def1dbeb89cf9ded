#include "check/insertions.h"

#include <charconv>

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

constexpr std::string_view kScalePrefix = "fp8_scale_pos_";
constexpr std::string_view kQuantPrefix = "fp8_quant_pos_";
constexpr std::string_view kRemedy = "Insert the chain that PyTorch's activation quantization inserts.";

/// A name taken apart: position and name of the value.
struct QuantName {
  int64_t position = -1;
  std::string_view base;
};

QuantName split_name(std::string_view name, std::string_view prefix) {
  QuantName parts;
  name.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), parts.position);
  const auto length = static_cast<size_t>(end - name.data());
  if (error != std::errc() || length >= name.size() || name[length] != '_') return {};
  parts.base = name.substr(length + 1);
  return parts;
}

NodeId first_argument(const Graph& part, NodeId id) {
  const Node& node = part[id];
  const auto* first = node.args.empty() ? nullptr : node.args[0].as<graph::NodeArg>();
  return first ? first->id : kNoNode;
}

template <typename T>
const T* argument(const Graph& part, NodeId id, size_t index) {
  return part[id].args.size() > index ? part[id].args[index].as<T>() : nullptr;
}

/// Follows first arguments from `end` through calls of the targets given; returns the nodes passed, the base last, or
/// nothing if a call differs.
std::vector<NodeId> follow(const Graph& part, NodeId end, const std::vector<std::string_view>& targets) {
  std::vector<NodeId> passed = {end};
  for (const std::string_view target : targets) {
    if (passed.back() == kNoNode || !part[passed.back()].is_call(target)) return {};
    passed.push_back(first_argument(part, passed.back()));
  }
  if (passed.back() == kNoNode) passed.clear();
  return passed;
}

class Marker {
 public:
  Marker(PairContext& context, const Graph& part, Part which) : context_(context), part_(part), which_(which) {}

  void mark_scale(NodeId id) {
    const QuantName name = split_name(part_[id].name, kScalePrefix);
    const auto chain = follow(part_, id,
                              {kConvert, "aten.mul.Tensor", "aten.reciprocal.default", "aten.clamp_min.default",
                               kConvert, "aten.amax.default", "aten.abs.default"});
    if (chain.empty() || !argument<double>(part_, chain[1], 1)) return report(id, "isn't computed as a scale is");
    put(id, chain, {DerivedKind::kScale, chain.back(), name.position});
  }

  void mark_quant(NodeId id) {
    const QuantName name = split_name(part_[id].name, kQuantPrefix);
    if (!context_.options.allow_quantized) report(id, "keeps a value rounded, which the options don't allow");
    if (!part_[id].is_call(kConvert)) return report(id, "doesn't convert to a smaller type");
    const NodeId source = first_argument(part_, id);
    if (source == kNoNode || !part_[source].is_call("aten.clamp_max.default")) {
      marks[id] = {DerivedKind::kQuantised, source, name.position};
      return;
    }
    const auto chain =
        follow(part_, id, {kConvert, "aten.clamp_max.default", "aten.clamp_min.default", "aten.mul.Tensor", kConvert});
    if (chain.empty()) return report(id, "isn't computed as a quantised value is");
    check_bounds(id, chain);
    check_scale(id, chain, name);
    put(id, chain, {DerivedKind::kScaled, chain.back(), name.position});
  }

  QuantisationMarks marks;

 private:
  void put(NodeId id, const std::vector<NodeId>& chain, const QuantisationMark& mark) {
    for (size_t i = 1; i + 1 < chain.size(); ++i) marks.try_emplace(chain[i], QuantisationMark{.base = mark.base});
    marks[id] = mark;
  }

  void check_bounds(NodeId id, const std::vector<NodeId>& chain) {
    const auto* high = argument<double>(part_, chain[1], 1);
    const auto* low = argument<double>(part_, chain[2], 1);
    if (!high || !low || *high != -*low) report(id, "isn't clamped to a symmetrical range");
  }

  void check_scale(NodeId id, const std::vector<NodeId>& chain, const QuantName& name) {
    const auto* scale = argument<graph::NodeArg>(part_, chain[3], 1);
    const std::string wanted = std::string(kScalePrefix) + std::to_string(name.position) + "_" + std::string(name.base);
    const auto found = scale ? marks.find(scale->id) : marks.end();
    const bool is_own = found != marks.end() && found->second.kind == DerivedKind::kScale &&
                        found->second.base == chain.back() && part_[scale->id].name == wanted;
    if (!is_own) report(id, "isn't multiplied by its own scale '" + wanted + "'");
  }

  void report(NodeId id, const std::string& what) {
    context_.findings.add(kInsertionPaired, {which_, part_[id].name}, "'" + part_[id].name + "' " + what + ".",
                          std::string(kRemedy));
  }

  PairContext& context_;
  const Graph& part_;
  Part which_;
};

}  // namespace

bool is_offload_name(std::string_view name) {
  return name.starts_with("cpu_offload_") || name.starts_with("async_cpu_offload_");
}

QuantisationMarks mark_quantisation(PairContext& context, const Graph& part, Part which) {
  Marker marker(context, part, which);
  for (const NodeId id : part.order()) {
    if (part[id].kind != graph::NodeKind::kCallFunction || context.facts.graph.find(part[id].name) != kNoNode) continue;
    if (part[id].name.starts_with(kScalePrefix)) marker.mark_scale(id);
    if (part[id].name.starts_with(kQuantPrefix)) marker.mark_quant(id);
  }
  return std::move(marker.marks);
}

}  // namespace sapwood::check
