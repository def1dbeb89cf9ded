#include "interp/interpreter.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/error.h"
#include "interp/binding.h"
#include "interp/higher_order.h"
#include "interp/host_ops.h"
#include "interp/single_rank.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

constexpr std::string_view kStage = "interp";

/// For every node, the node after which its value is dead (the node itself if nothing reads it).
std::vector<NodeId> last_readers(const graph::Graph& graph, const std::vector<NodeId>& order) {
  std::vector<NodeId> last(graph.id_bound(), graph::kNoNode);
  for (const NodeId id : order) {
    last[static_cast<size_t>(id)] = id;
    for (const NodeId input : graph.inputs(id)) last[static_cast<size_t>(input)] = id;
  }
  return last;
}

void bind_sizes(const graph::TensorMeta& meta, const at::Tensor& tensor, SymbolValues& symbols) {
  if (static_cast<size_t>(tensor.dim()) != meta.shape.size()) return;
  for (size_t d = 0; d < meta.shape.size(); ++d)
    if (!meta.shape[d].is_const() && meta.shape[d].op() == graph::SymOp::kSymbol)
      symbols.bind(meta.shape[d].name(), tensor.size(static_cast<int64_t>(d)));
}

/// `symbols`, replaced by what the inputs say.
SymbolValues symbols_in(const graph::Graph& graph, std::span<const IValue> inputs, SymbolValues symbols) {
  const std::vector<NodeId> placeholders = graph.placeholders();
  if (placeholders.size() != inputs.size())
    throw_user(kStage, "graph '" + graph.name + "' has " + std::to_string(placeholders.size()) + " placeholders, " +
                           std::to_string(inputs.size()) + " inputs were given");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = graph[placeholders[i]];
    if (node.tensor() != nullptr && inputs[i].isTensor() && inputs[i].toTensor().defined())
      bind_sizes(*node.tensor(), inputs[i].toTensor(), symbols);
    const auto* size = node.val ? node.val->as<graph::SymIntValue>() : nullptr;
    if (size != nullptr && inputs[i].isInt() && !size->expr.is_const() && size->expr.op() == graph::SymOp::kSymbol)
      symbols.bind(size->expr.name(), inputs[i].toInt());
  }
  return symbols;
}

class Interpreter : public NodeRunner {
 public:
  Interpreter(const graph::Graph& graph, std::span<const IValue> inputs, const RunOptions& options,
              SymbolValues symbols)
      : graph_(graph), inputs_(inputs), options_(options), symbols_(std::move(symbols)), values_(graph.id_bound()) {}

  std::vector<IValue> run() {
    const std::vector<NodeId> order = graph_.order();
    const std::vector<NodeId> last = last_readers(graph_, order);
    for (const NodeId id : order) {
      const Node& node = graph_[id];
      if (node.kind == NodeKind::kOutput) break;
      IValue value = evaluate(node);
      if (options_.observer) options_.observer(node, value);
      if (last[static_cast<size_t>(id)] != id) values_[static_cast<size_t>(id)] = std::move(value);
      for (const NodeId input : graph_.inputs(id))
        if (last[static_cast<size_t>(input)] == id) values_[static_cast<size_t>(input)] = IValue();
    }
    std::vector<IValue> outputs;
    for (const NodeId id : graph_.output_values())
      outputs.push_back(id == graph::kNoNode ? IValue() : values_[static_cast<size_t>(id)]);
    return outputs;
  }

  IValue call(const Node& node) override {
    if (is_higher_order(node.target)) return call_higher_order(node, *this);
    if (is_host_op(node.target)) return call_host(node);
    return invoke(node, bind(node));
  }

  BoundCall bind(const Node& node) override {
    BoundCall call = bind_call(node, symbols_);
    for (const NodeSlot& slot : call.slots)
      if (slot.node != graph::kNoNode) fill(call, slot, values_[static_cast<size_t>(slot.node)], call.stack);
    return call;
  }

  IValue invoke(const Node& node, BoundCall call) override {
    try {
      invoke_on_device(node, call);
    } catch (const c10::Error& error) {
      throw Error(ErrorKind::kRuntime, kStage,
                  "node '" + node.name + "' (" + node.target + "): " + error.what_without_backtrace());
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kRuntime, kStage, "node '" + node.name + "' (" + node.target + "): " + error.what());
    }
    if (call.stack.empty()) return {};
    if (call.stack.size() == 1) return std::move(call.stack.front());
    return c10::ivalue::Tuple::create(std::move(call.stack));
  }

  IValue value(const graph::Argument& arg, const Node& node) override {
    if (arg.is_none()) return {};
    if (const auto* n = arg.as<graph::NodeArg>()) return values_[static_cast<size_t>(n->id)];
    if (const auto* i = arg.as<int64_t>()) return *i;
    if (const auto* d = arg.as<double>()) return *d;
    if (const auto* b = arg.as<bool>()) return *b;
    if (const auto* s = arg.as<std::string>()) return *s;
    if (const auto* e = arg.as<graph::SymExpr>()) return symbols_.evaluate(*e, node.name);
    throw_unsupported(
        kStage, "node '" + node.name + "' (" + node.target + ") has an argument that isn't a number, a text or a node");
  }

  std::vector<IValue> run_body(const graph::Graph& body, std::vector<IValue> operands) override {
    RunOptions options = options_;
    options.observer = {};
    return Interpreter(body, operands, options, symbols_in(body, operands, symbols_)).run();
  }

  const graph::Graph& graph() const override { return graph_; }

 private:
  IValue evaluate(const Node& node) {
    switch (node.kind) {
      case NodeKind::kPlaceholder:
        return inputs_[next_input_++];
      case NodeKind::kGetAttr:
        return graph_.subgraphs.contains(node.target) ? IValue() : IValue(constant_tensor(graph_, node));
      default:
        return call(node);
    }
  }

  IValue call_host(const Node& node) {
    std::vector<IValue> args;
    for (const graph::Argument& arg : node.args) args.push_back(value(arg, node));
    return call_host_op(node.target, args, node.name);
  }

  void invoke_on_device(const Node& node, BoundCall& call) {
    if (options_.device && ReferenceDevice::runs(node.target)) return options_.device->call(node, call.stack);
    if (call.callable.native() && ReferenceDevice::runs(node.target) && node.target != "prims.device_put.default")
      throw_unsupported(kStage, "node '" + node.name + "' (" + node.target +
                                    ") needs a reference device; give one with RunOptions::device");
    if (options_.single_rank && call_single_rank(node, call.stack)) return;
    if (options_.device)
      for (IValue& argument : call.stack)
        if (argument.isDevice()) argument = c10::Device(c10::kCPU);
    call.callable.call(call.stack);
  }

  const graph::Graph& graph_;
  std::span<const IValue> inputs_;
  const RunOptions& options_;
  SymbolValues symbols_;
  std::vector<IValue> values_;
  size_t next_input_ = 0;
};

}  // namespace

SymbolValues bind_symbols(const graph::Graph& graph, std::span<const IValue> inputs) {
  return symbols_in(graph, inputs, SymbolValues(graph.symbols));
}

std::vector<IValue> run(const graph::Graph& graph, std::span<const IValue> inputs, const RunOptions& options) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  return Interpreter(graph, inputs, options, bind_symbols(graph, inputs)).run();
}

std::vector<IValue> run(const graph::Graph& graph, std::span<const IValue> inputs, const Observer& observer) {
  return run(graph, inputs, RunOptions{.observer = observer});
}

}  // namespace sapwood::interp
