#include "interp/single_rank.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"

namespace sapwood::interp {
namespace {

constexpr std::string_view kStage = "interp";
constexpr std::string_view kPrefix = "_c10d_functional.";

/// What a collective does with its first argument when there is nobody else.
enum class Effect : uint8_t { kCopy, kSame };

struct Row {
  std::string_view name;
  Effect effect;
  int group_size_at = -1;  ///< position of the argument group_size
};

constexpr std::array<Row, 11> kRows{{
    {"all_reduce.default", Effect::kCopy},
    {"all_reduce_.default", Effect::kSame},
    {"all_reduce_coalesced.default", Effect::kCopy},
    {"all_gather_into_tensor.default", Effect::kCopy, 1},
    {"all_gather_into_tensor_coalesced.default", Effect::kCopy, 1},
    {"reduce_scatter_tensor.default", Effect::kCopy, 2},
    {"reduce_scatter_tensor_coalesced.default", Effect::kCopy, 2},
    {"all_to_all_single.default", Effect::kCopy},
    {"broadcast.default", Effect::kCopy},
    {"broadcast_.default", Effect::kSame},
    {"wait_tensor.default", Effect::kSame},
}};

c10::IValue copied(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().clone(at::MemoryFormat::Contiguous);
  c10::List<at::Tensor> copies;
  for (const at::Tensor& tensor : value.toTensorVector()) copies.push_back(tensor.clone(at::MemoryFormat::Contiguous));
  return copies;
}

}  // namespace

bool call_single_rank(const graph::Node& node, torch::jit::Stack& stack) {
  const std::string_view target = node.target;
  if (!target.starts_with(kPrefix)) return false;
  const auto* row = std::ranges::find(kRows, target.substr(kPrefix.size()), &Row::name);
  if (row == kRows.end())
    throw_unsupported(kStage,
                      "node '" + node.name + "': " + node.target + " isn't implemented for a world of one rank");
  const int64_t ranks = row->group_size_at < 0 ? 1 : stack[static_cast<size_t>(row->group_size_at)].toInt();
  if (ranks != 1)
    throw_user(kStage, "node '" + node.name + "' (" + node.target + ") is for a group of " + std::to_string(ranks) +
                           " ranks, but the graph runs on one; run it with a process group");
  c10::IValue result = row->effect == Effect::kCopy ? copied(stack[0]) : stack[0];
  stack.clear();
  stack.push_back(std::move(result));
  return true;
}

}  // namespace sapwood::interp
