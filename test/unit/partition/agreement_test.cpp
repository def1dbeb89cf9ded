#include "partition/agreement.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "graph/verify.h"
#include "partition/canonical_names.h"
#include "partition/joint_view.h"
#include "partition/partition.h"
#include "partition/rank_messages.h"
#include "random/joint_graphs.h"
#include "unit/partition/rank_branches.h"
#include "unit/partition/shuffled_graph.h"
#include "unit/partition/thread_ranks.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::rank_branches;
using test::ThreadRanks;

/// What a rank brings and what it gets.
struct Party {
  Graph graph;
  std::vector<NodeId> saved;
  AgreementResult result;
  std::string error;
};

Party party(Graph graph, const std::vector<std::string>& saved) {
  Party p{std::move(graph), {}, {}, {}};
  for (const std::string& name : saved) p.saved.push_back(p.graph.find(name));
  return p;
}

void agree(std::vector<Party>& parties, ThreadRanks* ranks = nullptr) {
  ThreadRanks own(static_cast<int>(parties.size()));
  (ranks ? *ranks : own).run([&](RankExchange& exchange) {
    Party& p = parties[static_cast<size_t>(exchange.rank())];
    try {
      p.result = agree_on_saved_values(p.graph, p.saved, exchange);
    } catch (const Error& error) {
      p.error = error.kind() == ErrorKind::kUser ? error.message() : "not the user's: " + error.message();
    } catch (const std::exception& error) {
      p.error = std::string("other: ") + error.what();
    }
  });
}

std::vector<std::string> saved_names(const Party& p) {
  std::vector<std::string> names;
  for (const NodeId id : p.result.saved) names.push_back(p.graph[id].name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Agreement, EqualPlansExchangeOneSmallMessage) {
  std::vector<Party> parties;
  for (int i = 0; i < 3; ++i) parties.push_back(party(rank_branches(10, 20), {"sin", "cos"}));
  parties[1].saved = {parties[1].saved[1], parties[1].saved[0]};  // a plan is a set
  agree(parties);
  for (const Party& p : parties) {
    EXPECT_EQ(p.error, "");
    EXPECT_EQ(p.result.outcome, Agreement::kEqualPlans);
    EXPECT_EQ(p.result.saved, p.saved);
    EXPECT_EQ(p.result.rounds, 1);
    EXPECT_EQ(p.result.bytes_sent, 34);
    EXPECT_EQ(p.result.bytes_received, 3 * 34);
    EXPECT_TRUE(p.result.totals.empty());
  }
}

TEST(Agreement, AllTakeThePlanWhoseLargestTotalIsSmallest) {
  // Rank 0 saves its 10x10, rank 1 its 10x20. On every rank the first plan is the 10x10.
  std::vector<Party> parties{party(rank_branches(10, 20), {"sin"}), party(rank_branches(10, 20), {"cos"})};
  agree(parties);
  for (size_t rank = 0; rank < 2; ++rank) {
    const Party& p = parties[rank];
    EXPECT_EQ(p.error, "");
    EXPECT_EQ(p.result.outcome, Agreement::kTookPlan);
    EXPECT_EQ(p.result.rank, 0);
    EXPECT_EQ(saved_names(p), Names{"sin"});
    EXPECT_EQ(p.result.totals, (std::vector<int64_t>{400, 800}));
    EXPECT_EQ(p.result.rounds, 3);
    EXPECT_NE(p.result.reason.find("rank 0"), std::string::npos) << p.result.reason;
  }
}

TEST(Agreement, ATotalIsThatOfTheRankOnWhichItIsLargest) {
  // By its own sizes every rank's plan is cheaper than the other's; over all ranks the sine costs 40*30, the cosine
  // 40*25.
  std::vector<Party> parties{party(rank_branches(10, 25), {"sin"}), party(rank_branches(30, 15), {"cos"})};
  agree(parties);
  for (const Party& p : parties) {
    EXPECT_EQ(p.result.rank, 1);
    EXPECT_EQ(saved_names(p), Names{"cos"});
    EXPECT_EQ(p.result.totals, (std::vector<int64_t>{1200, 1000}));
  }
}

TEST(Agreement, EqualTotalsGoToTheLowestRank) {
  std::vector<Party> parties{party(rank_branches(10, 10), {"sin", "cos"}), party(rank_branches(10, 10), {"cos"}),
                             party(rank_branches(10, 10), {"sin"})};
  agree(parties);
  for (const Party& p : parties) {
    EXPECT_EQ(p.result.rank, 1);
    EXPECT_EQ(saved_names(p), Names{"cos"});
  }
}

TEST(Agreement, APlanIsTakenOverIntoAGraphWithOtherNamesAndOrder) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph original = rank_branches(10, 20);
    test::ShuffledGraph other = test::shuffled(original, seed);
    std::vector<Party> parties{party(original, {"sin"}), party(other.graph, {})};
    parties[1].saved = {other.moved[static_cast<size_t>(original.find("cos"))]};
    agree(parties);
    EXPECT_EQ(parties[1].error, "");
    EXPECT_EQ(parties[1].result.saved, (std::vector<NodeId>{other.moved[static_cast<size_t>(original.find("sin"))]}));
  }
}

TEST(Agreement, OtherGraphsKeepTheirOwnPlans) {
  Graph changed = rank_branches(10, 20);
  changed.set_target(changed.find("cos"), "aten.exp.default");
  std::vector<Party> parties{party(rank_branches(10, 20), {"sin"}), party(changed, {"cos"}),
                             party(rank_branches(10, 20), {"cos"})};
  agree(parties);
  for (size_t rank = 0; rank < 3; ++rank) {
    const Party& p = parties[rank];
    EXPECT_EQ(p.error, "");
    EXPECT_EQ(p.result.outcome, Agreement::kDifferentGraphs);
    EXPECT_EQ(p.result.saved, p.saved);
    EXPECT_EQ(p.result.rank, static_cast<int>(rank));
    EXPECT_EQ(p.result.rounds, 1);
    EXPECT_FALSE(p.result.reason.empty());
  }
}

TEST(Agreement, RanksThatDisagreeOnHavingCollectivesDoNotWaitForEachOther) {
  std::vector<Party> parties{party(rank_branches(10, 20, true), {"sin"}), party(rank_branches(10, 20, false), {"cos"})};
  agree(parties);
  for (const Party& p : parties) {
    EXPECT_EQ(p.error, "");
    EXPECT_EQ(p.result.outcome, Agreement::kDifferentGraphs);
    EXPECT_EQ(p.result.saved, p.saved);
  }
}

TEST(Agreement, WithoutCollectivesEachKeepsItsOwnPlan) {
  std::vector<Party> parties{party(rank_branches(10, 20, false), {"sin"}),
                             party(rank_branches(10, 20, false), {"cos"})};
  agree(parties);
  for (const Party& p : parties) {
    EXPECT_EQ(p.result.outcome, Agreement::kNoCollectives);
    EXPECT_EQ(p.result.saved, p.saved);
    EXPECT_EQ(p.result.rounds, 1);
  }
}

TEST(Agreement, OneRankAgreesWithItself) {
  std::vector<Party> parties{party(rank_branches(10, 20), {"sin"})};
  agree(parties);
  EXPECT_EQ(parties[0].result.outcome, Agreement::kEqualPlans);
  EXPECT_EQ(parties[0].result.saved, parties[0].saved);
}

TEST(Agreement, APlanWithAnUnknownNodeFailsOnAllRanksAlike) {
  std::vector<Party> parties{party(rank_branches(10, 20), {"sin"}), party(rank_branches(10, 20), {"cos"})};
  parties[1].saved.push_back(77);
  agree(parties);
  EXPECT_NE(parties[0].error.find("the plan of rank 1 names the unknown node 'number 77'"), std::string::npos)
      << parties[0].error;
  EXPECT_EQ(parties[0].error, parties[1].error);
}

TEST(Agreement, EqualPlansWithAnUnknownNodeFailToo) {
  std::vector<Party> parties{party(rank_branches(10, 20), {"sin"}), party(rank_branches(10, 20), {"sin"})};
  for (Party& p : parties) p.saved = {77, 77, graph::kNoNode};
  agree(parties);
  EXPECT_NE(parties[0].error.find("rank 0 names the unknown node"), std::string::npos) << parties[0].error;
  EXPECT_EQ(parties[0].error, parties[1].error);
}

/// Lets rank 1 say something else in one round; returns what the ranks answer, which must be the same.
std::string answer_to(int round, const std::string& said) {
  std::vector<Party> parties{party(rank_branches(10, 20), {"sin"}), party(rank_branches(10, 20), {"cos"}),
                             party(rank_branches(10, 20), {"cos"})};
  ThreadRanks ranks(3);
  ranks.tamper = [&](int now, int rank, std::string bytes) { return now == round && rank == 1 ? said : bytes; };
  agree(parties, &ranks);
  EXPECT_EQ(parties[0].error, parties[1].error);
  EXPECT_EQ(parties[0].error, parties[2].error);
  return parties[0].error;
}

TEST(Agreement, APlanOfAnotherRankThatNamesAnUnknownNodeIsNamed) {
  EXPECT_NE(answer_to(1, write_plan({"node_3", "node_99"})).find("plan of rank 1 names the unknown node 'node_99'"),
            std::string::npos);
  const size_t nodes = rank_branches(10, 20).size();  // the last one is the output, which isn't a value
  const std::string output = "node_" + std::to_string(nodes - 1);
  EXPECT_NE(answer_to(1, write_plan({output})).find("'" + output + "'"), std::string::npos);
}

TEST(Agreement, MessagesThatCannotBeReadAreNamed) {
  const std::string unreadable = "rank 1 sent a message about its plan that can't be read";
  const PlanHash hash;
  std::string longer = write_hash(hash) + "x";
  std::string version = write_hash(hash);
  version[0] = 9;
  std::string flags = write_hash(hash);
  flags[1] = 4;
  for (const std::string& bytes : {std::string(), std::string("x"), longer, version, flags})
    EXPECT_NE(answer_to(0, bytes).find(unreadable), std::string::npos) << bytes.size();
  const std::string plan = write_plan({"node_1", "node_2"});
  for (const std::string& bytes :
       {std::string(), plan.substr(0, 3), plan.substr(0, plan.size() - 1), plan + "x", write_plan({""}),
        write_plan({"node_1", "node_1"}), write_plan({std::string(65, 'n')}), write_plan({"node_\n"}),
        std::string("\xff\xff\xff\xff", 4), std::string("\xff\xff\xff\xff\x01n", 6)})
    EXPECT_NE(answer_to(1, bytes).find(unreadable), std::string::npos) << bytes.size();
  for (const std::string& bytes :
       {std::string(), std::string(23, '\0'), std::string(25, '\0'), write_totals({1, 2, -3})})
    EXPECT_NE(answer_to(2, bytes).find(unreadable), std::string::npos) << bytes.size();
}

TEST(Agreement, AFlagWithoutItsReasonIsAnError) {
  PlanHash hash;
  hash.names_unknown_node = true;
  EXPECT_NE(answer_to(0, write_hash(hash)).find("no plan does"), std::string::npos);
}

std::vector<NodeId> saved_of(const Plan& plan) {
  std::vector<NodeId> saved;
  for (const SavedValue& value : plan.saved) saved.push_back(value.node);
  for (const SavedValue& value : plan.saved_symbols) saved.push_back(value.node);
  return saved;
}

/// The plan that saves what the ranks agreed on.
Plan plan_for(const Party& p, Method method) {
  Plan plan;
  plan.method = method;
  const JointView view = view_joint(p.graph, true);
  for (const NodeId id : p.result.saved)
    (view.is_symbol(id) ? plan.saved_symbols : plan.saved).push_back({id, view.bytes(id), "agreed", false});
  return plan;
}

TEST(Agreement, APlanOfAnotherRankCanBeCarriedOut) {
  test::RandomJointOptions options;
  options.collective = 2;
  int taken = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Party first;
    first.graph = test::random_joint_graph(options, seed);
    first.saved = saved_of(partition(first.graph, {}));  // merges common subexpressions
    const test::ShuffledGraph other = test::shuffled(first.graph, seed);
    PartitionOptions as_autograd;
    as_autograd.method = Method::kDefault;
    Party second;
    Graph in_order = first.graph;  // the default partition goes by the order of recording
    for (const NodeId id : saved_of(partition(in_order, as_autograd)))
      second.saved.push_back(other.moved[static_cast<size_t>(id)]);
    second.graph = other.graph;
    std::vector<Party> parties{first, second};
    agree(parties);
    ASSERT_EQ(parties[0].error + parties[1].error, "");
    if (parties[0].result.outcome != Agreement::kTookPlan) continue;
    ++taken;
    const Method method = parties[0].result.rank == 0 ? Method::kMinCut : Method::kDefault;
    for (const Party& p : parties) {
      const ForwardBackward parts = extract(p.graph, plan_for(p, method));
      ASSERT_TRUE(graph::verify(parts.forward).empty() && graph::verify(parts.backward).empty());
    }
    std::set<std::string> here;
    std::set<std::string> there;
    const CanonicalNames names[] = {canonical_names(parties[0].graph), canonical_names(parties[1].graph)};
    for (const NodeId id : parties[0].result.saved) here.insert(names[0].name(id));
    for (const NodeId id : parties[1].result.saved) there.insert(names[1].name(id));
    ASSERT_EQ(here, there);
  }
  EXPECT_GT(taken, 50);
}

TEST(Agreement, HugeTotalsDoNotOverflow) {
  std::vector<Party> parties;
  const int64_t huge = int64_t{1} << 55;
  for (const char* name : {"sin", "cos"}) {
    Party p = party(rank_branches(huge, huge), {name});
    p.saved.push_back(p.graph.find(name == std::string("sin") ? "cos" : "primals_1"));
    p.saved.push_back(p.graph.find("primals_2"));
    parties.push_back(std::move(p));
  }
  agree(parties);
  for (const Party& p : parties) {
    EXPECT_EQ(p.error, "");
    for (const int64_t total : p.result.totals) EXPECT_GE(total, 0);
  }
}

}  // namespace
}  // namespace sapwood::partition
