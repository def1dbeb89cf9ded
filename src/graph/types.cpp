#include "graph/types.h"

#include <array>
#include <charconv>

namespace sapwood::graph {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int64_t bytes;
  bool floating;
};

constexpr std::array kDTypes{
    DTypeRow{DType::kBool, "bool", 1, false},
    DTypeRow{DType::kUInt8, "uint8", 1, false},
    DTypeRow{DType::kInt8, "int8", 1, false},
    DTypeRow{DType::kInt16, "int16", 2, false},
    DTypeRow{DType::kInt32, "int32", 4, false},
    DTypeRow{DType::kInt64, "int64", 8, false},
    DTypeRow{DType::kUInt16, "uint16", 2, false},
    DTypeRow{DType::kUInt32, "uint32", 4, false},
    DTypeRow{DType::kUInt64, "uint64", 8, false},
    DTypeRow{DType::kFloat16, "float16", 2, true},
    DTypeRow{DType::kBFloat16, "bfloat16", 2, true},
    DTypeRow{DType::kFloat32, "float32", 4, true},
    DTypeRow{DType::kFloat64, "float64", 8, true},
    DTypeRow{DType::kComplex32, "complex32", 4, false},
    DTypeRow{DType::kComplex64, "complex64", 8, false},
    DTypeRow{DType::kComplex128, "complex128", 16, false},
    DTypeRow{DType::kFloat8E4M3FN, "float8_e4m3fn", 1, true},
    DTypeRow{DType::kFloat8E5M2, "float8_e5m2", 1, true},
    DTypeRow{DType::kFloat8E4M3FNUZ, "float8_e4m3fnuz", 1, true},
    DTypeRow{DType::kFloat8E5M2FNUZ, "float8_e5m2fnuz", 1, true},
    DTypeRow{DType::kFloat8E8M0FNU, "float8_e8m0fnu", 1, true},
};

constexpr bool rows_are_in_enum_order() {
  for (size_t i = 0; i < kDTypes.size(); ++i)
    if (static_cast<size_t>(kDTypes[i].dtype) != i) return false;
  return true;
}
static_assert(rows_are_in_enum_order() && kDTypes.back().dtype == kLastDType, "a row's index is its dtype");

const DTypeRow& row(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

constexpr std::array<std::string_view, 8> kLayouts{"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                                   "sparse_bsr", "sparse_bsc", "_mkldnn",    "jagged"};
constexpr std::array<std::string_view, 4> kMemoryFormats{"contiguous_format", "preserve_format", "channels_last",
                                                         "channels_last_3d"};

template <typename Enum, size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

bool is_device_type(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if ((c < 'a' || c > 'z') && c != '_') return false;
  return true;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeRow& r : kDTypes)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

int64_t dtype_bytes(DType dtype) { return row(dtype).bytes; }

bool is_floating_point(DType dtype) { return row(dtype).floating; }

std::string_view layout_name(Layout layout) { return kLayouts[static_cast<size_t>(layout)]; }

std::optional<Layout> layout_from_name(std::string_view name) { return find_name<Layout>(kLayouts, name); }

std::string_view memory_format_name(MemoryFormat format) { return kMemoryFormats[static_cast<size_t>(format)]; }

std::optional<MemoryFormat> memory_format_from_name(std::string_view name) {
  return find_name<MemoryFormat>(kMemoryFormats, name);
}

std::string Device::str() const { return index < 0 ? type : type + ":" + std::to_string(index); }

std::optional<Device> Device::parse(std::string_view text) {
  const size_t colon = text.find(':');
  Device device{std::string(text.substr(0, colon)), -1};
  if (!is_device_type(device.type)) return std::nullopt;
  if (colon == std::string_view::npos) return device;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), device.index);
  if (error != std::errc() || end != digits.data() + digits.size() || device.index < 0) return std::nullopt;
  return device;
}

}  // namespace sapwood::graph
