#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/joint_graph.h"

namespace sapwood::capture {

/// How a tensor looks at its storage. Two tensors with equal storage and equal geometry hold the same value.
struct Geometry {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  at::ScalarType dtype = at::kFloat;

  static Geometry of(const at::Tensor& tensor);
  int64_t numel() const;
  bool is_contiguous() const;
  /// One past the largest element index that it reaches, counted from the start of the storage.
  int64_t end() const;
  /// Whether no two elements share memory, as far as sorted strides can tell.
  bool is_non_overlapping() const;
  /// Whether both reach a common element, if they look at one storage. Exact for equal dtypes, in time linear in the
  /// elements; true for others.
  bool overlaps(const Geometry& other) const;
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// Functionalization: follows which node holds the present value of every tensor, through views and writes.
///
/// The unit is the storage. It has a version, a base value and any number of views, each with the operator that makes
/// it from its parent. A write replaces the base (or scatters into it) and ends the version; views of an older version
/// are made again from their parent when next read. Tensors are recognised by storage and geometry, not by address of
/// the tensor object, so handles that ATen makes behind the dispatcher (detach, saved variables) are recognised too.
/// Storages are held weakly: recording keeps no memory alive and addresses can't be taken over by a new storage.
class StorageTracker {
 public:
  /// `stamp` is called for every node that the tracker emits, to say which part of the step it belongs to.
  StorageTracker(graph::JointGraph& joint, std::function<void(graph::NodeId)> stamp)
      : joint_(joint), stamp_(std::move(stamp)) {}

  /// Says what `tensor` is, should the step read it. Becomes a placeholder at the first read. A storage that's known
  /// already keeps its first declaration.
  void declare(const at::Tensor& tensor, graph::InputRole role, std::string name, int64_t index);

  /// A number that the host computes for every step.
  graph::NodeId add_scalar(std::string name, double value, int64_t index);

  /// The node that holds the present value; emits views that have to be made again. A tensor of unknown origin becomes
  /// a constant of the step.
  graph::NodeId read(const at::Tensor& tensor);
  /// Whether the storage was seen before.
  bool knows(const at::Tensor& tensor) const { return states_.contains(tensor.storage().unsafeGetStorageImpl()); }
  /// Whether operators wrote all that `tensor` shows. What they didn't write, the host did, or nobody.
  bool is_filled(const at::Tensor& tensor) const;
  /// A number for the storage of a new value. Values are immutable, so numbers belong to nodes: a written storage has
  /// another number afterwards.
  int32_t fresh_storage() { return next_number_++; }

  /// A fresh result of `node`.
  void define(const at::Tensor& tensor, graph::NodeId node);
  /// A result of `node` that looks at the storage of `parent`, made by `target(parent, args...)`, item `item` of its
  /// results (-1: the only one).
  void define_view(const at::Tensor& tensor, const at::Tensor& parent, graph::NodeId node, int64_t item);
  /// `tensor` was overwritten with the value of `node`, which has this geometry itself.
  void write(const at::Tensor& tensor, graph::NodeId node, const Geometry& node_geometry);

  struct Written {
    graph::NodeId placeholder;
    at::Tensor tensor;
  };
  /// Inputs of the step whose storage was written, in placeholder order.
  std::vector<Written> written_inputs() const;
  /// Tensors behind the placeholders, in placeholder order; holds constants alive.
  const std::vector<at::Tensor>& placeholder_tensors() const { return placeholder_tensors_; }
  /// A leaf that the step read as a constant and whose `.grad` changed since; undefined: there is none.
  at::Tensor constant_with_new_gradient() const;
  /// kNoNode if the storage has no placeholder.
  graph::NodeId placeholder_of(const at::Tensor& tensor) const;

 private:
  /// Which tensor a `.grad` is and how often it was written.
  struct GradientMark {
    const c10::TensorImpl* grad = nullptr;
    int64_t version = 0;
    static GradientMark of(const at::Tensor& leaf);
    friend bool operator==(const GradientMark&, const GradientMark&) = default;
  };
  struct View {
    Geometry geometry;
    graph::NodeId node = graph::kNoNode;
    uint64_t version = 0;
    int64_t parent = -1;                    // index of the view that it's made from; -1: as_strided of the base
    graph::NodeId origin = graph::kNoNode;  // node whose target and arguments make it (first argument = parent)
    int64_t item = -1;
  };
  struct State {
    explicit State(c10::weak_intrusive_ptr<c10::StorageImpl> s) : storage(std::move(s)) {}
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    uint64_t version = 0;
    std::vector<View> views;       // [0] is the base
    int64_t base_node_offset = 0;  // storage offset of the tensor that the base node yields
    std::vector<bool> unfilled;    // by element of the base's dtype; empty: all of it is filled
    graph::NodeId placeholder = graph::kNoNode;
    at::Tensor declared;  // until the first read
    graph::InputRole role = graph::InputRole::kConstant;
    std::string name;
    int64_t index = -1;
  };

  State& state_of(const at::Tensor& tensor);
  void make_placeholder(State& state);
  graph::NodeId insert_placeholder(graph::InputRole role, std::string name, int64_t index, graph::Value val,
                                   const at::Tensor& tensor);
  void mark_filled(State& state, const Geometry& written);
  graph::NodeId current(State& state, size_t view);
  graph::NodeId remake(State& state, View view);
  size_t find_or_add_view(State& state, const Geometry& geometry);
  graph::NodeId emit(std::string_view target, graph::ArgumentList args, graph::Value val);
  graph::NodeId emit_fresh(std::string_view target, graph::ArgumentList args, const Geometry& result);

  graph::JointGraph& joint_;
  std::unordered_map<const c10::StorageImpl*, State> states_;
  std::vector<at::Tensor> placeholder_tensors_;
  /// Leaves that were read as constants, as they were at the first such read.
  std::unordered_map<const c10::TensorImpl*, std::pair<at::Tensor, GradientMark>> watched_;
  std::function<void(graph::NodeId)> stamp_;
  int32_t next_number_ = 0;
  graph::NodeId last_placeholder_ = graph::kNoNode;
};

}  // namespace sapwood::capture
