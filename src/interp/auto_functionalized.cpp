#include <ATen/Functions.h>

#include <map>

#include "base/error.h"
#include "interp/higher_order.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Argument;
using graph::Node;

constexpr std::string_view kStage = "interp";
constexpr std::string_view kBases = "_all_bases";

[[noreturn]] void fail(const Node& node, const std::string& what) {
  throw_user(kStage, "node '" + node.name + "' (" + node.target + ") " + what);
}

/// A copy with equal sizes, strides and offset.
at::Tensor cloned(const at::Tensor& tensor) {
  int64_t extent = tensor.storage_offset() + 1;
  for (int64_t d = 0; d < tensor.dim(); ++d) extent += (tensor.size(d) - 1) * tensor.stride(d);
  if (tensor.numel() == 0) extent = tensor.storage_offset();
  const at::Tensor block = tensor.as_strided({extent}, {1}, 0).clone();
  return block.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

IValue cloned(const IValue& value) {
  if (value.isNone()) return value;
  if (value.isTensor()) return cloned(value.toTensor());
  c10::List<at::Tensor> copies;
  for (const at::Tensor& tensor : value.toTensorVector()) copies.push_back(cloned(tensor));
  return copies;
}

/// Positions of the arguments that the operator writes.
std::vector<size_t> mutated_arguments(const c10::FunctionSchema& schema) {
  std::vector<size_t> mutated;
  for (size_t i = 0; i < schema.arguments().size(); ++i)
    if (const auto* alias = schema.arguments()[i].alias_info(); alias && alias->isWrite()) mutated.push_back(i);
  return mutated;
}

IValue joined(const IValue& result, std::vector<IValue> written) {
  std::vector<IValue> all;
  if (result.isTuple())
    all.assign(result.toTupleRef().elements().begin(), result.toTupleRef().elements().end());
  else
    all.push_back(result);
  all.insert(all.end(), written.begin(), written.end());
  return c10::ivalue::Tuple::create(std::move(all));
}

/// The keywords of an `auto_functionalized_v2`: the operator's own, and how to make what it writes from the bases.
class Views {
 public:
  Views(const Node& node, NodeRunner& runner) : node_(node), runner_(runner) {
    for (const auto& [key, value] : node.kwargs) keywords_.emplace(key, &value);
    const auto* bases = at(std::string(kBases)).as<graph::ListArg>();
    if (!bases) fail(node, "needs a list as _all_bases");
    for (const Argument& base : bases->items) bases_.push_back(cloned(runner.value(base, node)));
  }

  const std::vector<IValue>& bases() const { return bases_; }

  /// The argument called `name`: a view, None, or a list of these.
  IValue argument(const std::string& name) const {
    const auto length = keywords_.find("_" + name + "_length");
    if (length == keywords_.end()) return view("_" + name);
    if (length->second->is_none()) return {};
    c10::List<at::Tensor> views;
    for (int64_t i = 0, n = *length->second->as<int64_t>(); i < n; ++i)
      views.push_back(view("_" + name + "_" + std::to_string(i)).toTensor());
    return views;
  }

 private:
  const Argument& at(const std::string& key) const {
    const auto found = keywords_.find(key);
    if (found == keywords_.end()) fail(node_, "lacks its keyword argument " + key);
    return *found->second;
  }
  IValue number(const std::string& key) const { return runner_.value(at(key), node_); }
  bool has(const std::string& key) const { return keywords_.contains(key); }

  std::vector<int64_t> numbers(const std::string& key) const {
    const auto* list = at(key).as<graph::ListArg>();
    const auto* tuple = at(key).as<graph::TupleArg>();
    if (!list && !tuple) fail(node_, "needs a list as " + key);
    std::vector<int64_t> values;
    for (const Argument& item : list ? list->items : tuple->items) values.push_back(runner_.value(item, node_).toInt());
    return values;
  }

  IValue view(const std::string& prefix) const {
    if (at(prefix + "_base_index").is_none()) return {};
    const auto index = static_cast<size_t>(number(prefix + "_base_index").toInt());
    if (index >= bases_.size()) fail(node_, "has no base " + std::to_string(index) + " for " + prefix);
    const at::Tensor base = bases_[index].toTensor();
    if (has(prefix + "_storage_offset"))
      return base.as_strided(numbers(prefix + "_size"), numbers(prefix + "_stride"),
                             number(prefix + "_storage_offset").toInt());
    if (has(prefix + "_slice_dim"))
      return base.slice(number(prefix + "_slice_dim").toInt(), number(prefix + "_slice_start").toInt(),
                        number(prefix + "_slice_end").toInt());
    return base;
  }

  const Node& node_;
  NodeRunner& runner_;
  std::map<std::string, const Argument*> keywords_;
  std::vector<IValue> bases_;
};

Node inner_call(const Node& node) {
  const auto* op = node.args.empty() ? nullptr : node.args[0].as<graph::OperatorArg>();
  if (!op) fail(node, "needs an operator as argument 0");
  Node inner = node;
  inner.target = op->name;
  inner.args.clear();
  return inner;
}

/// What the operator writes is put in place behind binding: it has no argument in the graph.
void leave_open(Node& inner, const c10::FunctionSchema& schema) {
  const auto belongs_to_views = [&](const auto& keyword) { return keyword.first.starts_with('_'); };
  std::erase_if(inner.kwargs, belongs_to_views);
  for (const size_t index : mutated_arguments(schema))
    inner.kwargs.emplace_back(schema.arguments()[index].name(), Argument::node(graph::kNoNode));
}

}  // namespace

IValue call_auto_functionalized(const Node& node, NodeRunner& runner) {
  Node inner = inner_call(node);
  const c10::FunctionSchema& schema = resolve_callable(inner).schema();
  std::vector<IValue> written;
  if (node.target == "higher_order.auto_functionalized") {
    BoundCall call = runner.bind(inner);
    for (const size_t index : mutated_arguments(schema)) {
      call.stack[index] = cloned(call.stack[index]);
      written.push_back(call.stack[index]);
    }
    return joined(runner.invoke(inner, std::move(call)), std::move(written));
  }
  const Views views(node, runner);
  leave_open(inner, schema);
  BoundCall call = runner.bind(inner);
  for (const size_t index : mutated_arguments(schema))
    call.stack[index] = views.argument(schema.arguments()[index].name());
  return joined(runner.invoke(inner, std::move(call)), views.bases());
}

}  // namespace sapwood::interp
