#include "interp/host_ops.h"

#include <cmath>
#include <optional>

#include "base/error.h"

namespace sapwood::interp {
namespace {

using c10::IValue;

constexpr std::string_view kStage = "interp";

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<IValue> on_ints(std::string_view op, int64_t a, int64_t b) {
  if (op == "operator.add") return a + b;
  if (op == "operator.sub") return a - b;
  if (op == "operator.mul") return a * b;
  if (op == "operator.floordiv" && b != 0) return floor_div(a, b);
  if (op == "operator.mod" && b != 0) return a - floor_div(a, b) * b;
  if (op == "operator.truediv" && b != 0) return static_cast<double>(a) / static_cast<double>(b);
  if (op == "torch.sym_max") return std::max(a, b);
  if (op == "torch.sym_min") return std::min(a, b);
  if (op == "operator.eq") return a == b;
  if (op == "operator.ne") return a != b;
  if (op == "operator.lt") return a < b;
  if (op == "operator.le") return a <= b;
  if (op == "operator.gt") return a > b;
  if (op == "operator.ge") return a >= b;
  if (op == "operator.pow" && b >= 0) {
    int64_t power = 1;
    for (int64_t i = 0; i < b; ++i) power *= a;
    return power;
  }
  return std::nullopt;
}

std::optional<IValue> on_doubles(std::string_view op, double a, double b) {
  if (op == "operator.add") return a + b;
  if (op == "operator.sub") return a - b;
  if (op == "operator.mul") return a * b;
  if (op == "operator.truediv") return a / b;
  if (op == "operator.pow") return std::pow(a, b);
  if (op == "torch.sym_max") return std::max(a, b);
  if (op == "torch.sym_min") return std::min(a, b);
  if (op == "operator.eq") return a == b;
  if (op == "operator.ne") return a != b;
  if (op == "operator.lt") return a < b;
  if (op == "operator.le") return a <= b;
  if (op == "operator.gt") return a > b;
  if (op == "operator.ge") return a >= b;
  return std::nullopt;
}

std::optional<IValue> unary(std::string_view op, const IValue& a) {
  if (op == "operator.neg") return a.isInt() ? IValue(-a.toInt()) : IValue(-a.toDouble());
  if (op == "operator.not_" || op == "torch.sym_not") return !a.toScalar().toBool();
  if (op == "math.trunc" || op == "torch.sym_int") return a.toScalar().toLong();
  if (op == "math.ceil") return a.isInt() ? a : IValue(static_cast<int64_t>(std::ceil(a.toDouble())));
  if (op == "math.floor") return a.isInt() ? a : IValue(static_cast<int64_t>(std::floor(a.toDouble())));
  if (op == "torch.sym_float") return a.toScalar().toDouble();
  return std::nullopt;
}

IValue get_entry(const c10::IValue& dict, const std::string& key, const std::string& node_name) {
  const auto entries = dict.toGenericDict();
  const auto found = entries.find(key);
  if (found == entries.end())
    throw_user(kStage, "node '" + node_name + "' takes entry '" + key + "', which isn't there");
  return found->value();
}

IValue get_item(std::span<const IValue> args, const std::string& node_name) {
  if (args.size() == 2 && args[0].isGenericDict() && args[1].isString())
    return get_entry(args[0], args[1].toStringRef(), node_name);
  if (args.size() != 2 || !args[1].isInt())
    throw_user(kStage,
               "node '" + node_name + "' (operator.getitem) needs a tuple or a list and an int, or a dict and a name");
  const bool tuple = args[0].isTuple();
  if (!tuple && !args[0].isList())
    throw_user(kStage,
               "node '" + node_name +
                   "' (operator.getitem) reads a value that is neither a tuple nor a list: " + args[0].tagKind());
  const int64_t size =
      static_cast<int64_t>(tuple ? args[0].toTupleRef().elements().size() : args[0].toListRef().size());
  const int64_t index = args[1].toInt() < 0 ? args[1].toInt() + size : args[1].toInt();
  if (index < 0 || index >= size)
    throw_user(kStage, "node '" + node_name + "' takes element " + std::to_string(args[1].toInt()) + " of " +
                           std::to_string(size));
  return tuple ? args[0].toTupleRef().elements()[static_cast<size_t>(index)]
               : args[0].toListRef()[static_cast<size_t>(index)];
}

}  // namespace

bool is_host_op(std::string_view target) {
  return target.starts_with("operator.") || target.starts_with("torch.sym_") || target.starts_with("math.");
}

c10::IValue call_host_op(std::string_view target, std::span<const c10::IValue> args, const std::string& node_name) {
  if (target == "operator.getitem") return get_item(args, node_name);
  std::optional<IValue> result;
  const auto integral = [](const IValue& v) { return v.isInt() || v.isBool(); };
  if (args.size() == 1 && args[0].isScalar()) result = unary(target, args[0]);
  if (args.size() == 2 && args[0].isScalar() && args[1].isScalar())
    result = integral(args[0]) && integral(args[1])
                 ? on_ints(target, args[0].toScalar().toLong(), args[1].toScalar().toLong())
                 : on_doubles(target, args[0].toScalar().toDouble(), args[1].toScalar().toDouble());
  if (!result)
    throw_unsupported(kStage, "node '" + node_name + "': " + std::string(target) + " isn't implemented for these " +
                                  std::to_string(args.size()) + " operands");
  return *result;
}

}  // namespace sapwood::interp
