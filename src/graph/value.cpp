#include "graph/value.h"

#include <bit>

namespace sapwood::graph {
namespace {

bool same_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

/// Compares two alternatives of the same type.
struct SameArgument {
  const Argument& other;

  template <typename T>
  bool operator()(const T& a) const {
    return equal(a, *other.as<T>());
  }

 private:
  template <typename T>
  static bool equal(const T& a, const T& b) {
    return a == b;
  }
  static bool equal(double a, double b) { return same_bits(a, b); }
  static bool equal(const std::complex<double>& a, const std::complex<double>& b) {
    return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
  }
  static bool equal(const ListArg& a, const ListArg& b) { return a.items == b.items; }
  static bool equal(const TupleArg& a, const TupleArg& b) { return a.items == b.items; }
  static bool equal(const DictArg& a, const DictArg& b) { return a.items == b.items; }
  static bool equal(const SliceArg& a, const SliceArg& b) { return a.bounds == b.bounds; }
  static bool equal(const OperatorArg& a, const OperatorArg& b) { return a.name == b.name; }
  static bool equal(const OpaqueArg& a, const OpaqueArg& b) { return a.repr == b.repr; }
};

struct SameValue {
  const Value& other;

  template <typename T>
  bool operator()(const T& a) const {
    return equal(a, *other.as<T>());
  }

 private:
  template <typename T>
  static bool equal(const T& a, const T& b) {
    return a == b;
  }
  static bool equal(const TupleValue& a, const TupleValue& b) { return a.items == b.items; }
  static bool equal(const ListValue& a, const ListValue& b) { return a.items == b.items; }
  static bool equal(const DictValue& a, const DictValue& b) { return a.items == b.items; }
  static bool equal(const ConstValue& a, const ConstValue& b) { return a.value == b.value; }
};

}  // namespace

Argument Argument::list(ArgumentList items) { return Argument(ListArg{std::move(items)}); }

Argument Argument::ints(const std::vector<int64_t>& items) {
  ArgumentList list;
  list.reserve(items.size());
  for (const int64_t item : items) list.emplace_back(item);
  return Argument(ListArg{std::move(list)});
}

bool operator==(const Argument& a, const Argument& b) {
  return a.value.index() == b.value.index() && std::visit(SameArgument{b}, a.value);
}

SymExpr TensorMeta::numel() const {
  SymExpr product = 1;
  for (const SymExpr& size : shape) product = product * size;
  return product;
}

bool operator==(const Value& a, const Value& b) {
  return a.value.index() == b.value.index() && std::visit(SameValue{b}, a.value);
}

}  // namespace sapwood::graph
