#include "driver/tangent_layouts.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/ones_like.h>

namespace sapwood::driver {

using Tensors = std::vector<at::Tensor>;

Tensors TangentLayouts::watch(const std::shared_ptr<TangentLayouts>& layouts, const Tensors& outputs) {
  Tensors result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& output = outputs[i];
    result.push_back(output.requires_grad() ? at::alias(output) : output);
    if (!output.requires_grad()) continue;
    const std::vector<int64_t> expected = layouts->ones(i, output).strides().vec();
    result[i].register_hook(
        [layouts, i, expected](const at::Tensor& gradient) { layouts->note(i, gradient, expected); });
  }
  return result;
}

at::Tensor TangentLayouts::ones(size_t i, const at::Tensor& output) const {
  const at::NoGradGuard no_grad;
  const std::scoped_lock lock(mutex_);
  if (i >= strides_.size() || !strides_[i]) return at::ones_like(output);
  return at::empty_strided(output.sizes(), *strides_[i], output.options()).fill_(1);
}

bool TangentLayouts::take_news() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, false);
}

/// Expanded gradients (a sum's) are made dense before each backward, so their layout is nothing to record for.
void TangentLayouts::note(size_t i, const at::Tensor& gradient, const std::vector<int64_t>& expected) {
  if (!gradient.defined() || !gradient.is_non_overlapping_and_dense()) return;
  const std::scoped_lock lock(mutex_);
  strides_.resize(std::max(strides_.size(), i + 1));
  strides_[i] = gradient.strides().vec();
  news_ = news_ || gradient.strides() != expected;
}

}  // namespace sapwood::driver
