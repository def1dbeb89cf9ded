#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sapwood::ops {

/// The part of a schema type in parentheses: `Tensor(a!)` names the alias set `a` and says that it is written.
struct AliasInfo {
  std::string set;  ///< text between the parentheses without `!`
  bool is_write = false;
  friend bool operator==(const AliasInfo&, const AliasInfo&) = default;
};

/// One argument or result. `type` is the schema's text without alias information: "Tensor", "SymInt[]", "float?".
struct SchemaValue {
  std::string name;  ///< may be empty for a result
  std::string type;
  std::optional<std::string> default_value;  ///< schema text: "None", "1", "[0, 0]"
  bool kwarg_only = false;
  std::optional<AliasInfo> alias;

  bool is_optional() const { return type.ends_with('?'); }
  bool is_list() const { return type.find('[') != std::string::npos; }
  /// Whether a tensor (or a list or an optional of tensors) is meant.
  bool is_tensor() const { return type.starts_with("Tensor"); }
};

/// A parsed operator declaration such as `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.
struct Schema {
  std::string name;      ///< "aten::add"
  std::string overload;  ///< "Tensor"; empty for the default overload
  std::vector<SchemaValue> arguments;
  std::vector<SchemaValue> returns;
  bool is_variadic = false;  ///< takes further arguments that it doesn't name: `...`

  /// Writes to at least one argument.
  bool is_mutable() const;
  /// Some argument may share memory with a result, and none is written.
  bool is_view() const;
  /// Position of an argument, or -1.
  int argument_index(std::string_view argument) const;
};

/// Parses PyTorch's schema text. Errors: user error naming the text and the position where it breaks the grammar.
Schema parse_schema(std::string_view text);

}  // namespace sapwood::ops
