#pragma once

#include <vector>

#include "random/joint_builder.h"
#include "random/joint_graphs.h"

namespace sapwood::test {

/// A forward that is being written: the values so far, and what the operators draw from.
struct JointProgram {
  JointProgram(const RandomJointOptions& o, uint32_t seed) : options(o), b(seed) {}

  const RandomJointOptions& options;
  JointBuilder b;
  std::vector<graph::NodeId> values;  ///< floating point tensors, oldest first
  graph::NodeId token = graph::kNoNode;
  graph::SymExpr rows;  ///< of the inputs

  /// One of the values for which `fits` holds, mostly a late one; kNoNode if there is none.
  template <typename Fits>
  graph::NodeId pick(Fits&& fits) {
    std::vector<graph::NodeId> fitting;
    for (const graph::NodeId id : values)
      if (fits(id)) fitting.push_back(id);
    if (fitting.empty()) return graph::kNoNode;
    const size_t latest = b.chance(options.fan_out) ? fitting.size() : std::min<size_t>(fitting.size(), 2);
    return fitting[fitting.size() - 1 - b.below(latest)];
  }
  graph::NodeId pick() {
    return pick([](graph::NodeId) { return true; });
  }
  /// Of two dimensions, with a number of columns that is no symbol.
  graph::NodeId pick_matrix() {
    return pick([this](graph::NodeId id) { return b.shape(id).size() == 2 && b.shape(id)[1].is_const(); });
  }
  graph::NodeId parameter(Shape shape, graph::DType dtype = graph::DType::kFloat32) {
    return b.primal(b.fresh(std::move(shape), dtype), true);
  }
};

/// A kind of operator: how often it is drawn, and what writes it. It adds its results to the values, or does nothing if
/// no value fits.
struct OperatorKind {
  double RandomJointOptions::* frequency;
  void (*write)(JointProgram&);
};

const std::vector<OperatorKind>& operator_kinds();

// What `operator_kinds` lists.
void write_pointwise(JointProgram& p);
void write_matmul(JointProgram& p);
void write_reduction(JointProgram& p);
void write_view(JointProgram& p);
void write_concatenate(JointProgram& p);
void write_split(JointProgram& p);
void write_normalization(JointProgram& p);
void write_dropout(JointProgram& p);
void write_index(JointProgram& p);
void write_collective(JointProgram& p);
void write_conversion(JointProgram& p);
void write_effect(JointProgram& p);

}  // namespace sapwood::test
