#include "random/tensor_layout.h"

#include <algorithm>
#include <numeric>

namespace sapwood::test {

using graph::SymExpr;

bool is_one(const SymExpr& size) { return size.is_const() && size.value() == 1; }

SymExpr product(const Shape& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), SymExpr(1),
                         [](const SymExpr& a, const SymExpr& b) { return a * b; });
}

std::vector<SymExpr> contiguous_strides(const Shape& shape) {
  std::vector<SymExpr> strides(shape.size(), SymExpr(1));
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool is_contiguous(const graph::TensorMeta& tensor) {
  const std::vector<SymExpr> expected = contiguous_strides(tensor.shape);
  for (size_t i = 0; i < expected.size(); ++i)
    if (!is_one(tensor.shape[i]) && !((*tensor.stride)[i] == expected[i])) return false;
  return true;
}

bool is_dense(const graph::TensorMeta& tensor) {
  std::vector<size_t> order(tensor.shape.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    graph::TensorMeta permuted = tensor;
    for (size_t i = 0; i < order.size(); ++i) {
      permuted.shape[i] = tensor.shape[order[i]];
      (*permuted.stride)[i] = (*tensor.stride)[order[i]];
    }
    if (is_contiguous(permuted)) return true;
  } while (std::ranges::next_permutation(order).found);
  return false;
}

bool is_in_order(const graph::TensorMeta& tensor, const graph::SymbolTable& symbols) {
  int64_t last = INT64_MAX;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const int64_t stride = (*tensor.stride)[i].hint(symbols).value_or(0);
    if (is_one(tensor.shape[i]) || stride == 0) continue;
    if (stride > last) return false;
    last = stride;
  }
  return true;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), SymExpr(1));
  for (size_t i = 0; i < shape.size(); ++i) {
    const SymExpr x = i < a.size() ? a[a.size() - 1 - i] : SymExpr(1);
    const SymExpr y = i < b.size() ? b[b.size() - 1 - i] : SymExpr(1);
    if (!is_one(x) && !is_one(y) && !(x == y)) return std::nullopt;
    shape[shape.size() - 1 - i] = is_one(x) ? y : x;
  }
  return shape;
}

}  // namespace sapwood::test
