#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace sapwood::bench {

/// Everything that a training step changes, by name: "parameter l1.weight", "buffer bn1.running_mean",
/// "exp_avg of l1.weight" (step counts as int64 scalars).
using NamedState = std::vector<std::pair<std::string, at::Tensor>>;

/// The state itself, not copies. Knows the state of SGD, Adam, AdamW and RMSprop; others yield no optimizer tensors.
NamedState named_state(const torch::nn::Module& module, torch::optim::Optimizer& optimizer);

/// Copies of all tensors, to compare against later.
NamedState cloned(const NamedState& state);

/// Empty if both lists hold the same names and bit-equal tensors; otherwise one sentence about the first difference.
std::string first_difference(const NamedState& a, const NamedState& b);

/// True if dtype, shape and every bit agree (NaN equals the same NaN).
bool bit_equal(const at::Tensor& a, const at::Tensor& b);

/// Bytes of the storages behind `tensors`, each storage once.
int64_t storage_bytes(const std::vector<at::Tensor>& tensors);

}  // namespace sapwood::bench
