#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace sapwood::ops {

/// Floating point operations of one call: 2 per multiply-add of products, convolutions and attention, as PyTorch's flop
/// counter counts (bias, padding and causal masks are ignored). Symbolic sizes count with their hints, 4096 where there
/// is none. Nothing for operators without a formula, and for calls whose arguments don't have the shapes that the
/// formula needs.
std::optional<int64_t> count_flops(const graph::Graph& graph, const graph::Node& node);

}  // namespace sapwood::ops
