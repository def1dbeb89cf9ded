#pragma once

#include <optional>
#include <vector>

#include "graph/value.h"

namespace sapwood::test {

using Shape = std::vector<graph::SymExpr>;

bool is_one(const graph::SymExpr& size);
graph::SymExpr product(const Shape& sizes);
/// Strides of a contiguous tensor, in elements.
std::vector<graph::SymExpr> contiguous_strides(const Shape& shape);
bool is_contiguous(const graph::TensorMeta& tensor);
/// A permutation of a contiguous tensor. Ranks up to 3.
bool is_dense(const graph::TensorMeta& tensor);
/// Dimensions are in the order of memory; expanded ones may be anywhere.
bool is_in_order(const graph::TensorMeta& tensor, const graph::SymbolTable& symbols);
/// The shape to which both broadcast; nothing if they don't.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace sapwood::test
