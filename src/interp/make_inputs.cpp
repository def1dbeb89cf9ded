#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <c10/util/Exception.h>

#include <random>

#include "base/error.h"
#include "interp/interpreter.h"

namespace sapwood::interp {
namespace {

using c10::IValue;

constexpr std::string_view kStage = "interp";
constexpr double kLargest =
    0.1;  // positive, as variances must be, and small, so that sums of many stay in the range of exp

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// A one-dimensional tensor of `count` random elements.
at::Tensor random_storage(int64_t count, c10::ScalarType type, std::mt19937_64& random) {
  if (c10::isIntegralType(type, /*includeBool=*/false)) {
    at::Tensor values = at::zeros({count}, c10::kLong);
    const auto ones = static_cast<int64_t>(uniform(random) * static_cast<double>(count));
    values.narrow(0, count - ones, ones).fill_(1);
    return values.to(type);
  }
  at::Tensor values = at::empty({count}, c10::kDouble);
  double* data = values.mutable_data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) data[i] = kLargest * uniform(random);
  if (type == c10::kBool) return values.gt(kLargest / 2);
  return values.to(type);
}

at::Tensor random_tensor(const graph::Node& node, const SymbolValues& symbols, std::mt19937_64& random) {
  const graph::TensorMeta& meta = *node.tensor();
  if (meta.layout != graph::Layout::kStrided)
    throw_unsupported(kStage, "placeholder '" + node.name + "' has layout " +
                                  std::string(graph::layout_name(meta.layout)) +
                                  "; random inputs are made for strided tensors");
  const TensorGeometry shape = geometry(meta, symbols, node.name);
  try {
    const at::Tensor storage = random_storage(shape.extent(), to_torch(meta.dtype), random);
    return storage.as_strided(shape.sizes, shape.strides, shape.offset);
  } catch (const c10::Error& error) {
    throw Error(
        ErrorKind::kRuntime, kStage,
        "placeholder '" + node.name + "' can't be filled with random values: " + error.what_without_backtrace());
  }
}

/// Whether the placeholder stands for a generator that a forward or a backward draws from.
bool is_generator(const graph::Node& node) {
  const auto* opaque = node.val ? node.val->as<graph::OpaqueValue>() : nullptr;
  return opaque != nullptr && opaque->repr.starts_with("Generator");
}

/// Those of a forward and of its backward start equal.
at::Generator random_generator(const graph::Node& node, uint64_t seed) {
  const size_t digits = node.name.find_last_not_of("0123456789") + 1;
  const uint64_t number = digits < node.name.size() ? std::stoull(node.name.substr(digits)) : 0;
  return at::make_generator<at::CPUGeneratorImpl>(std::mt19937_64(seed ^ number)());
}

}  // namespace

std::vector<IValue> make_random_inputs(const graph::Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  const SymbolValues symbols(graph.symbols);
  std::vector<IValue> inputs;
  for (const graph::NodeId id : graph.placeholders()) {
    const graph::Node& node = graph[id];
    if (node.tensor() != nullptr)
      inputs.emplace_back(random_tensor(node, symbols, random));
    else if (const auto* size = node.val ? node.val->as<graph::SymIntValue>() : nullptr)
      inputs.emplace_back(symbols.evaluate(size->expr, node.name));
    else if (!node.val || node.val->as<graph::SymFloatValue>() != nullptr ||
             node.val->as<graph::ConstValue>() != nullptr)
      inputs.emplace_back(uniform(random));
    else if (is_generator(node))
      inputs.emplace_back(random_generator(node, seed));
    else
      throw_unsupported(kStage, "placeholder '" + node.name + "' is neither a tensor nor a number nor a generator");
  }
  return inputs;
}

at::Tensor constant_tensor(const graph::Graph& graph, const graph::Node& node) {
  const auto it = graph.attributes.find(node.target);
  const graph::Attribute* attribute = it == graph.attributes.end() ? nullptr : &it->second;
  if (attribute == nullptr || !attribute->values.has_value())
    throw_unsupported(kStage, "node '" + node.name + "': the graph doesn't hold the values of attribute '" +
                                  node.target + "'; make it a placeholder and pass the tensor");
  const TensorGeometry shape = geometry(attribute->tensor, SymbolValues(graph.symbols), node.name);
  if (static_cast<int64_t>(attribute->values->size()) != shape.numel())
    throw_user(kStage, "attribute '" + node.target + "' has " + std::to_string(attribute->values->size()) +
                           " values for " + std::to_string(shape.numel()) + " elements");
  std::vector<c10::complex<double>> values;
  for (const graph::Argument& arg : *attribute->values) {
    if (const auto* d = arg.as<double>())
      values.emplace_back(*d);
    else if (const auto* i = arg.as<int64_t>())
      values.emplace_back(static_cast<double>(*i));
    else if (const auto* b = arg.as<bool>())
      values.emplace_back(*b ? 1.0 : 0.0);
    else if (const auto* c = arg.as<std::complex<double>>())
      values.emplace_back(c->real(), c->imag());
    else
      throw_user(kStage, "attribute '" + node.target + "' has a value that isn't a number");
  }
  const c10::ScalarType type = to_torch(attribute->tensor.dtype);
  const at::Tensor flat = at::from_blob(values.data(), shape.sizes, c10::kComplexDouble);
  at::Tensor result = at::empty_strided(shape.sizes, shape.strides, type);
  return result.copy_(c10::isComplexType(type) ? flat : at::real(flat));
}

}  // namespace sapwood::interp
