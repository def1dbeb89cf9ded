// Elementwise operators, products, reductions, normalizations, and operators that draw, exchange or convert.

#include "random/joint_program.h"

namespace sapwood::test {

using graph::Argument;
using graph::ArgumentList;
using graph::DType;
using graph::kNoNode;
using graph::NodeId;
using graph::SymExpr;
using graph::Value;

namespace {

/// A unary operator; `gradient` makes the gradient of the input from those of the output.
struct Unary {
  const char* target;
  NodeId (*gradient)(JointBuilder& b, NodeId x, NodeId y, NodeId grad);
};

const std::vector<Unary>& unaries() {
  static const std::vector<Unary> list = {
      {"aten.sin.default",
       [](JointBuilder& b, NodeId x, NodeId, NodeId g) {
         return b.pointwise("aten.mul.Tensor", {ref(g), ref(b.pointwise("aten.cos.default", {ref(x)}))});
       }},
      {"aten.cos.default",
       [](JointBuilder& b, NodeId x, NodeId, NodeId g) {
         const NodeId sin = b.pointwise("aten.sin.default", {ref(x)});
         return b.pointwise("aten.mul.Tensor", {ref(g), ref(b.pointwise("aten.neg.default", {ref(sin)}))});
       }},
      {"aten.tanh.default", [](JointBuilder& b, NodeId, NodeId y,
                               NodeId g) { return b.pointwise("aten.tanh_backward.default", {ref(g), ref(y)}); }},
      {"aten.sigmoid.default", [](JointBuilder& b, NodeId, NodeId y,
                                  NodeId g) { return b.pointwise("aten.sigmoid_backward.default", {ref(g), ref(y)}); }},
      {"aten.relu.default",
       [](JointBuilder& b, NodeId, NodeId y, NodeId g) {
         return b.pointwise("aten.threshold_backward.default", {ref(g), ref(y), Argument(0)});
       }},
      {"aten.gelu.default", [](JointBuilder& b, NodeId x, NodeId,
                               NodeId g) { return b.pointwise("aten.gelu_backward.default", {ref(g), ref(x)}); }},
      {"aten.neg.default",
       [](JointBuilder& b, NodeId, NodeId, NodeId g) { return b.pointwise("aten.neg.default", {ref(g)}); }},
  };
  return list;
}

NodeId unary(JointProgram& p, NodeId x) {
  JointBuilder& b = p.b;
  const Unary& op = b.one_of(unaries());
  const NodeId y = b.pointwise(op.target, {ref(x)});
  return b.record({y}, {x}, [&b, &op, x, y] { b.add_grad(x, [&] { return op.gradient(b, x, y, b.grad(y)); }); });
}

NodeId scaled(JointBuilder& b, NodeId x, double by) {
  const NodeId y = b.pointwise("aten.mul.Tensor", {ref(x), Argument(by)});
  return b.record({y}, {x}, [&b, x, y, by] {
    b.add_grad(x, [&] { return b.pointwise("aten.mul.Tensor", {ref(b.grad(y)), Argument(by)}); });
  });
}

NodeId added(JointBuilder& b, NodeId x, NodeId z, bool subtract) {
  const NodeId y = b.pointwise(subtract ? "aten.sub.Tensor" : "aten.add.Tensor", {ref(x), ref(z)});
  return b.record({y}, {x, z}, [&b, x, z, y, subtract] {
    b.add_grad(x, [&] { return b.reduced_to(b.grad(y), b.shape(x)); });
    b.add_grad(z, [&] {
      const NodeId g = subtract ? b.pointwise("aten.neg.default", {ref(b.grad(y))}) : b.grad(y);
      return b.reduced_to(g, b.shape(z));
    });
  });
}

NodeId multiplied(JointBuilder& b, NodeId x, NodeId z) {
  const NodeId y = b.pointwise("aten.mul.Tensor", {ref(x), ref(z)});
  return b.record({y}, {x, z}, [&b, x, z, y] {
    const auto times = [&](NodeId other, NodeId of) {
      return b.reduced_to(b.pointwise("aten.mul.Tensor", {ref(b.grad(y)), ref(other)}), b.shape(of));
    };
    b.add_grad(x, [&] { return times(z, x); });
    b.add_grad(z, [&] { return times(x, z); });
  });
}

NodeId matmul(JointBuilder& b, NodeId x, NodeId z) {
  const NodeId y = b.mm(x, z);
  return b.record({y}, {x, z}, [&b, x, z, y] {
    b.add_grad(x, [&] { return b.mm(b.grad(y), b.transposed(z)); });
    b.add_grad(z, [&] { return b.mm(b.transposed(x), b.grad(y)); });
  });
}

NodeId addmm(JointProgram& p, NodeId x, NodeId z) {
  JointBuilder& b = p.b;
  const NodeId bias = p.parameter({b.shape(z)[1]}, b.dtype(x));
  const NodeId y = b.emit("aten.addmm.default", {ref(bias), ref(x), ref(z)},
                          Value(b.fresh({b.shape(x)[0], b.shape(z)[1]}, b.dtype(x))));
  return b.record({y}, {bias, x, z}, [&b, bias, x, z, y] {
    b.add_grad(x, [&] { return b.mm(b.grad(y), b.transposed(z)); });
    b.add_grad(z, [&] { return b.mm(b.transposed(x), b.grad(y)); });
    b.add_grad(bias, [&] { return b.reduced_to(b.grad(y), b.shape(bias)); });
  });
}

/// Mean and variance over the last dimension.
struct Moments {
  NodeId variance, mean;
};

Moments moments(JointBuilder& b, NodeId x) {
  Shape reduced = b.shape(x);
  const auto count = static_cast<double>(reduced.back().value());
  reduced.back() = SymExpr(1);
  graph::TupleValue pair{{Value(b.fresh(reduced, b.dtype(x))), Value(b.fresh(reduced, b.dtype(x)))}};
  const NodeId tuple =
      b.emit("aten.var_mean.correction", {ref(x), Argument::ints({static_cast<int64_t>(reduced.size()) - 1})},
             Value(std::move(pair)), {{"correction", Argument(0)}, {"keepdim", Argument(true)}});
  const Moments m{b.item(tuple, 0), b.item(tuple, 1)};
  b.record({m.variance, m.mean}, {x}, [&b, x, m, count] {
    if (b.grad(m.variance) != kNoNode) {
      b.add_grad(x, [&] {
        const NodeId centered = b.pointwise("aten.sub.Tensor", {ref(x), ref(m.mean)});
        const NodeId slope = b.pointwise("aten.mul.Tensor", {ref(centered), Argument(2.0 / count)});
        return b.pointwise("aten.mul.Tensor", {ref(b.grad(m.variance)), ref(slope)});
      });
    }
    if (b.grad(m.mean) != kNoNode) {
      b.add_grad(x, [&] {
        const NodeId spread = b.expanded(b.grad(m.mean), b.shape(x));
        return b.pointwise("aten.div.Tensor", {ref(spread), Argument(count)});
      });
    }
  });
  return m;
}

NodeId inverse_root(JointBuilder& b, NodeId x) {
  const NodeId shifted = b.pointwise("aten.add.Tensor", {ref(x), Argument(1e-5)});
  b.record({shifted}, {x}, [&b, x, shifted] { b.add_grad(x, [&] { return b.grad(shifted); }); });
  const NodeId y = b.pointwise("aten.rsqrt.default", {ref(shifted)});
  return b.record({y}, {shifted}, [&b, shifted, y] {
    b.add_grad(shifted, [&] {
      const NodeId cube = b.pointwise("aten.pow.Tensor_Scalar", {ref(y), Argument(3)});
      const NodeId slope = b.pointwise("aten.mul.Tensor", {ref(cube), Argument(-0.5)});
      return b.pointwise("aten.mul.Tensor", {ref(b.grad(y)), ref(slope)});
    });
  });
}

NodeId native_dropout(JointBuilder& b, NodeId x) {
  const NodeId base = b.contiguous(x);
  graph::TupleValue pair{{Value(b.fresh(b.shape(x), b.dtype(x))), Value(b.fresh(b.shape(x), DType::kBool))}};
  const NodeId tuple =
      b.emit("aten.native_dropout.default", {ref(base), Argument(0.5), Argument(true)}, Value(std::move(pair)));
  const NodeId y = b.item(tuple, 0);
  const NodeId mask = b.item(tuple, 1);
  return b.record({y}, {x}, [&b, x, y, mask] {
    b.add_grad(x, [&] {
      return b.pointwise("aten.native_dropout_backward.default",
                         {ref(b.contiguous(b.grad(y))), ref(mask), Argument(2.0)});
    });
  });
}

NodeId decomposed_dropout(JointBuilder& b, NodeId x) {
  const NodeId base = b.contiguous(x);
  const NodeId drawn = b.emit("aten.rand_like.default", {ref(base)}, Value(b.fresh(b.shape(x), b.dtype(x))));
  const NodeId mask = b.pointwise("aten.gt.Scalar", {ref(drawn), Argument(0.25)}, DType::kBool);
  const NodeId y = b.pointwise("aten.mul.Tensor", {ref(base), ref(mask)});
  return b.record({y}, {x}, [&b, x, y, mask] {
    b.add_grad(x, [&] { return b.pointwise("aten.mul.Tensor", {ref(b.grad(y)), ref(mask)}); });
  });
}

NodeId all_reduced(JointBuilder& b, NodeId x) {
  const NodeId base = b.contiguous(x);
  const auto like = [&] { return Value(b.fresh(b.shape(base), b.dtype(base))); };
  const NodeId sum = b.emit("_c10d_functional.all_reduce.default", {ref(base), Argument("sum"), Argument("0")}, like());
  return b.emit("_c10d_functional.wait_tensor.default", {ref(sum)}, like());
}

NodeId converted(JointBuilder& b, NodeId x, DType to) {
  const NodeId base = b.contiguous(x);
  Value value(b.fresh(b.shape(x), to));
  if (b.below(2) == 0) return b.emit("prims.convert_element_type.default", {ref(base), Argument(to)}, std::move(value));
  return b.emit("aten._to_copy.default", {ref(base)}, std::move(value), {{"dtype", Argument(to)}});
}

}  // namespace

void write_pointwise(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick();
  const NodeId other =
      p.pick([&](NodeId id) { return b.dtype(id) == b.dtype(x) && broadcast(b.shape(x), b.shape(id)).has_value(); });
  switch (b.below(6)) {
    case 0:
      return p.values.push_back(scaled(b, x, 0.5));
    case 1:
      return p.values.push_back(multiplied(b, x, p.parameter({b.shape(x).back()}, b.dtype(x))));
    case 2:
      return p.values.push_back(multiplied(b, x, other));
    case 3:
      return p.values.push_back(added(b, x, other, b.below(2) == 0));
    default:
      return p.values.push_back(unary(p, x));
  }
}

void write_matmul(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick_matrix();
  if (x == kNoNode) return;
  const NodeId square = p.pick([&](NodeId id) {
    return b.dtype(id) == b.dtype(x) && b.shape(id).size() == 2 && b.shape(id)[0] == b.shape(x)[1];
  });
  if (square != kNoNode && b.below(2) == 0) return p.values.push_back(matmul(b, x, square));
  const SymExpr columns(2 * (1 + static_cast<int64_t>(b.below(4))));
  const NodeId weight = p.parameter({columns, b.shape(x)[1]}, b.dtype(x));
  const NodeId t = b.transposed(weight);
  b.record({t}, {weight}, [&b, weight, t] { b.add_grad(weight, [&] { return b.transposed(b.grad(t)); }); });
  p.values.push_back(b.below(2) == 0 ? addmm(p, x, t) : matmul(b, x, t));
}

void write_reduction(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) { return b.shape(id).back().is_const(); });
  if (x == kNoNode) return;
  const auto last = static_cast<int64_t>(b.shape(x).size()) - 1;
  const bool mean = b.below(2) == 0;
  const NodeId y = b.sum(x, {last}, mean ? "aten.mean.dim" : "aten.sum.dim_IntList");
  p.values.push_back(b.record({y}, {x}, [&b, x, y, mean] {
    b.add_grad(x, [&] {
      const NodeId spread = b.expanded(b.grad(y), b.shape(x));
      if (!mean) return spread;
      return b.pointwise("aten.div.Tensor", {ref(spread), Argument(b.shape(x).back().value())});
    });
  }));
}

void write_normalization(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick([&](NodeId id) {
    return b.dtype(id) == DType::kFloat32 && is_contiguous(b.tensor(id)) && b.shape(id).back().is_const() &&
           b.shape(id).back().value() > 1;
  });
  if (x == kNoNode) return;
  const Moments m = moments(b, x);
  const NodeId centered = added(b, x, m.mean, true);
  const NodeId normal = multiplied(b, centered, inverse_root(b, m.variance));
  p.values.push_back(normal);
  if (b.below(2) == 0) return;
  const NodeId weighted = multiplied(b, normal, p.parameter({b.shape(x).back()}));
  p.values.push_back(added(b, weighted, p.parameter({b.shape(x).back()}), false));
}

void write_dropout(JointProgram& p) {
  const NodeId x = p.pick();
  p.values.push_back(p.b.below(2) == 0 ? native_dropout(p.b, x) : decomposed_dropout(p.b, x));
}

void write_collective(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick();
  const NodeId y = all_reduced(b, x);
  p.values.push_back(b.record({y}, {x}, [&b, x, y] { b.add_grad(x, [&] { return all_reduced(b, b.grad(y)); }); }));
}

void write_conversion(JointProgram& p) {
  JointBuilder& b = p.b;
  const NodeId x = p.pick();
  std::vector<DType> others{DType::kFloat32, DType::kBFloat16, DType::kFloat64};
  std::erase(others, b.dtype(x));
  const NodeId y = converted(b, x, b.one_of(others));
  p.values.push_back(
      b.record({y}, {x}, [&b, x, y] { b.add_grad(x, [&] { return converted(b, b.grad(y), b.dtype(x)); }); }));
}

void write_effect(JointProgram& p) {
  JointBuilder& b = p.b;
  if (p.token == kNoNode) p.token = b.primal(b.fresh({SymExpr(0)}), false);
  const NodeId x = p.pick();
  const NodeId base = b.contiguous(x);
  graph::TupleValue pair{{Value(b.tensor(p.token)), Value(b.fresh(b.shape(x), b.dtype(x)))}};
  const NodeId tuple = b.emit("higher_order.with_effects",
                              {ref(p.token), Argument(graph::OperatorArg{"sapwood_test.record.default"}), ref(base)},
                              Value(std::move(pair)));
  p.token = b.item(tuple, 0);
  const NodeId y = b.item(tuple, 1);
  p.values.push_back(b.record({y}, {x}, [&b, x, y] { b.add_grad(x, [&] { return b.grad(y); }); }));
}

const std::vector<OperatorKind>& operator_kinds() {
  using O = RandomJointOptions;
  static const std::vector<OperatorKind> kinds = {
      {&O::pointwise, write_pointwise},
      {&O::matmul, write_matmul},
      {&O::reduction, write_reduction},
      {&O::view, write_view},
      {&O::concatenate, write_concatenate},
      {&O::split, write_split},
      {&O::normalization, write_normalization},
      {&O::dropout, write_dropout},
      {&O::index, write_index},
      {&O::collective, write_collective},
      {&O::conversion, write_conversion},
      {&O::effect, write_effect},
  };
  return kinds;
}

}  // namespace sapwood::test
