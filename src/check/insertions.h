#pragma once

#include <string_view>
#include <unordered_map>

#include "check/pair_context.h"

namespace sapwood::check {

/// What a node is within a chain that quantises a saved value.
struct QuantisationMark {
  DerivedKind kind = DerivedKind::kInside;  ///< kInside, kScale, kQuantised or kScaled
  graph::NodeId base = graph::kNoNode;      ///< what is quantised
  int64_t position = 0;
};
using QuantisationMarks = std::unordered_map<graph::NodeId, QuantisationMark>;

/// Recognises the chains that end in nodes named fp8_scale_pos_<position>_<name> and fp8_quant_pos_<position>_<name>:
///
///     scale = float32(max / clamp_min(float64(amax(abs(x))), epsilon))
///     quant = fp8(clamp(float32(x) * scale, -max, max)), or fp8(x)
///
/// Reports chains of another form, or that use the scale of another value.
QuantisationMarks mark_quantisation(PairContext& context, const graph::Graph& part, Part which);

inline constexpr std::string_view kConvert = "prims.convert_element_type.default";
inline constexpr std::string_view kDevicePut = "prims.device_put.default";
inline constexpr std::string_view kOffload = "ao.offload.default";
inline constexpr std::string_view kReload = "ao.reload.default";
inline constexpr std::string_view kWaitTransfer = "ao.wait_tensor.default";

bool is_offload_name(std::string_view name);

}  // namespace sapwood::check
