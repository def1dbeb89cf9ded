#include <algorithm>
#include <unordered_map>

#include "graph/names.h"
#include "graph/verify_rules.h"

namespace sapwood::graph {
namespace {

template <typename Visitor>
void for_each_input(const Node& node, Visitor&& visit) {
  for (const Argument& arg : node.args) for_each_node(arg, visit);
  for (const auto& [key, arg] : node.kwargs) for_each_node(arg, visit);
}

void check_names(VerifyContext& context) {
  std::unordered_map<std::string_view, NodeId> seen;
  for (const NodeId id : context.order) {
    const std::string& name = context.graph[id].name;
    if (!is_legal_name(name))
      context.report("valid-name", id, "'" + name + "' is not an identifier; legal_name makes one of it");
    const auto [first, fresh] = seen.emplace(name, id);
    if (!fresh) {
      context.report("unique-name", id, "another node before it has the same name");
    } else if (context.graph.find(name) != id) {
      context.report("name-index", id, "find() does not lead to this node");
    }
  }
}

/// Arguments that are nodes of the graph; returns whether all are, as later checks index by them.
bool check_ids(VerifyContext& context) {
  bool sound = true;
  for (const NodeId id : context.order) {
    for_each_input(context.graph[id], [&](NodeId input) {
      if (context.is_live(input)) return;
      sound = false;
      context.report("argument-exists", id, "reads node " + std::to_string(input) + ", which is not in the graph");
    });
  }
  return sound;
}

void check_order(VerifyContext& context) {
  for (const NodeId id : context.order) {
    for_each_input(context.graph[id], [&](NodeId input) {
      if (context.position[static_cast<size_t>(input)] >= context.position[static_cast<size_t>(id)])
        context.report("defined-before-use", id, "reads '" + context.graph[input].name + "', which is not before it");
    });
  }
}

std::string names_of(const Graph& graph, const std::vector<NodeId>& ids) {
  std::string text;
  for (const NodeId id : ids) {
    const bool known = id >= 0 && static_cast<size_t>(id) < graph.id_bound();
    text += (text.empty() ? "" : ", ") + (known ? graph[id].name : std::to_string(id));
  }
  return "[" + text + "]";
}

void check_users(VerifyContext& context) {
  std::vector<std::vector<NodeId>> readers(context.graph.id_bound());
  for (const NodeId id : context.order) {
    for_each_input(context.graph[id], [&](NodeId input) {
      std::vector<NodeId>& list = readers[static_cast<size_t>(input)];
      if (list.empty() || list.back() != id) list.push_back(id);  // mentions of one reader come together
    });
  }
  for (const NodeId id : context.order) {
    std::vector<NodeId> users = context.graph[id].users;
    std::vector<NodeId>& expected = readers[static_cast<size_t>(id)];
    std::sort(users.begin(), users.end());
    std::sort(expected.begin(), expected.end());
    if (users != expected)
      context.report("users-mirror-arguments", id,
                     "its users are " + names_of(context.graph, users) + ", but " + names_of(context.graph, expected) +
                         " read it");
  }
}

/// An item of a tuple that is an input. PyTorch's backward graphs have such between their placeholders.
bool takes_input_apart(const Graph& graph, const Node& node) {
  if (!node.is_call("operator.getitem") || node.args.empty()) return false;
  const auto* source = node.args[0].as<NodeArg>();
  return source && source->id >= 0 && static_cast<size_t>(source->id) < graph.id_bound() &&
         graph[source->id].kind == NodeKind::kPlaceholder;
}

void check_placeholders(VerifyContext& context) {
  bool others = false;
  for (const NodeId id : context.order) {
    const Node& node = context.graph[id];
    if (node.kind == NodeKind::kPlaceholder) {
      // PyTorch adds the gradient of an effect token behind everything else.
      const bool is_late_token = node.name.find("tangents_token") != std::string::npos;
      if (others && !is_late_token)
        context.report("placeholders-first", id, "comes after a node that is not a placeholder");
      if (!node.args.empty() || !node.kwargs.empty())
        context.report("placeholder-arguments", id, "a placeholder takes no arguments");
    } else {
      others = others || !takes_input_apart(context.graph, node);
    }
    if (node.kind == NodeKind::kGetAttr && (!node.args.empty() || !node.kwargs.empty()))
      context.report("attribute-arguments", id, "an attribute takes no arguments");
  }
}

bool is_output_value(const Argument& arg, bool in_subgraph) {
  if (arg.as<NodeArg>() || arg.is_none()) return true;
  return in_subgraph && (arg.as<int64_t>() || arg.as<bool>() || arg.as<double>());  // a body may return a constant
}

void check_output_arguments(VerifyContext& context, NodeId id) {
  const Node& node = context.graph[id];
  const ArgumentList* items = nullptr;
  if (node.args.size() == 1 && node.kwargs.empty()) {
    if (const auto* list = node.args[0].as<ListArg>()) items = &list->items;
    if (const auto* tuple = node.args[0].as<TupleArg>()) items = &tuple->items;
  }
  if (!items) {
    context.report("output-arguments", id, "its arguments must be one list of the values that the graph returns");
    return;
  }
  for (size_t i = 0; i < items->size(); ++i)
    if (!is_output_value((*items)[i], context.is_subgraph()))
      context.report("output-arguments", id, "output " + std::to_string(i) + " is neither a node nor None");
}

void check_output(VerifyContext& context) {
  NodeId output = kNoNode;
  for (const NodeId id : context.order) {
    if (context.graph[id].kind != NodeKind::kOutput) continue;
    if (output != kNoNode) context.report("one-output", id, "is a second output node");
    output = id;
  }
  if (output == kNoNode) {
    context.report("one-output", kNoNode, "the graph has no output node; end it with Graph::output");
    return;
  }
  if (output != context.graph.last()) context.report("output-last", output, "is not the last node");
  check_output_arguments(context, output);
}

}  // namespace

bool verify_links(VerifyContext& context) {
  const Graph& graph = context.graph;
  context.position.assign(graph.id_bound(), VerifyContext::kNowhere);
  const auto broken = [&context](NodeId id, const std::string& what) {
    context.report("link-list", id, what);
    return false;
  };
  NodeId previous = kNoNode;
  for (NodeId id = graph.first(); id != kNoNode; previous = id, id = graph[id].next) {
    if (id < 0 || static_cast<size_t>(id) >= graph.id_bound())
      return broken(previous, "the node after it is " + std::to_string(id) + ", which does not exist");
    if (context.position[static_cast<size_t>(id)] != VerifyContext::kNowhere)
      return broken(id, "the links from node to node run in a circle");
    if (graph[id].erased) return broken(id, "is erased and still in the list");
    if (graph[id].id != id) return broken(id, "says that its id is " + std::to_string(graph[id].id));
    if (graph[id].prev != previous) return broken(id, "its link backwards does not mirror the link forwards");
    context.position[static_cast<size_t>(id)] = context.order.size();
    context.order.push_back(id);
  }
  if (graph.last() != previous) return broken(previous, "is the end of the list, but last() is another node");
  if (graph.size() != context.order.size())
    return broken(kNoNode, "size() is " + std::to_string(graph.size()) + ", but " +
                               std::to_string(context.order.size()) + " nodes are linked");
  return true;
}

void verify_structure(VerifyContext& context) {
  check_names(context);
  check_placeholders(context);
  check_output(context);
  if (!check_ids(context)) return;
  check_order(context);
  check_users(context);
}

}  // namespace sapwood::graph
