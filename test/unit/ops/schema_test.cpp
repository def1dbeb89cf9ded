#include "ops/schema.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/op_table.h"

namespace sapwood::ops {
namespace {

TEST(Schema, ReadsNamesTypesAndDefaults) {
  const Schema schema = parse_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(schema.name, "aten::add");
  EXPECT_EQ(schema.overload, "Tensor");
  ASSERT_EQ(schema.arguments.size(), 3u);
  EXPECT_EQ(schema.arguments[0].name, "self");
  EXPECT_FALSE(schema.arguments[1].kwarg_only);
  EXPECT_TRUE(schema.arguments[2].kwarg_only);
  EXPECT_EQ(schema.arguments[2].type, "Scalar");
  EXPECT_EQ(schema.arguments[2].default_value, "1");
  ASSERT_EQ(schema.returns.size(), 1u);
  EXPECT_TRUE(schema.returns[0].is_tensor());
  EXPECT_EQ(schema.argument_index("other"), 1);
  EXPECT_EQ(schema.argument_index("absent"), -1);
}

TEST(Schema, ListsAndCommasInDefaultsAreOneArgument) {
  const Schema schema = parse_schema(
      "aten::f(Tensor[]? xs, int[2] stride=[1, 1], str mode=\"a, b\", Dict(str, Tensor) table, SymInt? n=None) -> "
      "(Tensor out, Tensor[] rest)");
  ASSERT_EQ(schema.arguments.size(), 5u);
  EXPECT_TRUE(schema.arguments[0].is_list());
  EXPECT_TRUE(schema.arguments[0].is_optional());
  EXPECT_EQ(schema.arguments[1].default_value, "[1, 1]");
  EXPECT_EQ(schema.arguments[2].default_value, "\"a, b\"");
  EXPECT_EQ(schema.arguments[3].type, "Dict(str, Tensor)");
  ASSERT_EQ(schema.returns.size(), 2u);
  EXPECT_EQ(schema.returns[1].name, "rest");
  EXPECT_EQ(schema.returns[1].type, "Tensor[]");
}

TEST(Schema, MutationAndViewFollowFromAliases) {
  EXPECT_TRUE(parse_schema("aten::relu_(Tensor(a!) self) -> Tensor(a!)").is_mutable());
  EXPECT_FALSE(parse_schema("aten::relu_(Tensor(a!) self) -> Tensor(a!)").is_view());
  EXPECT_TRUE(parse_schema("aten::t(Tensor(a) self) -> Tensor(a)").is_view());
  EXPECT_FALSE(parse_schema("aten::t(Tensor(a) self) -> Tensor(a)").is_mutable());
  EXPECT_FALSE(parse_schema("aten::mm(Tensor self, Tensor mat2) -> Tensor").is_view());
  const Schema list = parse_schema("aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other) -> ()");
  EXPECT_TRUE(list.is_mutable());
  EXPECT_EQ(list.arguments[0].type, "Tensor[]");
  EXPECT_EQ(list.arguments[0].alias->set, "a");
  EXPECT_TRUE(list.returns.empty());
  EXPECT_TRUE(
      parse_schema("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]").is_view());
}

TEST(Schema, DotsStandForFurtherArguments) {
  const Schema schema = parse_schema("aten::einsum.sublist(Tensor a, ...) -> Tensor");
  EXPECT_TRUE(schema.is_variadic);
  EXPECT_EQ(schema.arguments.size(), 1u);
  EXPECT_FALSE(parse_schema("aten::mm(Tensor self, Tensor mat2) -> Tensor").is_variadic);
}

TEST(Schema, SaysWhatIsWrong) {
  for (const char* text : {"", "aten::f", "f(Tensor self) -> Tensor", "aten::f(Tensor self", "aten::f(Tensor self)",
                           "aten::f(Tensor) -> Tensor"}) {
    try {
      parse_schema(text);
      FAIL() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      EXPECT_NE(error.message().find(text), std::string::npos);
    }
  }
}

TEST(Schema, EveryRowParses) {
  for (const OpRow& row : all_rows()) {
    if (row.schema.empty()) continue;
    const Schema schema = parse_schema(row.schema);
    std::string prefix = schema.name;
    prefix.replace(prefix.find("::"), 2, ".").append(".");
    EXPECT_EQ(row.name, prefix + (schema.overload.empty() ? "default" : schema.overload));
    for (const SchemaValue& argument : schema.arguments) {
      EXPECT_FALSE(argument.name.empty()) << row.name;
      EXPECT_FALSE(argument.type.empty()) << row.name;
    }
  }
}

}  // namespace
}  // namespace sapwood::ops
