#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::test {

/// Records a small program of matrices and yields its joint graph: forward, then the backward that autograd would run,
/// with a tangent per output and a gradient per input.
class Tape {
 public:
  graph::NodeId input(int64_t rows, int64_t columns);
  graph::NodeId mm(graph::NodeId a, graph::NodeId b);
  graph::NodeId cos(graph::NodeId x);
  graph::NodeId add(graph::NodeId a, graph::NodeId b);
  graph::NodeId sum(graph::NodeId x);  ///< of all elements
  /// Any operator whose result has the shape of `x`; its gradient is a product with `x`'s own `operation` again.
  graph::NodeId custom(graph::NodeId x, const std::string& operation);

  /// Everything recorded from now on is marked: checkpointed, in this region. 0 ends it.
  void checkpoint(int64_t region) { region_ = region; }

  /// The finished graph. Inputs aren't static.
  graph::Graph joint(const std::vector<graph::NodeId>& outputs);

 private:
  enum class Kind : uint8_t { kMm, kCos, kAdd, kSum, kCustom };
  struct Step {
    Kind kind;
    graph::NodeId result;
    std::vector<graph::NodeId> reads;
  };

  graph::NodeId call(const std::string& op, graph::ArgumentList args, std::vector<int64_t> shape, bool is_view = false);
  graph::NodeId record(Kind kind, const std::string& op, std::vector<graph::NodeId> reads, std::vector<int64_t> shape);
  std::vector<int64_t> shape(graph::NodeId id) const;
  void accumulate(graph::NodeId value, graph::NodeId gradient);
  void differentiate(const Step& step);

  graph::Graph graph_;
  std::vector<graph::NodeId> inputs_;
  std::vector<Step> steps_;
  std::vector<graph::NodeId> gradients_;  // by NodeId of the value
  int32_t next_storage_ = 0;
  int64_t region_ = 0;
  bool backward_ = false;
};

}  // namespace sapwood::test
