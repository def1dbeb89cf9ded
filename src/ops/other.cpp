#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._local_scalar_dense.default", "aten::_local_scalar_dense(Tensor self) -> Scalar", C::kScalar},
    {"aten.item.default", "aten::item(Tensor self) -> Scalar", C::kScalar},
    {"aten.sym_numel.default", "aten::sym_numel(Tensor self) -> SymInt", C::kScalar},
    {"aten.sym_size.int", "aten::sym_size.int(Tensor self, int dim) -> SymInt", C::kScalar},
    {"aten.sym_size.default", "aten::sym_size(Tensor self) -> SymInt[]", C::kScalar},
    {"aten.sym_storage_offset.default", "aten::sym_storage_offset(Tensor self) -> SymInt", C::kScalar},
    {"aten.sym_stride.int", "aten::sym_stride.int(Tensor self, int dim) -> SymInt", C::kScalar},
    {"aten.sym_stride.default", "aten::sym_stride(Tensor self) -> SymInt[]", C::kScalar},
    {"aten.is_nonzero.default", "aten::is_nonzero(Tensor self) -> bool", C::kScalar},
    {"aten._assert_async.default", "aten::_assert_async(Tensor self) -> ()", C::kAssertion, R::kNever, kEffect},
    {"aten._assert_async.msg",
     "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", C::kAssertion, R::kNever, kEffect},
    {"aten._assert_scalar.default",
     "aten::_assert_scalar(Scalar self, str assert_msg) -> ()", C::kAssertion, R::kNever, kEffect},
    {"aten._assert_tensor_metadata.default",
     "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, "
     "*, Device? device=None, Layout? layout=None) -> ()", C::kAssertion, R::kNever, kEffect},
    {"aten._functional_assert_async.msg",
     "aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor",
     C::kAssertion, R::kNever, kEffect},
    {"aten._functional_assert_scalar.default",
     "aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor",
     C::kAssertion, R::kNever, kEffect},
    {"aten.sym_constrain_range.default",
     "aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()",
     C::kAssertion, R::kNever, kEffect},
    {"aten.sym_constrain_range_for_size.default",
     "aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()",
     C::kAssertion, R::kNever, kEffect},
    {"aten.set_.source_Storage_storage_offset",
     "aten::set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, SymInt storage_offset, SymInt[] "
     "size, SymInt[] stride=[]) -> Tensor(a!)", C::kOther},
    {"aten.set_.source_Tensor", "aten::set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)", C::kOther},
    {"aten.set_.default", "aten::set_(Tensor(a!) self) -> Tensor(a!)", C::kOther},
    {"aten.set_.source_Storage", "aten::set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)", C::kOther},
    {"aten.set_.source_Tensor_storage_offset",
     "aten::set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, "
     "SymInt[] stride=[]) -> Tensor(a!)", C::kOther},
    {"aten.complex.default", "aten::complex(Tensor real, Tensor imag) -> Tensor", C::kOther},
    {"aten.polar.default", "aten::polar(Tensor abs, Tensor angle) -> Tensor", C::kOther},
    {"aten.view_as_complex_copy.default", "aten::view_as_complex_copy(Tensor self) -> Tensor", C::kOther},
    {"aten._conj.default", "aten::_conj(Tensor(a) self) -> Tensor(a)", C::kOther},
    {"aten._conj_physical.default", "aten::_conj_physical(Tensor self) -> Tensor", C::kOther},
    {"aten._fft_c2c.default",
     "aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor", C::kOther},
    {"aten._fft_c2r.default",
     "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor", C::kOther},
    {"aten._fft_r2c.default",
     "aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", C::kOther},
    {"aten._linalg_det.default", "aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", C::kOther},
    {"aten.linalg_cholesky_ex.default",
     "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
     C::kOther},
    {"aten.linalg_solve_triangular.default",
     "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) "
     "-> Tensor", C::kOther},
    {"aten.linalg_inv_ex.default",
     "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", C::kOther},
    {"aten.trace.default", "aten::trace(Tensor self) -> Tensor", C::kOther},
    {"aten.cholesky_inverse.default", "aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", C::kOther},
    {"aten._foobar.default",
     "aten::_foobar(Tensor self, bool arg1=True, bool arg2=True, *, bool arg3=True) -> Tensor", C::kOther},
    {"aten.fake_quantize_per_tensor_affine_cachemask.default",
     "aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int "
     "quant_max) -> (Tensor output, Tensor mask)", C::kOther},
    {"aten.fake_quantize_per_channel_affine_cachemask.default",
     "aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int "
     "quant_min, int quant_max) -> (Tensor output, Tensor mask)", C::kOther},
    {"aten.quantize_per_tensor.default",
     "aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor", C::kOther},
    {"aten.quantize_per_tensor.tensor_qparams",
     "aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> "
     "Tensor", C::kOther},
    {"aten.quantize_per_tensor.tensors",
     "aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType dtype) -> "
     "Tensor[]", C::kOther},
    {"aten.cross.default", "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", C::kOther},
    {"aten.linalg_cross.default", "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", C::kOther},
    {"aten.nonzero_static.default",
     "aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", C::kOther},
    {"profiler._record_function_enter.default",
     "profiler::_record_function_enter(str name, str? args=None) -> Tensor", C::kAssertion, R::kNever, kEffect},
    {"profiler._record_function_enter_new.default",
     "profiler::_record_function_enter_new(str name, str? args=None) -> "
     "__torch__.torch.classes.profiler._RecordFunction", C::kAssertion, R::kNever, kEffect},
    {"profiler._record_function_exit.default",
     "profiler::_record_function_exit(Tensor handle) -> ()", C::kAssertion, R::kNever, kEffect},
    {"profiler._record_function_exit._RecordFunction",
     "profiler::_record_function_exit._RecordFunction(__torch__.torch.classes.profiler._RecordFunction record) -> ()",
     C::kAssertion, R::kNever, kEffect},
};
// clang-format on

}  // namespace

std::span<const OpRow> other_rows() { return kRows; }

}  // namespace sapwood::ops
