#pragma once

#include <span>

#include "ops/op_table.h"

namespace sapwood::ops {

// Short names for the columns of a row.
using C = OpClass;
using R = Remat;
using F = FlopFormula;

/// Pointwise operators of one tensor.
std::span<const OpRow> pointwise_unary_rows();
/// Activation functions and the pointwise backward operators.
std::span<const OpRow> pointwise_activation_rows();
/// Pointwise operators of several tensors, comparisons and logic.
std::span<const OpRow> pointwise_binary_rows();
/// Pointwise operators that write to their first argument.
std::span<const OpRow> pointwise_inplace_rows();
/// Reductions, scans and sorts.
std::span<const OpRow> reduction_rows();
/// Views and copies that move or retype data without computing.
std::span<const OpRow> view_rows();
/// Matrix products.
std::span<const OpRow> matmul_rows();
/// Convolutions, pooling and resampling.
std::span<const OpRow> convolution_rows();
/// Fused attention.
std::span<const OpRow> attention_rows();
/// Recurrent layers and cells.
std::span<const OpRow> recurrent_rows();
/// Normalization layers and softmax.
std::span<const OpRow> normalization_rows();
/// Loss functions and distances.
std::span<const OpRow> loss_rows();
/// Gathers, scatters and embeddings.
std::span<const OpRow> indexing_rows();
/// Operators that draw random numbers.
std::span<const OpRow> random_rows();
/// Tensors from nothing, or from the shape of another.
std::span<const OpRow> creation_rows();
/// Operators on lists of tensors, and fused optimizer steps.
std::span<const OpRow> optimizer_rows();
/// Functional collectives of distributed training.
std::span<const OpRow> collective_rows();
/// Copies between devices that run beside the computation, and the streams and events that order them.
std::span<const OpRow> transfer_rows();
/// The `prims` namespace: what decompositions end in.
std::span<const OpRow> prims_rows();
/// Everything that fits no family: host reads, assertions, Fourier transforms, linear algebra.
std::span<const OpRow> other_rows();
/// Python callables that occur as targets: `operator.getitem`, arithmetic on symbolic sizes.
std::span<const OpRow> scalar_rows();

}  // namespace sapwood::ops
