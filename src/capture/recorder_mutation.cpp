// How calls that write become calls that don't.

#include <ATen/ScalarOps.h>
#include <ATen/core/enum_tag.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/empty_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "capture/functional_op.h"
#include "capture/recorder_call.h"
#include "capture/value_hash.h"

namespace sapwood::capture {

using graph::Argument;
using graph::kNoNode;
using graph::NodeId;

at::Tensor aliased_argument(const at::Tensor& result, const std::vector<c10::IValue>& arguments) {
  if (!result.defined() || !result.has_storage()) return {};
  for (const c10::IValue& argument : arguments) {
    if (!argument.isTensor() || !argument.toTensor().defined() || !argument.toTensor().has_storage()) continue;
    if (argument.toTensor().storage().unsafeGetStorageImpl() == result.storage().unsafeGetStorageImpl())
      return argument.toTensor();
  }
  return {};
}

std::vector<at::Tensor> tensors_of(const c10::IValue& argument) {
  if (argument.isTensor() && argument.toTensor().defined()) return {argument.toTensor()};
  if (argument.isTensorList()) return argument.toTensorVector();
  return {};
}

std::vector<Geometry> Recorder::geometries(const Call& call) {
  std::vector<Geometry> result;
  for (const size_t i : written_arguments(call.schema()))
    for (const at::Tensor& t : tensors_of(call.arguments[i])) result.push_back(Geometry::of(t));
  return result;
}

namespace {

/// What the functional operator yields for these arguments. Random operators aren't run (that would draw): their result
/// looks like their first argument.
std::vector<c10::IValue> functional_results(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments) {
  if (op.hasTag(at::Tag::nondeterministic_seeded)) return {c10::IValue(at::empty_like(arguments[0].toTensor()))};
  torch::jit::Stack stack(arguments.begin(), arguments.end());
  op.callBoxed(stack);
  return stack;
}

Argument scalar_argument(const at::Scalar& scalar) {
  if (scalar.isBoolean()) return scalar.toBool();
  if (scalar.isIntegral(false)) return scalar.toLong();
  if (scalar.isComplex()) {
    const auto c = scalar.toComplexDouble();
    return std::complex<double>(c.real(), c.imag());
  }
  return scalar.toDouble();
}

}  // namespace

void Recorder::record_mutation(const Call& call) {
  if (record_overwrite(call)) return;
  const std::optional<FunctionalForm> form = functional_form(call.op);
  if (!form) return fail(fmt::format("{} writes its arguments and has no form that doesn't{}", call.target(), where()));
  std::vector<c10::IValue> arguments;
  for (const size_t i : form->arguments) {
    const bool wrap = form->op.schema().arguments()[arguments.size()].type()->kind() == c10::TypeKind::TensorType &&
                      call.arguments[i].isScalar();
    arguments.push_back(wrap ? at::native::wrapped_scalar_tensor(call.arguments[i].toScalar()) : call.arguments[i]);
  }
  bool first = overwrites_self(call.op.operator_name());
  CallArguments converted = convert_arguments(form->op.schema(), arguments, [&](const at::Tensor& t) {
    return read_argument(t, !std::exchange(first, false));
  });
  const std::vector<c10::IValue> results = functional_results(form->op, arguments);
  const Call functional{form->op, arguments, {}, {}, results};
  graph::TupleValue tuple;
  for (const c10::IValue& result : results) tuple.items.push_back(value_of(result, functional));
  const NodeId node = emit(op_target(form->op.operator_name()), std::move(converted.args), std::move(converted.kwargs),
                           results.size() == 1 ? tuple.items[0] : graph::Value(tuple));
  write_results(node, call, form->written, results);
}

void Recorder::write_results(NodeId node, const Call& call, const std::vector<size_t>& written,
                             const std::vector<c10::IValue>& results) {
  size_t position = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    const std::vector<at::Tensor> targets = tensors_of(call.arguments[written[i]]);
    const std::vector<at::Tensor> values = tensors_of(results[i]);
    NodeId value = node;
    if (results.size() > 1)
      value = item(node, static_cast<int64_t>(i), joint_->graph[node].val->as<graph::TupleValue>()->items[i]);
    for (size_t k = 0; k < targets.size(); ++k, ++position) {
      NodeId one = value;
      if (results[i].isTensorList())
        one = item(value, static_cast<int64_t>(k), joint_->graph[value].val->as<graph::ListValue>()->items[k]);
      if (options_.hash_values && targets[k].scalar_type() == values[k].scalar_type()) {
        hashes_.resize(joint_->graph.id_bound());
        hashes_[static_cast<size_t>(one)] = value_hash(targets[k]);
      }
      write_value(targets[k], one, Geometry::of(values[k]), call.before[position]);
    }
  }
}

/// `tensor` now holds what `node` yields (in `geometry`), converted to the tensor's dtype and size.
void Recorder::write_value(const at::Tensor& tensor, NodeId node, Geometry geometry, const Geometry& before) {
  const Geometry now = Geometry::of(tensor);
  if (!(now == before)) return tracker_->define(tensor, node);  // an `out=` tensor that the operator resized
  if (geometry.dtype != now.dtype) {
    graph::TensorMeta meta = *joint_->graph[node].tensor();
    meta.dtype = to_dtype(now.dtype);
    meta.storage = tracker_->fresh_storage();
    meta.offset = graph::SymExpr(0);
    geometry.offset = 0;
    geometry.dtype = now.dtype;
    meta.storage_bytes = graph::SymExpr(geometry.end() * static_cast<int64_t>(c10::elementSize(now.dtype)));
    node = emit("aten._to_copy.default", {Argument::node(node)}, {{"dtype", meta.dtype}}, meta);
  }
  if (geometry.sizes != now.sizes) {
    graph::TensorMeta meta = *joint_->graph[node].tensor();
    meta.shape.assign(now.sizes.begin(), now.sizes.end());
    std::vector<int64_t> strides(now.sizes.size(), 0);
    const size_t lead = now.sizes.size() - geometry.sizes.size();
    for (size_t i = 0; i < geometry.sizes.size(); ++i)
      strides[lead + i] = geometry.sizes[i] == now.sizes[lead + i] ? geometry.strides[i] : 0;
    meta.stride.emplace(strides.begin(), strides.end());
    node = emit("aten.expand.default", {Argument::node(node), Argument::ints(now.sizes)}, {}, meta);
    geometry.sizes = now.sizes;
    geometry.strides = strides;
  }
  tracker_->write(tensor, node, geometry);
}

/// Overwriting with a known value needs no operator on the old one. Returns false for other calls.
bool Recorder::record_overwrite(const Call& call) {
  const std::string& name = call.schema().name();
  const bool fills = name == "aten::zero_" || (name == "aten::fill_" && call.schema().overload_name() == "Scalar");
  if (!fills && name != "aten::copy_" && name != "aten::fill_") return false;
  const at::Tensor self = call.arguments[0].toTensor();
  if (!fills) {
    const at::Tensor source = call.arguments[1].toTensor();
    const Geometry from = Geometry::of(source), to = Geometry::of(self);
    if (self.is_alias_of(source) && from != to && from.overlaps(to))
      throw_unsupported(
          "capture", "copies between tensors that overlap partly, whose result depends on the order of the elements");
    const NodeId node = read_argument(source, true);
    write_value(self, node, from, call.before[0]);
    return true;
  }
  const Argument value = name == "aten::zero_" ? Argument(0) : scalar_argument(call.arguments[1].toScalar());
  Geometry geometry = Geometry::of(self);
  int64_t stride = 1;
  for (size_t i = geometry.sizes.size(); i-- > 0; stride *= std::max<int64_t>(geometry.sizes[i], 1))
    geometry.strides[i] = stride;
  geometry.offset = 0;
  graph::TensorMeta meta = tensor_meta(self, tracker_->fresh_storage());
  meta.stride.emplace(geometry.strides.begin(), geometry.strides.end());
  meta.offset = graph::SymExpr(0);
  meta.storage_bytes = graph::SymExpr(geometry.numel() * static_cast<int64_t>(c10::elementSize(geometry.dtype)));
  const NodeId node = emit("aten.full.default", {Argument::ints(geometry.sizes), value},
                           {{"dtype", meta.dtype}, {"device", meta.device}, {"pin_memory", false}}, meta);
  tracker_->write(self, node, geometry);
  return true;
}

/// The schema of native_batch_norm doesn't show that training updates the running statistics.
void Recorder::record_batch_norm(const Call& call) {
  const at::Tensor mean = call.arguments[3].isTensor() ? call.arguments[3].toTensor() : at::Tensor();
  const at::Tensor var = call.arguments[4].isTensor() ? call.arguments[4].toTensor() : at::Tensor();
  const bool training = call.arguments[5].toBool();
  const Call converted{
      call.op, call.arguments,
      convert_arguments(call.schema(), call.arguments, [this](const at::Tensor& t) { return read_argument(t, true); }),
      call.before, call.results};
  if (!training || !mean.defined() || !var.defined()) return record_functional(converted);
  graph::TupleValue tuple;
  for (const c10::IValue& result : call.results) tuple.items.push_back(value_of(result, call));
  for (const at::Tensor* stats : {&mean, &var})
    tuple.items.emplace_back(tensor_meta(*stats, tracker_->fresh_storage()));
  const NodeId node = emit("aten._native_batch_norm_legit_functional.default", converted.converted.args,
                           converted.converted.kwargs, graph::Value(tuple));
  define_results(node, call, call.results);
  int64_t index = 3;
  for (const at::Tensor* stats : {&mean, &var}) {
    const NodeId value = item(node, index, tuple.items[static_cast<size_t>(index)]);
    tracker_->write(*stats, value, Geometry::of(*stats));
    ++index;
  }
}

NodeId Recorder::read(const at::Tensor& tensor) {
  if (failed()) return kNoNode;
  try {
    return tracker_->read(tensor);
  } catch (const Error& error) {
    fail(error.message());
    return kNoNode;
  }
}

NodeId Recorder::scalar(std::string name, double value, int64_t index) {
  return failed() ? kNoNode : tracker_->add_scalar(std::move(name), value, index);
}

NodeId Recorder::call(graph::PartitionerTag part, std::string_view target, graph::ArgumentList args,
                      std::vector<std::pair<std::string, Argument>> kwargs, const at::Tensor& like) {
  if (failed()) return kNoNode;
  const NodeId node = joint_->graph.call(target, std::move(args), tensor_meta(like, tracker_->fresh_storage()));
  if (!kwargs.empty()) joint_->graph.set_kwargs(node, std::move(kwargs));
  part_ = part;
  joint_->graph.meta(node).partitioner_tag = part;
  return node;
}

void Recorder::write(const at::Tensor& tensor, NodeId node) {
  if (failed()) return;
  try {
    tracker_->write(tensor, node, Geometry::of(tensor));
  } catch (const Error& error) {
    fail(error.message());
  }
}

NodeId Recorder::parameter_node(int64_t index) {
  for (const graph::InputSpec& input : joint_->inputs)
    if (input.role == graph::InputRole::kParameter && input.index == index) return input.node;
  fail("a parameter that gets a gradient shares its memory with another parameter");
  return kNoNode;
}

NodeId Recorder::placeholder_of(const at::Tensor& tensor) const { return tracker_->placeholder_of(tensor); }

std::vector<at::Tensor> Recorder::differentiable_constants() const {
  std::vector<at::Tensor> result;
  for (size_t i = 0; i < joint_->inputs.size(); ++i) {
    const at::Tensor& tensor = tracker_->placeholder_tensors()[i];
    if (joint_->inputs[i].role == graph::InputRole::kConstant && tensor.requires_grad()) result.push_back(tensor);
  }
  return result;
}

/// Every operator of the graph with its schema, and no other.
void Recorder::declare_ops() {
  graph::Graph& graph = joint_->graph;
  for (const NodeId id : graph.order()) {
    const std::string& target = graph[id].target;
    if (graph[id].kind != graph::NodeKind::kCallFunction || target.starts_with("operator.") ||
        graph.ops.contains(target))
      continue;
    const size_t first = target.find('.'), second = target.rfind('.');
    const std::string name = target.substr(0, first) + "::" + target.substr(first + 1, second - first - 1),
                      overload = target.substr(second + 1);
    graph.ops.emplace(target, op_decl(c10::Dispatcher::singleton().findSchemaOrThrow(
                                  name.c_str(), overload == "default" ? "" : overload.c_str())));
  }
}

Recording Recorder::finish(std::vector<std::pair<NodeId, graph::OutputSpec>> outputs) {
  if (const at::Tensor constant = tracker_->constant_with_new_gradient();
      constant.defined() && !options_.differentiable_constants)
    fail(
        fmt::format("a gradient flows into a tensor of shape [{}] that is a parameter neither of the module nor of "
                    "the optimizer; compute with it under NoGradGuard, or set requires_grad_(false) on it",
                    fmt::join(constant.sizes(), ", ")));
  Recording recording;
  recording.failure = failure_;
  if (failed()) return recording;
  size_t forward = 0;
  while (forward < outputs.size() && outputs[forward].second.role == graph::OutputRole::kUserOutput) ++forward;
  for (const auto& written : tracker_->written_inputs()) {
    const NodeId value = tracker_->read(written.tensor);
    const std::pair<NodeId, graph::OutputSpec> write_back{value, {graph::OutputRole::kWriteBack, written.placeholder}};
    const bool in_forward = joint_->graph[value].meta->partitioner_tag == graph::PartitionerTag::kForward;
    outputs.insert(in_forward ? outputs.begin() + static_cast<int64_t>(forward++) : outputs.end(), write_back);
  }
  std::vector<NodeId> values;
  for (const auto& [node, spec] : outputs) {
    values.push_back(node);
    joint_->outputs.push_back(spec);
  }
  joint_->graph.num_forward_outputs = static_cast<int64_t>(forward);
  joint_->graph.output(values);
  declare_ops();
  joint_->graph.producer = {{"source", "sapwood capture"}};
  hashes_.resize(options_.hash_values ? joint_->graph.id_bound() : 0);
  recording.step = std::move(*joint_);
  recording.placeholder_tensors = tracker_->placeholder_tensors();
  recording.value_hashes = std::move(hashes_);
  return recording;
}

}  // namespace sapwood::capture
