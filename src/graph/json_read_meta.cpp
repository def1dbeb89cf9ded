#include <array>

#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/json_reader.h"

namespace sapwood::graph {

namespace {

enum MetaKey : uint8_t {
  kTag, kRecompute, kAcGraphId, kBackwardHook, kAutogradBackward, kMemoryBudget, kSeqNr, kNoVcCheck, kSavedForQuantization, kGradientAcc,
  kRegenerated, kQuantizationTag, kCustom, kTensorMeta, kOriginalAten, kDesc, kUnbackedBindings, kStackTrace, kNnModule, kMutationRegion,
  kImpure, kFlops, kHop, kMetaKeyCount,
};

constexpr std::array<std::string_view, kMetaKeyCount> kMetaKeys = {
    "partitioner_tag", "recompute", "ac_graph_id", "has_backward_hook", "autograd_backward", "memory_budget", "seq_nr",
    "saved_tensor_with_no_vc_check", "saved_for_quantization", "is_gradient_acc", "is_functional_regenerated", "quantization_tag", "custom",
    "tensor_meta", "original_aten", "desc", "unbacked_bindings", "stack_trace", "nn_module", "mutation_region_id", "impure", "flops", "hop"};

}  // namespace

NodeMeta JsonReader::read_meta() {
  NodeMeta meta;
  in_.fields(kMetaKeys, 0, [&](size_t key) { read_meta_field(key, meta); });
  return meta;
}

void JsonReader::read_meta_field(size_t key, NodeMeta& meta) {
  if (in_.take_null()) return;  // the same as an absent key
  switch (static_cast<MetaKey>(key)) {
    case kTag:
    case kRecompute: read_policy(key, meta); return;
    case kAcGraphId: meta.ac_graph_id = in_.integer(); return;
    case kBackwardHook: meta.has_backward_hook = in_.boolean(); return;
    case kAutogradBackward: meta.autograd_backward = in_.boolean(); return;
    case kMemoryBudget: meta.memory_budget = in_.real(); return;
    case kSeqNr: meta.seq_nr = in_.integer(); return;
    case kNoVcCheck: meta.saved_tensor_with_no_vc_check = in_.boolean(); return;
    case kSavedForQuantization: meta.saved_for_quantization = in_.boolean(); return;
    case kGradientAcc: meta.is_gradient_acc = in_.boolean(); return;
    case kRegenerated: meta.is_functional_regenerated = in_.boolean(); return;
    case kQuantizationTag: meta.quantization_tag = in_.string(); return;
    case kCustom: read_custom(meta); return;
    case kTensorMeta: meta.tensor_meta = in_.boolean(); return;
    case kOriginalAten: meta.original_aten = in_.string(); return;
    case kDesc:
      if (in_.peek() == JsonCursor::Kind::kString) {
        meta.desc.push_back(in_.string());
      } else {
        meta.desc = read_strings();
      }
      return;
    case kUnbackedBindings:
      in_.object([&](std::string_view symbol) { meta.unbacked_bindings.emplace_back(symbol, in_.string()); });
      return;
    case kStackTrace: meta.stack_trace = in_.string(); return;
    case kNnModule: meta.nn_module = in_.string(); return;
    case kMutationRegion: meta.mutation_region_id = in_.integer(); return;
    case kImpure: meta.impure = in_.boolean(); return;
    case kFlops: meta.flops = in_.integer(); return;
    default: meta.hop = read_strings(); return;
  }
}

void JsonReader::read_policy(size_t key, NodeMeta& meta) {
  const std::string name = in_.string();
  if (key == kTag) {
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
