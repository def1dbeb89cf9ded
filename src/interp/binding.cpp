#include "interp/binding.h"

#include <ATen/ScalarOps.h>

#include "base/error.h"
#include "interp/native_ops.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using c10::TypeKind;
using graph::Argument;

constexpr std::string_view kStage = "interp";

/// Converts the arguments of one node.
class Binder {
 public:
  Binder(const graph::Node& node, const SymbolValues& symbols, BoundCall& call)
      : node_(node), symbols_(symbols), call_(call) {}

  void bind() {
    const auto& parameters = schema().arguments();
    if (node_.args.size() > parameters.size())
      fail("has " + std::to_string(node_.args.size()) + " arguments, its operator takes " +
           std::to_string(parameters.size()));
    for (const auto& [key, value] : node_.kwargs) check_keyword(key);
    for (size_t i = 0; i < parameters.size(); ++i) call_.stack.push_back(parameter_value(i));
  }

 private:
  const c10::FunctionSchema& schema() const { return call_.callable.schema(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw_user(kStage,
               "node '" + node_.name + "' (" + node_.target + ") " + what + "; schema: " + c10::toString(schema()));
  }

  void check_keyword(const std::string& key) const {
    for (const c10::Argument& parameter : schema().arguments())
      if (parameter.name() == key) return;
    fail("has a keyword argument '" + key + "' that its operator doesn't know");
  }

  const Argument* given(size_t index) const {
    if (index < node_.args.size()) return &node_.args[index];
    for (const auto& [key, value] : node_.kwargs)
      if (key == schema().arguments()[index].name()) return &value;
    return nullptr;
  }

  IValue parameter_value(size_t index) {
    const c10::Argument& parameter = schema().arguments()[index];
    index_ = index;
    if (const Argument* arg = given(index)) return convert(*arg, parameter.type(), parameter.N());
    if (const auto& fallback = parameter.default_value()) return *fallback;
    if (parameter.type()->kind() == TypeKind::OptionalType) return IValue();
    fail("lacks argument '" + parameter.name() + "'");
  }

  [[noreturn]] void mismatch(const c10::Type& type) const {
    fail("argument '" + schema().arguments()[index_].name() + "' can't become " + type.str());
  }

  IValue convert(const Argument& arg, const c10::TypePtr& type, std::optional<int32_t> fixed_length) {
    if (type->kind() == TypeKind::OptionalType)
      return arg.is_none() ? IValue()
                           : convert(arg, type->castRaw<c10::OptionalType>()->getElementType(), fixed_length);
    if (const auto* node = arg.as<graph::NodeArg>()) {
      call_.slots.push_back({index_, element_, node->id});
      return IValue();
    }
    if (type->kind() == TypeKind::ListType)
      return convert_list(arg, type->castRaw<c10::ListType>()->getElementType(), fixed_length);
    return convert_scalar(arg, *type);
  }

  IValue convert_list(const Argument& arg, const c10::TypePtr& element_type, std::optional<int32_t> fixed_length) {
    c10::impl::GenericList list(element_type);
    if (element_ >= 0) mismatch(*element_type);  // a list of lists: no operator of a step takes one
    const graph::ArgumentList* items = nullptr;
    if (const auto* l = arg.as<graph::ListArg>()) items = &l->items;
    if (const auto* t = arg.as<graph::TupleArg>()) items = &t->items;
    if (items == nullptr) {
      if (!fixed_length) mismatch(*element_type);
      const IValue value = convert_scalar(arg, *element_type);
      for (int32_t i = 0; i < *fixed_length; ++i) list.push_back(value);
      return list;
    }
    for (const Argument& item : *items) {
      element_ = static_cast<int64_t>(list.size());
      list.push_back(convert(item, element_type, std::nullopt));
    }
    element_ = -1;
    return list;
  }

  IValue convert_scalar(const Argument& arg, const c10::Type& type) const {
    switch (type.kind()) {
      case TypeKind::TensorType:
        return at::native::wrapped_scalar_tensor(number(arg, type));
      case TypeKind::NumberType:
        return number(arg, type);
      case TypeKind::IntType:
        return integer(arg, type);
      case TypeKind::FloatType:
        return number(arg, type).toDouble();
      case TypeKind::BoolType:
        return number(arg, type).toBool();
      case TypeKind::AnyType:  // the name of a process group
      case TypeKind::StringType:
        if (const auto* text = arg.as<std::string>()) return *text;
        mismatch(type);
      case TypeKind::DeviceObjType:
        if (const auto* device = arg.as<graph::Device>()) return to_torch(*device);
        mismatch(type);
      default:
        mismatch(type);
    }
  }

  at::Scalar number(const Argument& arg, const c10::Type& type) const {
    if (const auto* b = arg.as<bool>()) return *b;
    if (const auto* i = arg.as<int64_t>()) return *i;
    if (const auto* d = arg.as<double>()) return *d;
    if (const auto* c = arg.as<std::complex<double>>()) return c10::complex<double>(c->real(), c->imag());
    if (const auto* e = arg.as<graph::SymExpr>()) return symbols_.evaluate(*e, node_.name);
    mismatch(type);
  }

  /// Boxed kernels take dtypes, layouts and memory formats as integers.
  IValue integer(const Argument& arg, const c10::Type& type) const {
    if (const auto* dtype = arg.as<graph::DType>()) return static_cast<int64_t>(to_torch(*dtype));
    if (const auto* layout = arg.as<graph::Layout>()) return static_cast<int64_t>(to_torch(*layout));
    if (const auto* format = arg.as<graph::MemoryFormat>()) return static_cast<int64_t>(to_torch(*format));
    if (const auto* d = arg.as<double>(); d != nullptr && *d != static_cast<double>(static_cast<int64_t>(*d)))
      mismatch(type);
    return number(arg, type).toLong();
  }

  const graph::Node& node_;
  const SymbolValues& symbols_;
  BoundCall& call_;
  size_t index_ = 0;
  int64_t element_ = -1;
};

/// The type that the schema wants at a slot, optionals stripped.
c10::TypePtr slot_type(const BoundCall& call, const NodeSlot& slot) {
  c10::TypePtr type = call.callable.schema().arguments()[slot.argument].type();
  const auto strip = [&type] {
    if (const auto* optional = type->castRaw<c10::OptionalType>()) type = optional->getElementType();
  };
  strip();
  if (slot.element >= 0) {
    type = type->castRaw<c10::ListType>()->getElementType();
    strip();
  }
  return type;
}

IValue coerce(IValue value, const c10::Type& type) {
  if (!value.isScalar()) return value;
  if (type.kind() == TypeKind::TensorType) return at::native::wrapped_scalar_tensor(value.toScalar());
  if (type.kind() == TypeKind::FloatType && !value.isDouble()) return value.toScalar().toDouble();
  if (type.kind() == TypeKind::IntType && !value.isInt()) return value.toScalar().toLong();
  return value;
}

}  // namespace

std::optional<Callable> find_callable(std::string_view target) {
  if (std::optional<Callable> native = find_native(target)) return native;
  const size_t first = target.find('.');
  const size_t last = target.rfind('.');
  if (first == std::string_view::npos || last == first) return std::nullopt;
  const std::string name =
      std::string(target.substr(0, first)) + "::" + std::string(target.substr(first + 1, last - first - 1));
  const std::string_view overload = target.substr(last + 1);
  const auto op = c10::Dispatcher::singleton().findSchema({name, overload == "default" ? "" : std::string(overload)});
  if (!op) return std::nullopt;
  return Callable(*op);
}

Callable resolve_callable(const graph::Node& node) {
  if (std::optional<Callable> found = find_callable(node.target)) return *found;
  if (node.target.starts_with("higher_order."))
    throw_unsupported(kStage, "node '" + node.name + "' calls the higher-order operator " + node.target +
                                  ", which has a subgraph; inline the subgraph before running the graph");
  throw_unsupported(kStage, "node '" + node.name + "': no operator " + node.target +
                                " is registered in this libtorch; load the library that defines it");
}

BoundCall bind_call(const graph::Node& node, const SymbolValues& symbols) {
  BoundCall call{.callable = resolve_callable(node), .stack = {}, .slots = {}};
  Binder(node, symbols, call).bind();
  return call;
}

void fill(const BoundCall& call, const NodeSlot& slot, c10::IValue value, torch::jit::Stack& stack) {
  value = coerce(std::move(value), *slot_type(call, slot));
  if (slot.element < 0)
    stack[slot.argument] = std::move(value);
  else
    stack[slot.argument].toList().set(static_cast<size_t>(slot.element), std::move(value));
}

}  // namespace sapwood::interp
