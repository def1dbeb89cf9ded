#include "graph/types.h"

#include <gtest/gtest.h>

#include "graph/names.h"

namespace sapwood::graph {
namespace {

TEST(Types, EveryDtypeReadsBackFromItsName) {
  int count = 0;
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i, ++count) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
    EXPECT_GE(dtype_bytes(dtype), 1);
  }
  EXPECT_EQ(count, 21);
  EXPECT_EQ(dtype_from_name("float"), std::nullopt);
  EXPECT_EQ(dtype_bytes(DType::kBFloat16), 2);
  EXPECT_EQ(dtype_bytes(DType::kComplex128), 16);
  EXPECT_TRUE(is_floating_point(DType::kFloat8E5M2));
  EXPECT_FALSE(is_floating_point(DType::kComplex64));
}

TEST(Types, LayoutsAndMemoryFormatsReadBackFromTheirNames) {
  for (int i = 0; i <= static_cast<int>(Layout::kJagged); ++i)
    EXPECT_EQ(layout_from_name(layout_name(static_cast<Layout>(i))), static_cast<Layout>(i));
  for (int i = 0; i <= static_cast<int>(MemoryFormat::kChannelsLast3d); ++i)
    EXPECT_EQ(memory_format_from_name(memory_format_name(static_cast<MemoryFormat>(i))), static_cast<MemoryFormat>(i));
  EXPECT_EQ(layout_from_name("dense"), std::nullopt);
  EXPECT_EQ(memory_format_from_name(""), std::nullopt);
}

TEST(Types, DevicesAreReadStrictly) {
  EXPECT_EQ(Device::parse("cpu"), (Device{"cpu", -1}));
  EXPECT_EQ(Device::parse("cuda:3"), (Device{"cuda", 3}));
  EXPECT_EQ(Device::parse("cuda:3")->str(), "cuda:3");
  EXPECT_EQ(Device::parse("privateuseone")->str(), "privateuseone");
  for (const char* wrong : {"", ":0", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999", "CPU", "cuda:1:2"})
    EXPECT_EQ(Device::parse(wrong), std::nullopt) << wrong;
}

TEST(Names, AreSplitIntoBaseAndSuffix) {
  EXPECT_EQ(split_name("mm_12").base, "mm");
  EXPECT_EQ(split_name("mm_12").suffix, 12);
  EXPECT_EQ(split_name("mm").suffix, std::nullopt);
  EXPECT_EQ(split_name("mm_").suffix, std::nullopt);
  EXPECT_EQ(split_name("_1").suffix, std::nullopt);
  EXPECT_EQ(split_name("conv2d").suffix, std::nullopt);
  EXPECT_EQ(split_name("a_99999999999999999999").suffix, std::nullopt);
}

TEST(Names, AreMadeLegal) {
  EXPECT_TRUE(is_legal_name("_a1"));
  EXPECT_FALSE(is_legal_name("1a"));
  EXPECT_FALSE(is_legal_name("a.b"));
  EXPECT_FALSE(is_legal_name(""));
  EXPECT_EQ(legal_name("a.b-c"), "a_b_c");
  EXPECT_TRUE(is_python_name("sum"));
  EXPECT_TRUE(is_python_name("zip"));
  EXPECT_FALSE(is_python_name("mm"));
  EXPECT_EQ(base_name_of_target("aten.mm.default"), "mm");
  EXPECT_EQ(base_name_of_target("plain"), "plain");
  EXPECT_EQ(base_name_of_target("ns.CamelCase.default"), "camel_case");
}

}  // namespace
}  // namespace sapwood::graph
