#include "capture/convert.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <fmt/format.h>

#include "base/error.h"

namespace sapwood::capture {
namespace {

using graph::Argument;
using graph::ArgumentList;

graph::Layout to_layout(at::Layout layout) {
  switch (layout) {
    case at::kStrided:
      return graph::Layout::kStrided;
    case at::kSparse:
      return graph::Layout::kSparseCoo;
    case at::kSparseCsr:
      return graph::Layout::kSparseCsr;
    case at::kSparseCsc:
      return graph::Layout::kSparseCsc;
    case at::kSparseBsr:
      return graph::Layout::kSparseBsr;
    case at::kSparseBsc:
      return graph::Layout::kSparseBsc;
    case at::kMkldnn:
      return graph::Layout::kMkldnn;
    case at::kJagged:
      return graph::Layout::kJagged;
    default:
      throw_unsupported("capture", "a tensor has a layout that graphs don't know");
  }
}

graph::MemoryFormat to_memory_format(at::MemoryFormat format) {
  switch (format) {
    case at::MemoryFormat::Contiguous:
      return graph::MemoryFormat::kContiguous;
    case at::MemoryFormat::Preserve:
      return graph::MemoryFormat::kPreserve;
    case at::MemoryFormat::ChannelsLast:
      return graph::MemoryFormat::kChannelsLast;
    case at::MemoryFormat::ChannelsLast3d:
      return graph::MemoryFormat::kChannelsLast3d;
    default:
      throw_unsupported("capture", "an operator got a memory format that graphs don't know");
  }
}

/// Int-typed values whose meaning is in the schema: dtypes, layouts and memory formats.
Argument convert_int(int64_t value, const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::ScalarTypeType:
      return to_dtype(static_cast<at::ScalarType>(value));
    case c10::TypeKind::LayoutType:
      return to_layout(static_cast<at::Layout>(value));
    case c10::TypeKind::MemoryFormatType:
      return to_memory_format(static_cast<at::MemoryFormat>(value));
    default:
      return value;
  }
}

/// A number that C++ operators wrapped into a 0-dim tensor (`x * 2`): it is a constant of the program.
Argument convert_wrapped_number(const at::Tensor& tensor) {
  const at::Scalar scalar = at::_local_scalar_dense(tensor);
  if (scalar.isBoolean()) return scalar.toBool();
  if (scalar.isIntegral(/*includeBool=*/false)) return scalar.toLong();
  if (scalar.isFloatingPoint()) return scalar.toDouble();
  const auto c = scalar.toComplexDouble();
  return std::complex<double>(c.real(), c.imag());
}

class Converter {
 public:
  explicit Converter(const ReadTensor& read) : read_(read) {}

  Argument operator()(const c10::IValue& value, const c10::TypePtr& type) const {
    const c10::Type& t =
        *(type->kind() == c10::TypeKind::OptionalType ? type->castRaw<c10::OptionalType>()->getElementType() : type);
    if (value.isNone()) return {};
    if (value.isTensor()) return tensor(value.toTensor());
    if (value.isBool()) return value.toBool();
    if (value.isInt()) return convert_int(value.toInt(), t);
    if (value.isDouble()) return value.toDouble();
    if (value.isString()) return value.toStringRef();
    if (value.isDevice()) return to_device(value.toDevice());
    if (value.isComplexDouble()) {
      const auto c = value.toComplexDouble();
      return std::complex<double>(c.real(), c.imag());
    }
    if (value.isList() || value.isTuple()) return list(value, t);
    throw_unsupported("capture", fmt::format("an argument of type {} can't be recorded", value.tagKind()));
  }

 private:
  Argument tensor(const at::Tensor& t) const {
    if (!t.defined()) return {};
    if (t.unsafeGetTensorImpl()->is_wrapped_number()) return convert_wrapped_number(t);
    return Argument::node(read_(t));
  }

  Argument list(const c10::IValue& value, const c10::Type& type) const {
    const c10::TypePtr element = type.kind() == c10::TypeKind::ListType ? type.containedType(0) : c10::AnyType::get();
    ArgumentList items;
    if (value.isList()) {
      for (const c10::IValue& item : value.toListRef()) items.push_back((*this)(item, element));
    } else {
      for (const c10::IValue& item : value.toTupleRef().elements()) items.push_back((*this)(item, element));
    }
    return Argument::list(std::move(items));
  }

  const ReadTensor& read_;
};

bool is_default(const c10::Argument& declared, const c10::IValue& value) {
  const auto& fallback = declared.default_value();
  if (!fallback) return false;
  if (value.isTensor() || fallback->isTensor())
    return fallback->isNone() && !(value.isTensor() && value.toTensor().defined());
  if (value.isNone() || fallback->isNone()) return value.isNone() && fallback->isNone();
  if (value.tagKind() != fallback->tagKind()) {
    // A Scalar default of `1` and an argument 1.0 are different values to a reader of the graph.
    return false;
  }
  return value == *fallback;
}

}  // namespace

graph::DType to_dtype(at::ScalarType type) {
  using S = at::ScalarType;
  using D = graph::DType;
  switch (type) {
    case S::Bool:
      return D::kBool;
    case S::Byte:
      return D::kUInt8;
    case S::Char:
      return D::kInt8;
    case S::Short:
      return D::kInt16;
    case S::Int:
      return D::kInt32;
    case S::Long:
      return D::kInt64;
    case S::UInt16:
      return D::kUInt16;
    case S::UInt32:
      return D::kUInt32;
    case S::UInt64:
      return D::kUInt64;
    case S::Half:
      return D::kFloat16;
    case S::BFloat16:
      return D::kBFloat16;
    case S::Float:
      return D::kFloat32;
    case S::Double:
      return D::kFloat64;
    case S::ComplexHalf:
      return D::kComplex32;
    case S::ComplexFloat:
      return D::kComplex64;
    case S::ComplexDouble:
      return D::kComplex128;
    case S::Float8_e4m3fn:
      return D::kFloat8E4M3FN;
    case S::Float8_e5m2:
      return D::kFloat8E5M2;
    case S::Float8_e4m3fnuz:
      return D::kFloat8E4M3FNUZ;
    case S::Float8_e5m2fnuz:
      return D::kFloat8E5M2FNUZ;
    case S::Float8_e8m0fnu:
      return D::kFloat8E8M0FNU;
    default:
      throw_unsupported("capture", fmt::format("dtype {} can't be recorded", at::toString(type)));
  }
}

graph::Device to_device(const at::Device& device) {
  return {c10::DeviceTypeName(device.type(), /*lower_case=*/true),
          static_cast<int16_t>(device.is_cpu() ? -1 : device.index())};
}

std::string op_target(const c10::OperatorName& name) {
  std::string target = name.name;
  if (const size_t colons = target.find("::"); colons != std::string::npos) target.replace(colons, 2, ".");
  return target + "." + (name.overload_name.empty() ? "default" : name.overload_name);
}

graph::OpDecl op_decl(const c10::OperatorHandle& op) {
  graph::OpDecl decl;
  decl.schema = c10::toString(op.schema());
  decl.is_mutable = op.schema().is_mutable();
  for (const c10::Argument& result : op.schema().returns())
    decl.is_view |= !decl.is_mutable && result.alias_info() != nullptr;
  const std::pair<at::Tag, const char*> kTags[] = {{at::Tag::core, "core"},
                                                   {at::Tag::data_dependent_output, "data_dependent_output"},
                                                   {at::Tag::dynamic_output_shape, "dynamic_output_shape"},
                                                   {at::Tag::inplace_view, "inplace_view"},
                                                   {at::Tag::nondeterministic_seeded, "nondeterministic_seeded"},
                                                   {at::Tag::pointwise, "pointwise"},
                                                   {at::Tag::pt2_compliant_tag, "pt2_compliant_tag"}};
  for (const auto& [tag, text] : kTags)
    if (op.hasTag(tag)) decl.tags.emplace_back(text);
  return decl;
}

graph::TensorMeta tensor_meta(const at::Tensor& tensor, std::optional<int32_t> storage) {
  graph::TensorMeta meta;
  meta.dtype = to_dtype(tensor.scalar_type());
  meta.device = to_device(tensor.device());
  meta.layout = to_layout(tensor.layout());
  meta.requires_grad = false;
  for (const int64_t size : tensor.sizes()) meta.shape.emplace_back(size);
  if (!tensor.has_storage()) return meta;
  meta.stride.emplace();
  for (const int64_t stride : tensor.strides()) meta.stride->emplace_back(stride);
  meta.offset = graph::SymExpr(tensor.storage_offset());
  meta.storage = storage;
  meta.storage_bytes = graph::SymExpr(static_cast<int64_t>(tensor.storage().nbytes()));
  return meta;
}

CallArguments convert_arguments(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> values,
                                const ReadTensor& read) {
  const Converter convert(read);
  CallArguments result;
  const auto& declared = schema.arguments();
  size_t positional = 0;  // leading arguments that must be written because a later one isn't at its default
  for (size_t i = 0; i < declared.size(); ++i)
    if (!declared[i].kwarg_only() && !is_default(declared[i], values[i])) positional = i + 1;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!declared[i].kwarg_only()) {
      if (i < positional) result.args.push_back(convert(values[i], declared[i].real_type()));
    } else if (!is_default(declared[i], values[i])) {
      result.kwargs.emplace_back(declared[i].name(), convert(values[i], declared[i].real_type()));
    }
  }
  return result;
}

}  // namespace sapwood::capture
