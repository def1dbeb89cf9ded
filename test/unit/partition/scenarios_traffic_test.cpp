// Traffic over memory of both halves, with the totals that PyTorch's own tests state (test_perf.py): float32 elements
// that kernels read and write; a truth value counts a quarter. Not here: a user's Triton kernel (needs a GPU).
//
// The model of a compiler that fuses: a value is stored if its half returns it, if a product reads it, or if it is a
// reduction; everything else lives in the loops that need it. Loops over the same elements that read a common value are
// one, unless a product lies between them; what loops on both sides of a product need is stored as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "partition/joint_view.h"
#include "unit/partition/pair_text.h"
#include "unit/partition/scenarios.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using test::in_mode;
using test::modes;
using test::Split;
using Names = std::vector<std::string>;

class Traffic {
 public:
  explicit Traffic(const Graph& half) : view_(view_joint(half, true)) {
    const size_t count = half.id_bound();
    base_.resize(count);
    level_.assign(count, 0);
    stored_.assign(count, 0);
    for (const NodeId id : half.order()) place(id);
    for (const NodeId id : half.order()) store(id);
  }

  double total() {
    for (const NodeId id : graph().order())
      if (stored(id) && view_.is_call(id)) add_kernel(id);
    double sum = 0;
    for (const Kernel& kernel : kernels_) {
      for (const auto& [buffer, elements] : kernel.reads)
        if (!kernel.writes.contains(buffer)) sum += elements;
      for (const NodeId id : kernel.writes) sum += elements(id);
    }
    return sum;
  }

 private:
  struct Kernel {
    bool is_product = false;
    int level = 0;
    std::vector<double> loop;  ///< elements walked over, and elements of the result of a reduction
    std::map<NodeId, double> reads;
    std::set<NodeId> writes;
  };

  const Graph& graph() const { return *view_.graph; }
  bool is_product(NodeId id) const { return graph()[id].is_call("aten.mm.default"); }
  bool is_reduction(NodeId id) const { return graph()[id].is_call("aten.sum.dim_IntList"); }
  bool stored(NodeId id) const { return stored_[static_cast<size_t>(id)] != 0; }
  NodeId base(NodeId id) const { return base_[static_cast<size_t>(id)]; }
  int level(NodeId id) const { return level_[static_cast<size_t>(id)]; }
  double elements(NodeId id) const { return static_cast<double>(view_.bytes(id)) / 4; }

  void place(NodeId id) {
    base_[static_cast<size_t>(id)] = view_.is_view(id) ? base(view_.inputs_of(id)[0]) : id;
    int deepest = 0;
    for (const NodeId input : view_.inputs_of(id))
      deepest = std::max(deepest, level(input) + (is_product(input) ? 1 : 0));
    level_[static_cast<size_t>(id)] = deepest;
  }

  void store(NodeId id) {
    if (is_needed_twice(id)) stored_[static_cast<size_t>(id)] = 1;
    const bool keeps_inputs = is_product(id) || graph()[id].kind == graph::NodeKind::kOutput;
    if (is_product(id) || is_reduction(id) || !view_.is_call(id)) stored_[static_cast<size_t>(id)] = 1;
    if (!keeps_inputs) return;
    for (const NodeId input : view_.inputs_of(id)) stored_[static_cast<size_t>(base(input))] = 1;
  }

  /// A loop of its own level reads it, and a later one as well.
  bool is_needed_twice(NodeId id) const {
    bool now = false;
    bool later = false;
    for (const NodeId user : view_.users_of(id)) (level(user) > level(id) ? later : now) = true;
    return view_.is_call(id) && !view_.is_view(id) && now && later;
  }

  /// What a loop that computes `id` reads from memory, each at most as often as it has elements.
  void collect(NodeId id, Kernel& kernel) const {
    for (const NodeId input : view_.inputs_of(id)) {
      const NodeId from = base(input);
      if (stored(from)) {
        double& read = kernel.reads[from];
        read = std::max(read, std::min(elements(from), elements(input)));
      } else {
        collect(from, kernel);
      }
    }
  }

  void add_kernel(NodeId id) {
    if (view_.is_view(id)) return;
    Kernel kernel;
    kernel.is_product = is_product(id);
    kernel.level = level(id);
    kernel.writes.insert(id);
    kernel.loop = {static_cast<double>(graph()[id].tensor()->numel().value()), 0};
    if (is_reduction(id)) {
      const graph::TensorMeta& from = *graph()[view_.inputs_of(id)[0]].tensor();
      kernel.loop = {static_cast<double>(from.numel().value())};
      for (const graph::SymExpr& size : graph()[id].tensor()->shape) kernel.loop.push_back(size.value() + 1.0);
    }
    collect(id, kernel);
    Kernel* same = kernel.is_product ? nullptr : partner(kernel);
    if (!same) {
      kernels_.push_back(std::move(kernel));
      return;
    }
    same->writes.insert(id);
    for (const auto& [buffer, count] : kernel.reads) same->reads[buffer] = std::max(same->reads[buffer], count);
  }

  Kernel* partner(const Kernel& kernel) {
    for (Kernel& other : kernels_) {
      if (other.is_product || other.level != kernel.level || other.loop != kernel.loop) continue;
      for (const auto& [buffer, count] : kernel.reads)
        if (other.reads.contains(buffer) || other.writes.contains(buffer)) return &other;
    }
    return nullptr;
  }

  JointView view_;
  std::vector<NodeId> base_;  ///< whose memory a value lies in
  std::vector<int> level_;    ///< products on the way
  std::vector<uint8_t> stored_;
  std::vector<Kernel> kernels_;
};

struct Row {
  std::string name;
  double forward;
  double backward;
  Names saved;
};

const Row kRows[] = {
    {"tr1_three_cosines", 20, 30, {"primals_1"}},
    {"tr2_sum_of_four", 60, 30, {"add_2"}},
    {"tr3_mask", 225, 225, {"lt"}},
    {"tr4_product_with_ones", 600, 700, {"full", "mm", "tanh_1"}},
    {"tr5_product_of_sums", 800, 1800, {"add", "add_1", "primals_1"}},
    {"tr6_broadcast_product", 60, 160, {"primals_1", "primals_2"}},
    {"tr7_tanh_and_cat", 40, 30, {"primals_1"}},
    {"tr8_relu", 36, 36, {"le"}},
    {"tr9_view_in_the_middle", 300, 600, {"cos"}},
    {"tr10_long_chain", 1300, 2600, {"mm", "mul", "mul_2", "primals_1"}},
};

TEST(ScenariosTraffic, IsAsStated) {
  for (const Row& row : kRows) {
    for (const Compatibility mode : modes()) {
      SCOPED_TRACE(row.name + " " + test::mode_name(mode));
      const Split split = test::split(test::scenario(row.name), in_mode(mode));
      test::expect_good(split);
      EXPECT_EQ(Traffic(split.parts.forward).total(), row.forward);
      EXPECT_EQ(Traffic(split.parts.backward).total(), row.backward);
      EXPECT_EQ(split.saved_memory(), row.saved);
    }
  }
}

}  // namespace
}  // namespace sapwood::partition
