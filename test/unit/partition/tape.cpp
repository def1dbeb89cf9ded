#include "unit/partition/tape.h"

namespace sapwood::test {
namespace {

using graph::Argument;
using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;

graph::TensorMeta matrix(const std::vector<int64_t>& shape, int32_t storage) {
  graph::TensorMeta meta;
  int64_t elements = 1;
  std::vector<graph::SymExpr> stride(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    stride[i] = graph::SymExpr(elements);
    elements *= shape[i];
  }
  for (const int64_t size : shape) meta.shape.emplace_back(size);
  meta.stride = std::move(stride);
  meta.offset = graph::SymExpr(0);
  meta.storage = storage;
  meta.storage_bytes = graph::SymExpr(elements * 4);
  return meta;
}

}  // namespace

NodeId Tape::input(int64_t rows, int64_t columns) {
  const std::string name = "primals_" + std::to_string(inputs_.size() + 1);
  graph_.set_insertion_point(inputs_.empty() ? graph_.first() : graph_[inputs_.back()].next);
  inputs_.push_back(graph_.placeholder(name, graph::Value(matrix({rows, columns}, next_storage_++))));
  graph_.set_insertion_point(kNoNode);
  return inputs_.back();
}

std::vector<int64_t> Tape::shape(NodeId id) const {
  std::vector<int64_t> sizes;
  for (const graph::SymExpr& size : graph_[id].tensor()->shape) sizes.push_back(size.value());
  return sizes;
}

NodeId Tape::call(const std::string& op, graph::ArgumentList args, std::vector<int64_t> shape, bool is_view) {
  const auto* base = args.empty() ? nullptr : args[0].as<graph::NodeArg>();
  const int32_t storage = is_view && base ? *graph_[base->id].tensor()->storage : next_storage_++;
  const NodeId id = graph_.call(op, std::move(args), graph::Value(matrix(shape, storage)));
  graph_.meta(id).partitioner_tag = backward_ ? PartitionerTag::kBackward : PartitionerTag::kForward;
  graph_.meta(id).tensor_meta = true;
  if (region_ > 0 && !backward_) {
    graph_.meta(id).recompute = graph::CheckpointPolicy::kPreferRecompute;
    graph_.meta(id).ac_graph_id = region_;
  }
  return id;
}

NodeId Tape::record(Kind kind, const std::string& op, std::vector<NodeId> reads, std::vector<int64_t> shape) {
  graph::ArgumentList args;
  for (const NodeId read : reads) args.push_back(Argument::node(read));
  const NodeId id = call(op, std::move(args), std::move(shape));
  steps_.push_back({kind, id, std::move(reads)});
  return id;
}

NodeId Tape::mm(NodeId a, NodeId b) { return record(Kind::kMm, "aten.mm.default", {a, b}, {shape(a)[0], shape(b)[1]}); }
NodeId Tape::cos(NodeId x) { return record(Kind::kCos, "aten.cos.default", {x}, shape(x)); }
NodeId Tape::add(NodeId a, NodeId b) { return record(Kind::kAdd, "aten.add.Tensor", {a, b}, shape(a)); }
NodeId Tape::sum(NodeId x) { return record(Kind::kSum, "aten.sum.default", {x}, {}); }
NodeId Tape::custom(NodeId x, const std::string& operation) { return record(Kind::kCustom, operation, {x}, shape(x)); }

void Tape::accumulate(NodeId value, NodeId gradient) {
  NodeId& sum = gradients_[static_cast<size_t>(value)];
  sum = sum == kNoNode ? gradient
                       : call("aten.add.Tensor", {Argument::node(sum), Argument::node(gradient)}, shape(value));
}

void Tape::differentiate(const Step& step) {
  const NodeId gradient = gradients_[static_cast<size_t>(step.result)];
  if (gradient == kNoNode) return;
  const auto arg = [](NodeId id) { return Argument::node(id); };
  const auto transposed = [&](NodeId x) { return call("aten.t.default", {arg(x)}, {shape(x)[1], shape(x)[0]}, true); };
  const NodeId x = step.reads[0];
  if (step.kind == Kind::kMm) {
    const NodeId left = transposed(x);
    accumulate(step.reads[1], call("aten.mm.default", {arg(left), arg(gradient)}, shape(step.reads[1])));
    const NodeId right = transposed(step.reads[1]);
    accumulate(x, call("aten.mm.default", {arg(gradient), arg(right)}, shape(x)));
  } else if (step.kind == Kind::kAdd) {
    accumulate(x, gradient);
    accumulate(step.reads[1], gradient);
  } else if (step.kind == Kind::kSum) {
    graph::ArgumentList sizes;
    for (const int64_t size : shape(x)) sizes.emplace_back(size);
    accumulate(x, call("aten.expand.default", {arg(gradient), Argument::list(std::move(sizes))}, shape(x), true));
  } else if (step.kind == Kind::kCos) {
    const NodeId slope = call("aten.neg.default", {arg(call("aten.sin.default", {arg(x)}, shape(x)))}, shape(x));
    accumulate(x, call("aten.mul.Tensor", {arg(gradient), arg(slope)}, shape(x)));
  } else {
    accumulate(x, call("aten.mul.Tensor", {arg(gradient), arg(step.result)}, shape(x)));
  }
}

graph::Graph Tape::joint(const std::vector<NodeId>& outputs) {
  backward_ = true;
  gradients_.assign(graph_.id_bound() * 8 + 64, kNoNode);
  graph_.set_insertion_point(inputs_.empty() ? graph_.first() : graph_[inputs_.back()].next);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NodeId tangent = graph_.placeholder("tangents_" + std::to_string(i + 1),
                                              graph::Value(matrix(shape(outputs[i]), next_storage_++)));
    gradients_[static_cast<size_t>(outputs[i])] = tangent;
  }
  graph_.set_insertion_point(kNoNode);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) differentiate(*step);
  std::vector<NodeId> values = outputs;
  for (const NodeId input : inputs_) values.push_back(gradients_[static_cast<size_t>(input)]);
  graph_.num_forward_outputs = static_cast<int64_t>(outputs.size());
  graph_.output(values);
  return std::move(graph_);
}

}  // namespace sapwood::test
