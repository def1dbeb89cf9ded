#include "graph/shared.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "graph/graph.h"

namespace sapwood::graph {
namespace {

TEST(Shared, ACopyIsChangedAlone) {
  Shared<std::vector<int>> first(std::vector<int>{1, 2});
  Shared<std::vector<int>> second = first;
  EXPECT_EQ(&*first, &*second);
  second.edit().push_back(3);
  EXPECT_EQ(*first, (std::vector<int>{1, 2}));
  EXPECT_EQ(*second, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(first == second);
  const auto* place = &*second;
  second.edit().pop_back();
  EXPECT_EQ(&*second, place) << "its only owner copied it";
  EXPECT_TRUE(first == second);
}

TEST(Shared, NoneReadsAsTheDefault) {
  Shared<std::string> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(*none, "");
  EXPECT_FALSE(none == Shared<std::string>(std::string())) << "none isn't an empty text";
  EXPECT_FALSE(none.copy().has_value());
  none.edit() = "text";
  EXPECT_EQ(none.copy(), "text");
  Shared<std::string> moved = std::move(none);
  EXPECT_EQ(*moved, "text");
  moved.reset();
  EXPECT_FALSE(moved);
  const Shared<std::string> absent(std::optional<std::string>{});
  EXPECT_FALSE(absent);
}

TEST(SharedText, ReadsAsAString) {
  const SharedText text("aten.mm.default");
  EXPECT_TRUE(text == "aten.mm.default" && text == SharedText(std::string("aten.mm.default")) && text < "aten.mul");
  EXPECT_TRUE(text.starts_with("aten.") && text.ends_with("default") && text.contains("mm") && !text.contains("mul"));
  EXPECT_EQ("a call of " + text + "!", "a call of aten.mm.default!");
  EXPECT_EQ(text.size(), 15U);
  EXPECT_TRUE(SharedText().empty());
}

/// Threads that each have their own copy of a graph may do what they like to it. Meant for the thread sanitizer too.
TEST(Shared, CopiesOfAGraphAreIndependentAcrossThreads) {
  Graph g;
  TensorMeta tensor;
  tensor.shape = {4};
  NodeId last = g.placeholder("x", tensor);
  for (int i = 0; i < 100; ++i) last = g.call("aten.sin.default", {Argument::node(last)}, tensor);
  g.output({last});
  std::vector<std::thread> threads;
  std::vector<std::vector<Graph>> copies(4, std::vector<Graph>(1, g));
  for (int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&copies, t] {
      Graph& own = copies[static_cast<size_t>(t)].front();
      for (const NodeId id : own.order()) {
        own.meta(id).seq_nr = t;
        if (!own[id].val) continue;
        Shared<Value> val = own[id].val;
        val.edit().as<TensorMeta>()->shape = {t};
        own.set_val(id, val);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const NodeId id : g.order()) {
    EXPECT_FALSE(g[id].meta->seq_nr);
    for (size_t t = 0; t < copies.size(); ++t) {
      const Node& node = copies[t].front()[id];
      EXPECT_EQ(node.meta->seq_nr, static_cast<int64_t>(t));
      if (node.tensor()) EXPECT_EQ(node.tensor()->shape.front(), SymExpr(static_cast<int64_t>(t)));
    }
    if (g[id].tensor()) EXPECT_EQ(g[id].tensor()->shape.front(), SymExpr(4));
  }
}

}  // namespace
}  // namespace sapwood::graph
