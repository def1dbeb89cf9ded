#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._batch_norm_impl_index.default",
     "aten::_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
     "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> (Tensor, Tensor, Tensor, "
     "Tensor, int)", C::kNormalization},
    {"aten._batch_norm_no_update.default",
     "aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
     "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten._batch_norm_with_update.default",
     "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
     "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten._batch_norm_with_update_functional.default",
     "aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
     "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, "
     "Tensor running_var_out)", C::kNormalization},
    {"aten._fused_rms_norm.default",
     "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
     C::kNormalization},
    {"aten._fused_rms_norm_backward.default",
     "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? "
     "weight, bool[2] output_mask) -> (Tensor, Tensor)", C::kNormalization},
    {"aten._native_batch_norm_legit.default",
     "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
     "Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     C::kNormalization},
    {"aten._native_batch_norm_legit.no_stats",
     "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float "
     "momentum, float eps) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten._native_batch_norm_legit_functional.default",
     "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
     "Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor "
     "running_mean_out, Tensor running_var_out)", C::kNormalization},
    {"aten._native_batch_norm_legit_no_training.default",
     "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
     "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.batch_norm.default",
     "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
     "training, float momentum, float eps, bool cudnn_enabled) -> Tensor", C::kNormalization},
    {"aten.batch_norm_backward.default",
     "aten::batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? "
     "running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor "
     "reserve) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.cudnn_batch_norm.default",
     "aten::cudnn_batch_norm(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
     "bool training, float exponential_average_factor, float epsilon) -> (Tensor, Tensor, Tensor, Tensor)",
     C::kNormalization},
    {"aten.group_norm.default",
     "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
     "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor", C::kNormalization},
    {"aten.layer_norm.default",
     "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
     "eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor", C::kNormalization},
    {"aten.native_batch_norm.default",
     "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
     "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.native_batch_norm_backward.default",
     "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
     "running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, "
     "Tensor, Tensor)", C::kNormalization},
    {"aten.native_group_norm.default",
     "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int "
     "group, float eps) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.native_group_norm_backward.default",
     "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
     "SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.native_layer_norm.default",
     "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
     "(Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.native_layer_norm_backward.default",
     "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
     "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)", C::kNormalization},
    {"aten.renorm.default",
     "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", C::kNormalization},
    {"aten.rms_norm.default",
     "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
     C::kNormalization},
    {"aten.instance_norm.default",
     "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
     "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor", C::kNormalization},
    {"aten._weight_norm_interface.default",
     "aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", C::kNormalization},
    {"aten._weight_norm_interface_backward.default",
     "aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int "
     "dim) -> (Tensor, Tensor)", C::kNormalization},
    {"aten._log_softmax.default",
     "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", C::kSoftmax},
    {"aten._log_softmax_backward_data.default",
     "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
     C::kSoftmax},
    {"aten._safe_softmax.default",
     "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", C::kSoftmax},
    {"aten._softmax.default", "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", C::kSoftmax},
    {"aten._softmax_backward_data.default",
     "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
     C::kSoftmax},
    {"aten.log_softmax.int",
     "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", C::kSoftmax},
    {"aten.softmax.int", "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", C::kSoftmax},
};
// clang-format on

}  // namespace

std::span<const OpRow> normalization_rows() { return kRows; }

}  // namespace sapwood::ops
