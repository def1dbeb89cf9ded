#include "partition/canonical_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <queue>
#include <tuple>

#include "partition/joint_view.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

constexpr std::string_view kPrefix = "node_";
constexpr int kMaxRefinements = 8;  // rounds over the graph until the hashes of its nodes tell no more
constexpr int kMaxChoices = 32;     // nodes that may be told apart by choosing one of them

/// Hashes of the bodies of higher-order operators, each computed once.
using BodyHashes = std::map<const Graph*, std::string>;

CanonicalNames name_nodes(const Graph& graph, BodyHashes& bodies);

/// What an argument is, apart from which values it mentions and which numbers and texts it holds.
class ArgumentForm {
 public:
  explicit ArgumentForm(std::string& out) : out_(out) {}

  void add(const Argument& argument) {
    std::visit([this](const auto& value) { form(value); }, argument.value);
  }

  void add_all(const graph::ArgumentList& items, char open, char close) {
    out_ += open;
    for (const Argument& item : items) add(item);
    out_ += close;
  }

 private:
  void form(graph::NoneArg) { out_ += 'n'; }
  void form(graph::NodeArg) { out_ += '%'; }
  void form(bool value) { out_ += value ? 'T' : 'F'; }
  void form(int64_t) { out_ += '#'; }
  void form(double) { out_ += '#'; }
  void form(const std::complex<double>&) { out_ += '#'; }
  void form(const graph::SymExpr&) { out_ += '#'; }
  void form(graph::DType value) { out_ += graph::dtype_name(value); }
  void form(const graph::OperatorArg& value) { out_ += "<" + value.name + ">"; }
  void form(const graph::ListArg& value) { add_all(value.items, '[', ']'); }
  void form(const graph::TupleArg& value) { add_all(value.items, '(', ')'); }
  void form(const graph::SliceArg& value) { add_all(value.bounds, ':', ';'); }
  void form(const graph::DictArg& value) {
    out_ += '{';
    for (const auto& [key, item] : value.items) {
      out_ += key + "=";
      add(item);
    }
    out_ += '}';
  }
  template <typename Other>
  void form(const Other&) {
    out_ += '.';
  }

  std::string& out_;
};

/// One mention of a value by a node.
struct Use {
  int32_t node = 0;    ///< position of the other end
  uint64_t label = 0;  ///< hash of the place among the arguments
};

/// A graph by position, without anything that ranks may differ in.
struct Skeleton {
  JointView view;
  std::vector<std::string> own;         ///< what a node is
  std::vector<std::vector<Use>> reads;  ///< in the order of the arguments
  std::vector<std::vector<Use>> readers;
  std::vector<int32_t> by_numbers;  ///< rank of a node among all by its numbers: the least of reasons to come first

  size_t size() const { return own.size(); }
};

std::string placeholder_form(const JointView& view, NodeId id) {
  std::string form = "input " + std::to_string(static_cast<int>(view.role_of(id)));
  const Node& node = view.node(id);
  if (const graph::TensorMeta* tensor = node.tensor())
    return form + " " + std::string(graph::dtype_name(tensor->dtype)) + (tensor->requires_grad ? " grad" : "");
  return form + " " + (node.val ? std::to_string(node.val->value.index()) : "nothing");
}

std::string attribute_form(const Graph& graph, const Node& node, BodyHashes& bodies) {
  if (const auto body = graph.subgraphs.find(node.target); body != graph.subgraphs.end() && body->second) {
    const auto known = bodies.find(body->second.get());
    if (known != bodies.end()) return known->second;
    std::string form = "body " + name_nodes(*body->second, bodies).hash.hex();
    bodies.emplace(body->second.get(), form);
    return form;
  }
  const auto attribute = graph.attributes.find(node.target);
  if (attribute == graph.attributes.end()) return "attribute";
  return "attribute " + std::string(graph::dtype_name(attribute->second.tensor.dtype));
}

/// The item that a getitem takes is no size: ranks agree on it.
void add_item(const Node& node, std::string& form) {
  if (node.target != "operator.getitem" || node.args.size() < 2) return;
  if (const auto* index = node.args[1].as<int64_t>()) form += std::to_string(*index);
  if (const auto* key = node.args[1].as<std::string>()) form += *key;
}

std::string call_form(const Node& node) {
  std::string form = node.target;
  ArgumentForm arguments(form);
  arguments.add_all(node.args, '(', ')');
  for (const auto& [key, argument] : node.kwargs) {
    form += " " + key + "=";
    arguments.add(argument);
  }
  add_item(node, form);
  form += " " + std::to_string(static_cast<int>(node.meta->partitioner_tag));
  form += " " + std::to_string(static_cast<int>(node.meta->recompute));
  return form;
}

/// How many outputs each part has, and how many of them are None.
std::string output_form(const Graph& graph) {
  std::string form = "output";
  int64_t missing[2] = {0, 0};
  const std::vector<NodeId> values = graph.output_values();
  for (int64_t i = 0; i < std::ssize(values); ++i)
    if (values[static_cast<size_t>(i)] == kNoNode) ++missing[i >= graph.num_forward_outputs];
  for (const int64_t count : {graph.num_forward_outputs, std::ssize(values), missing[0], missing[1]})
    form += " " + std::to_string(count);
  return form;
}

std::string own_form(const JointView& view, NodeId id, BodyHashes& bodies) {
  const Node& node = view.node(id);
  switch (node.kind) {
    case NodeKind::kPlaceholder:
      return placeholder_form(view, id);
    case NodeKind::kGetAttr:
      return attribute_form(*view.graph, node, bodies);
    case NodeKind::kCallFunction:
      return call_form(node);
    case NodeKind::kOutput:
      return output_form(*view.graph);
  }
  return {};
}

void add_uses(Skeleton& skeleton, NodeId id) {
  const JointView& view = skeleton.view;
  const Node& node = view.node(id);
  const int32_t at = view.position[static_cast<size_t>(id)];
  const auto add = [&](NodeId read, uint64_t label) {
    const int32_t from = view.position[static_cast<size_t>(read)];
    skeleton.reads[static_cast<size_t>(at)].push_back({from, label});
    skeleton.readers[static_cast<size_t>(from)].push_back({at, label});
  };
  if (node.kind == NodeKind::kOutput) {
    const std::vector<NodeId> values = view.graph->output_values();
    for (int64_t i = 0; i < std::ssize(values); ++i)
      if (const NodeId value = values[static_cast<size_t>(i)]; value != kNoNode)
        add(value, i < view.graph->num_forward_outputs ? 1 : 2);
    return;
  }
  uint64_t place = 0;
  const auto mention = [&](NodeId read) { add(read, place++); };
  for (const Argument& argument : node.args) graph::for_each_node(argument, mention);
  for (const auto& [key, argument] : node.kwargs) graph::for_each_node(argument, mention);
}

void collect_numbers(const Argument& argument, const graph::SymbolTable& symbols, std::vector<int64_t>& numbers) {
  const auto each = [&](const graph::ArgumentList& items) {
    for (const Argument& item : items) collect_numbers(item, symbols, numbers);
  };
  if (const auto* number = argument.as<int64_t>()) numbers.push_back(*number);
  if (const auto* expr = argument.as<graph::SymExpr>()) numbers.push_back(expr->hint(symbols).value_or(0));
  if (const auto* list = argument.as<graph::ListArg>()) each(list->items);
  if (const auto* tuple = argument.as<graph::TupleArg>()) each(tuple->items);
  if (const auto* slice = argument.as<graph::SliceArg>()) each(slice->bounds);
}

/// Numbers among the arguments, then the sizes of the result.
std::vector<int64_t> numbers_of(const Graph& graph, const Node& node) {
  std::vector<int64_t> numbers;
  for (const Argument& argument : node.args) collect_numbers(argument, graph.symbols, numbers);
  for (const auto& [key, argument] : node.kwargs) collect_numbers(argument, graph.symbols, numbers);
  if (const graph::TensorMeta* tensor = node.tensor())
    for (const graph::SymExpr& size : tensor->shape) numbers.push_back(size.hint(graph.symbols).value_or(0));
  return numbers;
}

std::vector<int32_t> rank_by_numbers(const JointView& view) {
  std::vector<std::pair<std::vector<int64_t>, size_t>> sorted;
  for (size_t i = 0; i < view.order.size(); ++i)
    sorted.emplace_back(numbers_of(*view.graph, view.node(view.order[i])), i);
  std::ranges::sort(sorted);
  std::vector<int32_t> ranks(sorted.size(), 0);
  int32_t rank = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i].first != sorted[i - 1].first) ++rank;
    ranks[sorted[i].second] = rank;
  }
  return ranks;
}

Skeleton make_skeleton(const Graph& graph, BodyHashes& bodies) {
  Skeleton skeleton;
  skeleton.view = view_joint(graph, false);
  const size_t count = skeleton.view.order.size();
  skeleton.reads.resize(count);
  skeleton.readers.resize(count);
  for (const NodeId id : skeleton.view.order) skeleton.own.push_back(own_form(skeleton.view, id, bodies));
  for (const NodeId id : skeleton.view.order) add_uses(skeleton, id);
  skeleton.by_numbers = rank_by_numbers(skeleton.view);
  return skeleton;
}

/// Gives every node a colour, a hash of the whole graph as seen from the node.
class Colouring {
 public:
  explicit Colouring(const Skeleton& skeleton) : skeleton_(skeleton) {
    for (const std::string& own : skeleton.own) colours_.push_back(hash_bytes(own));
    refine();
  }

  /// Colours by position; different wherever the graph tells two nodes apart.
  std::vector<uint64_t> run() {
    for (int choice = 0; choice < kMaxChoices; ++choice) {
      const int32_t chosen = first_of_a_tie();
      if (chosen < 0) break;
      uint64_t& colour = colours_[static_cast<size_t>(chosen)];
      colour = hash_mix(colour, static_cast<uint64_t>(choice));
      refine();
    }
    return std::move(colours_);
  }

 private:
  /// Looks towards the output and back until no further nodes are told apart.
  void refine() {
    size_t told_apart = distinct();
    for (int round = 0; round < kMaxRefinements; ++round) {
      for (size_t i = skeleton_.size(); i-- > 0;) mix_in(i, skeleton_.readers[i]);
      for (size_t i = 0; i < skeleton_.size(); ++i) mix_in(i, skeleton_.reads[i]);
      const size_t now = distinct();
      if (now == told_apart && round > 0) return;
      told_apart = now;
    }
  }

  void mix_in(size_t node, const std::vector<Use>& uses) {
    ends_.clear();
    for (const Use& use : uses) ends_.push_back(hash_mix(use.label, colours_[static_cast<size_t>(use.node)]));
    std::ranges::sort(ends_);
    for (const uint64_t end : ends_) colours_[node] = hash_mix(colours_[node], end);
  }

  size_t distinct() const {
    std::vector<uint64_t> sorted = colours_;
    std::ranges::sort(sorted);
    return sorted.size() - std::ranges::unique(sorted).size();
  }

  /// The node with the smallest numbers of those that share the smallest shared colour, -1 if there are none. Twins,
  /// which have the same neighbours at the same places, don't count: they need no choice to be ordered.
  int32_t first_of_a_tie() const {
    std::vector<std::tuple<uint64_t, int32_t, int32_t>> sorted;
    for (size_t i = 0; i < skeleton_.size(); ++i)
      sorted.emplace_back(colours_[i], skeleton_.by_numbers[i], static_cast<int32_t>(i));
    std::ranges::sort(sorted);
    size_t first = 0;  // of the nodes of one colour
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (std::get<0>(sorted[i]) != std::get<0>(sorted[first])) first = i;
      if (first != i && neighbourhood(node_of(sorted[i])) != neighbourhood(node_of(sorted[first])))
        return std::get<2>(sorted[first]);
    }
    return -1;
  }

  static size_t node_of(const std::tuple<uint64_t, int32_t, int32_t>& entry) {
    return static_cast<size_t>(std::get<2>(entry));
  }

  /// Hash of the neighbours by position: tells twins within this graph only.
  uint64_t neighbourhood(size_t node) const {
    uint64_t hash = 0;
    for (const std::vector<Use>* uses : {&skeleton_.reads[node], &skeleton_.readers[node]}) {
      hash = hash_mix(hash, uses->size());
      for (const Use& use : *uses) hash = hash_mix(hash_mix(hash, use.label), static_cast<uint64_t>(use.node));
    }
    return hash;
  }

  const Skeleton& skeleton_;
  std::vector<uint64_t> colours_;
  std::vector<uint64_t> ends_;
};

int kind_rank(NodeKind kind) {
  switch (kind) {
    case NodeKind::kPlaceholder:
      return 0;
    case NodeKind::kGetAttr:
      return 1;
    case NodeKind::kCallFunction:
      return 2;
    case NodeKind::kOutput:
      return 3;
  }
  return 4;
}

/// Orders the nodes by Kahn's algorithm; which of the ready ones comes first depends on what they are.
class CanonicalOrder {
 public:
  CanonicalOrder(const Skeleton& skeleton, const std::vector<uint64_t>& colours)
      : skeleton_(skeleton),
        colours_(colours),
        waits_for_(skeleton.size()),
        counter_(skeleton.size()),
        inputs_(skeleton.size()),
        index_(skeleton.size(), -1) {}

  /// Positions in canonical order.
  std::vector<int32_t> run() {
    const auto later = [this](int32_t a, int32_t b) { return comes_before(b, a); };
    std::priority_queue<int32_t, std::vector<int32_t>, decltype(later)> ready(later);
    for (size_t i = 0; i < skeleton_.size(); ++i) {
      waits_for_[i] = skeleton_.reads[i].size();
      if (waits_for_[i] == 0) ready.push(enter(i));
    }
    std::vector<int32_t> order;
    while (!ready.empty()) {
      const int32_t node = ready.top();
      ready.pop();
      index_[static_cast<size_t>(node)] = static_cast<int32_t>(order.size());
      order.push_back(node);
      for (const Use& use : skeleton_.readers[static_cast<size_t>(node)])
        if (--waits_for_[static_cast<size_t>(use.node)] == 0) ready.push(enter(static_cast<size_t>(use.node)));
    }
    return order;
  }

 private:
  int32_t enter(size_t node) {
    counter_[node] = entered_++;
    for (const Use& use : skeleton_.reads[node]) inputs_[node].push_back(index_[static_cast<size_t>(use.node)]);
    return static_cast<int32_t>(node);
  }

  bool comes_before(int32_t a, int32_t b) const {
    const auto x = static_cast<size_t>(a);
    const auto y = static_cast<size_t>(b);
    const auto key = [&](size_t i) {
      const NodeKind kind = skeleton_.view.node(skeleton_.view.order[i]).kind;
      return std::tuple<int, const std::string&, const std::vector<int32_t>&, uint64_t, int32_t, int64_t>(
          kind_rank(kind), skeleton_.own[i], inputs_[i], colours_[i], skeleton_.by_numbers[i], counter_[i]);
    };
    return key(x) < key(y);
  }

  const Skeleton& skeleton_;
  const std::vector<uint64_t>& colours_;
  std::vector<size_t> waits_for_;  // mentions of values that aren't ordered yet
  std::vector<int64_t> counter_;
  std::vector<std::vector<int32_t>> inputs_;  // canonical indices of what a node reads
  std::vector<int32_t> index_;
  int64_t entered_ = 0;
};

/// Writes the graph down under its canonical names.
Hash128 hash_of(const Skeleton& skeleton, const CanonicalNames& names) {
  std::string text;
  for (const NodeId id : names.order) {
    const auto at = static_cast<size_t>(skeleton.view.position[static_cast<size_t>(id)]);
    text += skeleton.own[at];
    std::vector<std::pair<uint64_t, int32_t>> reads;
    for (const Use& use : skeleton.reads[at]) {
      const NodeId read = skeleton.view.order[static_cast<size_t>(use.node)];
      reads.emplace_back(use.label, names.index[static_cast<size_t>(read)]);
    }
    std::ranges::sort(reads);  // the order of outputs doesn't count
    for (const auto& [label, index] : reads) text += " " + std::to_string(label) + ":" + std::to_string(index);
    text += '\n';
  }
  return hash128_bytes(text);
}

CanonicalNames name_nodes(const Graph& graph, BodyHashes& bodies) {
  const Skeleton skeleton = make_skeleton(graph, bodies);
  const std::vector<uint64_t> colours = Colouring(skeleton).run();
  CanonicalNames names;
  names.index.assign(graph.id_bound(), -1);
  for (const int32_t position : CanonicalOrder(skeleton, colours).run()) {
    const NodeId id = skeleton.view.order[static_cast<size_t>(position)];
    names.index[static_cast<size_t>(id)] = static_cast<int32_t>(names.order.size());
    names.order.push_back(id);
  }
  names.hash = hash_of(skeleton, names);
  return names;
}

}  // namespace

std::string CanonicalNames::name(NodeId id) const {
  return std::string(kPrefix) + std::to_string(index[static_cast<size_t>(id)]);
}

NodeId CanonicalNames::find(std::string_view name) const {
  if (!name.starts_with(kPrefix)) return kNoNode;
  const std::string_view digits = name.substr(kPrefix.size());
  int64_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || number < 0 || number >= std::ssize(order) || std::to_string(number) != digits) return kNoNode;
  return order[static_cast<size_t>(number)];
}

CanonicalNames canonical_names(const Graph& graph) {
  BodyHashes bodies;
  return name_nodes(graph, bodies);
}

}  // namespace sapwood::partition
