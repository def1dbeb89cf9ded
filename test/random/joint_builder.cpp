#include "random/joint_builder.h"

#include <algorithm>
#include <stdexcept>

namespace sapwood::test {

using graph::Argument;
using graph::ArgumentList;
using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;
using graph::SymExpr;
using graph::TensorMeta;
using graph::Value;

namespace {

/// The first call: inputs go before it.
NodeId first_call(const graph::Graph& g) {
  for (NodeId id = g.first(); id != kNoNode; id = g[id].next)
    if (g[id].kind != graph::NodeKind::kPlaceholder) return id;
  return kNoNode;
}

NodeId add_placeholder(graph::Graph& g, const std::string& name, Value value) {
  g.set_insertion_point(first_call(g));
  const NodeId id = g.placeholder(name, std::move(value));
  g.set_insertion_point(kNoNode);
  return id;
}

}  // namespace

NodeId JointBuilder::primal(TensorMeta meta, bool needs_grad) {
  const NodeId id = add_placeholder(g, "primals_" + std::to_string(primals.size() + 1), Value(std::move(meta)));
  g.meta(id).partitioner_tag = PartitionerTag::kForward;
  primals.push_back(id);
  if (needs_grad) differentiable_.insert(id);
  return id;
}

NodeId JointBuilder::size_input(const std::string& symbol, int64_t hint) {
  g.symbols[symbol] = {hint, 2, std::nullopt, false};
  const NodeId id = add_placeholder(g, "primals_" + std::to_string(primals.size() + 1),
                                    Value(graph::SymIntValue{SymExpr::symbol(symbol)}));
  g.meta(id).partitioner_tag = PartitionerTag::kForward;
  primals.push_back(id);
  symbols_[symbol] = id;
  return id;
}

NodeId JointBuilder::tangent(NodeId of) {
  const NodeId id = add_placeholder(g, "tangents_" + std::to_string(++tangents_), Value(fresh(shape(of), dtype(of))));
  g.meta(id).partitioner_tag = PartitionerTag::kBackward;
  return id;
}

TensorMeta JointBuilder::fresh(Shape shape, graph::DType dtype) {
  TensorMeta meta;
  meta.dtype = dtype;
  meta.stride = contiguous_strides(shape);
  meta.offset = SymExpr(0);
  meta.storage = next_storage_++;
  meta.storage_bytes = product(shape) * SymExpr(graph::dtype_bytes(dtype));
  meta.shape = std::move(shape);
  return meta;
}

TensorMeta JointBuilder::alias(NodeId base, Shape shape, std::vector<SymExpr> strides) const {
  TensorMeta meta = tensor(base);
  meta.shape = std::move(shape);
  meta.stride = std::move(strides);
  return meta;
}

NodeId JointBuilder::emit(const std::string& target, ArgumentList args, Value value,
                          std::vector<std::pair<std::string, Argument>> kwargs) {
  const NodeId id = g.call(target, std::move(args), std::move(value));
  if (!kwargs.empty()) g.set_kwargs(id, std::move(kwargs));
  graph::NodeMeta& meta = g.meta(id);
  if (part == PartitionerTag::kForward) meta = marks;
  meta.partitioner_tag = part;
  meta.autograd_backward = part == PartitionerTag::kBackward;
  meta.seq_nr = seq_nr_;
  meta.tensor_meta = g[id].tensor() != nullptr;
  return id;
}

NodeId JointBuilder::item(NodeId tuple, int64_t index) {
  const Value value = *g[tuple].val;
  const auto* list = value.as<graph::ListValue>();
  const std::vector<Value>& items = list ? list->items : value.as<graph::TupleValue>()->items;
  return emit("operator.getitem", {ref(tuple), Argument(index)}, items[static_cast<size_t>(index)]);
}

NodeId JointBuilder::arithmetic(const std::string& target, const SymExpr& expr, NodeId like) {
  const std::vector<SymExpr>& operands = expr.operands();
  SymExpr total = operands[0];
  Argument left = size(operands[0], like);
  NodeId id = kNoNode;
  for (size_t i = 1; i < operands.size(); ++i) {
    total = target == "operator.add" ? total + operands[i] : total * operands[i];
    Argument right = size(operands[i], like);
    id = emit(target, {std::move(left), std::move(right)}, Value(graph::SymIntValue{total}));
    left = ref(id);
  }
  return id;
}

Argument JointBuilder::size(const SymExpr& expr, NodeId like) {
  if (expr.is_const()) return Argument(expr.value());
  if (like != kNoNode && chance(0.3)) {
    const Shape known = shape(like);
    const int64_t dim = std::ranges::find(known, expr) - known.begin();
    if (dim < std::ssize(known))
      return ref(emit("aten.sym_size.int", {ref(like), Argument(dim)}, Value(graph::SymIntValue{expr})));
  }
  if (expr.op() == graph::SymOp::kSymbol) return ref(symbols_.at(expr.name()));
  if (expr.op() == graph::SymOp::kAdd) return ref(arithmetic("operator.add", expr, like));
  if (expr.op() == graph::SymOp::kMul) return ref(arithmetic("operator.mul", expr, like));
  throw std::logic_error("no operator for the size " + expr.str());
}

Argument JointBuilder::sizes(const Shape& shape, NodeId like) {
  ArgumentList items;
  for (const SymExpr& expr : shape) items.push_back(size(expr, like));
  return Argument::list(std::move(items));
}

NodeId JointBuilder::contiguous(NodeId id) {
  if (is_contiguous(tensor(id))) return id;
  return emit("aten.clone.default", {ref(id)}, Value(fresh(shape(id), dtype(id))),
              {{"memory_format", Argument(graph::MemoryFormat::kContiguous)}});
}

NodeId JointBuilder::pointwise(const std::string& target, ArgumentList operands) {
  for (const Argument& operand : operands)
    if (const auto* node = operand.as<graph::NodeArg>()) return pointwise(target, operands, dtype(node->id));
  throw std::logic_error("an operator without tensors");
}

NodeId JointBuilder::pointwise(const std::string& target, ArgumentList operands, graph::DType result) {
  std::optional<Shape> common = Shape{};
  std::optional<TensorMeta> first;
  bool same_strides = true;
  for (const Argument& operand : operands) {
    const auto* node = operand.as<graph::NodeArg>();
    if (!node) continue;
    common = broadcast(*common, shape(node->id));
    if (!common) throw std::logic_error(target + ": operands don't broadcast");
    if (!first) first = tensor(node->id);
    same_strides = same_strides && shape(node->id) == first->shape && *tensor(node->id).stride == *first->stride;
  }
  if (same_strides && is_dense(*first) && !is_contiguous(*first)) {
    TensorMeta meta = fresh(*common, result);
    meta.stride = first->stride;
    return emit(target, std::move(operands), Value(std::move(meta)));
  }
  for (Argument& operand : operands) {
    const auto* node = operand.as<graph::NodeArg>();
    if (node && !is_in_order(tensor(node->id), g.symbols)) operand = ref(contiguous(node->id));
  }
  return emit(target, std::move(operands), Value(fresh(*common, result)));
}

NodeId JointBuilder::transposed(NodeId id) {
  Shape sizes = shape(id);
  std::vector<SymExpr> strides = *tensor(id).stride;
  std::ranges::reverse(sizes);
  std::ranges::reverse(strides);
  if (below(2) == 0) return emit("aten.t.default", {ref(id)}, Value(alias(id, sizes, strides)));
  return emit("aten.permute.default", {ref(id), Argument::ints({1, 0})}, Value(alias(id, sizes, strides)));
}

NodeId JointBuilder::viewed(NodeId id, const Shape& to) {
  const NodeId base = contiguous(id);
  return emit("aten.view.default", {ref(base), sizes(to, id)}, Value(alias(base, to, contiguous_strides(to))));
}

NodeId JointBuilder::expanded(NodeId id, const Shape& to) {
  std::vector<SymExpr> strides(to.size(), SymExpr(0));
  const size_t added = to.size() - shape(id).size();
  for (size_t i = 0; i < shape(id).size(); ++i)
    if (shape(id)[i] == to[i + added]) strides[i + added] = (*tensor(id).stride)[i];
  return emit("aten.expand.default", {ref(id), sizes(to)}, Value(alias(id, to, std::move(strides))));
}

NodeId JointBuilder::sum(NodeId id, const std::vector<int64_t>& dims, const std::string& target) {
  const NodeId base = contiguous(id);
  Shape reduced = shape(base);
  for (const int64_t dim : dims) reduced[static_cast<size_t>(dim)] = SymExpr(1);
  return emit(target, {ref(base), Argument::ints(dims), Argument(true)}, Value(fresh(reduced, dtype(base))));
}

NodeId JointBuilder::slice(NodeId id, int64_t dim, const SymExpr& start, const SymExpr& end) {
  Shape sizes = shape(id);
  sizes[static_cast<size_t>(dim)] = end - start;
  TensorMeta meta = alias(id, sizes, *tensor(id).stride);
  meta.offset = *meta.offset + start * (*meta.stride)[static_cast<size_t>(dim)];
  return emit("aten.slice.Tensor", {ref(id), Argument(dim), size(start), size(end)}, Value(std::move(meta)));
}

NodeId JointBuilder::mm(NodeId a, NodeId b) {
  return emit("aten.mm.default", {ref(a), ref(b)}, Value(fresh({shape(a)[0], shape(b)[1]}, dtype(a))));
}

NodeId JointBuilder::reduced_to(NodeId id, const Shape& to) {
  const Shape from = shape(id);
  if (from == to) return id;
  const size_t added = from.size() - to.size();
  std::vector<int64_t> dims;
  for (size_t i = 0; i < from.size(); ++i)
    if (i < added || !(to[i - added] == from[i])) dims.push_back(static_cast<int64_t>(i));
  const NodeId reduced = dims.empty() ? id : sum(id, dims);
  return shape(reduced) == to ? reduced : viewed(reduced, to);
}

NodeId JointBuilder::record(const std::vector<NodeId>& results, const std::vector<NodeId>& inputs,
                            std::function<void()> backward) {
  if (part == PartitionerTag::kForward && std::ranges::any_of(inputs, [&](NodeId id) { return needs_grad(id); })) {
    differentiable_.insert(results.begin(), results.end());
    tape_.push_back({results, std::move(backward), seq_nr_});
  }
  if (part == PartitionerTag::kForward) ++seq_nr_;
  return results.front();
}

NodeId JointBuilder::grad(NodeId id) const {
  const auto found = gradients_.find(id);
  return found == gradients_.end() ? kNoNode : found->second;
}

void JointBuilder::add_grad(NodeId id, const std::function<NodeId()>& make) {
  if (!needs_grad(id)) return;
  const NodeId more = make();
  const NodeId old = grad(id);
  gradients_[id] = old == kNoNode ? more : pointwise("aten.add.Tensor", {ref(old), ref(more)});
}

void JointBuilder::differentiate() {
  part = PartitionerTag::kBackward;
  for (auto step = tape_.rbegin(); step != tape_.rend(); ++step) {
    seq_nr_ = step->seq_nr;
    if (std::ranges::any_of(step->results, [&](NodeId id) { return grad(id) != kNoNode; })) step->backward();
  }
}

}  // namespace sapwood::test
