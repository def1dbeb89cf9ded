#pragma once

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "random/tensor_layout.h"

namespace sapwood::test {

inline graph::Argument ref(graph::NodeId id) { return graph::Argument::node(id); }

/// Writes a joint graph: emits operators with the values that they yield, remembers how to differentiate them, and
/// writes the backward.
class JointBuilder {
 public:
  explicit JointBuilder(uint32_t seed) : random_(seed) {}

  graph::Graph g;
  graph::PartitionerTag part = graph::PartitionerTag::kForward;
  graph::NodeMeta marks;  ///< checkpoint marks for the nodes that are emitted next

  // Choices.
  uint32_t below(size_t count) { return static_cast<uint32_t>(random_() % count); }
  bool chance(double probability) { return random_() < probability * 4294967296.0; }
  template <typename T>
  const T& one_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  // What is known of nodes; copies, since emitting moves nodes.
  graph::TensorMeta tensor(graph::NodeId id) const { return *g[id].tensor(); }
  Shape shape(graph::NodeId id) const { return tensor(id).shape; }
  graph::DType dtype(graph::NodeId id) const { return g[id].tensor()->dtype; }
  bool needs_grad(graph::NodeId id) const { return differentiable_.contains(id); }

  // Inputs, which may be added at any time before the first tangent.
  graph::NodeId primal(graph::TensorMeta meta, bool needs_grad);
  graph::NodeId size_input(const std::string& symbol, int64_t hint);
  graph::NodeId tangent(graph::NodeId of);
  std::vector<graph::NodeId> primals;

  // Values.
  graph::TensorMeta fresh(Shape shape, graph::DType dtype = graph::DType::kFloat32);
  /// The same memory, seen otherwise.
  graph::TensorMeta alias(graph::NodeId base, Shape shape, std::vector<graph::SymExpr> strides) const;

  // Operators.
  graph::NodeId emit(const std::string& target, graph::ArgumentList args, graph::Value value,
                     std::vector<std::pair<std::string, graph::Argument>> kwargs = {});
  graph::NodeId item(graph::NodeId tuple, int64_t index);
  /// A size as an argument: a number, the input that is the symbol, a size taken from `like`, or arithmetic on these.
  graph::Argument size(const graph::SymExpr& expr, graph::NodeId like = graph::kNoNode);
  graph::Argument sizes(const Shape& shape, graph::NodeId like = graph::kNoNode);
  graph::NodeId contiguous(graph::NodeId id);
  /// An elementwise operator. Operands broadcast and are brought into an order in which the strides of the result are
  /// known.
  graph::NodeId pointwise(const std::string& target, graph::ArgumentList operands, graph::DType result);
  graph::NodeId pointwise(const std::string& target, graph::ArgumentList operands);
  graph::NodeId transposed(graph::NodeId id);
  graph::NodeId viewed(graph::NodeId id, const Shape& shape);
  graph::NodeId expanded(graph::NodeId id, const Shape& shape);
  graph::NodeId sum(graph::NodeId id, const std::vector<int64_t>& dims,
                    const std::string& target = "aten.sum.dim_IntList");
  graph::NodeId slice(graph::NodeId id, int64_t dim, const graph::SymExpr& start, const graph::SymExpr& end);
  graph::NodeId mm(graph::NodeId a, graph::NodeId b);
  /// Sums over what was broadcast from `to`.
  graph::NodeId reduced_to(graph::NodeId id, const Shape& to);

  // Differentiation.
  /// Declares that `results` were computed from `inputs`; `backward` emits the gradients of the inputs. Does nothing if
  /// no input needs a gradient. Returns the first result.
  graph::NodeId record(const std::vector<graph::NodeId>& results, const std::vector<graph::NodeId>& inputs,
                       std::function<void()> backward);
  /// The gradient of a value, kNoNode if there is none (yet).
  graph::NodeId grad(graph::NodeId id) const;
  /// Adds to the gradient of a value; nothing if it needs none. `make` is called only if it does.
  void add_grad(graph::NodeId id, const std::function<graph::NodeId()>& make);
  /// Emits the whole backward. Pre: gradients of the outputs were added.
  void differentiate();

 private:
  struct Step {
    std::vector<graph::NodeId> results;
    std::function<void()> backward;
    int64_t seq_nr = 0;
  };

  graph::NodeId arithmetic(const std::string& target, const graph::SymExpr& expr, graph::NodeId like);

  std::mt19937 random_;
  std::map<graph::NodeId, graph::NodeId> gradients_;
  std::set<graph::NodeId> differentiable_;
  std::vector<Step> tape_;
  std::map<std::string, graph::NodeId> symbols_;
  int64_t seq_nr_ = 0;
  int32_t next_storage_ = 0;
  int tangents_ = 0;
};

}  // namespace sapwood::test
