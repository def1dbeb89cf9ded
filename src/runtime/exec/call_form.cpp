#include "runtime/exec/call_form.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace sapwood::exec {
namespace {

using interp::Callable;
using Source = CallForm::Source;
using Kind = Source::Kind;

/// Every overload of every operator, by operator name.
const std::unordered_map<std::string, std::vector<std::string>>& overloads_by_name() {
  static const auto table = [] {
    std::unordered_map<std::string, std::vector<std::string>> names;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
      names[name.name].push_back(name.overload_name);
    return names;
  }();
  return table;
}

bool is_out_argument(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

/// Arguments that an out variant doesn't take because the tensor given has them.
bool implied_by_result(const std::string& name) {
  static constexpr std::array<std::string_view, 5> kNames{"dtype", "layout", "device", "pin_memory", "requires_grad"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// The arguments of `out` in terms of those of `schema`; none if `out` isn't its out variant.
std::optional<std::vector<Source>> match_out(const c10::FunctionSchema& schema, const c10::FunctionSchema& out) {
  std::vector<Source> sources;
  size_t results = 0;
  size_t next = 0;
  const auto& arguments = schema.arguments();
  for (const c10::Argument& argument : out.arguments()) {
    if (is_out_argument(argument)) {
      sources.push_back({.kind = Kind::kResult, .index = results++, .constant = {}});
      continue;
    }
    while (next < arguments.size() && arguments[next].name() != argument.name() &&
           implied_by_result(arguments[next].name()))
      ++next;
    if (next == arguments.size() || arguments[next].name() != argument.name() ||
        *arguments[next].type() != *argument.type())
      return std::nullopt;
    sources.push_back({.kind = Kind::kArgument, .index = next++, .constant = {}});
  }
  for (; next < arguments.size(); ++next)
    if (!implied_by_result(arguments[next].name())) return std::nullopt;
  if (results == 0 || results != schema.returns().size()) return std::nullopt;
  return sources;
}

bool returns_tensors(const c10::FunctionSchema& schema) {
  return std::all_of(schema.returns().begin(), schema.returns().end(),
                     [](const c10::Argument& r) { return r.type()->kind() == c10::TypeKind::TensorType; });
}

std::optional<CallForm> find_out_variant(const Callable& callable) {
  if (callable.op() == nullptr || !returns_tensors(callable.schema())) return std::nullopt;
  const std::string& name = callable.schema().name();
  const auto it = overloads_by_name().find(name);
  if (it == overloads_by_name().end()) return std::nullopt;
  for (const std::string& overload : it->second) {
    const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    if (auto sources = match_out(callable.schema(), op->schema())) return CallForm{Callable(*op), std::move(*sources)};
  }
  return std::nullopt;
}

/// A factory or copy as an in-place operator on its result: "r" is the result, "0", "1" arguments, "=1" numbers, "-"
/// None.
struct Rewrite {
  std::string_view target;
  std::string_view in_place;
  std::array<std::string_view, 5> arguments;
};

constexpr Rewrite kRewrites[] = {
    {"aten.add.Scalar", "aten.add.out", {"0", "1", "2", "r"}},
    {"aten.sub.Scalar", "aten.sub.out", {"0", "1", "2", "r"}},
    {"aten.mul.Scalar", "aten.mul.out", {"0", "1", "r"}},
    {"aten.div.Scalar", "aten.div.out", {"0", "1", "r"}},
    {"aten.relu.default", "aten.clamp_min.out", {"0", "=0", "r"}},
    {"aten.full.default", "aten.fill_.Scalar", {"r", "1"}},
    {"aten.full_like.default", "aten.fill_.Scalar", {"r", "1"}},
    {"aten.new_full.default", "aten.fill_.Scalar", {"r", "2"}},
    {"aten.scalar_tensor.default", "aten.fill_.Scalar", {"r", "0"}},
    {"aten.zeros.default", "aten.zero_.default", {"r"}},
    {"aten.zeros_like.default", "aten.zero_.default", {"r"}},
    {"aten.new_zeros.default", "aten.zero_.default", {"r"}},
    {"aten.ones.default", "aten.fill_.Scalar", {"r", "=1"}},
    {"aten.ones_like.default", "aten.fill_.Scalar", {"r", "=1"}},
    {"aten.new_ones.default", "aten.fill_.Scalar", {"r", "=1"}},
    {"aten.arange.default", "aten.arange.start_out", {"=0", "0", "=1", "r"}},
    {"aten.arange.start", "aten.arange.start_out", {"0", "1", "=1", "r"}},
    {"aten.arange.start_step", "aten.arange.start_out", {"0", "1", "2", "r"}},
    {"aten.clone.default", "aten.copy_.default", {"r", "0", "=0"}},
    {"aten._to_copy.default", "aten.copy_.default", {"r", "0", "=0"}},
    {"aten.copy.default", "aten.copy_.default", {"r", "1", "=0"}},
    {"aten.lift_fresh_copy.default", "aten.copy_.default", {"r", "0", "=0"}},
    {"prims.convert_element_type.default", "aten.copy_.default", {"r", "0", "=0"}},
    {"aten.rand.default", "aten.uniform_.default", {"r", "=0", "=1", "-"}},
    {"aten.rand_like.default", "aten.uniform_.default", {"r", "=0", "=1", "-"}},
    {"aten.randn.default", "aten.normal_.default", {"r", "=0", "=1", "-"}},
    {"aten.randn_like.default", "aten.normal_.default", {"r", "=0", "=1", "-"}},
    {"aten.bernoulli.p", "aten.bernoulli_.float", {"r", "1", "-"}},
    {"aten.empty.memory_format", "", {}},
    {"aten.empty_like.default", "", {}},
    {"aten.empty_strided.default", "", {}},
    {"aten.empty_permuted.default", "", {}},
    {"aten.new_empty.default", "", {}},
    {"aten.new_empty_strided.default", "", {}},
};

Source parse_source(std::string_view text, const c10::Argument& parameter) {
  if (text == "r") return {.kind = Kind::kResult, .index = 0, .constant = {}};
  if (text == "-") return {};
  if (text.front() != '=')
    return {.kind = Kind::kArgument, .index = static_cast<size_t>(text.front() - '0'), .constant = {}};
  const int64_t number = text[1] - '0';
  const auto kind = parameter.type()->kind();
  if (kind == c10::TypeKind::FloatType)
    return {.kind = Kind::kConstant, .index = 0, .constant = static_cast<double>(number)};
  if (kind == c10::TypeKind::BoolType) return {.kind = Kind::kConstant, .index = 0, .constant = number != 0};
  return {.kind = Kind::kConstant, .index = 0, .constant = number};
}

std::optional<CallForm> find_rewrite(std::string_view target) {
  const auto* row =
      std::find_if(std::begin(kRewrites), std::end(kRewrites), [&](const Rewrite& r) { return r.target == target; });
  if (row == std::end(kRewrites)) return std::nullopt;
  if (row->in_place.empty()) return CallForm{};
  std::optional<Callable> callable = interp::find_callable(row->in_place);
  if (!callable) return std::nullopt;
  CallForm form{callable, {}};
  const auto& parameters = callable->schema().arguments();
  for (size_t i = 0; i < parameters.size(); ++i) form.sources.push_back(parse_source(row->arguments[i], parameters[i]));
  return form;
}

/// Losses whose out variant takes `out` for the unreduced loss first and resizes it.
bool out_variant_resizes(std::string_view target) {
  static constexpr std::string_view kTargets[] = {"aten.mse_loss.default", "aten.smooth_l1_loss.default",
                                                  "aten.binary_cross_entropy.default", "aten.soft_margin_loss.default",
                                                  "aten.huber_loss.default"};
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

}  // namespace

std::optional<CallForm> find_out_form(const Callable& callable, std::string_view target) {
  if (out_variant_resizes(target)) return std::nullopt;
  if (std::optional<CallForm> form = find_rewrite(target)) return form;
  return find_out_variant(callable);
}

void drop_unused_reads(const CallForm& form, const torch::jit::Stack& arguments, const Program& program,
                       std::vector<ValueId>& reads) {
  std::vector<const c10::TensorImpl*> used;
  for (const CallForm::Source& source : form.sources) {
    if (source.kind != Kind::kArgument) continue;
    const c10::IValue& argument = arguments[source.index];
    if (argument.isTensor()) used.push_back(argument.toTensor().unsafeGetTensorImpl());
    if (argument.isTensorList())
      for (const at::Tensor& tensor : argument.toTensorVector()) used.push_back(tensor.unsafeGetTensorImpl());
    else if (argument.isList())
      return;  // optional tensors, perhaps: keep what there is
  }
  std::erase_if(reads, [&](ValueId read) {
    return std::find(used.begin(), used.end(), program.tensor(read).unsafeGetTensorImpl()) == used.end();
  });
}

bool is_elementwise(std::string_view target) {
  static constexpr std::string_view kTargets[] = {"aten.add.Tensor",
                                                  "aten.add.Scalar",
                                                  "aten.sub.Tensor",
                                                  "aten.sub.Scalar",
                                                  "aten.mul.Tensor",
                                                  "aten.mul.Scalar",
                                                  "aten.div.Tensor",
                                                  "aten.div.Scalar",
                                                  "aten.neg.default",
                                                  "aten.sqrt.default",
                                                  "aten.rsqrt.default",
                                                  "aten.exp.default",
                                                  "aten.log.default",
                                                  "aten.tanh.default",
                                                  "aten.sigmoid.default",
                                                  "aten.relu.default",
                                                  "aten.abs.default",
                                                  "aten.maximum.default",
                                                  "aten.minimum.default",
                                                  "aten.addcmul.default",
                                                  "aten.addcdiv.default",
                                                  "aten.lerp.Scalar",
                                                  "aten.threshold_backward.default",
                                                  "aten.tanh_backward.default",
                                                  "aten.sigmoid_backward.default",
                                                  "aten.gelu.default",
                                                  "aten.gelu_backward.default",
                                                  "aten.silu.default",
                                                  "aten.silu_backward.default",
                                                  "aten.clamp.default",
                                                  "aten.clamp_min.default",
                                                  "aten.clamp_max.default",
                                                  "aten.pow.Tensor_Scalar",
                                                  "aten.where.self",
                                                  "aten.reciprocal.default",
                                                  "aten.erf.default",
                                                  "aten.cos.default",
                                                  "aten.sin.default"};
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

bool is_undeclared_view(std::string_view target) {
  static constexpr std::string_view kTargets[] = {"aten._unsafe_view.default", "aten.unsafe_split.Tensor",
                                                  "aten.unsafe_split_with_sizes.default", "aten.unsafe_chunk.default"};
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

}  // namespace sapwood::exec
