#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::graph {

/// Where the value of a placeholder comes from at run time.
enum class InputRole : uint8_t {
  kUserInput,  ///< argument of the step
  kParameter,  ///< parameter of the module
  kBuffer,     ///< buffer of the module
  kState,      ///< tensor that the optimizer keeps
  kGradient,   ///< a `.grad` that exists before the step
  kConstant,   ///< any other tensor that the step reads
  kScalar,     ///< number computed by the host for each step (learning rate terms)
  kTangent,    ///< incoming gradient (only in graphs of differentiable functions)
};

/// Where an output goes.
enum class OutputRole : uint8_t {
  kUserOutput,  ///< returned to the caller (the loss comes first)
  kWriteBack,   ///< new value of the placeholder `target`
  kGradient,    ///< becomes `.grad` of the placeholder `target`
};

struct InputSpec {
  NodeId node = kNoNode;
  InputRole role = InputRole::kUserInput;
  int64_t index = -1;  ///< position among the inputs of that role
  std::string name;    ///< "layers.0.weight", "exp_avg of layers.0.weight"
};

struct OutputSpec {
  OutputRole role = OutputRole::kUserOutput;
  NodeId target = kNoNode;  ///< placeholder that is written or whose gradient this is
};

/// One training step: a graph, and what each input and output is. Inputs are in placeholder order, outputs in output
/// order. The part of every node (forward, backward, optimizer) is its `partitioner_tag`.
struct JointGraph {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
};

std::string_view input_role_name(InputRole role);
std::string_view output_role_name(OutputRole role);

}  // namespace sapwood::graph
