#include "capture/storage_tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "capture/convert.h"

namespace sapwood::capture {
namespace {

using graph::Argument;
using graph::ArgumentList;
using graph::kNoNode;
using graph::NodeId;

/// Metadata of a value with this geometry in storage `storage`; everything else as in `like`.
graph::TensorMeta meta_of(const Geometry& geometry, const graph::TensorMeta& like, int32_t storage) {
  graph::TensorMeta meta = like;
  meta.storage = storage;
  if (storage != like.storage)
    meta.storage_bytes = graph::SymExpr(geometry.end() * static_cast<int64_t>(c10::elementSize(geometry.dtype)));
  meta.dtype = to_dtype(geometry.dtype);
  meta.shape.assign(geometry.sizes.begin(), geometry.sizes.end());
  meta.stride.emplace(geometry.strides.begin(), geometry.strides.end());
  meta.offset = graph::SymExpr(geometry.offset);
  return meta;
}

bool same_layout(const Geometry& a, const Geometry& b) {
  if (a.sizes != b.sizes || a.dtype != b.dtype) return false;
  for (size_t i = 0; i < a.sizes.size(); ++i)
    if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

/// Calls `visit` with the index of every element, counted from the start of the storage, until it returns false.
template <typename Visit>
bool visit_elements(const Geometry& geometry, size_t dim, int64_t at, const Visit& visit) {
  if (dim == geometry.sizes.size()) return visit(static_cast<size_t>(at));
  for (int64_t i = 0; i < geometry.sizes[dim]; ++i)
    if (!visit_elements(geometry, dim + 1, at + i * geometry.strides[dim], visit)) return false;
  return true;
}

}  // namespace

Geometry Geometry::of(const at::Tensor& tensor) {
  return {tensor.sizes().vec(), tensor.strides().vec(), tensor.storage_offset(), tensor.scalar_type()};
}

int64_t Geometry::numel() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()); }

bool Geometry::is_contiguous() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

bool Geometry::is_non_overlapping() const {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

bool Geometry::overlaps(const Geometry& other) const {
  if (dtype != other.dtype) return true;
  std::vector<bool> mine(static_cast<size_t>(std::max(end(), other.end())), false);
  visit_elements(*this, 0, offset, [&](size_t i) { return mine[i] = true; });
  return !visit_elements(other, 0, other.offset, [&](size_t i) { return !mine[i]; });
}

int64_t Geometry::end() const {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return offset;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

void StorageTracker::declare(const at::Tensor& tensor, graph::InputRole role, std::string name, int64_t index) {
  if (!tensor.defined() || !tensor.has_storage() || knows(tensor)) return;
  State& state = state_of(tensor);
  state.declared = tensor;
  state.role = role;
  state.name = std::move(name);
  state.index = index;
}

StorageTracker::State& StorageTracker::state_of(const at::Tensor& tensor) {
  if (!tensor.has_storage())
    throw_unsupported("capture", "a tensor that isn't strided (sparse, mkldnn) has no storage to follow");
  if (tensor.is_conj() || tensor.is_neg())
    throw_unsupported("capture",
                      "a lazily conjugated or negated tensor can't be recorded; call resolve_conj() / resolve_neg()");
  c10::StorageImpl* key = tensor.storage().unsafeGetStorageImpl();
  auto found = states_.find(key);
  if (found != states_.end()) return found->second;
  const auto strong = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(key);
  return states_.emplace(key, State(c10::weak_intrusive_ptr<c10::StorageImpl>(strong))).first->second;
}

NodeId StorageTracker::insert_placeholder(graph::InputRole role, std::string name, int64_t index, graph::Value val,
                                          const at::Tensor& tensor) {
  graph::Graph& graph = joint_.graph;
  const NodeId before = last_placeholder_ == kNoNode ? graph.first() : graph[last_placeholder_].next;
  graph.set_insertion_point(before);
  // The partitioner knows tangents by this word in the target.
  const std::string_view kind = role == graph::InputRole::kTangent ? "tangents" : graph::input_role_name(role);
  const auto wanted = fmt::format("{}_{}", kind, joint_.inputs.size() + 1);
  const NodeId node = graph.placeholder(graph.unique_name(wanted), std::move(val));
  graph.set_insertion_point(kNoNode);
  last_placeholder_ = node;
  graph.meta(node).partitioner_tag =
      role == graph::InputRole::kTangent ? graph::PartitionerTag::kBackward : graph::PartitionerTag::kForward;
  graph.meta(node).desc = {name};
  joint_.inputs.push_back({node, role, index, std::move(name)});
  placeholder_tensors_.push_back(tensor);
  return node;
}

NodeId StorageTracker::add_scalar(std::string name, double value, int64_t index) {
  graph::SymFloatValue val{name, value};
  return insert_placeholder(graph::InputRole::kScalar, std::move(name), index, std::move(val), {});
}

void StorageTracker::make_placeholder(State& state) {
  const at::Tensor tensor = std::exchange(state.declared, at::Tensor());
  state.placeholder =
      insert_placeholder(state.role, state.name, state.index, tensor_meta(tensor, fresh_storage()), tensor);
  state.views.push_back({Geometry::of(tensor), state.placeholder, state.version});
  state.base_node_offset = tensor.storage_offset();
}

NodeId StorageTracker::read(const at::Tensor& tensor) {
  State& state = state_of(tensor);
  if (state.views.empty()) {
    if (!state.declared.defined()) {
      if (tensor.requires_grad() && !tensor.is_leaf())
        throw_unsupported("capture",
                          "reads a tensor that was computed with gradients before the step; compute it inside, or "
                          "detach it");
      state.declared = tensor.requires_grad() ? tensor : tensor.detach();
    }
    make_placeholder(state);
  }
  if (state.role == graph::InputRole::kConstant && state.placeholder != kNoNode && tensor.requires_grad() &&
      tensor.is_leaf())
    watched_.try_emplace(tensor.unsafeGetTensorImpl(), tensor, GradientMark::of(tensor));
  return current(state, find_or_add_view(state, Geometry::of(tensor)));
}

size_t StorageTracker::find_or_add_view(State& state, const Geometry& geometry) {
  for (size_t i = 0; i < state.views.size(); ++i)
    if (state.views[i].geometry == geometry) return i;
  state.views.push_back({geometry, kNoNode, 0, -1, kNoNode, -1});
  return state.views.size() - 1;
}

NodeId StorageTracker::current(State& state, size_t index) {
  const View& view = state.views[index];
  if (view.node != kNoNode && view.version == state.version) return view.node;
  if (index == 0) throw_internal("capture", "the base of a storage is out of date");
  const NodeId node = remake(state, view);
  state.views[index].node = node;
  state.views[index].version = state.version;
  return node;
}

NodeId StorageTracker::remake(State& state, View view) {
  graph::Graph& graph = joint_.graph;
  if (view.parent < 0) {
    const int64_t offset = view.geometry.offset - state.views[0].geometry.offset + state.base_node_offset;
    if (view.geometry.dtype != state.views[0].geometry.dtype)
      throw_unsupported("capture",
                        "memory is read under two dtypes through a view that the recorder didn't see being made");
    const Geometry& whole = state.views[0].geometry;
    if (state.version > 0 && (view.geometry.offset < whole.offset || view.geometry.end() > whole.end()))
      throw_unsupported(
          "capture",
          "tensors overlap in memory partly, and the step writes to one of them; give each its own memory, "
          "e.g. with clone()");
    const NodeId base = current(state, 0);
    const graph::TensorMeta& like = *graph[base].tensor();
    return emit(
        "aten.as_strided.default",
        {Argument::node(base), Argument::ints(view.geometry.sizes), Argument::ints(view.geometry.strides), offset},
        meta_of(view.geometry, like, *like.storage));
  }
  const graph::Node origin = graph[view.origin];
  const NodeId parent = current(state, static_cast<size_t>(view.parent));
  const graph::TensorMeta like = *graph[parent].tensor();
  const graph::TensorMeta meta = meta_of(view.geometry, like, *like.storage);
  ArgumentList args = origin.args;
  args[0] = Argument::node(parent);
  const NodeId node = emit(origin.target, std::move(args), view.item < 0 ? graph::Value(meta) : *origin.val);
  graph.set_kwargs(node, origin.kwargs);
  return view.item < 0 ? node : emit("operator.getitem", {Argument::node(node), view.item}, meta);
}

NodeId StorageTracker::emit(std::string_view target, ArgumentList args, graph::Value val) {
  const NodeId node = joint_.graph.call(target, std::move(args), std::move(val));
  stamp_(node);
  return node;
}

NodeId StorageTracker::emit_fresh(std::string_view target, ArgumentList args, const Geometry& result) {
  const graph::TensorMeta like = *joint_.graph[args[0].as<graph::NodeArg>()->id].tensor();
  return emit(target, std::move(args), meta_of(result, like, fresh_storage()));
}

void StorageTracker::define(const at::Tensor& tensor, NodeId node) {
  State& state = state_of(tensor);
  state.views.clear();
  state.views.push_back({Geometry::of(tensor), node, state.version});
  state.base_node_offset = tensor.storage_offset();
  const std::string& target = joint_.graph[node].target;
  const bool is_empty = target.starts_with("aten.empty") || target.starts_with("aten.new_empty");
  state.unfilled.assign(is_empty ? static_cast<size_t>(state.views[0].geometry.end()) : 0, true);
}

bool StorageTracker::is_filled(const at::Tensor& tensor) const {
  const auto found = states_.find(tensor.storage().unsafeGetStorageImpl());
  if (found == states_.end() || found->second.unfilled.empty()) return true;
  const State& state = found->second;
  const Geometry shown = Geometry::of(tensor);
  if (shown.numel() == 0) return true;
  if (shown.dtype != state.views[0].geometry.dtype || shown.end() > std::ssize(state.unfilled)) return false;
  return visit_elements(shown, 0, shown.offset, [&](size_t i) { return !state.unfilled[i]; });
}

void StorageTracker::mark_filled(State& state, const Geometry& written) {
  if (state.unfilled.empty()) return;
  if (written == state.views[0].geometry) return state.unfilled.clear();
  visit_elements(written, 0, written.offset, [&](size_t i) {
    if (i < state.unfilled.size()) state.unfilled[i] = false;
    return true;
  });
}

void StorageTracker::define_view(const at::Tensor& tensor, const at::Tensor& parent, NodeId node, int64_t item) {
  State& state = state_of(tensor);
  const auto parent_index = static_cast<int64_t>(find_or_add_view(state, Geometry::of(parent)));
  const size_t index = find_or_add_view(state, Geometry::of(tensor));
  View& view = state.views[index];
  if (index == 0 || (view.node != kNoNode && view.version == state.version)) return;
  graph::Graph& graph = joint_.graph;
  NodeId origin = node;
  if (item >= 0) origin = graph[node].args[0].as<graph::NodeArg>()->id;
  const bool replayable = parent_index != static_cast<int64_t>(index) && !graph[origin].args.empty() &&
                          graph[origin].args[0].as<graph::NodeArg>() != nullptr;
  view.node = node;
  view.version = state.version;
  if (replayable) {
    view.parent = parent_index;
    view.origin = origin;
    view.item = item;
  }
}

void StorageTracker::write(const at::Tensor& tensor, NodeId node, const Geometry& node_geometry) {
  const NodeId before = read(tensor);
  State& state = state_of(tensor);
  const Geometry written = Geometry::of(tensor);
  if (!written.is_non_overlapping())
    throw_unsupported("capture", "writes to a tensor whose elements overlap in memory");
  const Geometry base = state.views[0].geometry;
  const bool direct = same_layout(written, node_geometry);
  Geometry scattered = base;  // copy and as_strided_scatter yield what they write to, offset and all
  scattered.offset = state.base_node_offset;
  NodeId new_base = node;
  int64_t new_offset = node_geometry.offset;
  if (written == base) {
    if (!direct) {
      new_base = emit_fresh("aten.copy.default", {Argument::node(before), Argument::node(node)}, scattered);
      new_offset = scattered.offset;
    }
  } else if (direct && written.is_contiguous() && base.is_contiguous() && written.numel() == base.numel() &&
             written.dtype == base.dtype) {
    Geometry flat = base;
    flat.offset = node_geometry.offset;
    const graph::TensorMeta like = *joint_.graph[node].tensor();
    new_base = emit("aten.view.default", {Argument::node(node), Argument::ints(base.sizes)},
                    meta_of(flat, like, *like.storage));
  } else {
    if (written.offset < base.offset || written.end() > base.end() || written.dtype != base.dtype)
      throw_unsupported(
          "capture",
          "memory is written outside of the tensor through which the step first saw it (several parameters or "
          "buffers on one storage?); give each its own, e.g. with clone()");
    const int64_t offset = written.offset - base.offset + state.base_node_offset;
    new_base = emit_fresh("aten.as_strided_scatter.default",
                          {Argument::node(current(state, 0)), Argument::node(node), Argument::ints(written.sizes),
                           Argument::ints(written.strides), offset},
                          scattered);
    new_offset = scattered.offset;
  }
  mark_filled(state, written);
  ++state.version;
  state.views[0].node = new_base;
  state.views[0].version = state.version;
  state.base_node_offset = new_offset;
}

NodeId StorageTracker::placeholder_of(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.has_storage()) return kNoNode;
  const auto found = states_.find(tensor.storage().unsafeGetStorageImpl());
  return found == states_.end() ? kNoNode : found->second.placeholder;
}

StorageTracker::GradientMark StorageTracker::GradientMark::of(const at::Tensor& leaf) {
  const at::Tensor& grad = leaf.grad();
  if (!grad.defined()) return {};
  return {grad.unsafeGetTensorImpl(), grad.is_inference() ? 0 : grad._version()};
}

at::Tensor StorageTracker::constant_with_new_gradient() const {
  for (const auto& [key, watched] : watched_)
    if (!(GradientMark::of(watched.first) == watched.second)) return watched.first;
  return {};
}

std::vector<StorageTracker::Written> StorageTracker::written_inputs() const {
  std::vector<Written> result;
  for (const auto& [key, state] : states_) {
    if (state.placeholder == kNoNode || state.version == 0) continue;
    for (size_t i = 0; i < joint_.inputs.size(); ++i)
      if (joint_.inputs[i].node == state.placeholder) result.push_back({state.placeholder, placeholder_tensors_[i]});
  }
  std::sort(result.begin(), result.end(),
            [](const Written& a, const Written& b) { return a.placeholder < b.placeholder; });
  return result;
}

}  // namespace sapwood::capture
