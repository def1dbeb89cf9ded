// libtorch holds Gloo but not its headers. A test that makes a Gloo process group needs libtorch's own
// ProcessGroupGloo.hpp, which names Gloo's types and never looks into them: declarations are enough.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class Device;
class UnboundBuffer;
}  // namespace transport

}  // namespace gloo
