// Operators that take tensors apart, put them together and pick from them.

#include "random/joint_program.h"

namespace sapwood::test {

using graph::Argument;
using graph::kNoNode;
using graph::NodeId;
using graph::SymExpr;
using graph::Value;

namespace {

NodeId transpose(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) { return b.shape(id).size() == 2; });
  if (x == kNoNode) return kNoNode;
  const NodeId y = b.transposed(x);
  return b.record({y}, {x}, [&b, x, y] { b.add_grad(x, [&] { return b.transposed(b.grad(y)); }); });
}

NodeId reshape(JointProgram& p, NodeId x, const Shape& to) {
  JointBuilder& b = p.b;
  const NodeId y = b.viewed(x, to);
  return b.record({y}, {x}, [&b, x, y] { b.add_grad(x, [&] { return b.viewed(b.grad(y), b.shape(x)); }); });
}

NodeId flatten(JointProgram& p) {
  const NodeId x = p.pick([&](NodeId id) { return p.b.shape(id).size() == 2; });
  return x == kNoNode ? kNoNode : reshape(p, x, {product(p.b.shape(x))});
}

NodeId fold(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick_matrix();
  if (x == kNoNode || b.shape(x)[1].value() % 2 != 0) return kNoNode;
  const Shape to{b.shape(x)[0], SymExpr(b.shape(x)[1].value() / 2), SymExpr(2)};
  return reshape(p, x, to);
}

NodeId expand(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) { return is_one(b.shape(id).back()); });
  if (x == kNoNode) return kNoNode;
  Shape to = b.shape(x);
  to.back() = SymExpr(4);
  const NodeId y = b.expanded(x, to);
  return b.record({y}, {x}, [&b, x, y] { b.add_grad(x, [&] { return b.reduced_to(b.grad(y), b.shape(x)); }); });
}

NodeId slice(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) { return b.shape(id).size() == 2; });
  if (x == kNoNode) return kNoNode;
  const int64_t dim = b.below(2);
  const SymExpr all = b.shape(x)[static_cast<size_t>(dim)];
  if (all.is_const() && all.value() < 2) return kNoNode;
  if (!all.is_const() && all.op() != graph::SymOp::kSymbol) return kNoNode;  // its lower bound is 2
  const bool front = b.below(2) == 0;
  const SymExpr start = front ? SymExpr(0) : SymExpr(1);
  const SymExpr end = front ? all - SymExpr(1) : all;
  const NodeId y = b.slice(x, dim, start, end);
  return b.record({y}, {x}, [&b, x, y, dim, start, end] {
    b.add_grad(x, [&] {
      return b.emit("aten.slice_backward.default",
                    {ref(b.grad(y)), b.sizes(b.shape(x), x), Argument(dim), b.size(start), b.size(end), Argument(1)},
                    Value(b.fresh(b.shape(x), b.dtype(x))));
    });
  });
}

NodeId unsqueeze(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) { return b.shape(id).size() < 3; });
  if (x == kNoNode) return kNoNode;
  Shape to = b.shape(x);
  std::vector<SymExpr> strides = *b.tensor(x).stride;
  strides.insert(strides.begin(), to.front() * strides.front());
  to.insert(to.begin(), SymExpr(1));
  const NodeId y =
      b.emit("aten.unsqueeze.default", {ref(x), Argument(0)}, Value(b.alias(x, std::move(to), std::move(strides))));
  return b.record({y}, {x}, [&b, x, y] {
    b.add_grad(x, [&] {
      const NodeId g = b.grad(y);
      std::vector<SymExpr> strides = *b.tensor(g).stride;
      strides.erase(strides.begin());
      return b.emit("aten.squeeze.dim", {ref(g), Argument(0)}, Value(b.alias(g, b.shape(x), std::move(strides))));
    });
  });
}

/// Joined along the last dimension.
NodeId joined(JointBuilder& b, const std::vector<NodeId>& parts) {
  graph::ArgumentList items;
  Shape shape = b.shape(parts[0]);
  shape.back() = SymExpr(0);
  for (const NodeId id : parts) {
    items.push_back(ref(id));
    shape.back() = shape.back() + b.shape(id).back();
  }
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  return b.emit("aten.cat.default", {Argument::list(std::move(items)), Argument(last)},
                Value(b.fresh(shape, b.dtype(parts[0]))));
}

NodeId embedding(JointProgram& p, NodeId indices) {
  JointBuilder& b = p.b;
  const int64_t words = 3;
  const SymExpr width(2 * (1 + static_cast<int64_t>(b.below(3))));
  const NodeId weight = p.parameter({SymExpr(words), width});
  const NodeId y =
      b.emit("aten.embedding.default", {ref(weight), ref(indices)}, Value(b.fresh({b.shape(indices)[0], width})));
  return b.record({y}, {weight}, [&b, weight, indices, y] {
    b.add_grad(weight, [&] {
      return b.emit("aten.embedding_dense_backward.default",
                    {ref(b.contiguous(b.grad(y))), ref(indices), Argument(words), Argument(-1), Argument(false)},
                    Value(b.fresh(b.shape(weight))));
    });
  });
}

NodeId indexed(JointProgram& p, NodeId x, NodeId indices) {
  JointBuilder& b = p.b;
  const auto list = [indices] { return Argument::list({ref(indices)}); };
  const NodeId base = b.contiguous(x);
  const NodeId y = b.emit("aten.index.Tensor", {ref(base), list()},
                          Value(b.fresh({b.shape(indices)[0], b.shape(x)[1]}, b.dtype(x))));
  return b.record({y}, {x}, [&b, x, y, list] {
    b.add_grad(x, [&] {
      const graph::DType dtype = b.dtype(x);
      const NodeId zeros = b.emit("aten.full.default", {b.sizes(b.shape(x), x), Argument(0)},
                                  Value(b.fresh(b.shape(x), dtype)), {{"dtype", Argument(dtype)}});
      return b.emit("aten.index_put.default", {ref(zeros), list(), ref(b.contiguous(b.grad(y))), Argument(true)},
                    Value(b.fresh(b.shape(x), dtype)));
    });
  });
}

}  // namespace

void write_view(JointProgram& p) {
  static constexpr NodeId (*kViews[])(JointProgram&) = {transpose, flatten, fold, expand, slice, unsqueeze};
  const NodeId y = kViews[p.b.below(std::size(kViews))](p);
  if (y != kNoNode) p.values.push_back(y);
}

void write_concatenate(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick();
  const auto front = [&](NodeId id) {
    Shape shape = b.shape(id);
    shape.pop_back();
    return shape;
  };
  std::vector<NodeId> parts{x};
  for (uint32_t i = 0, more = 1 + b.below(2); i < more; ++i)
    parts.push_back(p.pick([&](NodeId id) { return b.dtype(id) == b.dtype(x) && front(id) == front(x); }));
  const NodeId y = joined(b, parts);
  p.values.push_back(b.record({y}, parts, [&b, parts, y] {
    SymExpr start(0);
    for (const NodeId part : parts) {
      const SymExpr end = start + b.shape(part).back();
      const auto last = static_cast<int64_t>(b.shape(part).size()) - 1;
      b.add_grad(part, [&] { return b.slice(b.grad(y), last, start, end); });
      start = end;
    }
  }));
}

void write_split(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) {
    const SymExpr last = b.shape(id).back();
    return b.shape(id).size() > 1 && last.is_const() && last.value() % 2 == 0;
  });
  if (x == kNoNode) return;
  Shape half = b.shape(x);
  half.back() = SymExpr(half.back().value() / 2);
  graph::ListValue items;
  for (int64_t i = 0; i < 2; ++i) {
    graph::TensorMeta meta = b.alias(x, half, *b.tensor(x).stride);
    meta.offset = *meta.offset + SymExpr(i) * half.back() * meta.stride->back();
    items.items.emplace_back(std::move(meta));
  }
  const NodeId list =
      b.emit("aten.split.Tensor", {ref(x), Argument(half.back().value()), Argument(-1)}, Value(std::move(items)));
  const std::vector<NodeId> halves{b.item(list, 0), b.item(list, 1)};
  b.record(halves, {x}, [&b, x, halves] {
    b.add_grad(x, [&] {
      std::vector<NodeId> gradients;
      for (const NodeId id : halves) {
        NodeId g = b.grad(id);
        if (g == kNoNode)
          g = b.emit("aten.full.default", {b.sizes(b.shape(id), x), Argument(0)},
                     Value(b.fresh(b.shape(id), b.dtype(id))), {{"dtype", Argument(b.dtype(id))}});
        gradients.push_back(g);
      }
      return joined(b, gradients);
    });
  });
  p.values.insert(p.values.end(), halves.begin(), halves.end());
}

void write_index(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId indices = b.primal(b.fresh({p.rows}, graph::DType::kInt64), false);
  const NodeId x = p.pick([&](NodeId id) {
    const Shape shape = b.shape(id);
    return shape.size() == 2 && (shape[0] == p.rows || (shape[0].is_const() && shape[0].value() >= 2));
  });
  p.values.push_back(x == kNoNode || b.below(2) == 0 ? embedding(p, indices) : indexed(p, x, indices));
}

}  // namespace sapwood::test
