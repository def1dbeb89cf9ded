#include "capture/functional_op.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace sapwood::capture {
namespace {

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

/// The functional base name: "aten::add_" -> "aten::add"; names with a leading underscore keep it.
std::string base_name(const std::string& name) {
  return name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_' ? name.substr(0, name.size() - 1) : name;
}

/// Whether `candidate` takes exactly the chosen arguments of `schema`, by name and type, and writes nothing.
bool takes(const c10::FunctionSchema& candidate, const c10::FunctionSchema& schema, const std::vector<size_t>& chosen) {
  if (candidate.is_mutable() || candidate.arguments().size() != chosen.size()) return false;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const c10::Argument& a = candidate.arguments()[i];
    const c10::Argument& b = schema.arguments()[chosen[i]];
    if (a.name() != b.name() || *a.type() != *b.type()) return false;
  }
  return true;
}

std::optional<c10::OperatorHandle> find(const std::string& name, const c10::FunctionSchema& schema,
                                        const std::vector<size_t>& chosen, const std::string& preferred_overload) {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  if (auto same = dispatcher.findSchema({name, preferred_overload}); same && takes(same->schema(), schema, chosen))
    return same;
  for (const c10::OperatorName& other : dispatcher.getAllOpNames()) {
    if (other.name != name) continue;
    auto op = dispatcher.findSchema(other);
    if (op && takes(op->schema(), schema, chosen)) return op;
  }
  return std::nullopt;
}

}  // namespace

std::vector<size_t> written_arguments(const c10::FunctionSchema& schema) {
  std::vector<size_t> written;
  for (size_t i = 0; i < schema.arguments().size(); ++i)
    if (is_written(schema.arguments()[i])) written.push_back(i);
  return written;
}

std::optional<FunctionalForm> functional_form(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  const std::vector<size_t> written = written_arguments(schema);
  std::vector<size_t> all, without_out;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    all.push_back(i);
    if (!is_written(schema.arguments()[i])) without_out.push_back(i);
  }
  if (schema.name() == "aten::mul_" && schema.overload_name() == "Scalar")  // ATen puts the number first; so do we
    return FunctionalForm{c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor"), {1, 0}, written};
  const bool is_out =
      std::all_of(written.begin(), written.end(), [&](size_t i) { return schema.arguments()[i].kwarg_only(); });
  const std::vector<size_t>& chosen = is_out ? without_out : all;
  const std::string name = schema.name() == "aten::normal_" ? "aten::normal_functional"
                           : is_out                         ? schema.name()
                                                            : base_name(schema.name());
  const auto functional = find(name, schema, chosen, schema.overload_name());
  if (!functional || functional->schema().returns().size() != written.size()) return std::nullopt;
  return FunctionalForm{*functional, chosen, written};
}

bool overwrites_self(const c10::OperatorName& name) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "aten::fill_",   "aten::zero_",        "aten::copy_",   "aten::bernoulli_", "aten::normal_",     "aten::uniform_",
      "aten::random_", "aten::exponential_", "aten::cauchy_", "aten::geometric_", "aten::log_normal_", "aten::set_"};
  return std::find(kNames.begin(), kNames.end(), name.name) != kNames.end();
}

}  // namespace sapwood::capture
