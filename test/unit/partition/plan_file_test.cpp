#include "partition/plan_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "graph/text.h"
#include "unit/partition/scenarios.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using Json = nlohmann::ordered_json;

PartitionOptions unusual() {
  PartitionOptions options;
  options.activation_memory_budget = 0.3;
  options.activation_memory_budget_solver = Solver::kIlp;
  options.recompute_views = true;
  return options;
}

struct Saved {
  test::Split split;
  std::string text;
};

Saved saved(const std::string& name, const PartitionOptions& options) {
  Saved result{test::split(test::scenario(name), options), ""};
  result.text = print_plan(result.split.joint, result.split.plan, options);
  return result;
}

/// The message of the user error that reading `text` for a scenario's graph ends in.
std::string refusal(const std::string& text, const std::string& name = "ac3_several_regions") {
  Graph joint = test::scenario(name);
  try {
    read_plan(text, joint);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "no refusal";
  return "";
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(PlanFile, ARoundTripGivesTheSameParts) {
  for (const char* name : {"ac3_several_regions", "pa11_sizes_among_outputs", "pa14_dropout", "other_fp8_linear"}) {
    SCOPED_TRACE(name);
    const auto [split, text] = saved(name, unusual());
    Graph again = test::scenario(name);
    const PinnedPlan pinned = read_plan(text, again);
    EXPECT_EQ(print_plan(again, pinned.plan, pinned.options).substr(0, 200), text.substr(0, 200));
    const ForwardBackward parts = extract(again, pinned.plan);
    EXPECT_EQ(graph::print_text(parts.forward), graph::print_text(split.parts.forward));
    EXPECT_EQ(graph::print_text(parts.backward), graph::print_text(split.parts.backward));
    EXPECT_EQ(pinned.plan.saved_bytes(), split.plan.saved_bytes());
    EXPECT_EQ(pinned.plan.budget, split.plan.budget);
  }
}

TEST(PlanFile, OptionsComeBack) {
  Graph again = test::scenario("ac3_several_regions");
  const PinnedPlan pinned = read_plan(saved("ac3_several_regions", unusual()).text, again);
  for (const OptionRow& row : option_table())
    EXPECT_EQ(option_text(pinned.options, row), option_text(unusual(), row)) << row.name;
}

TEST(PlanFile, TheDefaultMethodComesBack) {
  PartitionOptions options;
  options.method = Method::kDefault;
  Graph again = test::scenario("ac3_several_regions");
  EXPECT_EQ(read_plan(saved("ac3_several_regions", options).text, again).plan.method, Method::kDefault);
}

TEST(PlanFile, AnotherGraphIsRefused) {
  const std::string text = saved("ac3_several_regions", {}).text;
  expect_says(refusal(text, "ac1_one_region"), "isn't the one that the plan was made for ('ac3_several_regions')");
  Graph joint = test::scenario("ac3_several_regions");
  joint.set_target(joint.find("sin"), "aten.tanh.default");
  try {
    read_plan(text, joint);
    FAIL() << "another operator";
  } catch (const Error& error) {
    expect_says(error.message(), "an operator, an argument, a shape or a checkpoint mark is another one");
  }
}

TEST(PlanFile, DamagedJsonIsRefused) {
  const std::string text = saved("ac3_several_regions", {}).text;
  for (const std::string& bad : {std::string(), std::string("[]"), std::string("{"), std::string("null"),
                                 text.substr(0, text.size() / 2), std::string("\xff\xfe")})
    expect_says(refusal(bad), "the plan isn't a JSON object");
  expect_says(refusal("{}"), "no key 'format'");
  expect_says(refusal(R"({"format": 3})"), "no key 'format'");
  expect_says(refusal(R"({"format": "sapwood.plan/2"})"), "not sapwood.plan/1");
  // Cut anywhere, it is an error and nothing worse.
  for (size_t size = 0; size < text.size() - 2; size += 37) refusal(text.substr(0, size));
}

TEST(PlanFile, AnUnknownNameIsRefused) {
  Json plan = Json::parse(saved("ac3_several_regions", {}).text);
  plan["saved"][0]["name"] = "nobody";
  expect_says(refusal(plan.dump()), "'nobody'");
  expect_says(refusal(plan.dump()), "make the plan again");
}

TEST(PlanFile, WrongTypesAreRefused) {
  const Json good = Json::parse(saved("ac3_several_regions", {}).text);
  for (const auto& [key, value] : good.items()) {
    if (key == "name" || key == "quantized" || key == "offloaded" || key == "saved_bytes") continue;  // not read
    Json plan = good;
    plan[key] = value.is_string() ? Json(Json::array()) : Json("text");
    SCOPED_TRACE(key);
    EXPECT_NE(refusal(plan.dump()), "");
    plan.erase(key);
    EXPECT_NE(refusal(plan.dump()), "");
  }
  for (const char* key : {"name", "bytes", "reason", "is_input"}) {
    Json plan = good;
    plan["saved"][0][key] = Json::array();
    SCOPED_TRACE(key);
    expect_says(refusal(plan.dump()), key);
  }
  Json plan = good;
  plan["saved"][0] = 7;
  expect_says(refusal(plan.dump()), "isn't an object");
  plan = good;
  plan["options"]["no_such_option"] = "1";
  expect_says(refusal(plan.dump()), "\"no_such_option\", which isn't an option");
  plan = good;
  plan["options"]["cse"] = "perhaps";
  expect_says(refusal(plan.dump()), "'cse'");
}

TEST(PlanFile, ADifferenceNamesWhatChanged) {
  const std::string all = saved("residual_products", {}).text;
  PartitionOptions options;
  options.activation_memory_budget = 0;
  const std::string none = saved("residual_products", options).text;
  EXPECT_EQ(diff_plans(all, all), "");
  const std::string text = diff_plans(all, none);
  expect_says(text, "saved bytes that aren't inputs: 0 instead of 32768");
  expect_says(text, "no longer saved (16384 bytes)");
  expect_says(diff_plans(none, all), "saved bytes that aren't inputs: 32768 instead of 0");
  EXPECT_THROW(diff_plans(all, "{}"), Error);
  EXPECT_THROW(diff_plans(all, R"({"format": "sapwood.plan/1", "saved": [3], "recomputed": []})"), Error);
}

}  // namespace
}  // namespace sapwood::partition
