#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>

namespace sapwood::capture {

/// Sees one operator call below autograd: may look at the arguments on the stack, must run the operator once
/// (`op.callBoxed(stack)`), may then look at the results that it left there.
using OpHook = std::function<void(const c10::OperatorHandle& op, torch::jit::Stack* stack)>;

/// While it lives, every ATen operator that this thread calls is handed to a hook, below autograd and functorch, above
/// the backends.
///
/// How: a TorchDispatchMode written in C++. Its "interpreter" is a table of functions of ours; the mode is switched off
/// while the hook runs, so what the hook calls isn't seen. Thread-local: other threads that run ATen meanwhile aren't
/// affected. The autograd engine runs CPU backward on the calling thread, so backward operators are seen as well.
/// Nests; must be destroyed on the thread that made it.
class Interceptor {
 public:
  explicit Interceptor(OpHook hook);
  ~Interceptor();
  Interceptor(const Interceptor&) = delete;
  Interceptor& operator=(const Interceptor&) = delete;

 private:
  OpHook hook_;
};

}  // namespace sapwood::capture
