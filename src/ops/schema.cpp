#include "ops/schema.h"

#include <algorithm>

#include "base/error.h"

namespace sapwood::ops {
namespace {

constexpr std::string_view kStage = "schema";

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

[[noreturn]] void fail(std::string_view schema, std::string_view problem) {
  throw_user(kStage, "'" + std::string(schema) + "': " + std::string(problem));
}

/// Follows brackets and quotes through a schema, so that commas and `=` inside them don't count.
class Nesting {
 public:
  void step(char c) {
    if (quote_ != 0) {
      if (c == quote_) quote_ = 0;
      return;
    }
    if (c == '"' || c == '\'') quote_ = c;
    if (c == '(' || c == '[') ++depth_;
    if (c == ')' || c == ']') --depth_;
  }
  bool outside() const { return depth_ == 0 && quote_ == 0; }

 private:
  int depth_ = 0;
  char quote_ = 0;
};

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  Nesting nesting;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' && nesting.outside()) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
      continue;
    }
    nesting.step(text[i]);
  }
  if (!trim(text).empty()) parts.push_back(trim(text.substr(begin)));
  return parts;
}

/// Position of the first (or last) `wanted` outside of brackets and quotes, or npos.
size_t find_outside(std::string_view text, char wanted, bool last) {
  Nesting nesting;
  size_t found = std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == wanted && nesting.outside()) {
      found = i;
      if (!last) return found;
    }
    nesting.step(text[i]);
  }
  return found;
}

/// Takes the alias part out of a type: "Tensor(a!)[]" gives "Tensor[]" and {a, written}.
void set_type(SchemaValue& value, std::string_view type) {
  const size_t open = type.find('(');
  if (open == std::string_view::npos || !type.starts_with("Tensor")) {
    value.type = std::string(type);
    return;
  }
  const size_t close = type.find(')', open);
  std::string set(type.substr(open + 1, close - open - 1));
  const bool is_write = set.find('!') != std::string::npos;
  std::erase(set, '!');
  value.alias = AliasInfo{std::move(set), is_write};
  value.type = std::string(type.substr(0, open)) + std::string(type.substr(close + 1));
}

SchemaValue parse_argument(std::string_view text, std::string_view schema) {
  SchemaValue value;
  const size_t equals = find_outside(text, '=', false);
  if (equals != std::string_view::npos) {
    value.default_value = std::string(text.substr(equals + 1));
    text = text.substr(0, equals);
  }
  const size_t space = find_outside(text, ' ', true);
  if (space == std::string_view::npos) fail(schema, "argument '" + std::string(text) + "' has a type but no name");
  value.name = std::string(text.substr(space + 1));
  set_type(value, trim(text.substr(0, space)));
  return value;
}

void parse_arguments(std::string_view text, std::string_view whole, Schema& schema) {
  bool kwarg_only = false;
  for (std::string_view part : split_at_commas(text)) {
    if (part == "*") kwarg_only = true;
    if (part == "...") schema.is_variadic = true;
    if (part == "*" || part == "...") continue;
    schema.arguments.push_back(parse_argument(part, whole));
    schema.arguments.back().kwarg_only = kwarg_only;
  }
}

std::vector<SchemaValue> parse_returns(std::string_view text) {
  std::vector<SchemaValue> returns;
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  for (std::string_view part : split_at_commas(text)) {
    SchemaValue value;
    const size_t space = find_outside(part, ' ', true);
    set_type(value, part.substr(0, space));
    if (space != std::string_view::npos) value.name = std::string(part.substr(space + 1));
    returns.push_back(std::move(value));
  }
  return returns;
}

/// Position of the parenthesis that closes the one at `open`.
size_t closing(std::string_view text, size_t open) {
  Nesting nesting;
  for (size_t i = open; i < text.size(); ++i) {
    nesting.step(text[i]);
    if (nesting.outside()) return i;
  }
  return std::string_view::npos;
}

}  // namespace

bool Schema::is_mutable() const {
  return std::ranges::any_of(arguments, [](const SchemaValue& a) { return a.alias && a.alias->is_write; });
}

bool Schema::is_view() const {
  return !is_mutable() && std::ranges::any_of(arguments, [](const SchemaValue& a) { return a.alias.has_value(); });
}

int Schema::argument_index(std::string_view argument) const {
  const auto found = std::ranges::find(arguments, argument, &SchemaValue::name);
  return found == arguments.end() ? -1 : static_cast<int>(found - arguments.begin());
}

Schema parse_schema(std::string_view text) {
  Schema schema;
  const size_t open = text.find('(');
  if (open == std::string_view::npos) fail(text, "expected '(' after the operator's name");
  const std::string_view full_name = text.substr(0, open);
  const size_t scope = full_name.find("::");
  if (scope == std::string_view::npos) fail(text, "expected a name of the form 'namespace::operator'");
  const size_t dot = full_name.find('.', scope);
  schema.name = std::string(full_name.substr(0, dot));
  if (dot != std::string_view::npos) schema.overload = std::string(full_name.substr(dot + 1));

  const size_t close = closing(text, open);
  if (close == std::string_view::npos) fail(text, "the argument list isn't closed; expected ')'");
  parse_arguments(text.substr(open + 1, close - open - 1), text, schema);
  const std::string_view rest = trim(text.substr(close + 1));
  if (!rest.starts_with("->")) fail(text, "expected '->' after the argument list");
  schema.returns = parse_returns(trim(rest.substr(2)));
  return schema;
}

}  // namespace sapwood::ops
