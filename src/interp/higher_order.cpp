#include "interp/higher_order.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/error.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Argument;
using graph::Node;

constexpr std::string_view kStage = "interp";

using Function = IValue (*)(const Node&, NodeRunner&);

[[noreturn]] void fail(const Node& node, const std::string& what) {
  throw_user(kStage, "node '" + node.name + "' (" + node.target + ") " + what);
}

const Argument& argument(const Node& node, size_t index, const char* what) {
  if (index >= node.args.size()) fail(node, std::string("lacks its argument ") + what);
  return node.args[index];
}

/// The call of the operator that is argument `index`, with the arguments behind it.
Node wrapped_call(const Node& node, size_t index) {
  const auto* op = argument(node, index, "operator").as<graph::OperatorArg>();
  if (!op) fail(node, "needs an operator as argument " + std::to_string(index));
  Node inner = node;
  inner.target = op->name;
  inner.args.erase(inner.args.begin(), inner.args.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  return inner;
}

at::Tensor state_of(at::Generator generator) {
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator generator, const at::Tensor& state) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

/// Lets the CPU generator go on from another state for a while.
class BorrowedState {
 public:
  explicit BorrowedState(const at::Tensor& state) : before_(state_of(generator_)) { set_state(generator_, state); }
  BorrowedState(const BorrowedState&) = delete;
  BorrowedState& operator=(const BorrowedState&) = delete;
  ~BorrowedState() { set_state(generator_, before_); }
  at::Tensor now() const { return state_of(generator_); }

 private:
  at::Generator generator_ = at::detail::getDefaultCPUGenerator();
  at::Tensor before_;
};

IValue pair_of(IValue first, IValue second) {
  return c10::ivalue::Tuple::create(std::vector<IValue>{std::move(first), std::move(second)});
}

IValue run_and_save_state(const Node& node, NodeRunner& runner) {
  const Node inner = wrapped_call(node, 0);
  at::Tensor state = state_of(at::detail::getDefaultCPUGenerator());
  return pair_of(std::move(state), runner.call(inner));
}

IValue run_with_state(const Node& node, NodeRunner& runner) {
  const Node inner = wrapped_call(node, 1);
  const IValue state = runner.value(node.args[0], node);
  if (!state.isTensor()) fail(node, "needs the state of a generator, a tensor, as argument 0");
  const BorrowedState replay(state.toTensor());
  return runner.call(inner);
}

IValue run_with_generator(const Node& node, NodeRunner& runner) {
  Node inner = wrapped_call(node, 0);
  const auto is_state = [](const auto& keyword) { return keyword.first == "rng_state"; };
  const auto keyword = std::ranges::find_if(inner.kwargs, is_state);
  if (keyword == inner.kwargs.end()) fail(node, "lacks its keyword argument rng_state");
  const IValue value = runner.value(keyword->second, node);
  if (!value.isGenerator()) fail(node, "needs a generator as rng_state");
  inner.kwargs.erase(keyword);
  at::Generator generator = value.toGenerator();
  const BorrowedState borrowed(state_of(generator));
  IValue result = runner.call(inner);
  set_state(generator, borrowed.now());
  return result;
}

IValue run_with_effects(const Node& node, NodeRunner& runner) {
  const Node inner = wrapped_call(node, 1);
  const IValue result = runner.call(inner);
  std::vector<IValue> results{at::empty({0})};  // the next token, which holds nothing
  if (result.isTuple())
    results.insert(results.end(), result.toTupleRef().elements().begin(), result.toTupleRef().elements().end());
  else
    results.push_back(result);
  return c10::ivalue::Tuple::create(std::move(results));
}

IValue run_subgraph(const Node& node, NodeRunner& runner) {
  const graph::Graph& outer = runner.graph();
  const auto* body = argument(node, 0, "body").as<graph::NodeArg>();
  const auto found = body ? outer.subgraphs.find(outer[body->id].target) : outer.subgraphs.end();
  if (found == outer.subgraphs.end() || !found->second) fail(node, "needs one of the graph's subgraphs as argument 0");
  std::vector<IValue> operands;
  constexpr size_t kFirstOperand = 2;  // behind the body and its identifier
  for (size_t i = kFirstOperand; i < node.args.size(); ++i) operands.push_back(runner.value(node.args[i], node));
  return c10::ivalue::Tuple::create(runner.run_body(*found->second, std::move(operands)));
}

struct Row {
  std::string_view target;
  Function function;
};

constexpr std::array<Row, 7> kRows{{
    {"higher_order.run_and_save_rng_state", run_and_save_state},
    {"higher_order.run_with_rng_state", run_with_state},
    {"higher_order.graphsafe_run_with_rng_state", run_with_generator},
    {"higher_order.with_effects", run_with_effects},
    {"higher_order.auto_functionalized", call_auto_functionalized},
    {"higher_order.auto_functionalized_v2", call_auto_functionalized},
    {"higher_order.invoke_subgraph", run_subgraph},
}};

const Row* find_row(std::string_view target) {
  if (!target.starts_with("higher_order.")) return nullptr;
  const auto* found = std::ranges::find(kRows, target, &Row::target);
  return found == kRows.end() ? nullptr : found;
}

}  // namespace

bool is_higher_order(std::string_view target) { return find_row(target) != nullptr; }

IValue call_higher_order(const Node& node, NodeRunner& runner) { return find_row(node.target)->function(node, runner); }

}  // namespace sapwood::interp
