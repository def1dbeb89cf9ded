#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten.celu.default", "aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.elu.default",
     "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
     C::kPointwise, R::kRecompute},
    {"aten.elu_backward.default",
     "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor "
     "self_or_result) -> Tensor", C::kPointwise},
    {"aten.gelu.default",
     "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.gelu_backward.default",
     "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
     C::kPointwise, R::kRecompute},
    {"aten.glu.default", "aten::glu(Tensor self, int dim=-1) -> Tensor", C::kPointwise},
    {"aten.glu_backward.default",
     "aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", C::kPointwise},
    {"aten.hardshrink.default",
     "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.hardshrink_backward.default",
     "aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor", C::kPointwise},
    {"aten.hardsigmoid_backward.default",
     "aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", C::kPointwise},
    {"aten.hardswish_backward.default",
     "aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", C::kPointwise},
    {"aten.hardtanh.default",
     "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.hardtanh_backward.default",
     "aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
     C::kPointwise},
    {"aten.leaky_relu.default",
     "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.leaky_relu_backward.default",
     "aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> "
     "Tensor", C::kPointwise},
    {"aten.log_sigmoid_backward.default",
     "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor", C::kPointwise},
    {"aten.logit_backward.default",
     "aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.mish_backward.default", "aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor", C::kPointwise},
    {"aten.prelu.default", "aten::prelu(Tensor self, Tensor weight) -> Tensor", C::kPointwise},
    {"aten._prelu_kernel.default", "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", C::kPointwise},
    {"aten._prelu_kernel_backward.default",
     "aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)", C::kPointwise},
    {"aten.rrelu_with_noise_backward.default",
     "aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, "
     "bool training, bool self_is_result) -> Tensor", C::kPointwise},
    {"aten.sigmoid_backward.default",
     "aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.silu_backward.default",
     "aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.softplus.default",
     "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.softplus_backward.default",
     "aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
     C::kPointwise},
    {"aten.softshrink.default",
     "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.softshrink_backward.default",
     "aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", C::kPointwise},
    {"aten.tanh_backward.default",
     "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.threshold.default",
     "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", C::kPointwise, R::kRecompute},
    {"aten.threshold_backward.default",
     "aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
     C::kPointwise, R::kRecompute},
    {"aten.native_dropout_backward.default",
     "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
     C::kPointwise, R::kRecompute},
};
// clang-format on

}  // namespace

std::span<const OpRow> pointwise_activation_rows() { return kRows; }

}  // namespace sapwood::ops
