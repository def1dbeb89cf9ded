#include "partition/options.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace sapwood::partition {
namespace {

const PartitionOptions kDefaults;

/// Some text that the option takes and that isn't its default.
std::string another_text(const OptionRow& row) {
  for (const char* text : {"true", "false", "0.25", "17", "float16", "float16;float32", "a,b"}) {
    PartitionOptions options;
    try {
      set_option(options, row, text);
    } catch (const Error&) {
      continue;
    }
    if (option_text(options, row) != option_text(kDefaults, row)) return text;
  }
  for (const std::string_view word : option_choices(row))
    if (word != option_text(kDefaults, row)) return std::string(word);
  ADD_FAILURE() << row.name << " takes nothing";
  return "";
}

// pytorch/pytorch#161650, #185171
TEST(Options, EveryRowIsDocumentedAndFoundByNameAndFlag) {
  std::set<std::string_view> names;
  for (const OptionRow& row : option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.flag == row.name || names.insert(row.flag).second) << row.flag;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_EQ(find_option(row.name), &row);
    EXPECT_EQ(find_option(row.flag), &row);
  }
  EXPECT_EQ(find_option("no_such_option"), nullptr);
}

TEST(Options, EveryRowsTextComesBack) {
  for (const OptionRow& row : option_table()) {
    SCOPED_TRACE(row.name);
    PartitionOptions options;
    const std::string text = another_text(row);
    set_option(options, row, text);
    EXPECT_EQ(option_text(options, row), text);
    EXPECT_NE(option_text(options, row), option_text(kDefaults, row));
    set_option(options, row, option_text(kDefaults, row));
    EXPECT_EQ(option_text(options, row), option_text(kDefaults, row));
  }
}

TEST(Options, ARowChangesNothingElse) {
  for (const OptionRow& row : option_table()) {
    PartitionOptions options;
    set_option(options, row, another_text(row));
    for (const OptionRow& other : option_table())
      if (other.name != row.name)
        EXPECT_EQ(option_text(options, other), option_text(kDefaults, other)) << row.name << " changes " << other.name;
  }
}

TEST(Options, EveryChoiceComesBack) {
  for (const OptionRow& row : option_table())
    for (const std::string_view word : option_choices(row)) {
      PartitionOptions options;
      set_option(options, row, word);
      EXPECT_EQ(option_text(options, row), word);
    }
}

TEST(Options, WrongTextNamesTheOption) {
  int refused = 0;
  for (const OptionRow& row : option_table()) {
    if (std::holds_alternative<OptionRow::At<OptionRow::Names>>(row.field)) continue;  // takes any text
    PartitionOptions options;
    try {
      set_option(options, row, "wr ong");
      ADD_FAILURE() << row.name << " takes anything";
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      EXPECT_NE(error.message().find("option '" + std::string(row.name) + "'"), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("wr ong"), std::string::npos) << error.message();
    }
    EXPECT_EQ(option_text(options, row), option_text(kDefaults, row)) << row.name;
  }
  EXPECT_GT(refused, 25);
}

TEST(Options, NumbersAreReadWhole) {
  PartitionOptions options;
  EXPECT_THROW(set_option(options, *find_option("budget"), "0.5x"), Error);
  EXPECT_THROW(set_option(options, *find_option("budget"), ""), Error);
  EXPECT_THROW(set_option(options, *find_option("max-dist-from-bw"), "1.5"), Error);
  set_option(options, *find_option("budget-bytes"), "none");
  EXPECT_FALSE(options.activation_memory_bytes);
}

TEST(Options, WordsMayBeWrittenAsFlagsAre) {
  PartitionOptions options;
  set_option(options, *find_option("method"), "min-cut");
  EXPECT_EQ(options.method, Method::kMinCut);
  set_option(options, *find_option("compatibility"), "torch-2-13");
  EXPECT_EQ(options.compatibility, Compatibility::kTorch213);
}

TEST(Options, OutOfRangeIsRefused) {
  const auto expect_refused = [](const PartitionOptions& options, const std::string& part) {
    try {
      check_options(options);
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  };
  check_options({});
  for (const double budget : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    expect_refused({.activation_memory_budget = budget}, "activation memory budget");
  expect_refused({.activation_memory_bytes = -1}, "activation_memory_bytes");
  expect_refused({.max_dist_from_bw = -1}, "max_dist_from_bw");
  expect_refused({.activation_memory_budget_solver = Solver::kCustom}, "custom_solver");
  expect_refused({.activation_memory_budget_runtime_estimator = Estimator::kCustom}, "runtime_of");
  PartitionOptions slow;
  slow.offload.bandwidth_gb_per_s = 0;
  expect_refused(slow, "bandwidth");
}

}  // namespace
}  // namespace sapwood::partition
