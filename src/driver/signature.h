#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/eager_step.h"

namespace sapwood::driver {

/// All that a compiled step depends on besides values: shapes, strides, dtypes, devices, requires_grad and aliasing of
/// the inputs (with each other and with the model), identity and layout of parameters and buffers, hooks on parameters,
/// training flags, the optimizer's structure, and the thread's modes. Equal keys may share a compiled step.
using Signature = std::vector<int64_t>;

/// Fills `key` (its memory is reused) with all but the optimizer. Thread count is left out on purpose: replays don't
/// depend on it.
void compute_signature(const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro, Signature& key);

/// Appends the structure of the update, last: state may be born in a step, so a captured step is filed under the
/// structure after it.
void append_update_structure(const StepParts& parts, MicroStep micro, Signature& key);

/// Parts of a signature: dtype, device and layout of a tensor; which inputs share memory, and how, with each other and
/// with the module's tensors; training flags; the thread's modes.
void append_layout(const at::Tensor& tensor, Signature& key);
void append_aliasing(const TrainStep::Tensors& inputs, Signature& key);
void append_aliasing_with(const torch::nn::Module& module, const TrainStep::Tensors& inputs, Signature& key);
void append_training_flags(const torch::nn::Module& module, Signature& key);
void append_modes(Signature& key);

/// Why a step or function can't be compiled for this input; empty if it may be.
std::string why_eager(const at::Tensor& input, size_t index);

/// "float32[12, 64], int64[12, 64]".
std::string describe_inputs(const TrainStep::Tensors& inputs);
/// For people: "float32[12, 64], int64[12, 64]; train".
std::string describe_signature(const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro);

}  // namespace sapwood::driver
