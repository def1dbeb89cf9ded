#include "random/joint_graphs.h"

#include <algorithm>

#include "passes/dead_code.h"
#include "random/joint_program.h"

namespace sapwood::test {
namespace {

using graph::Argument;
using graph::CheckpointPolicy;
using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;
using graph::SymExpr;
using graph::Value;

/// Assembles a joint graph around a random forward.
class JointAssembly {
 public:
  JointAssembly(const RandomJointOptions& options, uint32_t seed) : options_(options), p_(options, seed) {}

  graph::Graph run() {
    b_.g.name = "random";
    checkpointed_ = b_.chance(options_.checkpoint);
    add_inputs();
    write_forward();
    choose_outputs();
    write_forward_mutation();
    b_.part = PartitionerTag::kBackward;
    for (const NodeId id : forward_outputs_)
      if (id != kNoNode && b_.needs_grad(id)) add_tangent(id);
    b_.differentiate();
    write_backward_mutation();
    std::vector<NodeId> outputs = forward_outputs_;
    for (const NodeId id : b_.primals) outputs.push_back(gradient_of(id));
    return_a_value(outputs);
    emit_copies();
    b_.g.output(outputs);
    b_.g.num_forward_outputs = std::ssize(forward_outputs_);
    choose_static_inputs();
    if (!b_.chance(options_.dead_code)) passes::remove_dead_nodes(b_.g);
    return std::move(b_.g);
  }

 private:
  void add_inputs() {
    const bool symbolic = b_.chance(options_.symbolic);
    const int64_t rows = 2 + static_cast<int64_t>(b_.below(5));
    if (symbolic) b_.size_input("s0", rows);
    p_.rows = symbolic ? SymExpr::symbol("s0") : SymExpr(rows);
    for (uint32_t i = 0, n = 1 + b_.below(static_cast<size_t>(options_.max_inputs)); i < n; ++i) {
      const SymExpr columns(2 * (1 + static_cast<int64_t>(b_.below(4))));
      // The first needs a gradient, so that there is a backward.
      p_.values.push_back(b_.primal(b_.fresh({p_.rows, columns}), i == 0 || b_.below(3) > 0));
    }
  }

  void write_forward() {
    const auto extra = static_cast<size_t>(options_.max_operators - options_.min_operators);
    const int operators = options_.min_operators + static_cast<int>(b_.below(extra + 1));
    for (int i = 0; i < operators; ++i) {
      enter_or_leave_region();
      draw_kind().write(p_);
    }
    b_.marks = {};
  }

  const OperatorKind& draw_kind() {
    const auto frequency = [&](const OperatorKind& kind) {
      return checkpointed_ && kind.frequency == &RandomJointOptions::effect ? 0.0 : options_.*kind.frequency;
    };
    double total = 0;
    for (const OperatorKind& kind : operator_kinds()) total += frequency(kind);
    double drawn = total * b_.below(1u << 20) / (1u << 20);
    for (const OperatorKind& kind : operator_kinds()) {
      drawn -= frequency(kind);
      if (drawn < 0) return kind;
    }
    return operator_kinds().front();
  }

  /// Regions follow each other, with operators between them that belong to none.
  void enter_or_leave_region() {
    if (!checkpointed_) return;
    if (b_.below(3) == 0) {
      in_region_ = !in_region_;
      if (in_region_) ++region_;
    }
    b_.marks = {};
    if (!in_region_) return;
    static const std::vector<CheckpointPolicy> kPolicies = {
        CheckpointPolicy::kPreferRecompute, CheckpointPolicy::kPreferRecompute, CheckpointPolicy::kMustRecompute,
        CheckpointPolicy::kMustSave};
    b_.marks.recompute = b_.one_of(kPolicies);
    b_.marks.ac_graph_id = region_;
    b_.marks.has_backward_hook = b_.below(8) == 0;
  }

  void choose_outputs() {
    if (p_.token != kNoNode) forward_outputs_.push_back(p_.token);
    const NodeId last =
        p_.pick([&](NodeId id) { return b_.needs_grad(id) && b_.g[id].kind != graph::NodeKind::kPlaceholder; });
    forward_outputs_.push_back(last == kNoNode ? p_.values.front() : last);
    while (b_.chance(options_.second_output)) forward_outputs_.push_back(p_.pick());
    if (!p_.rows.is_const() && b_.below(3) == 0) forward_outputs_.push_back(b_.size(p_.rows).as<graph::NodeArg>()->id);
    if (b_.below(8) == 0) forward_outputs_.push_back(kNoNode);
  }

  void add_tangent(NodeId of) {
    const NodeId tangent = b_.tangent(of);
    b_.add_grad(of, [&] { return tangent; });
  }

  /// What a buffer becomes: a mix of itself and a value.
  NodeId moving_average(NodeId buffer, NodeId value) {
    const NodeId old = b_.pointwise("aten.mul.Tensor", {ref(buffer), Argument(0.9)});
    const NodeId added = b_.pointwise("aten.mul.Tensor", {ref(value), Argument(0.1)});
    return b_.pointwise("aten.add.Tensor", {ref(old), ref(added)});
  }

  void write_forward_mutation() {
    if (!b_.chance(options_.mutation)) return;
    const NodeId value = p_.pick();
    buffer_ = b_.primal(b_.fresh(b_.shape(value), b_.dtype(value)), false);
    if (b_.below(3) == 0) return;  // only the backward writes
    copies_.push_back({buffer_, moving_average(buffer_, value), PartitionerTag::kMustBeInForward});
  }

  void write_backward_mutation() {
    if (buffer_ == kNoNode || (!copies_.empty() && b_.below(2) == 0)) return;
    for (const NodeId id : p_.values) {
      const NodeId grad = b_.grad(id);
      if (grad == kNoNode || !(b_.shape(grad) == b_.shape(buffer_)) || b_.dtype(grad) != b_.dtype(buffer_)) continue;
      // After a write in the forward the backward sees the new value, which is a value of the graph.
      const NodeId old = copies_.empty() ? buffer_ : copies_.front().value;
      copies_.push_back({buffer_, moving_average(old, grad), PartitionerTag::kMustBeInBackward});
      return;
    }
  }

  NodeId gradient_of(NodeId primal) { return b_.chance(options_.missing_gradient) ? kNoNode : b_.grad(primal); }

  void return_a_value(std::vector<NodeId>& outputs) {
    if (!b_.chance(options_.returned_value)) return;
    const NodeId value = p_.pick();
    outputs[outputs.size() - 1 - b_.below(b_.primals.size())] = value;
  }

  void emit_copies() {
    for (const Copy& copy : copies_) {
      b_.part = copy.part;
      const NodeId id = b_.emit("aten.copy_.default", {ref(copy.into), ref(copy.value)}, Value(b_.tensor(copy.into)));
      b_.g.meta(id).impure = true;
    }
  }

  void choose_static_inputs() {
    for (int64_t i = 0; i < std::ssize(b_.primals); ++i) {
      const NodeId id = b_.primals[static_cast<size_t>(i)];
      const bool parameter = b_.needs_grad(id) && std::ranges::find(p_.values, id) == p_.values.end();
      if (parameter && b_.chance(options_.static_input)) b_.g.static_lifetime_inputs.push_back(i);
    }
  }

  struct Copy {
    NodeId into;
    NodeId value;
    PartitionerTag part;
  };

  const RandomJointOptions& options_;
  JointProgram p_;
  JointBuilder& b_ = p_.b;
  bool checkpointed_ = false;
  bool in_region_ = false;
  int64_t region_ = 0;
  std::vector<NodeId> forward_outputs_;
  NodeId buffer_ = kNoNode;
  std::vector<Copy> copies_;
};

}  // namespace

graph::Graph random_joint_graph(const RandomJointOptions& options, uint32_t seed) {
  return JointAssembly(options, seed).run();
}

}  // namespace sapwood::test
