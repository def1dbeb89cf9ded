#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/sym.h"
#include "graph/types.h"

namespace sapwood::graph {

/// Index of a node in its graph. Stays valid until the node is erased; never reused.
using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

struct Argument;
using ArgumentList = std::vector<Argument>;

struct NoneArg {
  friend bool operator==(NoneArg, NoneArg) = default;
};
struct NodeArg {
  NodeId id = kNoNode;
  friend bool operator==(NodeArg, NodeArg) = default;
};
struct ListArg {
  ArgumentList items;
};
struct TupleArg {
  ArgumentList items;
};
struct DictArg {
  std::vector<std::pair<std::string, Argument>> items;
};
struct SliceArg {
  ArgumentList bounds;
};  ///< start, stop, step
struct OperatorArg {
  std::string name;
};  ///< an operator passed as an argument
struct OpaqueArg {
  std::string repr;
};  ///< printable, comparable, not executable

/// One argument of a node. Int, float and bool are different values: `3` is not `3.0`.
struct Argument {
  using Storage =
      std::variant<NoneArg, NodeArg, bool, int64_t, double, std::string, std::complex<double>, DType, Device, Layout,
                   MemoryFormat, SymExpr, ListArg, TupleArg, DictArg, SliceArg, OperatorArg, OpaqueArg>;
  Storage value;

  Argument() = default;
  template <typename T>
  Argument(T v) : value(std::move(v)) {}               // NOLINT(google-explicit-constructor)
  Argument(int v) : value(static_cast<int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
  Argument(const char* v) : value(std::string(v)) {}   // NOLINT(google-explicit-constructor)
  static Argument node(NodeId id) { return Argument(NodeArg{id}); }
  static Argument list(ArgumentList items);
  static Argument ints(const std::vector<int64_t>& items);

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  T* as() {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return std::holds_alternative<NoneArg>(value); }
};

/// Structural equality; floats compare by bits, so that NaN equals itself and -0.0 differs from 0.0.
bool operator==(const Argument& a, const Argument& b);

/// Calls `visit(NodeId)` for every node that `arg` mentions, in order, with repetitions.
template <typename Visitor>
void for_each_node(const Argument& arg, Visitor&& visit) {
  if (const auto* n = arg.as<NodeArg>()) return visit(n->id);
  const auto each = [&](const ArgumentList& items) {
    for (const Argument& a : items) for_each_node(a, visit);
  };
  if (const auto* l = arg.as<ListArg>()) return each(l->items);
  if (const auto* t = arg.as<TupleArg>()) return each(t->items);
  if (const auto* s = arg.as<SliceArg>()) return each(s->bounds);
  if (const auto* d = arg.as<DictArg>())
    for (const auto& [key, a] : d->items) for_each_node(a, visit);
}

/// What is known of a tensor. Sizes, strides and the offset are in elements, `storage_bytes` in bytes.
struct TensorMeta {
  DType dtype = DType::kFloat32;
  Device device;
  Layout layout = Layout::kStrided;
  bool requires_grad = false;
  std::vector<SymExpr> shape;
  std::optional<std::vector<SymExpr>> stride;  ///< none for layouts without storage
  std::optional<SymExpr> offset;
  std::optional<int32_t> storage;  ///< tensors with equal numbers share an untyped storage
  std::optional<SymExpr> storage_bytes;
  std::string subclass;  ///< name of a tensor subclass, empty for a plain tensor

  SymExpr numel() const;
  friend bool operator==(const TensorMeta&, const TensorMeta&) = default;
};

struct Value;
struct NoneValue {
  friend bool operator==(NoneValue, NoneValue) = default;
};  ///< metadata says None (an op without result)
struct SymIntValue {
  SymExpr expr;
  friend bool operator==(const SymIntValue&, const SymIntValue&) = default;
};
struct SymFloatValue {
  std::string expr;
  std::optional<double> hint;
  friend bool operator==(const SymFloatValue&, const SymFloatValue&) = default;
};
struct SymBoolValue {
  SymExpr expr;
  friend bool operator==(const SymBoolValue&, const SymBoolValue&) = default;
};
struct TupleValue {
  std::vector<Value> items;
};
struct ListValue {
  std::vector<Value> items;
};
struct DictValue {
  std::vector<std::pair<std::string, Value>> items;
};
struct ConstValue {
  Argument value;
};
struct OpaqueValue {
  std::string repr;
  friend bool operator==(const OpaqueValue&, const OpaqueValue&) = default;
};

/// What a node yields.
struct Value {
  std::variant<NoneValue, TensorMeta, SymIntValue, SymFloatValue, SymBoolValue, TupleValue, ListValue, DictValue,
               ConstValue, OpaqueValue>
      value;

  Value() = default;
  template <typename T>
  Value(T v) : value(std::move(v)) {}  // NOLINT(google-explicit-constructor)
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  T* as() {
    return std::get_if<T>(&value);
  }
};

bool operator==(const Value& a, const Value& b);

}  // namespace sapwood::graph
