#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._addmm_activation.default",
     "aten::_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool "
     "use_gelu=False) -> Tensor", C::kMatmul},
    {"aten._scaled_mm.default",
     "aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? "
     "scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
     C::kMatmul, R::kHeavy, 0, F::kMm},
    {"aten.addbmm.default",
     "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", C::kMatmul},
    {"aten.addmm.default",
     "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     C::kMatmul, R::kHeavy, 0, F::kAddmm},
    {"aten.addmm.dtype",
     "aten::addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
     "alpha=1) -> Tensor", C::kMatmul, R::kHeavy, 0, F::kAddmm},
    {"aten.addmv.default",
     "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", C::kMatmul},
    {"aten.addr.default",
     "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", C::kMatmul},
    {"aten.baddbmm.default",
     "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     C::kMatmul, R::kNever, 0, F::kBaddbmm},
    {"aten.baddbmm.dtype",
     "aten::baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
     "alpha=1) -> Tensor", C::kMatmul, R::kNever, 0, F::kBaddbmm},
    {"aten.bmm.default", "aten::bmm(Tensor self, Tensor mat2) -> Tensor", C::kMatmul, R::kHeavy, 0, F::kBmm},
    {"aten.bmm.dtype",
     "aten::bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", C::kMatmul, R::kHeavy, 0, F::kBmm},
    {"aten.dot.default", "aten::dot(Tensor self, Tensor tensor) -> Tensor", C::kMatmul},
    {"aten.einsum.default", "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", C::kMatmul},
    {"aten.ger.default", "aten::ger(Tensor self, Tensor vec2) -> Tensor", C::kMatmul},
    {"aten.inner.default", "aten::inner(Tensor self, Tensor other) -> Tensor", C::kMatmul},
    {"aten.linear.default", "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", C::kMatmul},
    {"aten.linear_backward.default",
     "aten::linear_backward(Tensor self, Tensor grad_output, Tensor weight, bool[3] output_mask) -> (Tensor, "
     "Tensor, Tensor)", C::kMatmul},
    {"aten.matmul.default", "aten::matmul(Tensor self, Tensor other) -> Tensor", C::kMatmul},
    {"aten.mm.default", "aten::mm(Tensor self, Tensor mat2) -> Tensor", C::kMatmul, R::kHeavy, 0, F::kMm},
    {"aten.mm.dtype",
     "aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", C::kMatmul, R::kHeavy, 0, F::kMm},
    {"aten.mv.default", "aten::mv(Tensor self, Tensor vec) -> Tensor", C::kMatmul},
    {"aten.outer.default", "aten::outer(Tensor self, Tensor vec2) -> Tensor", C::kMatmul},
    {"aten.tensordot.default",
     "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", C::kMatmul},
    {"aten.vdot.default", "aten::vdot(Tensor self, Tensor other) -> Tensor", C::kMatmul},
};
// clang-format on

}  // namespace

std::span<const OpRow> matmul_rows() { return kRows; }

}  // namespace sapwood::ops
