#include "partition/plan_file.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/suggest.h"
#include "graph/verify.h"
#include "partition/joint_view.h"
#include "partition/partition.h"
#include "partition/snapshot.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using Json = nlohmann::ordered_json;

constexpr std::string_view kStage = "plan";
constexpr const char* kFormat = "sapwood.plan/1";

/// Of all that a decision rests on: also the checkpoint marks, which are no part of a graph's structure.
std::string hash_text(const Graph& joint) {
  uint64_t hash = graph::structural_hash(joint);
  for (const NodeId id : joint.order()) {
    hash = hash_mix(hash, static_cast<uint64_t>(joint[id].meta->recompute));
    hash = hash_mix(hash, static_cast<uint64_t>(joint[id].meta->ac_graph_id.value_or(-1)));
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

Json saved_json(const Graph& joint, const SavedValue& value) {
  Json entry;
  entry["name"] = joint[value.node].name;
  entry["bytes"] = value.bytes;
  entry["reason"] = value.reason;
  entry["is_input"] = value.is_input;
  if (!value.is_input && joint[value.node].tensor()) {
    Json& price = entry["price"];
    price["possible"] = value.price.possible;
    price["nodes"] = value.price.nodes;
    price["runtime"] = value.price.runtime;
    price["extra_bytes"] = value.price.extra_bytes;
    if (!value.price.obstacle.empty()) price["obstacle"] = value.price.obstacle;
  }
  if (!joint[value.node].meta->stack_trace.empty()) entry["source"] = joint[value.node].meta->stack_trace;
  return entry;
}

Json saved_list(const Graph& joint, const std::vector<SavedValue>& values) {
  Json list = Json::array();
  for (const SavedValue& value : values) list.push_back(saved_json(joint, value));
  return list;
}

Json recomputed_list(const Graph& joint, const std::vector<RecomputedValue>& values) {
  Json list = Json::array();
  for (const RecomputedValue& value : values) {
    Json entry;
    entry["name"] = joint[value.node].name;
    entry["bytes"] = value.bytes;
    entry["reason"] = value.reason;
    list.push_back(std::move(entry));
  }
  return list;
}

Json quantized_list(const QuantizationReport& report) {
  Json list = Json::array();
  for (const QuantizedTensor& tensor : report.tensors) {
    list.push_back({{"name", tensor.name},
                    {"quantized", tensor.quantized},
                    {"scale", tensor.scale},
                    {"bytes_before", tensor.bytes_before},
                    {"bytes_after", tensor.bytes_after}});
  }
  return list;
}

Json offloaded_list(const OffloadReport& report) {
  Json list = Json::array();
  for (const OffloadedTensor& tensor : report.tensors)
    list.push_back({{"name", tensor.name}, {"on_host", tensor.on_host}, {"bytes", tensor.bytes}});
  for (const OffloadRefusal& refusal : report.refused)
    list.push_back({{"name", refusal.name}, {"refused", refusal.reason}});
  return list;
}

Json options_json(const PartitionOptions& options) {
  Json changed = Json::object();
  const PartitionOptions defaults;
  for (const OptionRow& row : option_table()) {
    const std::string text = option_text(options, row);
    if (text != option_text(defaults, row)) changed[std::string(row.name)] = text;
  }
  return changed;
}

[[noreturn]] void reject(const std::string& what) {
  throw_user(kStage, what + "; a plan is what 'sapwood partition --save-plan FILE' writes");
}

Json parse(std::string_view text) {
  const Json plan = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!plan.is_object()) reject("the plan isn't a JSON object");
  const auto format = plan.find("format");
  if (format == plan.end() || !format->is_string()) reject("the plan has no key 'format'");
  if (*format != kFormat)
    reject("the plan's format is " + quoted_excerpt(format->get<std::string>()) + ", not " + kFormat);
  return plan;
}

/// `plan[key]`, of the type of `example`.
const Json& member(const Json& plan, const char* key, const Json& example) {
  const auto found = plan.find(key);
  const bool integers = example.is_number_integer() && found != plan.end() && found->is_number_integer();
  if (found == plan.end() || (!integers && found->type() != example.type()))
    reject(std::string("the plan has no ") + example.type_name() + " under '" + key + "'");
  return *found;
}

std::string text_of(const Json& entry, const char* key) { return member(entry, key, "").get<std::string>(); }

NodeId node_of(const Graph& joint, const Json& entry) {
  if (!entry.is_object()) reject("an entry of the plan isn't an object");
  const std::string name = text_of(entry, "name");
  const NodeId id = joint.find(name);
  if (id == kNoNode)
    throw_user(kStage, "the plan speaks of '" + name + "', which graph '" + joint.name +
                           "' doesn't have; make the plan again for this graph");
  return id;
}

Price read_price(const Json& entry) {
  if (!entry.contains("price")) return {};  // an input has none
  const Json& recorded = member(entry, "price", Json::object());
  Price price;
  price.possible = member(recorded, "possible", false).get<bool>();
  price.nodes = member(recorded, "nodes", 0).get<int64_t>();
  price.runtime = member(recorded, "runtime", 0.0).get<double>();
  price.extra_bytes = member(recorded, "extra_bytes", 0).get<int64_t>();
  if (recorded.contains("obstacle")) price.obstacle = text_of(recorded, "obstacle");
  return price;
}

/// What the graph says of the value's size, and the plan must agree with.
int64_t bytes_of(const Graph& joint, NodeId id, const Json& entry) {
  const int64_t bytes = value_bytes(*joint[id].val, joint.symbols);
  const auto recorded = member(entry, "bytes", 0).get<int64_t>();
  if (recorded != bytes)
    reject("the plan says that '" + joint[id].name + "' has " + std::to_string(recorded) + " bytes; the graph says " +
           std::to_string(bytes));
  return bytes;
}

std::vector<SavedValue> read_saved(const Graph& joint, const Json& list) {
  std::vector<SavedValue> values;
  std::set<NodeId> seen;
  for (const Json& entry : list) {
    SavedValue value;
    value.node = node_of(joint, entry);
    if (!seen.insert(value.node).second) reject("the plan lists '" + joint[value.node].name + "' twice; remove one");
    value.bytes = bytes_of(joint, value.node, entry);
    value.price = read_price(entry);
    value.reason = text_of(entry, "reason");
    value.is_input = member(entry, "is_input", true).get<bool>();
    values.push_back(std::move(value));
  }
  return values;
}

/// What of the plan's saved tensors the graph has.
std::vector<NodeId> saved_nodes(const Graph& joint, const Json& plan) {
  std::vector<NodeId> nodes;
  for (const Json& entry : member(plan, "saved", Json::array())) {
    const NodeId id = entry.is_object() ? joint.find(text_of(entry, "name")) : kNoNode;
    if (id != kNoNode) nodes.push_back(id);
  }
  return nodes;
}

PartitionOptions read_options(const Json& plan) {
  PartitionOptions options;
  for (const auto& [name, value] : member(plan, "options", Json::object()).items()) {
    const OptionRow* row = find_option(name);
    if (!row || !value.is_string()) reject("the plan sets " + quoted_excerpt(name) + ", which isn't an option");
    set_option(options, *row, value.get<std::string>());
  }
  return options;
}

void require_same_graph(const Graph& joint, const Json& plan) {
  const Json& recorded = member(plan, "graph", Json::object());
  const int64_t nodes = member(recorded, "nodes", 0).get<int64_t>();
  if (text_of(recorded, "hash") == hash_text(joint)) return;
  std::string message =
      "graph '" + joint.name + "' isn't the one that the plan was made for ('" + text_of(recorded, "name") + "')";
  message += nodes == static_cast<int64_t>(joint.size())
                 ? ": an operator, an argument, a shape or a checkpoint mark is another one"
                 : ": it has " + std::to_string(joint.size()) + " nodes, the plan's had " + std::to_string(nodes);
  throw_user(kStage, message + "; make the plan again with 'sapwood partition --save-plan'");
}

/// What a plan says of a value, for comparing.
struct Entry {
  std::string what;
  int64_t bytes = 0;
};

std::map<std::string, Entry> entries(const Json& plan) {
  std::map<std::string, Entry> found;
  const auto add = [&](const char* key, const char* what) {
    for (const Json& entry : member(plan, key, Json::array())) {
      if (!entry.is_object()) reject("an entry of the plan isn't an object");
      found[text_of(entry, "name")] = {what, member(entry, "bytes", 0).get<int64_t>()};
    }
  };
  add("recomputed", "recomputed");
  add("saved", "saved");
  add("saved_objects", "saved");
  add("saved_symbols", "saved");
  return found;
}

std::string bytes_text(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

std::string difference(const std::string& name, const Entry* before, const Entry* after) {
  if (!before) return name + ": now " + after->what + " (" + bytes_text(after->bytes) + ")\n";
  if (!after) return name + ": no longer " + before->what + " (" + bytes_text(before->bytes) + ")\n";
  if (before->what != after->what)
    return name + ": " + after->what + " instead of " + before->what + " (" + bytes_text(after->bytes) + ")\n";
  if (before->bytes == after->bytes) return "";
  return name + ": " + bytes_text(after->bytes) + " instead of " + std::to_string(before->bytes) + "\n";
}

}  // namespace

std::string print_plan(const Graph& joint, const Plan& plan, const PartitionOptions& options) {
  Json out;
  out["format"] = kFormat;
  out["name"] = joint.name;
  out["graph"] = {{"name", joint.name}, {"nodes", joint.size()}, {"hash", hash_text(joint)}};
  out["method"] = plan.method == Method::kMinCut ? "min_cut" : "default";
  out["options"] = options_json(options);
  out["budget"] = plan.budget;
  out["cut_value"] = plan.cut_value;
  out["saved_bytes"] = plan.saved_bytes();
  out["peak_bytes"] = plan.peak_bytes;
  out["budget_met"] = plan.budget_met;
  if (!plan.agreement.empty()) out["agreement"] = plan.agreement;
  out["saved"] = saved_list(joint, plan.saved);
  out["saved_objects"] = saved_list(joint, plan.saved_objects);
  out["saved_symbols"] = saved_list(joint, plan.saved_symbols);
  out["recomputed"] = recomputed_list(joint, plan.recomputed);
  out["quantized"] = quantized_list(plan.quantized);
  out["offloaded"] = offloaded_list(plan.offloaded);
  return out.dump(2) + "\n";
}

PinnedPlan read_plan(std::string_view text, Graph& joint) {
  const Json plan = parse(text);
  PinnedPlan pinned;
  pinned.options = read_options(plan);
  pinned.plan.method = text_of(plan, "method") == "default" ? Method::kDefault : Method::kMinCut;
  prepare_joint(joint, pinned.options);
  drop_snapshots(joint, saved_nodes(joint, plan));
  require_same_graph(joint, plan);
  pinned.plan.graphsafe_rng = pinned.options.graphsafe_rng_functionalization;
  pinned.plan.quantization = pinned.options.quantization;
  pinned.plan.offload = pinned.options.offload;
  pinned.plan.cut_value = member(plan, "cut_value", 0).get<int64_t>();
  pinned.plan.budget = member(plan, "budget", 1.0).get<double>();
  pinned.plan.peak_bytes = member(plan, "peak_bytes", 0).get<int64_t>();
  pinned.plan.budget_met = member(plan, "budget_met", true).get<bool>();
  pinned.plan.saved = read_saved(joint, member(plan, "saved", Json::array()));
  pinned.plan.saved_objects = read_saved(joint, member(plan, "saved_objects", Json::array()));
  pinned.plan.saved_symbols = read_saved(joint, member(plan, "saved_symbols", Json::array()));
  for (const Json& entry : member(plan, "recomputed", Json::array()))
    pinned.plan.recomputed.push_back(
        {node_of(joint, entry), member(entry, "bytes", 0).get<int64_t>(), text_of(entry, "reason")});
  return pinned;
}

std::string diff_plans(std::string_view before, std::string_view after) {
  const Json old_plan = parse(before);
  const Json new_plan = parse(after);
  const auto old_entries = entries(old_plan);
  auto new_entries = entries(new_plan);
  std::string text;
  for (const auto& [name, entry] : old_entries) {
    const auto found = new_entries.find(name);
    text += difference(name, &entry, found == new_entries.end() ? nullptr : &found->second);
  }
  for (const auto& [name, entry] : new_entries)
    if (!old_entries.contains(name)) text += difference(name, nullptr, &entry);
  const auto total = [](const Json& plan) { return member(plan, "saved_bytes", 0).get<int64_t>(); };
  if (total(old_plan) != total(new_plan))
    text += "saved bytes that aren't inputs: " + std::to_string(total(new_plan)) + " instead of " +
            std::to_string(total(old_plan)) + "\n";
  return text;
}

}  // namespace sapwood::partition
