#include "check/part_reader.h"

#include <algorithm>

#include "check/difference.h"
#include "graph/verify.h"

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

std::vector<NodeId> form_mentions(const CallForm& form) {
  std::vector<NodeId> found;
  const auto add = [&](NodeId read) { found.push_back(read); };
  for (const graph::Argument& argument : form.args) graph::for_each_node(argument, add);
  for (const auto& [name, argument] : *form.kwargs)
    if (name != form.left_out) graph::for_each_node(argument, add);
  return found;
}

bool same_constant(const Graph& a, const Graph& b, const std::string& target) {
  const auto tensor_a = a.attributes.find(target);
  const auto tensor_b = b.attributes.find(target);
  if ((tensor_a == a.attributes.end()) != (tensor_b == b.attributes.end())) return false;
  if (tensor_a != a.attributes.end() &&
      (tensor_a->second.tensor != tensor_b->second.tensor || tensor_a->second.values != tensor_b->second.values))
    return false;
  const auto body_a = a.subgraphs.find(target);
  const auto body_b = b.subgraphs.find(target);
  if ((body_a == a.subgraphs.end()) != (body_b == b.subgraphs.end())) return false;
  return body_a == a.subgraphs.end() || body_a->second == body_b->second ||
         graph::structural_hash(*body_a->second) == graph::structural_hash(*body_b->second);
}

}  // namespace

std::string_view base_name(std::string_view name) {
  for (const std::string_view suffix : {"_recomputed", "_recompute"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

PartReader::PartReader(PairContext& context, const Graph& part, Part which, const PartReader* before)
    : context_(context),
      part_(part),
      which_(which),
      before_(before),
      value_(part.id_bound(), kNoValue),
      cells_(part.id_bound()),
      taken_(context.facts.graph.id_bound(), 0),
      marks_(mark_quantisation(context, part, which)) {}

int32_t PartReader::new_cell(Cell cell) {
  memory_.push_back(cell);
  return static_cast<int32_t>(memory_.size()) - 1;
}

int32_t PartReader::external_cell(int32_t storage) {
  const auto [entry, is_new] = external_.try_emplace(storage, -1);
  if (!is_new) return entry->second;
  Cell cell;
  if (before_) {
    const auto earlier = before_->external_.find(storage);
    if (earlier != before_->external_.end()) cell = before_->memory_[static_cast<size_t>(earlier->second)];
  }
  cell.own = false;
  return entry->second = new_cell(cell);
}

void PartReader::bind_memory_of_joint(NodeId placeholder, NodeId joint) {
  for (const int32_t storage : context_.facts.storages[JointFacts::at(joint)])
    cells_[JointFacts::at(placeholder)].push_back(external_cell(storage));
}

void PartReader::bind_memory_of_before(NodeId placeholder, NodeId node) {
  for (const int32_t earlier : before_->cells_[JointFacts::at(node)]) {
    const auto [entry, is_new] = handed_over_.try_emplace(earlier, -1);
    if (is_new) {
      Cell cell = before_->memory_[static_cast<size_t>(earlier)];
      cell.own = false;
      entry->second = new_cell(cell);
    }
    cells_[JointFacts::at(placeholder)].push_back(entry->second);
  }
}

void PartReader::read() {
  for (const NodeId id : part_.order()) {
    if (part_[id].kind == graph::NodeKind::kGetAttr) read_constant(id);
    if (part_[id].kind == graph::NodeKind::kCallFunction) read_call(id);
  }
}

void PartReader::read_constant(NodeId id) {
  const std::string& target = part_[id].target;
  const ValueId value = context_.table.constant(target);
  if (value == kNoValue || !same_constant(context_.facts.graph, part_, target)) {
    context_.findings.add(kNodeFromJoint, place(id), "The constant '" + target + "' isn't that of the joint graph.",
                          "Copy the joint graph's constants unchanged.");
  }
  bind(id, value);
  if (value != kNoValue) bind_memory_of_joint(id, context_.table.node_of(value));
}

void PartReader::read_call(NodeId id) {
  const Node& node = part_[id];
  if (node.target.starts_with("streams.")) return bind(id, context_.derive({DerivedKind::kInside, kNoValue, 0}));
  const std::vector<NodeId> read = mentions(node);
  if (std::ranges::any_of(read, [&](NodeId r) { return value_of(r) == kNoValue; })) return recover(id);
  if (read_marked(id)) return;
  if (node.target == "higher_order.run_and_save_rng_state") return read_random(id, RunKind::kStateSaved, 0);
  if (node.target == "higher_order.run_with_rng_state") return read_random(id, RunKind::kReplayed, 1);
  if (node.target == "higher_order.graphsafe_run_with_rng_state") return read_random(id, RunKind::kOwnGenerator, 0);
  if (std::ranges::any_of(read, [&](NodeId r) { return context_.derived(value_of(r)) != nullptr; })) {
    if (read_derived(id)) return;
    const auto stray = std::ranges::find_if(read, [&](NodeId r) { return context_.derived(value_of(r)) != nullptr; });
    context_.findings.add(kInsertionPaired, place(id),
                          "'" + node.name + "' reads '" + part_[*stray].name + "', which isn't the value itself but " +
                              context_.name_of(value_of(*stray)) + ".",
                          "Bring the value back into its own form before it is read.");
    return recover(id);
  }
  if (is_offload_name(node.name) && start_offload(id)) return;
  if (read_snapshot(id)) return;
  if (identify(id, form_of(node)) || start_offload(id)) return;
  report_unknown(id);
  recover(id);
}

std::string PartReader::key_of(const CallForm& form) const {
  return call_key(form, [this](NodeId read) { return value_of(read); });
}

bool PartReader::identify(NodeId id, const CallForm& form) {
  const std::string call = key_of(form);
  const std::vector<NodeId>* occurrences = context_.table.occurrences(call);
  if (!occurrences) return identify_pure(id, form, call);
  accept_run(id, choose(*occurrences, call, id), form, {});
  return true;
}

bool PartReader::identify_pure(NodeId id, const CallForm& form, const std::string& call) {
  const ValueId similar = context_.table.find_in_any_state(call);
  if (similar == kNoValue) return false;
  const bool looks_into_memory = !context_.facts.reads[JointFacts::at(context_.table.node_of(similar))].empty();
  const ValueId value = context_.table.find(call, looks_into_memory ? memory_key(writers(form)) : std::string());
  if (value != kNoValue) {
    accept(id, value, form);
    return true;
  }
  report_late_read(id, context_.table.node_of(similar));
  recover(id);
  if (value_of(id) == kNoValue) accept(id, similar, form);
  return true;
}

/// The occurrence that the name speaks of, else the first needed one that is left; if none is left, the first once
/// more.
NodeId PartReader::choose(const std::vector<NodeId>& occurrences, const std::string& call, NodeId id) {
  const NodeId named = context_.facts.graph.find(base_name(part_[id].name));
  NodeId chosen = named != kNoNode && context_.facts.contains(occurrences, named) ? named : kNoNode;
  size_t& next = claims_[call].next;
  while (chosen == kNoNode && next < occurrences.size()) {
    const NodeId candidate = occurrences[next++];
    const bool is_named = part_.find(context_.facts.node(candidate).name) != kNoNode;
    const bool is_needed = context_.facts.live[JointFacts::at(candidate)] != 0;
    if (!taken_[JointFacts::at(candidate)] && !is_named && is_needed) chosen = candidate;
  }
  if (chosen == kNoNode) chosen = occurrences.front();
  taken_[JointFacts::at(chosen)] = 1;
  return chosen;
}

void PartReader::accept_run(NodeId id, NodeId joint, const CallForm& form, const Run& run) {
  const size_t at = JointFacts::at(joint);
  std::vector<NodeId> expected;
  for (const MemoryRead& read : context_.facts.reads[at]) expected.push_back(read.writer);
  const bool repeats_a_write = context_.facts.effect_of(joint) == Effect::kMutation && context_.has_run[at];
  const bool reads_memory = !expected.empty();
  if (reads_memory && memory_key(writers(form)) != memory_key(expected) && !repeats_a_write)
    report_late_read(id, joint);
  Run made = run;
  made.joint = joint;
  made.part = which_;
  made.node = part_[id].name;
  const std::vector<int32_t> written = written_cells(joint, form);
  made.on_own_memory = !written.empty() && std::ranges::all_of(written, [&](int32_t cell) {
    return memory_[static_cast<size_t>(cell)].own;
  });
  for (const int32_t cell : written) memory_[static_cast<size_t>(cell)].writer = joint;
  context_.runs.push_back(made);
  context_.has_run[at] = 1;
  accept(id, context_.table.value_of(joint), form);
}

void PartReader::accept(NodeId id, ValueId value, const CallForm& form) {
  bind(id, value);
  const NodeId joint = context_.table.node_of(value);
  const std::vector<NodeId> read = form_mentions(form);
  auto& cells = cells_[JointFacts::at(id)];
  cells.clear();
  for (const int32_t storage : context_.facts.storages[JointFacts::at(joint)]) {
    const int32_t cell = cell_of(joint, storage, read);
    cells.push_back(cell >= 0 ? cell : new_cell({kNoNode, true}));
  }
}

/// The cell in which a call finds the memory that the joint graph calls `storage`; -1 if no argument lies in it.
int32_t PartReader::cell_of(NodeId joint, int32_t storage, const std::vector<NodeId>& read) const {
  const std::vector<NodeId> joint_read = mentions(context_.facts.node(joint));
  for (size_t i = 0; i < std::min(joint_read.size(), read.size()); ++i) {
    const auto& storages = context_.facts.storages[JointFacts::at(joint_read[i])];
    const auto& cells = cells_[JointFacts::at(read[i])];
    const auto k = static_cast<size_t>(std::ranges::find(storages, storage) - storages.begin());
    if (k < storages.size() && k < cells.size()) return cells[k];
  }
  return -1;
}

std::vector<int32_t> PartReader::written_cells(NodeId joint, const CallForm& form) const {
  std::vector<int32_t> written;
  const std::vector<NodeId> read = form_mentions(form);
  for (const int32_t storage : context_.facts.writes[JointFacts::at(joint)])
    if (const int32_t cell = cell_of(joint, storage, read); cell >= 0) written.push_back(cell);
  return written;
}

/// Who wrote to the memory that the arguments lie in, in order of first mention.
std::vector<NodeId> PartReader::writers(const CallForm& form) const {
  std::vector<int32_t> seen;
  std::vector<NodeId> found;
  for (const NodeId read : form_mentions(form)) {
    for (const int32_t cell : cells_[JointFacts::at(read)]) {
      if (std::ranges::find(seen, cell) != seen.end()) continue;
      seen.push_back(cell);
      found.push_back(memory_[static_cast<size_t>(cell)].writer);
    }
  }
  return found;
}

void PartReader::recover(NodeId id) {
  const NodeId joint = context_.facts.graph.find(base_name(part_[id].name));
  const bool is_value = joint != kNoNode && context_.table.value_of(joint) != kNoValue;
  if (!is_value) return;
  accept(id, context_.table.value_of(joint), form_of(part_[id]));
  const bool same_call = context_.facts.has_identity(joint) && part_[id].target == context_.facts.node(joint).target;
  if (!same_call || context_.facts.effect_of(joint) == Effect::kMutation) return;
  context_.runs.push_back({.joint = joint, .part = which_, .node = part_[id].name});
  context_.has_run[JointFacts::at(joint)] = 1;
}

void PartReader::report_late_read(NodeId id, NodeId joint) {
  context_.findings.add(kMutation, place(id),
                        "'" + part_[id].name + "' reads memory that is in another state than when '" +
                            context_.facts.node(joint).name + "' of the joint graph reads it.",
                        "Save what is read before the write, or copy it.");
}

void PartReader::report_unknown(NodeId id) {
  const Node& node = part_[id];
  const ops::OpInfo info = ops::describe(part_, node);
  const bool draws = ops::draws_numbers(info, node);
  const NodeId joint = context_.facts.graph.find(base_name(node.name));
  std::string message = "'" + node.name + "' (" + node.target + ") computes a value that the joint graph doesn't have";
  if (joint != kNoNode) message += ": " + first_difference(context_, *this, id, joint);
  const std::string_view rule = draws && joint == kNoNode ? kRandomOnce : kNodeFromJoint;
  context_.findings.add(rule, place(id), message + ".", "Copy the node of the joint graph with its arguments.");
}

}  // namespace sapwood::check
