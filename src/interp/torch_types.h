#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/value.h"

namespace sapwood::interp {

/// The libtorch constants that stand for the graph's. Errors: unsupported for a layout that libtorch doesn't have on
/// every build.
c10::ScalarType to_torch(graph::DType dtype);
c10::Layout to_torch(graph::Layout layout);
c10::MemoryFormat to_torch(graph::MemoryFormat format);
c10::Device to_torch(const graph::Device& device);

/// Numbers for the symbols of one run.
class SymbolValues {
 public:
  /// Starts with the hints of `symbols`.
  explicit SymbolValues(const graph::SymbolTable& symbols) : symbols_(symbols) {}
  void bind(std::string_view name, int64_t value);
  /// Errors: a symbol without value is a user error that names `where`.
  int64_t evaluate(const graph::SymExpr& expr, std::string_view where) const;
  std::vector<int64_t> evaluate(const std::vector<graph::SymExpr>& exprs, std::string_view where) const;

 private:
  graph::SymbolTable symbols_;
};

/// Sizes, strides (contiguous if the metadata has none) and offset of a tensor, in elements.
struct TensorGeometry {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;

  int64_t numel() const;
  /// Elements of a storage that just holds the tensor: 1 + the largest index, or `offset` for an empty one.
  int64_t extent() const;
};
TensorGeometry geometry(const graph::TensorMeta& meta, const SymbolValues& symbols, std::string_view where);

}  // namespace sapwood::interp
