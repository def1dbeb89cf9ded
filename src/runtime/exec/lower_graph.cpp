#include "runtime/exec/lower_graph.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "interp/host_ops.h"
#include "interp/interpreter.h"
#include "runtime/exec/call_form.h"
#include "runtime/exec/pointwise_decode.h"
#include "runtime/exec/slots.h"
#include "runtime/exec/split_loss.h"

namespace sapwood::exec {
namespace {

using c10::IValue;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::TensorMeta;

constexpr std::string_view kStage = "exec";

/// What a node stands for while the program is being made.
struct NodeValue {
  enum class Kind : uint8_t { kNothing, kTensor, kList, kNumber, kRunTimeNumber };
  Kind kind = Kind::kNothing;
  std::vector<ValueId> values;  ///< kTensor: one, kList: one per element
  IValue number;                ///< kNumber: known now
  int32_t input = -1;           ///< kRunTimeNumber: the placeholder
};

[[noreturn]] void unsupported(const Node& node, const std::string& what) {
  throw_unsupported(kStage, "node '" + node.name + "' (" + node.target + ") " + what);
}

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool has_writes(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), writes);
}

bool declares_view(const c10::FunctionSchema& schema) {
  const auto& returns = schema.returns();
  return !returns.empty() &&
         std::all_of(returns.begin(), returns.end(), [](const c10::Argument& r) { return r.alias_info() != nullptr; });
}

/// Operators that return a view where they can and a copy elsewhere; the recorded storage says which it was.
bool may_copy(std::string_view target) {
  static constexpr std::array<std::string_view, 9> kNames{"aten.reshape.",      "aten.contiguous.", "aten.to.",
                                                          "aten.reshape_as.",   "aten.flatten.",    "aten.ravel.",
                                                          "aten._reshape_copy", "aten.type_as.",    "aten.lift_fresh."};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return target.starts_with(name); });
}

/// The tensors that a node's metadata describes, flattened; null for None.
std::vector<const TensorMeta*> result_metas(const Node& node) {
  if (!node.val) return {};
  if (const TensorMeta* tensor = node.tensor()) return {tensor};
  const std::vector<graph::Value>* items = nullptr;
  if (const auto* tuple = node.val->as<graph::TupleValue>()) items = &tuple->items;
  if (const auto* list = node.val->as<graph::ListValue>()) items = &list->items;
  std::vector<const TensorMeta*> metas;
  if (items == nullptr) return metas;
  for (const graph::Value& item : *items) {
    if (item.as<TensorMeta>() == nullptr && item.as<graph::NoneValue>() == nullptr)
      unsupported(node, "returns something else than tensors inside its tuple");
    metas.push_back(item.as<TensorMeta>());
  }
  return metas;
}

StepPart part_of(const Node& node) {
  using graph::PartitionerTag;
  switch (node.meta->partitioner_tag) {
    case PartitionerTag::kOptimizer:
      return StepPart::kOptimizer;
    case PartitionerTag::kBackward:
    case PartitionerTag::kMustBeInBackward:
      return StepPart::kBackward;
    default:
      return StepPart::kForward;
  }
}

class Lowering {
 public:
  explicit Lowering(const graph::JointGraph& step)
      : step_(step), graph_(step.graph), symbols_(step.graph.symbols), nodes_(graph_.id_bound()) {}

  Program run() {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    has_mutations_ = any_mutation();
    for (const NodeId id : graph_.order()) lower(graph_[id]);
    return std::move(program_);
  }

  std::vector<std::vector<ValueId>> node_values() const {
    std::vector<std::vector<ValueId>> result;
    for (const NodeValue& value : nodes_) result.push_back(value.values);
    return result;
  }

 private:
  bool any_mutation() const {
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_[id];
      if (node.kind != NodeKind::kCallFunction || interp::is_host_op(node.target)) continue;
      if (has_writes(interp::resolve_callable(node).schema())) return true;
    }
    return false;
  }

  NodeValue& at(NodeId id) { return nodes_[static_cast<size_t>(id)]; }

  void lower(const Node& node) {
    switch (node.kind) {
      case NodeKind::kPlaceholder:
        return placeholder(node);
      case NodeKind::kGetAttr:
        return constant(node);
      case NodeKind::kOutput:
        return outputs(node);
      case NodeKind::kCallFunction:
        return interp::is_host_op(node.target) ? host_op(node) : call(node);
    }
  }

  void placeholder(const Node& node) {
    const auto index = static_cast<int32_t>(program_.inputs.size());
    NodeValue& value = at(node.id);
    InputBinding binding;
    binding.name = node.name;
    if (node.tensor() != nullptr) {
      value = tensor_value(node, *node.tensor());
      binding.value = value.values.front();
      Region& region = program_.region(binding.value);
      region.placement = Placement::kInput;
      region.input = index;
      region.input_offset = program_.tensor(binding.value).storage_offset() * program_.tensor(binding.value).itemsize();
      if (node.tensor()->storage) {
        const auto [other, fresh] = placeholder_storages_.emplace(*node.tensor()->storage, program_.inputs.size());
        if (!fresh) binding.shares_memory = program_.inputs[other->second].shares_memory = true;
      }
    } else if (const auto* size = node.val ? node.val->as<graph::SymIntValue>() : nullptr) {
      value.kind = NodeValue::Kind::kNumber;
      value.number = symbols_.evaluate(size->expr, node.name);
    } else {
      value.kind = NodeValue::Kind::kRunTimeNumber;
      value.input = index;
    }
    program_.inputs.push_back(std::move(binding));
  }

  void constant(const Node& node) {
    Region region;
    at::Tensor tensor = interp::constant_tensor(graph_, node);
    region.placement = Placement::kConstant;
    region.storage = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(tensor.storage().unsafeGetStorageImpl());
    region.bytes = static_cast<int64_t>(tensor.storage().nbytes());
    program_.regions.push_back(std::move(region));
    program_.values.push_back(
        {.tensor = std::move(tensor), .region = static_cast<RegionId>(program_.regions.size()) - 1});
    at(node.id) = {.kind = NodeValue::Kind::kTensor,
                   .values = {known(static_cast<ValueId>(program_.values.size()) - 1)},
                   .number = {}};
  }

  NodeValue tensor_value(const Node& node, const TensorMeta& meta) {
    return {.kind = NodeValue::Kind::kTensor, .values = {new_value(node, meta)}, .number = {}};
  }

  ValueId new_value(const Node& node, const TensorMeta& meta) {
    if (meta.layout != graph::Layout::kStrided)
      unsupported(node, "has layout " + std::string(graph::layout_name(meta.layout)));
    if (meta.device.type != "cpu") unsupported(node, "is on device " + meta.device.str() + "; steps run on the CPU");
    if (!meta.subclass.empty()) unsupported(node, "is a tensor subclass " + meta.subclass);
    for (const graph::SymExpr& size : meta.shape)
      if (!size.hint(graph_.symbols)) unsupported(node, "has size " + size.str() + ", which depends on data");
    return known(add_value(program_, interp::geometry(meta, symbols_, node.name), interp::to_torch(meta.dtype)));
  }

  /// Remembers which value a tensor is.
  ValueId known(ValueId value) {
    values_.emplace(program_.tensor(value).unsafeGetTensorImpl(), value);
    return value;
  }

  void host_op(const Node& node) {
    if (node.target == "operator.getitem") return get_item(node);
    std::vector<IValue> args;
    for (const graph::Argument& arg : node.args) {
      if (const auto* n = arg.as<graph::NodeArg>()) {
        if (at(n->id).kind != NodeValue::Kind::kNumber)
          unsupported(node, "computes with a value that isn't known before the step runs");
        args.push_back(at(n->id).number);
      } else if (const auto* i = arg.as<int64_t>())
        args.emplace_back(*i);
      else if (const auto* d = arg.as<double>())
        args.emplace_back(*d);
      else if (const auto* e = arg.as<graph::SymExpr>())
        args.emplace_back(symbols_.evaluate(*e, node.name));
      else
        unsupported(node, "has an argument that isn't a number");
    }
    at(node.id) = {
        .kind = NodeValue::Kind::kNumber, .values = {}, .number = interp::call_host_op(node.target, args, node.name)};
  }

  void get_item(const Node& node) {
    const auto* from = node.args.size() == 2 ? node.args[0].as<graph::NodeArg>() : nullptr;
    const auto* index = node.args.size() == 2 ? node.args[1].as<int64_t>() : nullptr;
    if (from == nullptr || index == nullptr || at(from->id).kind != NodeValue::Kind::kList)
      unsupported(node, "doesn't index a tuple or list by a number");
    const std::vector<ValueId>& items = at(from->id).values;
    const int64_t size = static_cast<int64_t>(items.size());
    const int64_t i = *index < 0 ? *index + size : *index;
    if (i < 0 || i >= size)
      unsupported(node, "takes element " + std::to_string(*index) + " of " + std::to_string(size));
    const ValueId item = items[static_cast<size_t>(i)];
    if (item == kNoValue)
      at(node.id) = {};
    else
      at(node.id) = {.kind = NodeValue::Kind::kTensor, .values = {item}, .number = {}};
  }

  void call(const Node& node) {
    interp::BoundCall bound = interp::bind_call(node, symbols_);
    Call call;
    call.node = node.id;
    fill_slots(node, bound, call);
    const c10::FunctionSchema& schema = bound.callable.schema();
    if (has_writes(schema)) return mutation(node, bound, std::move(call));
    if (is_view(node, schema, bound)) return view(node, bound);
    const std::vector<const TensorMeta*> metas = result_metas(node);
    if (metas.empty() && !schema.returns().empty())
      unsupported(node, "has no recorded result sizes or returns a number that depends on data");
    for (const TensorMeta* meta : metas) call.results.push_back(meta == nullptr ? kNoValue : new_value(node, *meta));
    at(node.id) = {.kind = node.tensor() != nullptr ? NodeValue::Kind::kTensor : NodeValue::Kind::kList,
                   .values = call.results,
                   .number = {}};
    finish_call(node, bound, std::move(call));
  }

  /// Puts the values of nodes into the argument stack.
  void fill_slots(const Node& node, interp::BoundCall& bound, Call& call) {
    for (const interp::NodeSlot& slot : bound.slots) {
      const NodeValue& value = at(slot.node);
      const c10::Argument& parameter = bound.callable.schema().arguments()[slot.argument];
      switch (value.kind) {
        case NodeValue::Kind::kNothing:
          if (parameter.type()->kind() == c10::TypeKind::TensorType) bound.stack[slot.argument] = at::Tensor();
          break;
        case NodeValue::Kind::kTensor:
          fill(bound, slot, program_.tensor(value.values.front()), bound.stack);
          call.reads.push_back(value.values.front());
          break;
        case NodeValue::Kind::kNumber:
          fill(bound, slot, value.number, bound.stack);
          break;
        case NodeValue::Kind::kRunTimeNumber:
          if (slot.element >= 0) unsupported(node, "takes a run-time number inside a list");
          call.scalars.push_back({slot.argument, value.input, parameter.type()->kind() == c10::TypeKind::TensorType});
          break;
        case NodeValue::Kind::kList:
          fill_list(node, bound, slot, value, call);
          break;
      }
    }
  }

  void fill_list(const Node& node, interp::BoundCall& bound, const interp::NodeSlot& slot, const NodeValue& value,
                 Call& call) {
    if (slot.element >= 0) unsupported(node, "takes a list inside a list");
    c10::impl::GenericList list(c10::TensorType::get());
    for (const ValueId item : value.values) {
      if (item == kNoValue) unsupported(node, "takes a list that holds None");
      list.push_back(program_.tensor(item));
      call.reads.push_back(item);
    }
    bound.stack[slot.argument] = list;
  }

  bool is_view(const Node& node, const c10::FunctionSchema& schema, const interp::BoundCall& bound) {
    if (is_undeclared_view(node.target)) return true;
    if (!declares_view(schema) || bound.slots.empty()) return false;
    if (!may_copy(node.target)) return true;
    const TensorMeta* base = graph_[bound.slots.front().node].tensor();
    const std::vector<const TensorMeta*> metas = result_metas(node);
    return base != nullptr && !metas.empty() && metas.front() != nullptr && base->storage &&
           base->storage == metas.front()->storage;
  }

  void view(const Node& node, interp::BoundCall& bound) {
    const ValueId base = at(bound.slots.front().node).values.front();
    try {
      bound.callable.call(bound.stack);
    } catch (const c10::Error& error) {
      unsupported(node,
                  std::string("isn't a view that can be made before the step runs: ") + error.what_without_backtrace());
    }
    NodeValue& result = at(node.id);
    const IValue& returned = bound.stack.front();
    result.kind = returned.isTensor() && bound.stack.size() == 1 ? NodeValue::Kind::kTensor : NodeValue::Kind::kList;
    for (const IValue& item : bound.stack) {
      if (item.isTensor())
        result.values.push_back(view_value(base, item.toTensor()));
      else
        for (const at::Tensor& tensor : item.toTensorVector()) result.values.push_back(view_value(base, tensor));
    }
    check_view(node, base, result.values);
  }

  /// A view that changes nothing (detach, alias) is the same value.
  ValueId view_value(ValueId base, const at::Tensor& tensor) {
    const at::Tensor& from = program_.tensor(base);
    if (same_layout(from, tensor) && from.storage_offset() == tensor.storage_offset() &&
        from.is_conj() == tensor.is_conj())
      return base;
    return known(add_view(program_, base, tensor));
  }

  void check_view(const Node& node, ValueId base, const std::vector<ValueId>& values) {
    const std::vector<const TensorMeta*> metas = result_metas(node);
    for (size_t i = 0; i < values.size(); ++i) {
      const at::Tensor& tensor = program_.tensor(values[i]);
      if (tensor.storage().unsafeGetStorageImpl() != program_.region(base).storage.get())
        unsupported(node, "should be a view but made a copy");
      if (i < metas.size() && metas[i] != nullptr &&
          tensor.sizes() != at::IntArrayRef(symbols_.evaluate(metas[i]->shape, node.name)))
        unsupported(node, "has recorded sizes that its operator doesn't return");
    }
  }

  void mutation(const Node& node, interp::BoundCall& bound, Call call) {
    const c10::FunctionSchema& schema = bound.callable.schema();
    std::vector<std::pair<size_t, ValueId>> written;  // argument and value
    for (const interp::NodeSlot& slot : bound.slots) {
      if (!writes(schema.arguments()[slot.argument])) continue;
      for (const ValueId value : at(slot.node).values) {
        written.emplace_back(slot.argument, value);
        call.mutated.push_back(value);
      }
    }
    NodeValue& result = at(node.id);
    for (const c10::Argument& returned : schema.returns())
      for (const auto& [argument, value] : written)
        if (returned.alias_info() != nullptr && *returned.alias_info() == *schema.arguments()[argument].alias_info())
          result.values.push_back(value);
    if (result.values.size() != schema.returns().size())
      unsupported(node, "mutates its arguments and returns something else");
    result.kind = result.values.size() == 1 ? NodeValue::Kind::kTensor : NodeValue::Kind::kList;
    call.kind = CallKind::kMutate;
    call.callable = bound.callable;
    call.stack = std::move(bound.stack);
    call.ordered = is_ordered(node, bound.callable);
    call.part = part_of(node);
    program_.calls.push_back(std::move(call));
  }

  bool is_ordered(const Node& node, const interp::Callable& callable) const {
    if (node.meta->impure || callable.schema().returns().empty()) return true;
    if (callable.op() == nullptr) return false;
    return callable.op()->hasTag(at::Tag::nondeterministic_seeded) ||
           !(node.target.starts_with("aten.") || node.target.starts_with("prims."));
  }

  void finish_call(const Node& node, interp::BoundCall& bound, Call call) {
    call.ordered = is_ordered(node, bound.callable);
    call.part = part_of(node);
    call.elementwise = is_elementwise(node.target);
    if (call.results.size() == 1 && call.results.front() != kNoValue)
      if (auto op = decode_pointwise({node.target, bound.stack, call.scalars, values_, program_, uniform_},
                                     call.results.front()))
        call.elementary = {*op};
    if (split_reduced_loss(program_, node.target, bound.stack, call)) return;
    const bool complete = std::find(call.results.begin(), call.results.end(), kNoValue) == call.results.end();
    std::optional<CallForm> form =
        complete && !call.results.empty() ? find_out_form(bound.callable, node.target) : std::nullopt;
    if (form && !form->callable) return;  // uninitialised results: nothing runs
    call.kind = form ? CallKind::kOut : CallKind::kFunctional;
    call.callable = form ? *form->callable : bound.callable;
    if (form) drop_unused_reads(*form, bound.stack, program_, call.reads);
    call.stack = form ? out_stack(*form, bound.stack, call) : std::move(bound.stack);
    note_uniform(call);
    program_.calls.push_back(std::move(call));
  }

  /// Remembers what a constant fills a tensor with, unless something in the graph may write to that later.
  void note_uniform(const Call& call) {
    if (has_mutations_ || !call.scalars.empty() || call.callable->op() == nullptr) return;
    const std::string& name = call.callable->schema().name();
    if (name == "aten::zero_") uniform_.emplace(call.results.front(), 0.0);
    if (name == "aten::fill_" && call.stack[1].isScalar() && !call.stack[1].isComplexDouble())
      uniform_.emplace(call.results.front(), call.stack[1].toScalar().toDouble());
  }

  static bool wants_tensor(const CallForm& form, size_t argument) {
    return form.callable->schema().arguments()[argument].type()->kind() == c10::TypeKind::TensorType;
  }

  /// Arguments of the out form; moves the places of run-time numbers along.
  torch::jit::Stack out_stack(const CallForm& form, const torch::jit::Stack& arguments, Call& call) {
    torch::jit::Stack stack;
    std::vector<ScalarPatch> scalars;
    for (const CallForm::Source& source : form.sources) {
      for (const ScalarPatch& patch : call.scalars)
        if (source.kind == CallForm::Source::Kind::kArgument && patch.argument == source.index)
          scalars.push_back({stack.size(), patch.input, wants_tensor(form, stack.size())});
      switch (source.kind) {
        case CallForm::Source::Kind::kArgument:
          if (arguments[source.index].isScalar() && wants_tensor(form, stack.size()))
            stack.emplace_back(at::native::wrapped_scalar_tensor(arguments[source.index].toScalar()));
          else
            stack.push_back(arguments[source.index]);
          break;
        case CallForm::Source::Kind::kResult:
          stack.emplace_back(program_.tensor(call.results[source.index]));
          break;
        case CallForm::Source::Kind::kConstant:
          stack.push_back(source.constant);
          break;
      }
    }
    call.scalars = std::move(scalars);
    return stack;
  }

  void outputs(const Node& node) {
    const std::vector<NodeId> values = graph_.output_values();
    if (!step_.outputs.empty() && step_.outputs.size() != values.size())
      throw_internal(kStage, "the step describes " + std::to_string(step_.outputs.size()) +
                                 " outputs, its graph returns " + std::to_string(values.size()));
    const std::vector<NodeId> placeholders = graph_.placeholders();
    for (size_t i = 0; i < values.size(); ++i) {
      OutputBinding binding;
      if (values[i] != graph::kNoNode) binding.value = output_value(node, values[i]);
      if (!step_.outputs.empty()) {
        binding.role = step_.outputs[i].role;
        const auto target = std::find(placeholders.begin(), placeholders.end(), step_.outputs[i].target);
        if (target != placeholders.end())
          binding.target = static_cast<int32_t>(target - placeholders.begin());
        else if (binding.role == graph::OutputRole::kWriteBack)
          unsupported(node, "writes output " + std::to_string(i) + " back to a node that isn't a placeholder");
      }
      program_.outputs.push_back(binding);
    }
  }

  ValueId output_value(const Node& node, NodeId id) {
    const NodeValue& value = at(id);
    if (value.kind == NodeValue::Kind::kNothing) return kNoValue;
    if (value.kind != NodeValue::Kind::kTensor)
      unsupported(node, "returns '" + graph_[id].name + "', which isn't a tensor");
    return value.values.front();
  }

  const graph::JointGraph& step_;
  const graph::Graph& graph_;
  interp::SymbolValues symbols_;
  std::vector<NodeValue> nodes_;
  std::unordered_map<const c10::TensorImpl*, ValueId> values_;
  std::unordered_map<ValueId, double> uniform_;  ///< values that a constant fills
  bool has_mutations_ = false;
  std::map<int32_t, size_t> placeholder_storages_;  ///< recorded storage -> first placeholder with it
  Program program_;
};

}  // namespace

Program lower_graph(const graph::JointGraph& step, std::vector<std::vector<ValueId>>* node_values) {
  Lowering lowering(step);
  Program program = lowering.run();
  if (node_values != nullptr) *node_values = lowering.node_values();
  return program;
}

}  // namespace sapwood::exec
