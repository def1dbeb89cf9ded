#include "interp/torch_types.h"

#include <string>

#include "base/error.h"

namespace sapwood::interp {
namespace {

constexpr std::string_view kStage = "interp";

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
  return strides;
}

}  // namespace

c10::ScalarType to_torch(graph::DType dtype) {
  using graph::DType;
  using enum c10::ScalarType;
  switch (dtype) {
    case DType::kBool:
      return Bool;
    case DType::kUInt8:
      return Byte;
    case DType::kInt8:
      return Char;
    case DType::kInt16:
      return Short;
    case DType::kInt32:
      return Int;
    case DType::kInt64:
      return Long;
    case DType::kUInt16:
      return UInt16;
    case DType::kUInt32:
      return UInt32;
    case DType::kUInt64:
      return UInt64;
    case DType::kFloat16:
      return Half;
    case DType::kBFloat16:
      return BFloat16;
    case DType::kFloat32:
      return Float;
    case DType::kFloat64:
      return Double;
    case DType::kComplex32:
      return ComplexHalf;
    case DType::kComplex64:
      return ComplexFloat;
    case DType::kComplex128:
      return ComplexDouble;
    case DType::kFloat8E4M3FN:
      return Float8_e4m3fn;
    case DType::kFloat8E5M2:
      return Float8_e5m2;
    case DType::kFloat8E4M3FNUZ:
      return Float8_e4m3fnuz;
    case DType::kFloat8E5M2FNUZ:
      return Float8_e5m2fnuz;
    case DType::kFloat8E8M0FNU:
      return Float8_e8m0fnu;
  }
  throw_internal(kStage, "unknown dtype number " + std::to_string(static_cast<int>(dtype)));
}

c10::Layout to_torch(graph::Layout layout) {
  using graph::Layout;
  switch (layout) {
    case Layout::kStrided:
      return c10::Layout::Strided;
    case Layout::kSparseCoo:
      return c10::Layout::Sparse;
    case Layout::kSparseCsr:
      return c10::Layout::SparseCsr;
    case Layout::kSparseCsc:
      return c10::Layout::SparseCsc;
    case Layout::kSparseBsr:
      return c10::Layout::SparseBsr;
    case Layout::kSparseBsc:
      return c10::Layout::SparseBsc;
    case Layout::kMkldnn:
      return c10::Layout::Mkldnn;
    case Layout::kJagged:
      return c10::Layout::Jagged;
  }
  throw_internal(kStage, "unknown layout number " + std::to_string(static_cast<int>(layout)));
}

c10::MemoryFormat to_torch(graph::MemoryFormat format) {
  using graph::MemoryFormat;
  switch (format) {
    case MemoryFormat::kContiguous:
      return c10::MemoryFormat::Contiguous;
    case MemoryFormat::kPreserve:
      return c10::MemoryFormat::Preserve;
    case MemoryFormat::kChannelsLast:
      return c10::MemoryFormat::ChannelsLast;
    case MemoryFormat::kChannelsLast3d:
      return c10::MemoryFormat::ChannelsLast3d;
  }
  throw_internal(kStage, "unknown memory format number " + std::to_string(static_cast<int>(format)));
}

c10::Device to_torch(const graph::Device& device) { return c10::Device(device.str()); }

void SymbolValues::bind(std::string_view name, int64_t value) {
  const auto it = symbols_.find(name);
  if (it == symbols_.end())
    symbols_.emplace(name, graph::SymbolInfo{}).first->second.hint = value;
  else
    it->second.hint = value;
}

int64_t SymbolValues::evaluate(const graph::SymExpr& expr, std::string_view where) const {
  if (expr.is_const()) return expr.value();
  const std::optional<int64_t> value = expr.hint(symbols_);
  if (!value)
    throw_user(kStage, std::string(where) + ": '" + expr.str() +
                           "' has no value: no input binds its symbols and they have no hint");
  return *value;
}

std::vector<int64_t> SymbolValues::evaluate(const std::vector<graph::SymExpr>& exprs, std::string_view where) const {
  std::vector<int64_t> values;
  values.reserve(exprs.size());
  for (const graph::SymExpr& expr : exprs) values.push_back(evaluate(expr, where));
  return values;
}

int64_t TensorGeometry::numel() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

int64_t TensorGeometry::extent() const {
  int64_t last = offset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return offset;
    last += (sizes[d] - 1) * strides[d];
  }
  return last + 1;
}

TensorGeometry geometry(const graph::TensorMeta& meta, const SymbolValues& symbols, std::string_view where) {
  TensorGeometry result;
  result.sizes = symbols.evaluate(meta.shape, where);
  result.strides = meta.stride ? symbols.evaluate(*meta.stride, where) : contiguous_strides(result.sizes);
  result.offset = meta.offset ? symbols.evaluate(*meta.offset, where) : 0;
  return result;
}

}  // namespace sapwood::interp
