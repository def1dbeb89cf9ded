#include "partition/quantize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "partition/elementwise_layout.h"
#include "partition/joint_view.h"
#include "partition/storage_numbers.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::DType;
using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using graph::SymExpr;
using graph::TensorMeta;

constexpr std::string_view kStage = "quantize";
constexpr std::string_view kConvert = "prims.convert_element_type.default";
constexpr std::string_view kConvertName = "convert_element_type_default";
constexpr double kMegabyte = 1024.0 * 1024.0;
/// Keeps the scale of a row of zeros finite.
constexpr double kSmallestMaximum = 1e-12;

/// The largest finite value of an eight-bit float.
double largest_value(DType dtype) {
  if (dtype == DType::kFloat8E5M2 || dtype == DType::kFloat8E5M2FNUZ) return 57344.0;
  if (dtype == DType::kFloat8E4M3FN) return 448.0;
  if (dtype == DType::kFloat8E4M3FNUZ) return 240.0;
  throw_user(kStage, "saved tensors can't be quantised to " + std::string(graph::dtype_name(dtype)) +
                         "; choose float8_e5m2, float8_e4m3fn, float8_e5m2fnuz or float8_e4m3fnuz");
}

/// What the ranges of symbols say of an expression.
struct Bounds {
  double lower = 0;
  double upper = std::numeric_limits<double>::infinity();
};

Bounds product(const Bounds& a, const Bounds& b) {
  // 0 times an unbounded size is still 0.
  const double upper = a.upper == 0 || b.upper == 0 ? 0 : a.upper * b.upper;
  return {a.lower * b.lower, upper};
}

/// Sizes are never negative, so what can't be derived is at least 0.
Bounds bounds_of(const SymExpr& size, const graph::SymbolTable& symbols) {
  if (size.is_const()) {
    const auto value = static_cast<double>(size.value());
    return {value, value};
  }
  Bounds bounds;
  if (size.op() == graph::SymOp::kSymbol) {
    const auto found = symbols.find(size.name());
    if (found == symbols.end()) return bounds;
    if (found->second.lower) bounds.lower = std::max(0.0, static_cast<double>(*found->second.lower));
    if (found->second.upper) bounds.upper = static_cast<double>(*found->second.upper);
    return bounds;
  }
  const bool is_sum = size.op() == graph::SymOp::kAdd;
  if (!is_sum && size.op() != graph::SymOp::kMul) return bounds;
  bounds = is_sum ? Bounds{0, 0} : Bounds{1, 1};
  for (const SymExpr& operand : size.operands()) {
    if (operand.is_const() && operand.value() < 0) return {};
    const Bounds part = bounds_of(operand, symbols);
    bounds = is_sum ? Bounds{bounds.lower + part.lower, bounds.upper + part.upper} : product(bounds, part);
  }
  return bounds;
}

bool can_quantize(const TensorMeta& tensor, const QuantizationOptions& options) {
  if (std::ranges::find(options.allowed_dtypes, tensor.dtype) == options.allowed_dtypes.end()) return false;
  if (!graph::is_floating_point(tensor.dtype)) return false;
  if (graph::dtype_bytes(tensor.dtype) <= graph::dtype_bytes(options.dtype)) return false;
  if (tensor.layout != graph::Layout::kStrided || !tensor.stride || !tensor.subclass.empty()) return false;
  // The maximum of a row needs a row.
  return !tensor.shape.empty() && !(tensor.shape.back() == SymExpr(0));
}

/// Adds elementwise calls, with the values that PyTorch computes for them.
class CallWriter {
 public:
  explicit CallWriter(Graph& graph) : graph_(graph), storages_(graph) {}

  /// Calls added from now on come before this node.
  void set_place(NodeId before) { before_ = before; }

  NodeId elementwise(std::string_view name, std::string_view target, graph::ArgumentList args, DType dtype) {
    std::vector<const TensorMeta*> operands;
    for (const Argument& argument : args)
      if (const auto* read = argument.as<graph::NodeArg>()) operands.push_back(graph_[read->id].tensor());
    TensorMeta result = elementwise_result(operands, dtype, graph_.symbols, storages_.fresh());
    return add(name, target, std::move(args), std::move(result));
  }

  NodeId convert(NodeId id, DType dtype, std::string_view name = kConvertName) {
    return elementwise(name, kConvert, {Argument::node(id), Argument(dtype)}, dtype);
  }

  /// Largest element of each row of the last dimension, which stays with size 1.
  NodeId row_maximum(NodeId id) {
    const TensorMeta& tensor = *graph_[id].tensor();
    std::vector<SymExpr> shape = tensor.shape;
    shape.back() = SymExpr(1);
    TensorMeta result = row_major_result(tensor, std::move(shape), tensor.dtype, storages_.fresh());
    return add("amax_default", "aten.amax.default", {Argument::node(id), Argument::ints({-1}), Argument(true)},
               std::move(result));
  }

  int32_t fresh_storage() { return storages_.fresh(); }
  DType dtype(NodeId id) const { return graph_[id].tensor()->dtype; }

 private:
  NodeId add(std::string_view name, std::string_view target, graph::ArgumentList args, TensorMeta result) {
    return add_call(graph_, before_,
                    {std::string(name), std::string(target), std::move(args), graph::Value(std::move(result))});
  }

  Graph& graph_;
  StorageNumbers storages_;
  NodeId before_ = kNoNode;
};

/// A saved value at one position among the forward's outputs, and what becomes of it.
struct Choice {
  size_t position = 0;
  NodeId node = kNoNode;  ///< of the forward
  NodeId quantized = kNoNode;
  NodeId scale = kNoNode;

  std::string suffix(const Graph& forward) const { return std::to_string(position) + "_" + forward[node].name; }
};

std::vector<Choice> choose(const ForwardBackward& pair, const PairFacts& facts, const QuantizationOptions& options) {
  std::set<std::string, std::less<>> saved(facts.saved.begin(), facts.saved.end());
  for (const std::string& name : facts.static_inputs) saved.erase(name);
  const Graph& forward = pair.forward;
  const std::vector<NodeId> outputs = forward.output_values();
  std::vector<Choice> choices;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (std::cmp_less(i, facts.user_outputs) || outputs[i] == kNoNode) continue;
    const graph::Node& node = forward[outputs[i]];
    if (!saved.contains(node.name) || !node.val || !should_quantize(*node.val, forward.symbols, options)) continue;
    if (options.exclude_primals && node.name.find("primals") != std::string::npos) continue;
    const NodeId input = pair.backward.find(node.name);
    if (input == kNoNode || pair.backward[input].kind != graph::NodeKind::kPlaceholder)
      throw_internal(kStage, "the forward saves '" + node.name + "', but the backward has no placeholder of this name");
    choices.push_back({i, outputs[i], kNoNode, kNoNode});
  }
  return choices;
}

/// The factor that brings the largest element of each row to the end of the range.
NodeId add_scale(CallWriter& calls, NodeId id, double largest, std::string_view name) {
  const NodeId magnitude = calls.elementwise("abs_default", "aten.abs.default", {Argument::node(id)}, calls.dtype(id));
  const NodeId maximum = calls.convert(calls.row_maximum(magnitude), DType::kFloat64);
  const NodeId clamped = calls.elementwise("clamp_min_default", "aten.clamp_min.default",
                                           {Argument::node(maximum), Argument(kSmallestMaximum)}, DType::kFloat64);
  const NodeId inverse =
      calls.elementwise("reciprocal_default", "aten.reciprocal.default", {Argument::node(clamped)}, DType::kFloat64);
  const NodeId factor =
      calls.elementwise("mul_tensor", "aten.mul.Tensor", {Argument::node(inverse), Argument(largest)}, DType::kFloat64);
  return calls.convert(factor, DType::kFloat32, name);
}

NodeId add_scaled(CallWriter& calls, const Choice& choice, DType dtype, std::string_view name) {
  const double largest = largest_value(dtype);
  const NodeId wide = calls.convert(choice.node, DType::kFloat32);
  const NodeId scaled = calls.elementwise("mul_tensor", "aten.mul.Tensor",
                                          {Argument::node(wide), Argument::node(choice.scale)}, DType::kFloat32);
  const NodeId low = calls.elementwise("clamp_min_default", "aten.clamp_min.default",
                                       {Argument::node(scaled), Argument(-largest)}, DType::kFloat32);
  const NodeId high = calls.elementwise("clamp_max_default", "aten.clamp_max.default",
                                        {Argument::node(low), Argument(largest)}, DType::kFloat32);
  return calls.convert(high, dtype, name);
}

void quantize_in_forward(Graph& forward, std::vector<Choice>& choices, const QuantizationOptions& options) {
  CallWriter calls(forward);
  const NodeId body = first_behind_placeholders(forward);
  for (Choice& choice : choices) {
    calls.set_place(place_behind(forward, choice.node, body));
    const std::string suffix = choice.suffix(forward);
    const std::string name = "fp8_quant_pos_" + suffix;
    if (options.use_scaling) {
      choice.scale = add_scale(calls, choice.node, largest_value(options.dtype), "fp8_scale_pos_" + suffix);
      choice.quantized = add_scaled(calls, choice, options.dtype, name);
    } else {
      choice.quantized = calls.convert(choice.node, options.dtype, name);
    }
  }
}

bool is_symbol(const Graph& graph, NodeId id) {
  if (id == kNoNode || !graph[id].val) return false;
  const graph::Value& value = *graph[id].val;
  return value.as<graph::SymIntValue>() || value.as<graph::SymFloatValue>() || value.as<graph::SymBoolValue>();
}

void return_quantized(Graph& forward, const std::vector<Choice>& choices) {
  std::vector<NodeId> outputs = forward.output_values();
  std::vector<NodeId> scales;
  for (const Choice& choice : choices) {
    outputs[choice.position] = choice.quantized;
    if (choice.scale != kNoNode) scales.push_back(choice.scale);
  }
  size_t symbols = outputs.size();
  while (symbols > 0 && is_symbol(forward, outputs[symbols - 1])) --symbols;
  const auto at = static_cast<std::ptrdiff_t>(symbols);
  std::vector<std::string>& texts = forward.meta(forward.output()).desc;
  if (texts.size() == outputs.size()) texts.insert(texts.begin() + at, scales.size(), std::string());
  outputs.insert(outputs.begin() + at, scales.begin(), scales.end());
  set_outputs(forward, outputs);
}

/// The node before which the scales come in: behind the last placeholder that the forward fills.
NodeId place_of_scales(const Graph& backward) {
  NodeId place = backward.first();
  for (const NodeId id : backward.placeholders())
    if (!is_tangent_or_seed(backward[id])) place = backward[id].next;
  return place;
}

class BackwardRewriter {
 public:
  BackwardRewriter(const Graph& forward, Graph& backward, const QuantizationOptions& options)
      : forward_(forward),
        backward_(backward),
        options_(options),
        calls_(backward),
        body_(first_behind_placeholders(backward)) {}

  void run(const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) add_input(choice);
    const NodeId place = place_of_scales(backward_);
    for (size_t i = 0; i < choices.size(); ++i)
      if (choices[i].scale != kNoNode) inputs_[i].scale = add_scale_input(choices[i].scale, place);
    const std::vector<int32_t> positions = graph_positions(backward_);
    for (const Input& input : inputs_)
      if (input.old != kNoNode) dequantize(input, positions);
  }

 private:
  struct Input {
    NodeId old = kNoNode;  ///< kNoNode if the value came at an earlier position too, which its readers use
    NodeId quantized = kNoNode;
    NodeId scale = kNoNode;
  };

  graph::Value value_of(NodeId forward_node) {
    TensorMeta meta = *forward_[forward_node].tensor();
    meta.storage = calls_.fresh_storage();
    return graph::Value(std::move(meta));
  }

  void add_input(const Choice& choice) {
    const NodeId old = backward_.find(forward_[choice.node].name);
    const auto [last, is_first] = last_input_.emplace(old, old);
    last->second =
        add_placeholder_behind(backward_, last->second, forward_[choice.quantized].name, value_of(choice.quantized));
    inputs_.push_back({is_first ? old : kNoNode, last->second, kNoNode});
  }

  NodeId add_scale_input(NodeId scale, NodeId place) {
    backward_.set_insertion_point(place);
    const NodeId added = backward_.placeholder(forward_[scale].name, value_of(scale));
    backward_.meta(added).tensor_meta = true;
    backward_.set_insertion_point(kNoNode);
    return added;
  }

  void dequantize(const Input& input, const std::vector<int32_t>& positions) {
    const DType dtype = backward_[input.old].tensor()->dtype;
    calls_.set_place(options_.dequantize_at_first_use ? first_reader(backward_, input.old, positions) : body_);
    std::vector<NodeId> added;
    if (input.scale == kNoNode) {
      added.push_back(calls_.convert(input.quantized, dtype, "dequant_" + backward_[input.quantized].name));
    } else {
      added.push_back(calls_.convert(input.quantized, dtype));
      const DType wider = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;  // the scale is float32
      added.push_back(calls_.elementwise("div_tensor", "aten.div.Tensor",
                                         {Argument::node(added.back()), Argument::node(input.scale)}, wider));
      added.push_back(calls_.convert(added.back(), dtype));
    }
    for (const NodeId id : added) backward_.meta(id).autograd_backward = true;
    backward_.replace_all_uses(input.old, added.back());
    backward_.erase(input.old);
  }

  const Graph& forward_;
  Graph& backward_;
  const QuantizationOptions& options_;
  CallWriter calls_;
  NodeId body_;                          // what came first behind the placeholders
  std::map<NodeId, NodeId> last_input_;  // by the placeholder that is replaced
  std::vector<Input> inputs_;
};

QuantizationReport describe(const Graph& forward, const std::vector<Choice>& choices) {
  QuantizationReport report;
  const auto bytes = [&](NodeId id) { return value_bytes(*forward[id].val, forward.symbols); };
  for (const Choice& choice : choices) {
    QuantizedTensor tensor;
    tensor.name = forward[choice.node].name;
    tensor.quantized = forward[choice.quantized].name;
    tensor.dtype = forward[choice.node].tensor()->dtype;
    tensor.bytes_before = bytes(choice.node);
    tensor.bytes_after = bytes(choice.quantized);
    if (choice.scale != kNoNode) {
      tensor.scale = forward[choice.scale].name;
      tensor.bytes_after += bytes(choice.scale);
    }
    report.tensors.push_back(std::move(tensor));
  }
  return report;
}

}  // namespace

int64_t QuantizationReport::bytes_before() const {
  return std::accumulate(tensors.begin(), tensors.end(), int64_t{0},
                         [](int64_t sum, const QuantizedTensor& t) { return sum + t.bytes_before; });
}

int64_t QuantizationReport::bytes_after() const {
  return std::accumulate(tensors.begin(), tensors.end(), int64_t{0},
                         [](int64_t sum, const QuantizedTensor& t) { return sum + t.bytes_after; });
}

bool should_quantize(const graph::Value& value, const graph::SymbolTable& symbols, const QuantizationOptions& options) {
  const auto* tensor = value.as<TensorMeta>();
  if (!tensor || !can_quantize(*tensor, options)) return false;
  const double threshold = options.size_in_mb * kMegabyte / static_cast<double>(graph::dtype_bytes(tensor->dtype));
  const SymExpr elements = tensor->numel();
  if (!options.skip_dynamo_guards || elements.is_const()) {
    const std::optional<int64_t> known = elements.hint(symbols);
    return known && *known > 0 && static_cast<double>(*known) >= threshold;
  }
  Bounds bounds{1, 1};
  for (const SymExpr& size : tensor->shape) bounds = product(bounds, bounds_of(size, symbols));
  return bounds.lower >= threshold || (options.quantize_dynamic_shape && bounds.upper >= threshold);
}

QuantizationReport quantize_saved(ForwardBackward& pair, const PairFacts& facts, const QuantizationOptions& options) {
  if (!options.enabled) return {};
  largest_value(options.dtype);  // refuses the type before anything is changed
  std::vector<Choice> choices = choose(pair, facts, options);
  if (choices.empty()) return {};
  quantize_in_forward(pair.forward, choices, options);
  return_quantized(pair.forward, choices);
  BackwardRewriter(pair.forward, pair.backward, options).run(choices);
  declare_operators(pair.forward);
  declare_operators(pair.backward);
  return describe(pair.forward, choices);
}

}  // namespace sapwood::partition
