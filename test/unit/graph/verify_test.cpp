// One test per rule: break exactly that rule, expect exactly its name.

#include "graph/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"

namespace sapwood::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TensorMeta tensor(std::vector<SymExpr> shape, std::vector<SymExpr> stride, int64_t bytes, int32_t storage) {
  TensorMeta meta;
  meta.shape = std::move(shape);
  meta.stride = std::move(stride);
  meta.offset = 0;
  meta.storage = storage;
  meta.storage_bytes = bytes;
  return meta;
}

Argument arg(NodeId id) { return Argument::node(id); }

/// A sound graph with a node of every kind, and the means to break it behind the builder's back.
class VerifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* op : {"aten.mul.Tensor", "aten.var_mean.default", "aten.sin.default"}) g.ops[op] = {};
    g.symbols["s0"].hint = 4;
    x = g.placeholder("primals_1", tensor({4, 8}, {8, 1}, 128, 0));
    t = g.placeholder("tangents_1", tensor({4, 8}, {8, 1}, 128, 1));
    g.attributes["weight"] = {tensor({2}, {1}, 8, 2), {}};
    w = g.get_attr("w", "weight");
    g.meta(x).partitioner_tag = PartitionerTag::kForward;
    sin = g.call("aten.sin.default", {arg(x)}, tensor({4, 8}, {8, 1}, 128, 3));
    g.meta(sin).partitioner_tag = PartitionerTag::kForward;
    pair = g.call("aten.var_mean.default", {arg(sin)},
                  TupleValue{{tensor({}, {}, 4, 4), tensor({SymExpr::symbol("s0")}, {1}, 4, 5)}});
    item = g.call("operator.getitem", {arg(pair), 1}, tensor({}, {}, 4, 5));
    mul = g.call("aten.mul.Tensor", {arg(t), arg(item)}, tensor({4, 8}, {8, 1}, 128, 6));
    g.meta(mul).partitioner_tag = PartitionerTag::kBackward;
    out = g.output({sin, mul, kNoNode});
    g.num_forward_outputs = 1;
    g.static_lifetime_inputs = {0};
  }

  /// Lets a test write what the interface of Graph would not.
  Node& raw(NodeId id) { return const_cast<Node&>(g[id]); }
  TensorMeta& meta_of(NodeId id) { return *raw(id).val.edit().as<TensorMeta>(); }

  std::vector<std::string> rules() const {
    std::vector<std::string> names;
    for (const Violation& violation : verify(g)) names.push_back(violation.rule);
    return names;
  }

  std::string message() const {
    const std::vector<Violation> found = verify(g);
    return found.empty() ? "" : found.front().message;
  }

  Graph g;
  NodeId x = 0, t = 0, w = 0, sin = 0, pair = 0, item = 0, mul = 0, out = 0;
};

TEST_F(VerifyTest, ASoundGraphBreaksNothing) {
  EXPECT_THAT(verify(g), IsEmpty());
  EXPECT_NO_THROW(verify_or_throw(g, "test"));
}

TEST_F(VerifyTest, LinkListBackwards) {
  raw(mul).prev = sin;
  EXPECT_THAT(rules(), ElementsAre("link-list"));
  EXPECT_THAT(message(), HasSubstr("node 'mul' (aten.mul.Tensor)"));
}

TEST_F(VerifyTest, LinkListCircle) {
  raw(mul).next = sin;
  EXPECT_THAT(rules(), ElementsAre("link-list"));
}

TEST_F(VerifyTest, LinkListErased) {
  raw(mul).erased = true;
  EXPECT_THAT(rules(), ElementsAre("link-list"));
}

TEST_F(VerifyTest, LinkListOutOfRange) {
  raw(out).next = 1000;
  EXPECT_THAT(rules(), ElementsAre("link-list"));
}

TEST_F(VerifyTest, LinkListTooShort) {
  raw(item).next = out;
  raw(out).prev = item;
  EXPECT_THAT(rules(), ElementsAre("link-list"));
  EXPECT_THAT(message(), HasSubstr("size() is 8, but 7 nodes are linked"));
}

TEST_F(VerifyTest, ValidName) {
  g.rename(sin, "si n");
  EXPECT_THAT(rules(), ElementsAre("valid-name"));
}

TEST_F(VerifyTest, UniqueName) {
  raw(mul).name = "sin";
  EXPECT_THAT(rules(), ElementsAre("unique-name"));
}

TEST_F(VerifyTest, NameIndex) {
  raw(mul).name = "other";
  EXPECT_THAT(rules(), ElementsAre("name-index"));
}

TEST_F(VerifyTest, ArgumentExists) {
  raw(mul).args[1] = arg(77);
  EXPECT_THAT(rules(), ElementsAre("argument-exists"));
  EXPECT_THAT(message(), HasSubstr("reads node 77"));
}

TEST_F(VerifyTest, DefinedBeforeUse) {
  g.move_before(mul, item);
  EXPECT_THAT(rules(), ElementsAre("defined-before-use"));
  EXPECT_THAT(message(), HasSubstr("'mul' (aten.mul.Tensor): reads 'getitem', which is not before it"));
}

TEST_F(VerifyTest, UsersMirrorArguments) {
  raw(item).users.push_back(mul);
  EXPECT_THAT(rules(), ElementsAre("users-mirror-arguments"));
  raw(item).users.clear();
  EXPECT_THAT(rules(), ElementsAre("users-mirror-arguments"));
}

TEST_F(VerifyTest, PlaceholdersFirst) {
  g.move_before(w, t);
  EXPECT_THAT(rules(), ElementsAre("placeholders-first"));
}

TEST_F(VerifyTest, PlaceholderArguments) {
  raw(t).args.emplace_back(1);
  EXPECT_THAT(rules(), ElementsAre("placeholder-arguments"));
}

TEST_F(VerifyTest, AttributeArguments) {
  raw(w).args.emplace_back(1);
  EXPECT_THAT(rules(), ElementsAre("attribute-arguments"));
}

TEST_F(VerifyTest, OneOutput) {
  g.num_forward_outputs = 0;
  g.erase(out);
  EXPECT_THAT(rules(), ElementsAre("one-output"));
  g.output({});
  g.output({});
  EXPECT_THAT(rules(), ElementsAre("one-output"));
}

TEST_F(VerifyTest, OutputLast) {
  g.set_insertion_point(kNoNode);
  g.call("aten.sin.default", {arg(x)}, {});
  EXPECT_THAT(rules(), ElementsAre("output-last"));
}

TEST_F(VerifyTest, OutputArguments) {
  raw(out).args.emplace_back(1);
  EXPECT_THAT(rules(), ElementsAre("output-arguments"));
  raw(out).args.pop_back();
  raw(out).args[0].as<ListArg>()->items[2] = 3;
  EXPECT_THAT(rules(), ElementsAre("output-arguments"));
  EXPECT_THAT(message(), HasSubstr("output 2 is neither a node nor None"));
}

TEST_F(VerifyTest, GetitemArguments) {
  raw(item).args.pop_back();
  EXPECT_THAT(rules(), ElementsAre("getitem-arguments"));
}

TEST_F(VerifyTest, GetitemIndex) {
  raw(item).args[1] = 1.0;
  EXPECT_THAT(rules(), ElementsAre("getitem-index"));
}

TEST_F(VerifyTest, GetitemTuple) {
  g.set_val(pair, tensor({}, {}, 4, 4));
  EXPECT_THAT(rules(), ElementsAre("getitem-tuple"));
}

TEST_F(VerifyTest, GetitemRange) {
  raw(item).args[1] = 2;
  EXPECT_THAT(rules(), ElementsAre("getitem-range"));
  raw(item).args[1] = -3;
  EXPECT_THAT(rules(), ElementsAre("getitem-range"));
  raw(item).args[1] = -2;
  EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(VerifyTest, CallTarget) {
  g.set_target(mul, "mul");
  EXPECT_THAT(rules(), ElementsAre("call-target"));
}

TEST_F(VerifyTest, UndeclaredOperator) {
  g.set_target(mul, "aten.mull.Tensor");
  EXPECT_THAT(rules(), ElementsAre("undeclared-operator"));
  g.ops.clear();
  EXPECT_THAT(rules(), IsEmpty()) << "a graph without declarations needs none";
}

TEST_F(VerifyTest, AttributeExists) {
  g.attributes.clear();
  EXPECT_THAT(rules(), ElementsAre("attribute-exists"));
}

TEST_F(VerifyTest, ForwardReadsTangent) {
  g.meta(mul).partitioner_tag = PartitionerTag::kMustBeInForward;
  EXPECT_THAT(rules(), ElementsAre("forward-reads-tangent"));
}

TEST_F(VerifyTest, ForwardOutputs) {
  g.num_forward_outputs = 4;
  EXPECT_THAT(rules(), ElementsAre("forward-outputs"));
  g.num_forward_outputs = -1;
  EXPECT_THAT(rules(), ElementsAre("forward-outputs"));
}

TEST_F(VerifyTest, StaticLifetime) {
  g.static_lifetime_inputs = {1};
  EXPECT_THAT(rules(), ElementsAre("static-lifetime")) << "the tangent is no primal";
}

TEST_F(VerifyTest, KnownSymbol) {
  g.symbols.clear();
  EXPECT_THAT(rules(), ElementsAre("known-symbol"));
  EXPECT_THAT(message(), HasSubstr("unknown symbol 's0'"));
}

TEST_F(VerifyTest, StrideRank) {
  meta_of(mul).stride->pop_back();
  EXPECT_THAT(rules(), ElementsAre("stride-rank"));
}

TEST_F(VerifyTest, StorageFields) {
  meta_of(mul).offset.reset();
  EXPECT_THAT(rules(), ElementsAre("storage-fields"));
}

TEST_F(VerifyTest, NegativeNumbers) {
  meta_of(mul).shape[0] = -1;
  EXPECT_THAT(rules(), ElementsAre("negative-size"));
  meta_of(mul).shape[0] = 4;
  (*meta_of(mul).stride)[0] = -8;
  EXPECT_THAT(rules(), ElementsAre("negative-stride"));
  (*meta_of(mul).stride)[0] = 8;
  meta_of(mul).offset = -1;
  EXPECT_THAT(rules(), ElementsAre("negative-offset"));
}

TEST_F(VerifyTest, StorageBytes) {
  meta_of(mul).offset = 1;
  EXPECT_THAT(rules(), ElementsAre("storage-bytes"));
  EXPECT_THAT(message(), HasSubstr("reach 132 bytes into a storage of 128"));
  meta_of(mul).shape[1] = 0;
  EXPECT_THAT(rules(), IsEmpty()) << "an empty tensor touches nothing";
  meta_of(mul).shape[1] = int64_t{1} << 62;
  (*meta_of(mul).stride)[1] = 16;
  EXPECT_THAT(rules(), ElementsAre("storage-bytes")) << "an extent that overflows";
}

TEST_F(VerifyTest, SubgraphsAreChecked) {
  g.subgraphs["body"] = nullptr;
  EXPECT_THAT(rules(), ElementsAre("subgraph"));
  auto body = std::make_shared<Graph>();
  const NodeId a = body->placeholder("a", {});
  body->output({a});
  g.subgraphs["body"] = body;
  EXPECT_THAT(rules(), IsEmpty());
  const_cast<Node&>((*body)[a]).users.clear();
  EXPECT_THAT(rules(), ElementsAre("users-mirror-arguments"));
  EXPECT_THAT(message(), HasSubstr("in subgraph 'body': node 'a'"));
}

TEST_F(VerifyTest, ThrowingNamesTheStageAndTheRules) {
  raw(mul).args[1] = arg(77);
  try {
    verify_or_throw(g, "after fusion");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_EQ(error.stage(), "after fusion");
    EXPECT_THAT(error.message(), HasSubstr("argument-exists: node 'mul'"));
  }
}

}  // namespace
}  // namespace sapwood::graph
