#include "graph/joint_graph.h"

namespace sapwood::graph {

std::string_view input_role_name(InputRole role) {
  switch (role) {
    case InputRole::kUserInput:
      return "user_input";
    case InputRole::kParameter:
      return "parameter";
    case InputRole::kBuffer:
      return "buffer";
    case InputRole::kState:
      return "state";
    case InputRole::kGradient:
      return "gradient";
    case InputRole::kConstant:
      return "constant";
    case InputRole::kScalar:
      return "scalar";
    case InputRole::kTangent:
      return "tangent";
  }
  return "unknown";
}

std::string_view output_role_name(OutputRole role) {
  switch (role) {
    case OutputRole::kUserOutput:
      return "user_output";
    case OutputRole::kWriteBack:
      return "write_back";
    case OutputRole::kGradient:
      return "gradient";
  }
  return "unknown";
}

}  // namespace sapwood::graph
