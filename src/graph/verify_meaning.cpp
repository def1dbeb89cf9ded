#include <algorithm>
#include <array>

#include "graph/verify_rules.h"

namespace sapwood::graph {
namespace {

/// Targets that need no declaration in `Graph::ops`: Python callables and higher-order operators.
constexpr std::array<std::string_view, 7> kCallablePrefixes{"operator.", "higher_order.", "torch.",  "math.",
                                                            "builtins.", "_operator.",    "sapwood."};

bool is_callable_form(std::string_view target) {
  return std::any_of(kCallablePrefixes.begin(), kCallablePrefixes.end(), [&](std::string_view prefix) {
    return target.size() > prefix.size() && target.starts_with(prefix);
  });
}

/// "namespace.name.overload".
bool is_operator_form(std::string_view target) {
  const size_t first = target.find('.');
  const size_t last = target.rfind('.');
  return first != std::string_view::npos && first > 0 && last > first + 1 && last + 1 < target.size();
}

void check_call(VerifyContext& context, NodeId id) {
  const std::string& target = context.graph[id].target;
  if (is_callable_form(target) || context.outermost.ops.contains(target) || context.graph.ops.contains(target)) return;
  if (!is_operator_form(target)) {
    context.report("call-target", id, "'" + target + "' is not an operator: expected namespace.name.overload");
  } else if (!context.outermost.ops.empty()) {
    // A graph that declares operators declares all of them; graphs that are built by hand need not.
    context.report("undeclared-operator", id, "'" + target + "' is not declared in the graph's ops");
  }
}

size_t item_count(const Value& value) {
  if (const auto* tuple = value.as<TupleValue>()) return tuple->items.size();
  if (const auto* list = value.as<ListValue>()) return list->items.size();
  return 0;
}

bool is_sequence(const Value& value) { return value.as<TupleValue>() || value.as<ListValue>(); }

void check_getitem(VerifyContext& context, NodeId id) {
  const Node& node = context.graph[id];
  const auto* source = node.args.empty() ? nullptr : node.args[0].as<NodeArg>();
  if (node.args.size() != 2 || !node.kwargs.empty() || !source || !context.is_live(source->id)) {
    context.report("getitem-arguments", id, "getitem takes a node and an index");
    return;
  }
  const Shared<Value>& value = context.graph[source->id].val;
  if (value && value->as<DictValue>()) return;  // a dictionary is indexed by name
  const auto* index = node.args[1].as<int64_t>();
  if (!index) {
    context.report("getitem-index", id, "its index is not a constant integer");
    return;
  }
  if (!value) return;
  if (!is_sequence(*value)) {
    context.report("getitem-tuple", id, "takes an item of '" + context.graph[source->id].name + "', which is no tuple");
    return;
  }
  const auto count = static_cast<int64_t>(item_count(*value));
  if (*index < -count || *index >= count)
    context.report("getitem-range", id,
                   "index " + std::to_string(*index) + " of a tuple with " + std::to_string(count) + " items");
}

void check_attribute(VerifyContext& context, NodeId id) {
  const std::string& target = context.graph[id].target;
  if (context.graph.attributes.contains(target) || context.graph.subgraphs.contains(target)) return;
  context.report("attribute-exists", id, "'" + target + "' is neither a subgraph nor an attribute of the graph");
}

bool is_forward(PartitionerTag tag) {
  return tag == PartitionerTag::kForward || tag == PartitionerTag::kMustBeInForward;
}

bool is_tangent(const Node& node) { return node.kind == NodeKind::kPlaceholder && node.target.starts_with("tangents"); }

/// A node of the forward can't wait for an incoming gradient.
void check_tags(VerifyContext& context) {
  std::vector<bool> needs_tangent(context.graph.id_bound(), false);
  for (const NodeId id : context.order) {
    const Node& node = context.graph[id];
    bool needs = is_tangent(node);
    const auto look = [&](NodeId input) {
      needs = needs || (context.is_live(input) && needs_tangent[static_cast<size_t>(input)]);
    };
    for (const Argument& arg : node.args) for_each_node(arg, look);
    for (const auto& [key, arg] : node.kwargs) for_each_node(arg, look);
    needs_tangent[static_cast<size_t>(id)] = needs;
    const bool computed = node.kind == NodeKind::kCallFunction;
    if (needs && computed && is_forward(node.meta->partitioner_tag))
      context.report("forward-reads-tangent", id, "is tagged forward but depends on an incoming gradient");
  }
}

void check_graph_facts(VerifyContext& context) {
  const Graph& graph = context.graph;
  const auto outputs = static_cast<int64_t>(graph.output_values().size());
  if (graph.num_forward_outputs < 0 || graph.num_forward_outputs > outputs)
    context.report("forward-outputs", kNoNode,
                   "num_forward_outputs is " + std::to_string(graph.num_forward_outputs) + ", but the graph has " +
                       std::to_string(outputs) + " outputs");
  const auto placeholders = std::count_if(context.order.begin(), context.order.end(), [&](NodeId id) {
    return graph[id].kind == NodeKind::kPlaceholder && !is_tangent(graph[id]);
  });
  for (const int64_t index : graph.static_lifetime_inputs)
    if (index < 0 || index >= placeholders)
      context.report("static-lifetime", kNoNode,
                     "static lifetime input " + std::to_string(index) + ", but there are " +
                         std::to_string(placeholders) + " primals");
}

}  // namespace

void verify_meaning(VerifyContext& context) {
  for (const NodeId id : context.order) {
    const Node& node = context.graph[id];
    if (node.kind == NodeKind::kGetAttr) check_attribute(context, id);
    if (node.kind != NodeKind::kCallFunction) continue;
    check_call(context, id);
    if (node.target == "operator.getitem") check_getitem(context, id);
  }
  check_tags(context);
  check_graph_facts(context);
}

}  // namespace sapwood::graph
