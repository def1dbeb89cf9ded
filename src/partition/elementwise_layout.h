#pragma once

#include <span>
#include <vector>

#include "graph/value.h"

namespace sapwood::partition {

/// The value that an elementwise operator makes of `operands`: the shape and device of the first, `dtype`, dense, in
/// the order of dimensions that PyTorch's TensorIterator gives it, offset 0. `storage` is the number of its new
/// storage.
///
/// Operands of one shape keep the strides of the first if they are dense (row-major ones if they are row-major);
/// otherwise dimensions are sorted by the operands' strides, of which hints are compared (4096 stands for a symbol
/// without one). Pre: strided operands with strides; the others broadcast to the first.
graph::TensorMeta elementwise_result(std::span<const graph::TensorMeta* const> operands, graph::DType dtype,
                                     const graph::SymbolTable& symbols, int32_t storage);

/// A new row-major tensor of this shape on the device of `like`.
graph::TensorMeta row_major_result(const graph::TensorMeta& like, std::vector<graph::SymExpr> shape, graph::DType dtype,
                                   int32_t storage);

/// Whether the elements lie in row-major order without gaps; the strides of dimensions of size 1 don't matter. A
/// symbolic size counts as more than 1.
bool is_row_major(const graph::TensorMeta& tensor);

}  // namespace sapwood::partition
