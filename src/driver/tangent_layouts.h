#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace sapwood::driver {

/// In which layout gradients come back to the outputs of a function: sums over them depend on it in their last bit, so
/// a backward is recorded for the layout that the caller's loss sends. Learned from eager calls; any thread.
class TangentLayouts {
 public:
  /// What to hand out instead of `outputs`: the same, but their gradients' layouts are noted in `layouts`.
  static std::vector<at::Tensor> watch(const std::shared_ptr<TangentLayouts>& layouts,
                                       const std::vector<at::Tensor>& outputs);

  /// A tangent of ones for output `i`: in the noted layout, else in the output's own.
  at::Tensor ones(size_t i, const at::Tensor& output) const;

  /// True if a gradient came that `ones` would have made otherwise until now; asked again, false.
  bool take_news();

 private:
  void note(size_t i, const at::Tensor& gradient, const std::vector<int64_t>& expected);

  mutable std::mutex mutex_;
  std::vector<std::optional<std::vector<int64_t>>> strides_;  // by output
  bool news_ = false;
};

}  // namespace sapwood::driver
