#include "ops/flops.h"

#include <vector>

#include "ops/op_table.h"

namespace sapwood::ops {
namespace {

using graph::Argument;
using graph::Graph;
using graph::Node;
using graph::TensorMeta;

constexpr int64_t kUnknownSize = 4096;

using Shape = std::vector<int64_t>;

/// Reads the shapes of a call's arguments and results. A shape that isn't there is empty.
class CallShapes {
 public:
  CallShapes(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  Shape argument(size_t index) const {
    const Argument* arg = at(index);
    const auto* read = arg ? arg->as<graph::NodeArg>() : nullptr;
    const TensorMeta* tensor = read ? graph_[read->id].tensor() : nullptr;
    return tensor ? sizes(*tensor) : Shape{};
  }

  /// The call's only result (`index` 0) or one item of its tuple.
  Shape result(size_t index) const {
    if (!node_.val) return {};
    if (const auto* tensor = node_.val->as<TensorMeta>()) return sizes(*tensor);
    const auto* tuple = node_.val->as<graph::TupleValue>();
    const TensorMeta* tensor = tuple && index < tuple->items.size() ? tuple->items[index].as<TensorMeta>() : nullptr;
    return tensor ? sizes(*tensor) : Shape{};
  }

  bool flag(size_t index) const {
    const Argument* arg = at(index);
    const auto* value = arg ? arg->as<bool>() : nullptr;
    return value && *value;
  }

  /// Item `item` of a list of flags.
  bool flag(size_t index, size_t item) const {
    const Argument* arg = at(index);
    const auto* list = arg ? arg->as<graph::ListArg>() : nullptr;
    const auto* value = list && item < list->items.size() ? list->items[item].as<bool>() : nullptr;
    return value && *value;
  }

 private:
  const Argument* at(size_t index) const { return index < node_.args.size() ? &node_.args[index] : nullptr; }

  Shape sizes(const TensorMeta& tensor) const {
    Shape shape;
    for (const graph::SymExpr& size : tensor.shape)
      shape.push_back(size.is_const() ? size.value()
                                      : size.hint_or(graph_.symbols, kUnknownSize).value_or(kUnknownSize));
    return shape;
  }

  const Graph& graph_;
  const Node& node_;
};

std::optional<int64_t> product_flops(const Shape& a, const Shape& b) {
  if (a.size() == 2 && b.size() == 2) return a[0] * b[1] * 2 * a[1];
  if (a.size() == 3 && b.size() == 3) return a[0] * a[1] * b[2] * 2 * a[2];
  return std::nullopt;
}

/// Each point of the output (of the input, if transposed) meets the whole filter once.
std::optional<int64_t> convolution_flops(const Shape& input, const Shape& weight, const Shape& output,
                                         bool transposed) {
  const Shape& points = transposed ? input : output;
  if (input.size() < 3 || weight.size() < 3 || points.size() < 3) return std::nullopt;
  int64_t flops = 2 * input[0];
  for (const int64_t size : weight) flops *= size;
  for (size_t i = 2; i < points.size(); ++i) flops *= points[i];
  return flops;
}

/// Swaps batch and channels: the weight's gradient is a convolution over the batch.
Shape swapped(Shape shape) {
  if (shape.size() > 1) std::swap(shape[0], shape[1]);
  return shape;
}

std::optional<int64_t> convolution_backward_flops(const CallShapes& call) {
  constexpr size_t kTransposed = 7;
  constexpr size_t kOutputMask = 10;
  const Shape grad = call.argument(0);
  const Shape input = call.argument(1);
  const Shape weight = call.argument(2);
  const bool transposed = call.flag(kTransposed);
  int64_t flops = 0;
  if (call.flag(kOutputMask, 0)) {
    const auto part = convolution_flops(grad, weight, call.result(0), !transposed);
    if (!part) return std::nullopt;
    flops += *part;
  }
  if (call.flag(kOutputMask, 1)) {
    const Shape& data = transposed ? grad : input;
    const Shape& filter = transposed ? input : grad;
    const auto part = convolution_flops(swapped(data), swapped(filter), swapped(call.result(1)), false);
    if (!part) return std::nullopt;
    flops += *part;
  }
  return flops;
}

/// Two products forward; five backward, one of which computes the scores again.
std::optional<int64_t> attention_flops(const Shape& query, const Shape& key, const Shape& value, bool backward) {
  if (query.size() != 4 || key.size() != 4 || value.size() != 4) return std::nullopt;
  const int64_t scores = query[0] * query[1] * query[2] * key[2] * 2;
  return backward ? scores * (3 * query[3] + 2 * value[3]) : scores * (query[3] + value[3]);
}

}  // namespace

std::optional<int64_t> count_flops(const Graph& graph, const Node& node) {
  const OpInfo* info = find_op(node.target);
  if (!info || node.kind != graph::NodeKind::kCallFunction) return std::nullopt;
  const CallShapes call(graph, node);
  switch (info->flops) {
    case FlopFormula::kNone:
      return std::nullopt;
    case FlopFormula::kMm:
    case FlopFormula::kBmm:
      return product_flops(call.argument(0), call.argument(1));
    case FlopFormula::kAddmm:
    case FlopFormula::kBaddbmm:
      return product_flops(call.argument(1), call.argument(2));
    case FlopFormula::kConvolution:
      return convolution_flops(call.argument(0), call.argument(1), call.result(0), call.flag(6));
    case FlopFormula::kConvolutionBackward:
      return convolution_backward_flops(call);
    case FlopFormula::kAttention:
      return attention_flops(call.argument(0), call.argument(1), call.argument(2), false);
    case FlopFormula::kAttentionBackward:
      return attention_flops(call.argument(1), call.argument(2), call.argument(3), true);
  }
  return std::nullopt;
}

}  // namespace sapwood::ops
