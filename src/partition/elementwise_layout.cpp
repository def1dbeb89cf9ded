#include "partition/elementwise_layout.h"

#include <algorithm>
#include <numeric>

#include "graph/text_defaults.h"

namespace sapwood::partition {
namespace {

using graph::SymbolTable;
using graph::SymExpr;
using graph::TensorMeta;

/// Stands for a size that nothing is known of, as in PyTorch.
constexpr int64_t kUnknownSize = 4096;

int64_t hinted(const SymExpr& expr, const SymbolTable& symbols) {
  return expr.is_const() ? expr.value() : expr.hint_or(symbols, kUnknownSize).value_or(kUnknownSize);
}

std::vector<int64_t> hinted(const std::vector<SymExpr>& exprs, const SymbolTable& symbols) {
  std::vector<int64_t> values;
  for (const SymExpr& expr : exprs) values.push_back(hinted(expr, symbols));
  return values;
}

bool is_one(const SymExpr& size) { return size.is_const() && size.value() == 1; }

/// Whether the strides are those of a tensor without gaps whose dimensions lie in memory in this order, innermost
/// first.
bool fills_memory(const TensorMeta& tensor, const std::vector<size_t>& inner_to_outer) {
  SymExpr step = 1;
  for (const size_t dim : inner_to_outer) {
    if (is_one(tensor.shape[dim])) continue;
    if (!((*tensor.stride)[dim] == step)) return false;
    step = step * tensor.shape[dim];
  }
  return true;
}

std::vector<size_t> last_to_first(size_t rank) {
  std::vector<size_t> dims(rank);
  std::iota(dims.rbegin(), dims.rend(), size_t{0});
  return dims;
}

/// Strides of one operand as the iterator walks them: 0 where a single element is read again and again.
std::vector<int64_t> walked_strides(const TensorMeta& operand, const TensorMeta& result, const SymbolTable& symbols) {
  std::vector<int64_t> strides = hinted(*operand.stride, symbols);
  for (size_t i = 0; i < strides.size(); ++i)
    if (is_one(operand.shape[i]) && !is_one(result.shape[i])) strides[i] = 0;
  return strides;
}

class DimensionOrder {
 public:
  DimensionOrder(std::span<const TensorMeta* const> operands, const SymbolTable& symbols)
      : sizes_(hinted(operands.front()->shape, symbols)) {
    for (const TensorMeta* operand : operands)
      if (operand->shape.size() == sizes_.size())
        strides_.push_back(walked_strides(*operand, *operands.front(), symbols));
  }

  /// Dimensions from the innermost to the outermost; insertion sort, since the comparison isn't transitive.
  std::vector<size_t> sorted() const {
    std::vector<size_t> order = last_to_first(sizes_.size());
    for (size_t i = 1; i < order.size(); ++i) {
      size_t at = i;
      for (size_t before = i; before-- > 0;) {
        const int verdict = compare(order[before], order[at]);
        if (verdict < 0) break;
        if (verdict > 0) std::swap(order[before], order[at]), at = before;
      }
    }
    return order;
  }

 private:
  /// Positive: `a` belongs outside of `b`; 0: can't tell.
  int compare(size_t a, size_t b) const {
    for (const std::vector<int64_t>& strides : strides_) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
      if (sizes_[a] > sizes_[b]) return 1;
    }
    return 0;
  }

  std::vector<int64_t> sizes_;
  std::vector<std::vector<int64_t>> strides_;
};

bool have_one_shape(std::span<const TensorMeta* const> operands) {
  return std::ranges::all_of(operands, [&](const TensorMeta* o) { return o->shape == operands.front()->shape; });
}

bool have_one_layout(std::span<const TensorMeta* const> operands) {
  return std::ranges::all_of(operands, [&](const TensorMeta* o) { return *o->stride == *operands.front()->stride; });
}

}  // namespace

bool is_row_major(const TensorMeta& tensor) {
  return tensor.stride && fills_memory(tensor, last_to_first(tensor.shape.size()));
}

TensorMeta row_major_result(const TensorMeta& like, std::vector<SymExpr> shape, graph::DType dtype, int32_t storage) {
  TensorMeta result;
  result.dtype = dtype;
  result.device = like.device;
  result.shape = std::move(shape);
  result.stride = graph::contiguous_strides(result.shape);
  result.offset = SymExpr(0);
  result.storage = storage;
  result.storage_bytes = SymExpr(graph::dtype_bytes(dtype)) * result.numel();
  return result;
}

TensorMeta elementwise_result(std::span<const TensorMeta* const> operands, graph::DType dtype,
                              const SymbolTable& symbols, int32_t storage) {
  const TensorMeta& first = *operands.front();
  TensorMeta result = row_major_result(first, first.shape, dtype, storage);
  const bool one_shape = have_one_shape(operands);
  if (one_shape && std::ranges::all_of(operands, [](const TensorMeta* o) { return is_row_major(*o); })) return result;
  const std::vector<size_t> order = DimensionOrder(operands, symbols).sorted();
  if (one_shape && have_one_layout(operands) && fills_memory(first, order)) {
    result.stride = first.stride;
    return result;
  }
  SymExpr step = 1;
  for (const size_t dim : order) {
    (*result.stride)[dim] = step;
    step = step * result.shape[dim];
  }
  return result;
}

}  // namespace sapwood::partition
