#include "graph/graph.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "graph/names.h"

namespace sapwood::graph {
namespace {

constexpr std::string_view kStage = "graph";
constexpr size_t kLinearScanLimit = 16;  // below this, scanning a list beats hashing

/// Collects ids once each, in order of first mention.
class DistinctIds {
 public:
  DistinctIds() { ids_.reserve(4); }
  void add(NodeId id) {
    if (seen(id)) return;
    ids_.push_back(id);
    if (!table_.empty()) {
      table_.insert(id);
    } else if (ids_.size() > kLinearScanLimit) {
      table_.insert(ids_.begin(), ids_.end());
    }
  }
  bool seen(NodeId id) const {
    if (!table_.empty()) return table_.contains(id);
    return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
  }
  std::vector<NodeId> take() { return std::move(ids_); }

 private:
  std::vector<NodeId> ids_;
  std::unordered_set<NodeId> table_;
};

std::vector<NodeId> distinct_inputs(const Node& node) {
  DistinctIds ids;
  const auto add = [&ids](NodeId id) { ids.add(id); };
  for (const Argument& arg : node.args) for_each_node(arg, add);
  for (const auto& [key, arg] : node.kwargs) for_each_node(arg, add);
  return ids.take();
}

void replace_in(ArgumentList& items, NodeId from, NodeId to);

void replace_in(Argument& arg, NodeId from, NodeId to) {
  if (auto* n = arg.as<NodeArg>()) {
    if (n->id == from) n->id = to;
  } else if (auto* l = arg.as<ListArg>()) {
    replace_in(l->items, from, to);
  } else if (auto* t = arg.as<TupleArg>()) {
    replace_in(t->items, from, to);
  } else if (auto* s = arg.as<SliceArg>()) {
    replace_in(s->bounds, from, to);
  } else if (auto* d = arg.as<DictArg>()) {
    for (auto& [key, item] : d->items) replace_in(item, from, to);
  }
}

void replace_in(ArgumentList& items, NodeId from, NodeId to) {
  for (Argument& item : items) replace_in(item, from, to);
}

/// An argument that isn't a live node of the graph is a defect of whoever made it.
void check_inputs(const Graph& graph, const Node& node, const std::vector<NodeId>& inputs) {
  for (const NodeId input : inputs)
    if (input < 0 || static_cast<size_t>(input) >= graph.id_bound() || graph[input].erased)
      throw_internal(kStage, "node '" + node.name + "' (" + node.target + ") reads node " + std::to_string(input) +
                                 ", which is not in graph '" + graph.name + "'");
}

bool reads(const Node& node, NodeId id) {
  bool found = false;
  const auto check = [&found, id](NodeId input) { found = found || input == id; };
  for (const Argument& arg : node.args) for_each_node(arg, check);
  for (const auto& [key, arg] : node.kwargs) for_each_node(arg, check);
  return found;
}

}  // namespace

Graph::Graph(const Graph& other) { *this = other; }

Graph& Graph::operator=(const Graph& other) {
  if (this == &other) return *this;
  name = other.name;
  producer = other.producer;
  num_forward_outputs = other.num_forward_outputs;
  static_lifetime_inputs = other.static_lifetime_inputs;
  symbols = other.symbols;
  ops = other.ops;
  attributes = other.attributes;
  nodes_ = other.nodes_;
  by_name_ = other.by_name_;
  highest_suffix_ = other.highest_suffix_;
  first_ = other.first_;
  last_ = other.last_;
  insertion_point_ = other.insertion_point_;
  live_ = other.live_;
  std::map<std::string, std::shared_ptr<Graph>, std::less<>> copies;
  for (const auto& [key, body] : other.subgraphs) copies[key] = body ? std::make_shared<Graph>(*body) : nullptr;
  subgraphs = std::move(copies);
  return *this;
}

// Reading.

std::vector<NodeId> Graph::order() const {
  std::vector<NodeId> ids;
  ids.reserve(live_);
  for (NodeId id = first_; id != kNoNode; id = (*this)[id].next) ids.push_back(id);
  return ids;
}

std::vector<NodeId> Graph::placeholders() const {
  std::vector<NodeId> ids;
  for (NodeId id = first_; id != kNoNode; id = (*this)[id].next)
    if ((*this)[id].kind == NodeKind::kPlaceholder) ids.push_back(id);
  return ids;
}

NodeId Graph::find(std::string_view node_name) const { return by_name_.find(nodes_, node_name); }

NodeId Graph::output() const {
  for (NodeId id = last_; id != kNoNode; id = (*this)[id].prev)
    if ((*this)[id].kind == NodeKind::kOutput) return id;
  return kNoNode;
}

std::vector<NodeId> Graph::output_values() const {
  const NodeId out = output();
  if (out == kNoNode || (*this)[out].args.empty()) return {};
  const Argument& arg = (*this)[out].args.front();
  const ArgumentList single{arg};
  const ArgumentList* items = &single;
  if (const auto* l = arg.as<ListArg>()) items = &l->items;
  if (const auto* t = arg.as<TupleArg>()) items = &t->items;
  std::vector<NodeId> values;
  values.reserve(items->size());
  for (const Argument& item : *items) {
    const auto* n = item.as<NodeArg>();
    values.push_back(n ? n->id : kNoNode);
  }
  return values;
}

std::vector<NodeId> Graph::inputs(NodeId id) const { return distinct_inputs((*this)[id]); }

// Building.

NodeId Graph::placeholder(std::string_view node_name, Shared<Value> val) {
  Node n;
  n.kind = NodeKind::kPlaceholder;
  n.name = node_name;
  n.target = node_name;
  n.val = std::move(val);
  return add(std::move(n));
}

NodeId Graph::get_attr(std::string_view node_name, std::string_view target) {
  Node n;
  n.kind = NodeKind::kGetAttr;
  n.name = node_name;
  n.target = target;
  const auto attribute = attributes.find(target);
  if (attribute != attributes.end()) n.val = attribute->second.tensor;
  return add(std::move(n));
}

NodeId Graph::call(std::string_view target, ArgumentList args, Shared<Value> val, std::string_view node_name) {
  Node n;
  n.kind = NodeKind::kCallFunction;
  n.name = node_name.empty() ? unique_name(base_name_of_target(target)) : std::string(node_name);
  n.target = target;
  n.args = std::move(args);
  n.val = std::move(val);
  return add(std::move(n));
}

NodeId Graph::output(const std::vector<NodeId>& values) {
  ArgumentList items;
  items.reserve(values.size());
  for (const NodeId id : values) items.push_back(id == kNoNode ? Argument() : Argument::node(id));
  Node n;
  n.kind = NodeKind::kOutput;
  n.name = unique_name("output");
  n.target = "output";
  n.args.push_back(Argument::list(std::move(items)));
  return add(std::move(n));
}

void Graph::reserve(size_t nodes) {
  nodes_.reserve(nodes);
  by_name_.reserve(nodes);
}

NodeId Graph::add(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  const std::vector<NodeId> inputs = distinct_inputs(node);
  check_inputs(*this, node, inputs);
  if (!by_name_.insert(nodes_, id, node.name))
    throw_internal(kStage,
                   "the name '" + node.name + "' is taken in graph '" + name + "'; ask unique_name for another");
  node.id = id;
  node.users.clear();
  node.erased = false;
  note_suffix(node.name);
  nodes_.push_back(std::move(node));
  link(id);
  add_uses(id, inputs);
  return id;
}

std::string Graph::unique_name(std::string_view wanted) const {
  std::string candidate = legal_name(wanted);
  const bool reserved = is_python_name(candidate);
  if (!reserved && find(candidate) == kNoNode) return candidate;
  const std::string base(split_name(candidate).base);
  const auto known = highest_suffix_.find(base);
  int64_t suffix = known == highest_suffix_.end() ? 0 : known->second;
  do {
    candidate = base + "_" + std::to_string(++suffix);
  } while (find(candidate) != kNoNode);
  return candidate;
}

// Changing.

void Graph::set_args(NodeId id, ArgumentList args) {
  drop_uses(id);
  node(id).args = std::move(args);
  const std::vector<NodeId> inputs = distinct_inputs((*this)[id]);
  check_inputs(*this, (*this)[id], inputs);
  add_uses(id, inputs);
}

void Graph::set_kwargs(NodeId id, std::vector<std::pair<std::string, Argument>> kwargs) {
  drop_uses(id);
  node(id).kwargs = std::move(kwargs);
  const std::vector<NodeId> inputs = distinct_inputs((*this)[id]);
  check_inputs(*this, (*this)[id], inputs);
  add_uses(id, inputs);
}

void Graph::rename(NodeId id, std::string_view new_name) {
  Node& n = node(id);
  if (n.name == new_name) return;
  if (find(new_name) != kNoNode)
    throw_internal(kStage, "cannot rename '" + n.name + "' to '" + std::string(new_name) + "': the name is taken");
  by_name_.erase(nodes_, id);
  n.name = new_name;
  by_name_.insert(nodes_, id, n.name);
  note_suffix(n.name);
}

void Graph::note_suffix(std::string_view node_name) {
  const NameParts parts = split_name(node_name);
  auto known = highest_suffix_.find(parts.base);
  if (known == highest_suffix_.end()) known = highest_suffix_.emplace(parts.base, 0).first;
  known->second = std::max(known->second, parts.suffix.value_or(0));
}

void Graph::replace_all_uses(NodeId from, NodeId to) {
  if (from == to) return;
  const std::vector<NodeId> moved = std::move(node(from).users);
  node(from).users.clear();
  redirect(from, to, moved);
}

void Graph::replace_uses(NodeId from, NodeId to, const std::vector<NodeId>& users) {
  if (from == to) return;
  const std::unordered_set<NodeId> moved(users.begin(), users.end());
  std::erase_if(node(from).users, [&](NodeId user) { return moved.contains(user); });
  redirect(from, to, users);
}

void Graph::redirect(NodeId from, NodeId to, const std::vector<NodeId>& users) {
  for (const NodeId user : users) {
    Node& u = node(user);
    const bool known = reads(u, to);
    replace_in(u.args, from, to);
    for (auto& [key, arg] : u.kwargs) replace_in(arg, from, to);
    if (!known) node(to).users.push_back(user);
  }
}

void Graph::erase(NodeId id) {
  Node& n = node(id);
  if (n.erased) throw_internal(kStage, "node " + std::to_string(id) + " is erased twice");
  if (!n.users.empty())
    throw_internal(kStage, "cannot erase '" + n.name + "': '" + (*this)[n.users.front()].name +
                               "' still reads it; call replace_all_uses first");
  drop_uses(id);
  if (insertion_point_ == id) insertion_point_ = n.next;
  unlink(id);
  by_name_.erase(nodes_, id);
  n.args.clear();
  n.kwargs.clear();
  n.val.reset();
  n.meta.reset();
  n.erased = true;
}

void Graph::move_before(NodeId id, NodeId before) {
  if (id == before || (*this)[id].next == before) return;
  unlink(id);
  const NodeId saved = insertion_point_;
  insertion_point_ = before;
  link(id);
  insertion_point_ = saved;
}

void Graph::set_user_order(NodeId id, std::vector<NodeId> users) {
  std::vector<NodeId> wanted = users;
  std::vector<NodeId> present = node(id).users;
  std::sort(wanted.begin(), wanted.end());
  std::sort(present.begin(), present.end());
  if (wanted != present)
    throw_internal(kStage, "the new user order of '" + (*this)[id].name + "' is not a permutation of its users");
  node(id).users = std::move(users);
}

void Graph::link(NodeId id) {
  Node& n = node(id);
  n.next = insertion_point_;
  n.prev = insertion_point_ == kNoNode ? last_ : (*this)[insertion_point_].prev;
  (n.prev == kNoNode ? first_ : node(n.prev).next) = id;
  (n.next == kNoNode ? last_ : node(n.next).prev) = id;
  ++live_;
}

void Graph::unlink(NodeId id) {
  Node& n = node(id);
  (n.prev == kNoNode ? first_ : node(n.prev).next) = n.next;
  (n.next == kNoNode ? last_ : node(n.next).prev) = n.prev;
  n.prev = kNoNode;
  n.next = kNoNode;
  --live_;
}

void Graph::add_uses(NodeId user, const std::vector<NodeId>& inputs) {
  for (const NodeId input : inputs) node(input).users.push_back(user);
}

void Graph::drop_uses(NodeId user) {
  for (const NodeId input : distinct_inputs((*this)[user])) {
    std::vector<NodeId>& users = node(input).users;
    // From the back: passes that erase nodes go backwards, so the user is usually among the last.
    const auto it = std::find(users.rbegin(), users.rend(), user);
    if (it != users.rend()) users.erase(std::next(it).base());
  }
}

}  // namespace sapwood::graph
