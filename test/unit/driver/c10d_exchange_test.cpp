// Ranks are processes here, each of them this very binary, which talk through Gloo.

#include "driver/c10d_exchange.h"

#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "base/error.h"
#include "unit/driver/rank_processes.h"
#include "unit/partition/rank_branches.h"

namespace sapwood::driver {
namespace {

using partition::Agreement;
using test::RankRole;
using Answers = std::vector<std::string>;

constexpr std::chrono::seconds kTimeout(20);

c10::intrusive_ptr<c10d::ProcessGroup> gloo_group(const RankRole& role) {
  auto store = c10::make_intrusive<c10d::FileStore>(role.folder + "/store", role.size);
  auto options = c10d::ProcessGroupGloo::Options::create(kTimeout);
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface("lo"));
  auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, role.rank, role.size, options);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(role.rank, role.size);
  group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  return group;
}

/// "took 0: sin": the outcome, whose plan it is, and its values.
std::string agree(const graph::Graph& graph, const std::vector<std::string>& saved, partition::RankExchange& ranks) {
  std::vector<graph::NodeId> nodes;
  for (const std::string& name : saved) nodes.push_back(graph.find(name));
  const partition::AgreementResult result = partition::agree_on_saved_values(graph, nodes, ranks);
  std::string text;
  if (result.outcome == Agreement::kTookPlan) text = "took " + std::to_string(result.rank);
  if (result.outcome == Agreement::kEqualPlans) text = "equal";
  if (result.outcome == Agreement::kDifferentGraphs) text = "other graphs";
  text += " after " + std::to_string(result.rounds) + ":";
  for (const graph::NodeId id : result.saved) text += " " + graph[id].name;
  return text;
}

std::string gather_lengths(partition::RankExchange& ranks) {
  for (const size_t base : {0, 1, 55, 56, 57, 64, 100'000}) {
    const auto message = [&](int rank) {
      return std::string(base * static_cast<size_t>(rank + 1), static_cast<char>('a' + rank));
    };
    const std::vector<std::string> all = ranks.all_gather(message(ranks.rank()));
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (all[static_cast<size_t>(rank)] != message(rank)) return "wrong at " + std::to_string(base);
  }
  try {
    ranks.all_gather(std::string(ranks.rank() == 1 ? (size_t{64} << 20) + 1 : 3, 'x'));
  } catch (const Error& error) {
    return error.message();
  }
  return "nothing thrown";
}

std::string play(const RankRole& role) {
  const auto ranks = c10d_exchange(gloo_group(role));
  const std::vector<std::vector<std::string>> plans{{"sin"}, {"cos"}, {"sin", "cos"}};
  const std::vector<std::string>& own = plans[static_cast<size_t>(role.rank)];
  if (role.scenario == "equal") return agree(test::rank_branches(10, 20), {"cos"}, *ranks);
  if (role.scenario == "differ") return agree(test::rank_branches(10, 20), own, *ranks);
  if (role.scenario == "graphs") {
    graph::Graph graph = test::rank_branches(10, 20, role.rank == 0);  // only rank 0 has collectives
    return agree(graph, own, *ranks);
  }
  if (role.scenario == "lengths") return gather_lengths(*ranks);
  if (role.scenario == "gone") {
    if (role.rank == 1) return "gone";
    try {
      return agree(test::rank_branches(10, 20), own, *ranks);
    } catch (const std::exception&) {
      return "thrown";
    }
  }
  throw std::runtime_error("no such scenario");
}

/// The program of one rank. Disabled, since it does nothing by itself: the tests below start it.
TEST(C10dExchange, DISABLED_PlaysARank) {
  const char* text = std::getenv(test::kRankVariable);
  ASSERT_NE(text, nullptr);
  const RankRole role = RankRole::decode(text);
  const std::string answer = play(role);
  std::ofstream(role.answer_file()) << answer;
}

Answers run(const std::string& scenario, int size) {
  return test::RankProcesses("C10dExchange.DISABLED_PlaysARank").run(scenario, size);
}

TEST(C10dExchange, EqualPlansTakeOneMessage) { EXPECT_EQ(run("equal", 2), Answers(2, "equal after 1: cos")); }

TEST(C10dExchange, ProcessesTakeTheCheapestPlan) {
  EXPECT_EQ(run("differ", 2), Answers(2, "took 0 after 3: sin"));
  EXPECT_EQ(run("differ", 3), Answers(3, "took 0 after 3: sin"));
}

TEST(C10dExchange, ProcessesWithOtherGraphsKeepTheirPlans) {
  EXPECT_EQ(run("graphs", 2), (Answers{"other graphs after 1: sin", "other graphs after 1: cos"}));
  EXPECT_EQ(run("graphs", 3),
            (Answers{"other graphs after 1: sin", "other graphs after 1: cos", "other graphs after 1: sin cos"}));
}

TEST(C10dExchange, MessagesOfDifferentLengthsArrive) {
  for (const std::string& answer : run("lengths", 3))
    EXPECT_NE(answer.find("rank 1 announces a message of 67108865 bytes"), std::string::npos) << answer;
}

TEST(C10dExchange, ARankThatIsGoneIsAnErrorAndNoHang) { EXPECT_EQ(run("gone", 2), (Answers{"thrown", "gone"})); }

TEST(C10dExchange, AGroupWithoutCpuBackendIsRefused) {
  try {
    c10d_exchange(c10::make_intrusive<c10d::ProcessGroup>(0, 1));
    FAIL() << "there is no backend";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_NE(error.message().find("no backend for the CPU"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace sapwood::driver
