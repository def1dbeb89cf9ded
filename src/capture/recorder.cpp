#include "capture/recorder.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/enum_tag.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>

#include "base/error.h"
#include "capture/convert.h"
#include "capture/functional_op.h"
#include "capture/interceptor.h"
#include "capture/recorder_call.h"
#include "capture/source_location.h"
#include "capture/value_hash.h"

namespace sapwood::capture {

using graph::Argument;
using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;

namespace {

/// Whether the call tells the host something that may differ from step to step.
bool reads_on_host(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::data_dependent_output) || op.schema().name() == "aten::_local_scalar_dense";
}

/// Whether the comparison of these always gives the same: tensors of other sizes, or one tensor with itself.
/// (torch::nn::MultiheadAttention compares query, key and value.)
bool is_settled(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() != b.sizes() || (a.is_alias_of(b) && Geometry::of(a) == Geometry::of(b));
}

/// Operators whose backward looks for zeros or selects by a mask. While a step is recorded ATen takes another path
/// there, with other roundings, so that neither the recording nor the recorded step would equal eager.
bool has_data_dependent_gradient(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const std::string& name = op.schema().name();
  const size_t count = op.schema().arguments().size();
  const auto needs_grad = [&](size_t argument) {
    const c10::IValue& value = stack[stack.size() - count + argument];
    return c10::GradMode::is_enabled() && value.isTensor() && value.toTensor().requires_grad();
  };
  if (name == "aten::prod") return needs_grad(0);
  return (name == "aten::masked_fill" || name == "aten::masked_fill_") && needs_grad(2);
}

/// The results share the arguments' memory, whose content doesn't matter then.
bool makes_views(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(), [](const c10::Argument& a) { return a.alias_info() != nullptr; });
}

}  // namespace

Recorder::Recorder(RecorderOptions options)
    : options_(options),
      joint_(std::make_unique<graph::JointGraph>()),
      tracker_(std::make_unique<StorageTracker>(*joint_, [this](NodeId node) { stamp(node); })) {
  if (options_.locate_sources) locator_ = std::make_unique<SourceLocator>();
}

Recorder::~Recorder() = default;

void Recorder::declare(const at::Tensor& tensor, graph::InputRole role, std::string name, int64_t index) {
  tracker_->declare(tensor, role, std::move(name), index);
}

void Recorder::fail(std::string reason) {
  if (failure_.empty()) failure_ = std::move(reason);
}

void Recorder::record(PartitionerTag part, const std::function<void()>& fn) {
  if (failed()) return fn();
  part_ = part;
  const Interceptor interceptor([this](const c10::OperatorHandle& op, torch::jit::Stack* stack) { on_op(op, stack); });
  fn();
}

std::string Recorder::where() const {
  const std::string line = locator_ ? locator_->current() : std::string();
  return line.empty() ? std::string() : " at " + line;
}

void Recorder::on_op(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (failed()) return op.callBoxed(stack);
  if (op.schema().name() == "aten::equal") return record_comparison(op, stack);
  if (reads_on_host(op)) {
    fail_host_read(op);
    return op.callBoxed(stack);
  }
  if (has_data_dependent_gradient(op, *stack)) {
    fail(fmt::format("the gradient of {} takes another path depending on its input's values{}",
                     op_target(op.operator_name()), where()));
    return op.callBoxed(stack);
  }
  if (op.hasTag(at::Tag::inplace_view))
    return op.callBoxed(stack);  // same memory, another handle: found again by storage and geometry
  record_op(op, stack);
}

void Recorder::fail_host_read(const c10::OperatorHandle& op) {
  fail(
      fmt::format("{} reads a tensor's value on the host (item(), a condition on a tensor){}; keep the value in a "
                  "tensor, or read it after the step",
                  op_target(op.operator_name()), where()));
}

/// A settled comparison leaves no trace in the graph. (A tensor that holds NaN doesn't equal itself.)
void Recorder::record_comparison(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::Tensor a = (*stack)[stack->size() - 2].toTensor(), b = stack->back().toTensor();
  op.callBoxed(stack);
  const bool same_size = a.sizes() == b.sizes();
  if (!is_settled(a, b) || same_size != stack->back().toBool()) fail_host_read(op);
}

void Recorder::record_op(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  Call call{op, {}};
  const size_t count = op.schema().arguments().size();
  call.arguments.assign(stack->end() - static_cast<int64_t>(count), stack->end());
  const bool writes = op.schema().is_mutable();
  try {
    if (writes)
      call.before = geometries(call);
    else
      call.converted = convert_arguments(op.schema(), call.arguments, [&](const at::Tensor& t) {
        return read_argument(t, !makes_views(op.schema()));
      });
  } catch (const Error& error) {
    fail(fmt::format("{}: {}{}", op_target(op.operator_name()), error.message(), where()));
  }
  op.callBoxed(stack);
  if (failed()) return;
  call.results.assign(stack->end() - static_cast<int64_t>(op.schema().returns().size()), stack->end());
  try {
    if (op.schema().name() == "aten::native_batch_norm" || op.schema().name() == "aten::_native_batch_norm_legit") {
      record_batch_norm(call);
    } else if (writes) {
      record_mutation(call);
    } else {
      record_functional(call);
    }
  } catch (const Error& error) {
    fail(fmt::format("{}: {}{}", op_target(op.operator_name()), error.message(), where()));
  }
}

/// Reads an argument. Memory that no operator filled was filled by the host (torch::tensor(vector), from_blob,
/// data_ptr): not repeatable.
NodeId Recorder::read_argument(const at::Tensor& tensor, bool content_matters) {
  const NodeId node = tracker_->read(tensor);
  if (content_matters && !tracker_->is_filled(tensor))
    throw_unsupported("capture",
                      "reads memory that the host filled during the step (torch::tensor(vector), from_blob, data_ptr), "
                      "which a replay can't repeat; make such tensors outside of the step");
  return node;
}

void Recorder::stamp(NodeId node) {
  graph::NodeMeta& meta = joint_->graph.meta(node);
  meta.partitioner_tag = part_;
  meta.autograd_backward = part_ == PartitionerTag::kBackward;
  if (part_ == PartitionerTag::kBackward) {
    if (const auto current = torch::autograd::get_current_node()) {
      meta.seq_nr = static_cast<int64_t>(current->sequence_nr());
      const auto source = source_of_sequence_.find(*meta.seq_nr);
      if (source != source_of_sequence_.end()) meta.stack_trace = source->second;
    }
    return;
  }
  if (locator_) meta.stack_trace = locator_->current();
  const auto sequence =
      static_cast<int64_t>(at::sequence_number::peek()) - 1;  // of the autograd node that was made for this call
  meta.seq_nr = sequence;
  if (!meta.stack_trace.empty()) source_of_sequence_[sequence] = meta.stack_trace;
}

NodeId Recorder::emit(std::string target, graph::ArgumentList args,
                      std::vector<std::pair<std::string, Argument>> kwargs, graph::Shared<graph::Value> val) {
  const NodeId node = joint_->graph.call(target, std::move(args), std::move(val));
  if (!kwargs.empty()) joint_->graph.set_kwargs(node, std::move(kwargs));
  stamp(node);
  return node;
}

NodeId Recorder::item(NodeId tuple, int64_t index, graph::Value val) {
  return emit("operator.getitem", {Argument::node(tuple), index}, {}, std::move(val));
}

graph::Value Recorder::value_of(const c10::IValue& result, const Call& call) {
  if (result.isTensor()) {
    const at::Tensor& t = result.toTensor();
    if (!t.defined()) return graph::NoneValue{};
    const at::Tensor parent = aliased_argument(t, call.arguments);
    if (!parent.defined()) return tensor_meta(t, tracker_->fresh_storage());
    graph::TensorMeta meta = tensor_meta(t, *joint_->graph[tracker_->read(parent)].tensor()->storage);
    return meta;
  }
  if (result.isTensorList()) {
    graph::ListValue list;
    for (const at::Tensor& t : result.toTensorVector()) list.items.push_back(value_of(c10::IValue(t), call));
    return list;
  }
  if (result.isInt()) return graph::ConstValue{result.toInt()};
  if (result.isDouble()) return graph::ConstValue{result.toDouble()};
  if (result.isBool()) return graph::ConstValue{result.toBool()};
  if (result.isNone()) return graph::NoneValue{};
  throw_unsupported("capture", fmt::format("returns a {}, which a graph can't hold", result.tagKind()));
}

void Recorder::define_results(NodeId node, const Call& call, const std::vector<c10::IValue>& results) {
  const auto define = [&](const at::Tensor& t, NodeId value, int64_t index) {
    if (!t.defined()) return;
    const at::Tensor parent = aliased_argument(t, call.arguments);
    if (parent.defined())
      tracker_->define_view(t, parent, value, index);
    else
      tracker_->define(t, value);
    if (!options_.hash_values || !tracker_->is_filled(t)) return;
    hashes_.resize(joint_->graph.id_bound());
    hashes_[static_cast<size_t>(value)] = value_hash(t);
  };
  const graph::Value whole = *joint_->graph[node].val;
  if (results.size() == 1 && results[0].isTensor()) return define(results[0].toTensor(), node, -1);
  if (results.size() == 1 && results[0].isTensorList()) {
    const auto list = results[0].toTensorVector();
    for (size_t i = 0; i < list.size(); ++i)
      define(list[i], item(node, static_cast<int64_t>(i), whole.as<graph::ListValue>()->items[i]),
             static_cast<int64_t>(i));
    return;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].isTensor()) {
      if (results[i].isTensorList())
        throw_unsupported("capture", "returns several lists of tensors, which can't be recorded yet");
      continue;
    }
    if (results[i].toTensor().defined())
      define(results[i].toTensor(), item(node, static_cast<int64_t>(i), whole.as<graph::TupleValue>()->items[i]),
             static_cast<int64_t>(i));
  }
}

void Recorder::record_functional(const Call& call) {
  const bool has_mask = call.op.hasTag(at::Tag::dynamic_output_shape) && [&] {
    if (call.schema().name() != "aten::index" && call.schema().name() != "aten::_unsafe_index") return true;
    for (const auto& index : call.arguments[1].toListRef())
      if (index.isTensor() && index.toTensor().defined() &&
          (index.toTensor().scalar_type() == at::kBool || index.toTensor().scalar_type() == at::kByte))
        return true;
    return false;
  }();
  if (has_mask)
    return fail(
        fmt::format("{} has a result whose size depends on data{}", op_target(call.op.operator_name()), where()));
  // A result that is an argument under the same geometry (detach, alias, expand to the same size) is the same value.
  if (call.results.size() == 1 && call.results[0].isTensor()) {
    const at::Tensor& t = call.results[0].toTensor();
    const at::Tensor parent = aliased_argument(t, call.arguments);
    if (parent.defined() && Geometry::of(parent) == Geometry::of(t)) return;
  }
  graph::Value val;
  if (call.results.size() == 1) {
    val = value_of(call.results[0], call);
  } else {
    graph::TupleValue tuple;
    for (const c10::IValue& result : call.results) tuple.items.push_back(value_of(result, call));
    val = std::move(tuple);
  }
  const NodeId node =
      emit(op_target(call.op.operator_name()), call.converted.args, call.converted.kwargs, std::move(val));
  if (call.results.empty()) joint_->graph.meta(node).impure = true;
  define_results(node, call, call.results);
}

}  // namespace sapwood::capture
