#include <array>
#include <utility>
#include <variant>

#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/json_reader.h"

namespace sapwood::graph {

namespace {

/// Keys whose value isn't a plain field.
enum class Special : uint8_t { kTag, kPolicy, kCustom, kDesc, kBindings, kHop };

using Field = std::variant<Special, bool NodeMeta::*, std::optional<int64_t> NodeMeta::*,
                           std::optional<NumberMark> NodeMeta::*, std::string NodeMeta::*>;
struct Row {
  std::string_view key;
  Field field;
};

constexpr std::array<Row, 23> kRows = {{{"partitioner_tag", Special::kTag},
                                        {"recompute", Special::kPolicy},
                                        {"ac_graph_id", &NodeMeta::ac_graph_id},
                                        {"has_backward_hook", &NodeMeta::has_backward_hook},
                                        {"autograd_backward", &NodeMeta::autograd_backward},
                                        {"memory_budget", &NodeMeta::memory_budget},
                                        {"seq_nr", &NodeMeta::seq_nr},
                                        {"saved_tensor_with_no_vc_check", &NodeMeta::saved_tensor_with_no_vc_check},
                                        {"saved_for_quantization", &NodeMeta::saved_for_quantization},
                                        {"is_gradient_acc", &NodeMeta::is_gradient_acc},
                                        {"is_functional_regenerated", &NodeMeta::is_functional_regenerated},
                                        {"quantization_tag", &NodeMeta::quantization_tag},
                                        {"custom", Special::kCustom},
                                        {"tensor_meta", &NodeMeta::tensor_meta},
                                        {"original_aten", &NodeMeta::original_aten},
                                        {"desc", Special::kDesc},
                                        {"unbacked_bindings", Special::kBindings},
                                        {"stack_trace", &NodeMeta::stack_trace},
                                        {"nn_module", &NodeMeta::nn_module},
                                        {"mutation_region_id", &NodeMeta::mutation_region_id},
                                        {"impure", &NodeMeta::impure},
                                        {"flops", &NodeMeta::flops},
                                        {"hop", Special::kHop}}};

constexpr std::array<std::string_view, kRows.size()> keys_of_rows() {
  std::array<std::string_view, kRows.size()> keys{};
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = kRows[i].key;
  return keys;
}
constexpr auto kMetaKeys = keys_of_rows();

template <typename T>
const T* get(size_t key) {
  return std::get_if<T>(&kRows[key].field);
}

}  // namespace

NodeMeta JsonReader::read_meta() {
  NodeMeta meta;
  in_.fields(kMetaKeys, 0, [&](size_t key) { read_meta_field(key, meta); });
  return meta;
}

void JsonReader::read_meta_field(size_t key, NodeMeta& meta) {
  if (in_.take_null()) return;  // the same as an absent key
  if (const auto* flag = get<bool NodeMeta::*>(key)) {
    meta.** flag = in_.boolean();
  } else if (const auto* count = get<std::optional<int64_t> NodeMeta::*>(key)) {
    meta.** count = in_.integer();
  } else if (const auto* mark = get<std::optional<NumberMark> NodeMeta::*>(key)) {
    const JsonCursor::Number number = in_.number();
    meta.** mark = NumberMark{number.real, number.is_int};
  } else if (const auto* text = get<std::string NodeMeta::*>(key)) {
    meta.** text = in_.string();
  } else {
    read_special_meta(key, meta);
  }
}

void JsonReader::read_special_meta(size_t key, NodeMeta& meta) {
  switch (*get<Special>(key)) {
    case Special::kTag:
    case Special::kPolicy:
      return read_policy(*get<Special>(key) == Special::kTag, meta);
    case Special::kCustom:
      return read_custom(meta);
    case Special::kHop:
      meta.hop = read_strings();
      return;
    case Special::kBindings:
      in_.object([&](std::string_view symbol) { meta.unbacked_bindings.emplace_back(symbol, in_.string()); });
      return;
    case Special::kDesc:
      break;
  }
  if (in_.peek() == JsonCursor::Kind::kString) {
    meta.desc.push_back(in_.string());
  } else {
    meta.desc = read_strings();
  }
}

void JsonReader::read_policy(bool tag, NodeMeta& meta) {
  const std::string name = in_.string();
  if (tag) {
    if (partitioner_tag_from_name(name, meta.partitioner_tag)) return;
    in_.fail("unknown tag " + quoted_excerpt(name) + "; expected one of " + partitioner_tag_names());
  }
  if (checkpoint_policy_from_name(name, meta.recompute)) return;
  in_.fail("unknown checkpoint policy " + quoted_excerpt(name) + "; expected one of " + checkpoint_policy_names());
}

void JsonReader::read_custom(NodeMeta& meta) {
  Graph* graph = std::exchange(graph_, nullptr);  // an annotation isn't an argument: it can't read a node
  in_.object([&](std::string_view key) {
    if (key == kRegionBudgetKey && in_.peek() == JsonCursor::Kind::kNumber) {
      meta.region_memory_budget = in_.real();
    } else {
      std::string name(key);
      meta.custom.emplace_back(std::move(name), read_argument());
    }
  });
  graph_ = graph;
}

std::vector<std::string> JsonReader::read_strings() {
  std::vector<std::string> out;
  in_.array([&](size_t) { out.push_back(in_.string()); });
  return out;
}

}  // namespace sapwood::graph
