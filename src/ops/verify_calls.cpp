#include "ops/verify_calls.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "ops/op_table.h"

namespace sapwood::ops {
namespace {

using graph::Argument;
using graph::ArgumentList;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Value;
using graph::Violation;

constexpr size_t kMessagesInError = 5;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// What a schema type allows, without its brackets and question marks.
enum class Kind : uint8_t { kTensor, kInt, kFloat, kScalar, kBool, kString, kDType, kLayout, kDevice, kFormat, kAny };

Kind kind_of(std::string_view type) {
  static const std::unordered_map<std::string_view, Kind> kinds = {
      {"Tensor", Kind::kTensor},    {"int", Kind::kInt},
      {"SymInt", Kind::kInt},       {"float", Kind::kFloat},
      {"SymFloat", Kind::kFloat},   {"Scalar", Kind::kScalar},
      {"number", Kind::kScalar},    {"bool", Kind::kBool},
      {"SymBool", Kind::kBool},     {"str", Kind::kString},
      {"ScalarType", Kind::kDType}, {"Layout", Kind::kLayout},
      {"Device", Kind::kDevice},    {"MemoryFormat", Kind::kFormat}};
  const auto found = kinds.find(type);
  return found == kinds.end() ? Kind::kAny : found->second;
}

/// A node may stand for an argument of this kind, as far as its value is known.
bool accepts_value(Kind kind, const Value& value) {
  if (value.as<graph::OpaqueValue>() || value.as<graph::ConstValue>()) return true;
  const bool is_number =
      value.as<graph::SymIntValue>() || value.as<graph::SymFloatValue>() || value.as<graph::SymBoolValue>();
  switch (kind) {
    case Kind::kTensor:
      return is_number || value.as<graph::TensorMeta>();
    case Kind::kInt:
      return value.as<graph::SymIntValue>() || value.as<graph::SymBoolValue>();
    case Kind::kFloat:
    case Kind::kScalar:
      return is_number || value.as<graph::TensorMeta>();  // a tensor with one element
    case Kind::kBool:
      return value.as<graph::SymBoolValue>() || value.as<graph::SymIntValue>();
    case Kind::kAny:
      return true;
    default:
      return false;
  }
}

bool accepts_constant(Kind kind, const Argument& arg) {
  const bool is_int = arg.as<int64_t>() || arg.as<bool>() || arg.as<graph::SymExpr>();
  switch (kind) {
    case Kind::kTensor:  // numbers become tensors
    case Kind::kScalar:
      return is_int || arg.as<double>() || arg.as<std::complex<double>>();
    case Kind::kInt:
      return is_int;
    case Kind::kFloat:
      return is_int || arg.as<double>();
    case Kind::kBool:
      return arg.as<bool>() || arg.as<graph::SymExpr>();
    case Kind::kString:
      return arg.as<std::string>() != nullptr;
    case Kind::kDType:
      return arg.as<graph::DType>() != nullptr;
    case Kind::kLayout:
      return arg.as<graph::Layout>() != nullptr;
    case Kind::kDevice:
      return arg.as<graph::Device>() != nullptr;
    case Kind::kFormat:
      return arg.as<graph::MemoryFormat>() != nullptr;
    case Kind::kAny:
      return true;
  }
  return false;
}

const ArgumentList* items_of(const Argument& arg) {
  if (const auto* list = arg.as<graph::ListArg>()) return &list->items;
  if (const auto* tuple = arg.as<graph::TupleArg>()) return &tuple->items;
  return nullptr;
}

bool is_sequence(const Value& value) { return value.as<graph::ListValue>() || value.as<graph::TupleValue>(); }

/// Whether `arg` may stand where a schema says `type`: "Tensor?", "SymInt[2]", "Tensor?[]".
bool accepts(std::string_view type, const Argument& arg, const Graph& graph) {
  if (arg.as<graph::OpaqueArg>()) return true;
  if (type.ends_with('?')) {
    if (arg.is_none()) return true;
    type.remove_suffix(1);
  }
  const auto* node = arg.as<graph::NodeArg>();
  if (node && (static_cast<size_t>(node->id) >= graph.id_bound() || !graph[node->id].val)) return true;
  if (type.ends_with(']')) {
    const size_t open = type.rfind('[');
    const std::string_view item = type.substr(0, open);
    const bool has_size = open + 2 < type.size();  // "int[2]" also takes one number
    if (const ArgumentList* items = items_of(arg))
      return std::ranges::all_of(*items, [&](const Argument& a) { return accepts(item, a, graph); });
    if (node && is_sequence(*graph[node->id].val)) return true;
    return has_size && accepts(item, arg, graph);
  }
  const Kind kind = kind_of(type);
  return node ? accepts_value(kind, *graph[node->id].val) : accepts_constant(kind, arg);
}

/// Whether a value may be what a schema calls `type`.
bool returns(std::string_view type, const Value& value) {
  if (value.as<graph::OpaqueValue>() || value.as<graph::ConstValue>()) return true;
  if (value.as<graph::NoneValue>()) return true;  // a result that wasn't asked for, such as a gradient
  if (type.ends_with('?')) type.remove_suffix(1);
  if (type.ends_with(']')) return is_sequence(value);
  return accepts_value(kind_of(type), value);
}

/// The schemas that a graph declares, by target, without those that can't be read.
using Declared = std::unordered_map<std::string_view, std::shared_ptr<const Schema>>;

std::string target_of(const Schema& schema) {
  std::string target = schema.name + "." + (schema.overload.empty() ? "default" : schema.overload);
  return target.replace(target.find("::"), 2, ".");
}

void read_declarations(const Graph& graph, Declared& declared, std::vector<Violation>& found) {
  for (const auto& [target, op] : graph.ops) {
    if (op.schema.empty()) continue;
    try {
      auto schema = std::make_shared<const Schema>(parse_schema(op.schema));
      if (target_of(*schema) == target)
        declared.emplace(target, std::move(schema));
      else
        found.push_back(
            {"schema-text", graph::kNoNode, "operator '" + target + "' is declared as " + quoted(op.schema)});
    } catch (const Error& error) {
      found.push_back({"schema-text", graph::kNoNode,
                       "the declaration of operator '" + target + "' can't be read: " + error.message()});
    }
  }
}

/// The schema of a target in one graph; looked up once.
struct Known {
  std::shared_ptr<const Schema> schema;  ///< null: nothing is known
  size_t positional = 0;                 ///< arguments that may be given by position
};

class CallChecker {
 public:
  CallChecker(const Graph& graph, const Declared& declared, std::vector<Violation>& found)
      : graph_(graph), declared_(declared), found_(found) {}

  void check_all() {
    for (const NodeId id : graph_.order())
      if (graph_[id].kind == graph::NodeKind::kCallFunction) check(id);
  }

 private:
  void report(std::string_view rule, NodeId id, const std::string& what) {
    const Node& node = graph_[id];
    found_.push_back({std::string(rule), id, "node '" + node.name + "' (" + node.target + "): " + what});
  }

  const Known& known(NodeId id) {
    const std::string& target = graph_[id].target;
    const auto [at, is_new] = schemas_.try_emplace(target);
    if (is_new) {
      at->second.schema = find_schema(target);
      if (at->second.schema)
        at->second.positional =
            static_cast<size_t>(std::ranges::count(at->second.schema->arguments, false, &SchemaValue::kwarg_only));
    }
    return at->second;
  }

  std::shared_ptr<const Schema> find_schema(const std::string& target) const {
    if (const OpInfo* row = find_op(target)) return row->schema;
    const auto found = declared_.find(target);
    return found == declared_.end() ? nullptr : found->second;
  }

  void check(NodeId id) {
    const Known& op = known(id);
    if (!op.schema) return;
    check_arguments(id, *op.schema, op.positional);
    if (graph_[id].val) check_value(id, *op.schema, *graph_[id].val);
  }

  void check_arguments(NodeId id, const Schema& schema, size_t positional) {
    const Node& node = graph_[id];
    if (node.args.size() > positional && !schema.is_variadic)
      report("call-arguments", id,
             "has " + std::to_string(node.args.size()) + " positional arguments, but the operator takes " +
                 std::to_string(positional));
    given_.assign(schema.arguments.size(), false);
    for (size_t i = 0; i < std::min(node.args.size(), positional); ++i)
      check_argument(id, schema.arguments[i], node.args[i], i);
    for (const auto& [name, arg] : node.kwargs) {
      const int index = schema.argument_index(name);
      if (index < 0)
        report("call-arguments", id, "the operator has no argument " + quoted(name));
      else if (given_[static_cast<size_t>(index)])
        report("call-arguments", id, "argument " + quoted(name) + " is given twice");
      else
        check_argument(id, schema.arguments[static_cast<size_t>(index)], arg, static_cast<size_t>(index));
    }
    for (size_t i = 0; i < given_.size(); ++i)
      if (!given_[i] && !schema.arguments[i].default_value)
        report("call-arguments", id, "argument " + quoted(schema.arguments[i].name) + " is missing");
  }

  void check_argument(NodeId id, const SchemaValue& declared, const Argument& arg, size_t index) {
    given_[index] = true;
    if (!accepts(declared.type, arg, graph_))
      report("argument-type", id, "argument " + quoted(declared.name) + " must be of type " + quoted(declared.type));
  }

  void check_value(NodeId id, const Schema& schema, const Value& value) {
    const size_t count = schema.returns.size();
    if (value.as<graph::OpaqueValue>()) return;
    if (count == 1) {
      if (!returns(schema.returns[0].type, value))
        report("call-value", id,
               "the operator returns " + quoted(schema.returns[0].type) + ", its value is of another kind");
      return;
    }
    const auto* tuple = value.as<graph::TupleValue>();
    const auto* list = value.as<graph::ListValue>();
    if (count == 0 && value.as<graph::NoneValue>()) return;
    const auto& items = tuple ? tuple->items : list ? list->items : std::vector<Value>{};
    if ((!tuple && !list) || items.size() != count)
      return report("call-value", id,
                    "the operator returns " + std::to_string(count) + " values, its value says otherwise");
    for (size_t i = 0; i < count; ++i)
      if (!returns(schema.returns[i].type, items[i]))
        report(
            "call-value", id,
            "result " + std::to_string(i) + " is " + quoted(schema.returns[i].type) + ", its value is of another kind");
  }

  const Graph& graph_;
  const Declared& declared_;
  std::vector<Violation>& found_;
  std::unordered_map<std::string_view, Known> schemas_;
  std::vector<bool> given_;
};

/// Subgraphs see the declarations of the graphs around them. At most as deep as `graph::verify` went: it reports more.
void check_calls(const Graph& graph, Declared declared, std::vector<Violation>& found) {
  read_declarations(graph, declared, found);
  CallChecker(graph, declared, found).check_all();
  for (const auto& [name, body] : graph.subgraphs) {
    const size_t before = found.size();
    check_calls(*body, declared, found);
    for (size_t i = before; i < found.size(); ++i) found[i].message = "in subgraph '" + name + "': " + found[i].message;
  }
}

}  // namespace

std::vector<Violation> verify_all(const Graph& graph) {
  std::vector<Violation> found = graph::verify(graph);
  if (found.empty()) check_calls(graph, {}, found);  // calls of a graph whose links are broken can't be followed
  return found;
}

void verify_all_or_throw(const Graph& graph, std::string_view stage) {
  const std::vector<Violation> found = ops::verify_all(graph);
  if (found.empty()) return;
  std::string message =
      "graph '" + graph.name + "' isn't sound, " +
      (found.size() == 1 ? "it breaks a rule" : "it breaks rules in " + std::to_string(found.size()) + " places");
  for (size_t i = 0; i < std::min(found.size(), kMessagesInError); ++i)
    message += "; " + found[i].rule + ": " + found[i].message;
  if (found.size() > kMessagesInError) message += "; ... (sapwood verify lists all)";
  throw_user(stage, message);
}

}  // namespace sapwood::ops
