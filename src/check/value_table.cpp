#include "check/value_table.h"

#include <algorithm>
#include <cstring>

namespace sapwood::check {
namespace {

using graph::Argument;
using graph::NodeId;

/// Writes arguments as bytes: a letter for the type, then the value; texts and lists say how long they are.
class KeyWriter {
 public:
  explicit KeyWriter(const std::function<ValueId(NodeId)>& value_of) : value_of_(value_of) {}

  void text(std::string_view value) {
    number(value.size());
    out.append(value);
  }

  template <typename T>
  void number(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }

  void list(std::span<const Argument> items) {
    number(items.size());
    for (const Argument& item : items) argument(item);
  }

  void argument(const Argument& argument) {
    out.push_back(static_cast<char>('a' + argument.value.index()));
    std::visit([this](const auto& value) { write(value); }, argument.value);
  }

  std::string out;

 private:
  void write(graph::NoneArg) {}
  void write(graph::NodeArg value) { number(value_of_(value.id)); }
  void write(bool value) { out.push_back(value ? '1' : '0'); }
  void write(int64_t value) { number(value); }
  void write(double value) { number(value); }
  void write(const std::string& value) { text(value); }
  void write(std::complex<double> value) {
    number(value.real());
    number(value.imag());
  }
  void write(graph::DType value) { number(value); }
  void write(const graph::Device& value) { text(value.str()); }
  void write(graph::Layout value) { number(value); }
  void write(graph::MemoryFormat value) { number(value); }
  void write(const graph::SymExpr& value) { text(value.str()); }
  void write(const graph::ListArg& value) { list(value.items); }
  void write(const graph::TupleArg& value) { list(value.items); }
  void write(const graph::SliceArg& value) { list(value.bounds); }
  void write(const graph::DictArg& value) {
    number(value.items.size());
    for (const auto& [key, item] : value.items) {
      text(key);
      argument(item);
    }
  }
  void write(const graph::OperatorArg& value) { text(value.name); }
  void write(const graph::OpaqueArg& value) { text(value.repr); }

  const std::function<ValueId(NodeId)>& value_of_;
};

}  // namespace

CallForm form_of(const graph::Node& node) { return {node.target, node.args, &node.kwargs, {}}; }

std::string call_key(const CallForm& form, const std::function<ValueId(NodeId)>& value_of) {
  KeyWriter writer(value_of);
  writer.text(form.target);
  writer.list(form.args);
  const auto counts = [&](const auto& entry) { return entry.first != form.left_out; };
  writer.number(std::ranges::count_if(*form.kwargs, counts));
  for (const auto& [name, argument] : *form.kwargs) {
    if (name == form.left_out) continue;
    writer.text(name);
    writer.argument(argument);
  }
  return std::move(writer.out);
}

std::string memory_key(const std::vector<NodeId>& writers) {
  std::string key;
  bool written = false;
  for (const NodeId writer : writers) {
    written = written || writer != graph::kNoNode;
    key += '@' + std::to_string(writer);
  }
  return written ? key : std::string();
}

ValueTable::ValueTable(const JointFacts& facts) : value_(facts.graph.id_bound(), kNoValue) {
  calls_.reserve(facts.order.size());
  for (const NodeId id : facts.order) {
    const size_t at = JointFacts::at(id);
    switch (facts.role_of(id)) {
      case Role::kOutput:
        break;
      case Role::kCall:
        number_call(facts, id);
        break;
      case Role::kAttribute: {
        const auto [entry, is_new] = constants_.try_emplace(facts.node(id).target, kNoValue);
        value_[at] = is_new ? entry->second = fresh(id) : entry->second;
        break;
      }
      default:
        value_[at] = fresh(id);
    }
  }
}

ValueId ValueTable::fresh(NodeId id) {
  node_.push_back(id);
  return static_cast<ValueId>(node_.size()) - 1;
}

void ValueTable::number_call(const JointFacts& facts, NodeId id) {
  const size_t at = JointFacts::at(id);
  const std::string call =
      call_key(form_of(facts.node(id)), [this](NodeId read) { return value_[JointFacts::at(read)]; });
  if (facts.has_identity(id)) {
    value_[at] = fresh(id);
    occurrences_[call].push_back(id);
    return;
  }
  std::vector<NodeId> writers;
  for (const MemoryRead& read : facts.reads[at]) writers.push_back(read.writer);
  const auto [entry, is_new] = calls_.try_emplace(call + memory_key(writers), kNoValue);
  if (is_new) entry->second = fresh(id);
  value_[at] = entry->second;
  if (!writers.empty()) any_state_.try_emplace(call, entry->second);
}

ValueId ValueTable::find(const std::string& call, const std::string& memory) const {
  const auto found = memory.empty() ? calls_.find(call) : calls_.find(call + memory);
  return found == calls_.end() ? kNoValue : found->second;
}

ValueId ValueTable::find_in_any_state(const std::string& call) const {
  const auto found = any_state_.find(call);
  return found == any_state_.end() ? find(call, {}) : found->second;
}

const std::vector<NodeId>* ValueTable::occurrences(const std::string& call) const {
  const auto found = occurrences_.find(call);
  return found == occurrences_.end() ? nullptr : &found->second;
}

ValueId ValueTable::constant(const std::string& target) const {
  const auto found = constants_.find(target);
  return found == constants_.end() ? kNoValue : found->second;
}

}  // namespace sapwood::check
