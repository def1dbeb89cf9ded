#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sapwood::graph {

/// Element types, named as PyTorch names them ("float32", "int64", ...).
enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex32,
  kComplex64,
  kComplex128,
  kFloat8E4M3FN,
  kFloat8E5M2,
  kFloat8E4M3FNUZ,
  kFloat8E5M2FNUZ,
  kFloat8E8M0FNU,
};

/// The last of them, for loops over all.
inline constexpr DType kLastDType = DType::kFloat8E8M0FNU;

std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
/// Bytes of one element.
int64_t dtype_bytes(DType dtype);
bool is_floating_point(DType dtype);

enum class Layout : uint8_t { kStrided, kSparseCoo, kSparseCsr, kSparseCsc, kSparseBsr, kSparseBsc, kMkldnn, kJagged };

std::string_view layout_name(Layout layout);
std::optional<Layout> layout_from_name(std::string_view name);

enum class MemoryFormat : uint8_t { kContiguous, kPreserve, kChannelsLast, kChannelsLast3d };

/// "contiguous_format", "preserve_format", ...
std::string_view memory_format_name(MemoryFormat format);
std::optional<MemoryFormat> memory_format_from_name(std::string_view name);

/// A device as PyTorch writes it: "cpu", "cuda:0". Index -1 means "the current one" and isn't printed.
struct Device {
  std::string type = "cpu";
  int16_t index = -1;

  std::string str() const;
  static std::optional<Device> parse(std::string_view text);
  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace sapwood::graph
