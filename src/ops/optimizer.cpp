#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._foreach_abs.default", "aten::_foreach_abs(Tensor[] self) -> Tensor[]", C::kForeach},
    {"aten._foreach_add.Scalar", "aten::_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_add.List",
     "aten::_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]", C::kForeach},
    {"aten._foreach_add.ScalarList",
     "aten::_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_add.Tensor",
     "aten::_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]", C::kForeach},
    {"aten._foreach_add_.Scalar", "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_add_.List",
     "aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()", C::kForeach},
    {"aten._foreach_add_.ScalarList",
     "aten::_foreach_add_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_add_.Tensor",
     "aten::_foreach_add_.Tensor(Tensor(a!)[] self, Tensor other, *, Scalar alpha=1) -> ()", C::kForeach},
    {"aten._foreach_addcdiv.Scalar",
     "aten::_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
     C::kForeach},
    {"aten._foreach_addcdiv.ScalarList",
     "aten::_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> "
     "Tensor[]", C::kForeach},
    {"aten._foreach_addcdiv.Tensor",
     "aten::_foreach_addcdiv.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
     C::kForeach},
    {"aten._foreach_addcdiv_.Scalar",
     "aten::_foreach_addcdiv_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ()",
     C::kForeach},
    {"aten._foreach_addcdiv_.ScalarList",
     "aten::_foreach_addcdiv_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) "
     "-> ()", C::kForeach},
    {"aten._foreach_addcdiv_.Tensor",
     "aten::_foreach_addcdiv_.Tensor(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ()",
     C::kForeach},
    {"aten._foreach_addcmul.Scalar",
     "aten::_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
     C::kForeach},
    {"aten._foreach_addcmul.ScalarList",
     "aten::_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> "
     "Tensor[]", C::kForeach},
    {"aten._foreach_addcmul.Tensor",
     "aten::_foreach_addcmul.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
     C::kForeach},
    {"aten._foreach_addcmul_.Scalar",
     "aten::_foreach_addcmul_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ()",
     C::kForeach},
    {"aten._foreach_addcmul_.ScalarList",
     "aten::_foreach_addcmul_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) "
     "-> ()", C::kForeach},
    {"aten._foreach_addcmul_.Tensor",
     "aten::_foreach_addcmul_.Tensor(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ()",
     C::kForeach},
    {"aten._foreach_clamp_max.Scalar",
     "aten::_foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_clamp_max.List",
     "aten::_foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[]", C::kForeach},
    {"aten._foreach_clamp_max.ScalarList",
     "aten::_foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_clamp_max_.Scalar",
     "aten::_foreach_clamp_max_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_clamp_max_.List",
     "aten::_foreach_clamp_max_.List(Tensor(a!)[] self, Tensor[] other) -> ()", C::kForeach},
    {"aten._foreach_clamp_max_.ScalarList",
     "aten::_foreach_clamp_max_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_clamp_min.Scalar",
     "aten::_foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_clamp_min.List",
     "aten::_foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[]", C::kForeach},
    {"aten._foreach_clamp_min.ScalarList",
     "aten::_foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_clamp_min_.Scalar",
     "aten::_foreach_clamp_min_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_clamp_min_.List",
     "aten::_foreach_clamp_min_.List(Tensor(a!)[] self, Tensor[] other) -> ()", C::kForeach},
    {"aten._foreach_clamp_min_.ScalarList",
     "aten::_foreach_clamp_min_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_copy.default",
     "aten::_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[] self_out", C::kForeach},
    {"aten._foreach_copy_.default",
     "aten::_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()", C::kForeach},
    {"aten._foreach_div.Scalar", "aten::_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_div.List", "aten::_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]", C::kForeach},
    {"aten._foreach_div.ScalarList",
     "aten::_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_div.Tensor", "aten::_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]", C::kForeach},
    {"aten._foreach_div_.Scalar", "aten::_foreach_div_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_div_.List", "aten::_foreach_div_.List(Tensor(a!)[] self, Tensor[] other) -> ()", C::kForeach},
    {"aten._foreach_div_.ScalarList",
     "aten::_foreach_div_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_div_.Tensor", "aten::_foreach_div_.Tensor(Tensor(a!)[] self, Tensor other) -> ()", C::kForeach},
    {"aten._foreach_exp.default", "aten::_foreach_exp(Tensor[] self) -> Tensor[]", C::kForeach},
    {"aten._foreach_lerp.List",
     "aten::_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]", C::kForeach},
    {"aten._foreach_lerp.Scalar",
     "aten::_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]", C::kForeach},
    {"aten._foreach_lerp.ScalarList",
     "aten::_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]", C::kForeach},
    {"aten._foreach_lerp_.List",
     "aten::_foreach_lerp_.List(Tensor(a!)[] self, Tensor[] tensors1, Tensor[] weights) -> ()", C::kForeach},
    {"aten._foreach_lerp_.Scalar",
     "aten::_foreach_lerp_.Scalar(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ()", C::kForeach},
    {"aten._foreach_lerp_.ScalarList",
     "aten::_foreach_lerp_.ScalarList(Tensor(a!)[] self, Tensor[] tensors1, Scalar[] weight) -> ()", C::kForeach},
    {"aten._foreach_maximum.Scalar",
     "aten::_foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_maximum.List",
     "aten::_foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[]", C::kForeach},
    {"aten._foreach_maximum.ScalarList",
     "aten::_foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_maximum_.Scalar",
     "aten::_foreach_maximum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_maximum_.List",
     "aten::_foreach_maximum_.List(Tensor(a!)[] self, Tensor[] other) -> ()", C::kForeach},
    {"aten._foreach_maximum_.ScalarList",
     "aten::_foreach_maximum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_minimum.Scalar",
     "aten::_foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_minimum.List",
     "aten::_foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[]", C::kForeach},
    {"aten._foreach_minimum.ScalarList",
     "aten::_foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_minimum_.Scalar",
     "aten::_foreach_minimum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_minimum_.List",
     "aten::_foreach_minimum_.List(Tensor(a!)[] self, Tensor[] other) -> ()", C::kForeach},
    {"aten._foreach_minimum_.ScalarList",
     "aten::_foreach_minimum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_mul.Scalar", "aten::_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_mul.List", "aten::_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]", C::kForeach},
    {"aten._foreach_mul.ScalarList",
     "aten::_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_mul.Tensor", "aten::_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]", C::kForeach},
    {"aten._foreach_mul_.Scalar", "aten::_foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_mul_.List", "aten::_foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ()", C::kForeach},
    {"aten._foreach_mul_.ScalarList",
     "aten::_foreach_mul_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_mul_.Tensor", "aten::_foreach_mul_.Tensor(Tensor(a!)[] self, Tensor other) -> ()", C::kForeach},
    {"aten._foreach_neg.default", "aten::_foreach_neg(Tensor[] self) -> Tensor[]", C::kForeach},
    {"aten._foreach_neg_.default", "aten::_foreach_neg_(Tensor(a!)[] self) -> ()", C::kForeach},
    {"aten._foreach_norm.Scalar",
     "aten::_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]", C::kForeach},
    {"aten._foreach_pow.List", "aten::_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]", C::kForeach},
    {"aten._foreach_pow.Scalar", "aten::_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]", C::kForeach},
    {"aten._foreach_pow.ScalarList",
     "aten::_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]", C::kForeach},
    {"aten._foreach_pow.ScalarAndTensor",
     "aten::_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]", C::kForeach},
    {"aten._foreach_pow_.List", "aten::_foreach_pow_.List(Tensor(a!)[] self, Tensor[] exponent) -> ()", C::kForeach},
    {"aten._foreach_pow_.Scalar", "aten::_foreach_pow_.Scalar(Tensor(a!)[] self, Scalar exponent) -> ()", C::kForeach},
    {"aten._foreach_pow_.ScalarList",
     "aten::_foreach_pow_.ScalarList(Tensor(a!)[] self, Scalar[] exponent) -> ()", C::kForeach},
    {"aten._foreach_reciprocal.default", "aten::_foreach_reciprocal(Tensor[] self) -> Tensor[]", C::kForeach},
    {"aten._foreach_reciprocal_.default", "aten::_foreach_reciprocal_(Tensor(a!)[] self) -> ()", C::kForeach},
    {"aten._foreach_sign.default", "aten::_foreach_sign(Tensor[] self) -> Tensor[]", C::kForeach},
    {"aten._foreach_sqrt.default", "aten::_foreach_sqrt(Tensor[] self) -> Tensor[]", C::kForeach},
    {"aten._foreach_sqrt_.default", "aten::_foreach_sqrt_(Tensor(a!)[] self) -> ()", C::kForeach},
    {"aten._foreach_sub.Scalar", "aten::_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", C::kForeach},
    {"aten._foreach_sub.List",
     "aten::_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]", C::kForeach},
    {"aten._foreach_sub.ScalarList",
     "aten::_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", C::kForeach},
    {"aten._foreach_sub_.Scalar", "aten::_foreach_sub_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", C::kForeach},
    {"aten._foreach_sub_.List",
     "aten::_foreach_sub_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()", C::kForeach},
    {"aten._foreach_sub_.ScalarList",
     "aten::_foreach_sub_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", C::kForeach},
    {"aten._foreach_zero.default", "aten::_foreach_zero(Tensor[] self) -> Tensor[] self_out", C::kForeach},
    {"aten._foreach_zero_.default", "aten::_foreach_zero_(Tensor(a!)[] self) -> ()", C::kForeach},
    {"aten._fused_adagrad.default",
     "aten::_fused_adagrad(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, float lr, "
     "float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? "
     "found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out, Tensor[] state_steps_out)",
     C::kOptimizer},
    {"aten._fused_adagrad.tensor_lr",
     "aten::_fused_adagrad.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, "
     "Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? "
     "found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out)", C::kOptimizer},
    {"aten._fused_adagrad_.default",
     "aten::_fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor(d!)[] "
     "state_steps, *, float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? "
     "grad_scale=None, Tensor? found_inf=None) -> ()", C::kOptimizer},
    {"aten._fused_adagrad_.tensor_lr",
     "aten::_fused_adagrad_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] "
     "state_steps, *, Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? "
     "grad_scale=None, Tensor? found_inf=None) -> ()", C::kOptimizer},
    {"aten._fused_adam.default",
     "aten::_fused_adam(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] "
     "max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, "
     "bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] "
     "grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out)", C::kOptimizer},
    {"aten._fused_adam.tensor_lr",
     "aten::_fused_adam.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] "
     "max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay, float eps, "
     "bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] "
     "grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out)", C::kOptimizer},
    {"aten._fused_adam_.default",
     "aten::_fused_adam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
     "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float "
     "weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
     C::kOptimizer},
    {"aten._fused_adam_.tensor_lr",
     "aten::_fused_adam_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
     "exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, "
     "float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) "
     "-> ()", C::kOptimizer},
    {"aten._fused_adamw.default",
     "aten::_fused_adamw(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] "
     "max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, "
     "bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] "
     "grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out)", C::kOptimizer},
    {"aten._fused_adamw.tensor_lr",
     "aten::_fused_adamw.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] "
     "max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay, float eps, "
     "bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] "
     "grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out)", C::kOptimizer},
    {"aten._fused_adamw_.default",
     "aten::_fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
     "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float "
     "weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
     C::kOptimizer},
    {"aten._fused_adamw_.tensor_lr",
     "aten::_fused_adamw_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
     "exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, "
     "float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) "
     "-> ()", C::kOptimizer},
    {"aten._fused_sgd.default",
     "aten::_fused_sgd(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float weight_decay, float "
     "momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? "
     "grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] "
     "momentum_buffer_list_out)", C::kOptimizer},
    {"aten._fused_sgd.tensor_lr",
     "aten::_fused_sgd.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float "
     "weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step, "
     "Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] "
     "momentum_buffer_list_out)", C::kOptimizer},
    {"aten._fused_sgd_.default",
     "aten::_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float "
     "weight_decay, float momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, "
     "Tensor? grad_scale=None, Tensor? found_inf=None) -> ()", C::kOptimizer},
    {"aten._fused_sgd_.tensor_lr",
     "aten::_fused_sgd_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, "
     "float weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool "
     "is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()", C::kOptimizer},
    {"aten._amp_foreach_non_finite_check_and_unscale.default",
     "aten::_amp_foreach_non_finite_check_and_unscale(Tensor[] self, Tensor found_inf, Tensor inv_scale) -> "
     "(Tensor[] self_out, Tensor found_inf_out)", C::kOptimizer},
    {"aten._amp_foreach_non_finite_check_and_unscale_.default",
     "aten::_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) "
     "-> ()", C::kOptimizer},
    {"aten._amp_update_scale.default",
     "aten::_amp_update_scale(Tensor self, Tensor growth_tracker, Tensor found_inf, float scale_growth_factor, "
     "float scale_backoff_factor, int growth_interval) -> (Tensor, Tensor growth_tracker_out)", C::kOptimizer},
    {"aten._amp_update_scale_.default",
     "aten::_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float "
     "scale_growth_factor, float scale_backoff_factor, int growth_interval) -> Tensor(a!)", C::kOptimizer},
};
// clang-format on

}  // namespace

std::span<const OpRow> optimizer_rows() { return kRows; }

}  // namespace sapwood::ops
