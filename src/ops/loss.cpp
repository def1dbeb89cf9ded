#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten.binary_cross_entropy.default",
     "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
     C::kLoss},
    {"aten.binary_cross_entropy_backward.default",
     "aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
     "reduction=1) -> Tensor", C::kLoss},
    {"aten.binary_cross_entropy_with_logits.default",
     "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
     "pos_weight=None, int reduction=1) -> Tensor", C::kLoss},
    {"aten.cross_entropy_loss.default",
     "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
     "ignore_index=-100, float label_smoothing=0.) -> Tensor", C::kLoss},
    {"aten.huber_loss.default",
     "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor", C::kLoss},
    {"aten.huber_loss_backward.default",
     "aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> "
     "Tensor", C::kLoss},
    {"aten.kl_div.default",
     "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor", C::kLoss},
    {"aten.l1_loss.default", "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", C::kLoss},
    {"aten.mse_loss.default", "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", C::kLoss},
    {"aten.mse_loss_backward.default",
     "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor", C::kLoss},
    {"aten.multi_margin_loss.default",
     "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
     "reduction=1) -> Tensor", C::kLoss},
    {"aten.multi_margin_loss_backward.default",
     "aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
     "Tensor? weight=None, int reduction=1) -> Tensor", C::kLoss},
    {"aten.multilabel_margin_loss_forward.default",
     "aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor "
     "is_target)", C::kLoss},
    {"aten.nll_loss.default",
     "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> "
     "Tensor", C::kLoss},
    {"aten.nll_loss2d_backward.default",
     "aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
     "SymInt ignore_index, Tensor total_weight) -> Tensor", C::kLoss},
    {"aten.nll_loss2d_forward.default",
     "aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
     "(Tensor output, Tensor total_weight)", C::kLoss},
    {"aten.nll_loss_backward.default",
     "aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
     "ignore_index, Tensor total_weight) -> Tensor", C::kLoss},
    {"aten.nll_loss_forward.default",
     "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
     "(Tensor output, Tensor total_weight)", C::kLoss},
    {"aten.nll_loss_nd.default",
     "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) "
     "-> Tensor", C::kLoss},
    {"aten.smooth_l1_loss.default",
     "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor", C::kLoss},
    {"aten.smooth_l1_loss_backward.default",
     "aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> "
     "Tensor", C::kLoss},
    {"aten.soft_margin_loss.default",
     "aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", C::kLoss},
    {"aten.soft_margin_loss_backward.default",
     "aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
     C::kLoss},
    {"aten._ctc_loss.default",
     "aten::_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
     "bool zero_infinity=False) -> (Tensor, Tensor)", C::kLoss},
    {"aten._ctc_loss.Tensor",
     "aten::_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
     "blank=0, bool zero_infinity=False) -> (Tensor, Tensor)", C::kLoss},
    {"aten._ctc_loss_backward.default",
     "aten::_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
     "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
     C::kLoss},
    {"aten._ctc_loss_backward.Tensor",
     "aten::_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
     "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
     C::kLoss},
    {"aten.cosine_similarity.default",
     "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", C::kLoss},
    {"aten.cdist.default", "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", C::kLoss},
    {"aten._cdist_forward.default",
     "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", C::kLoss},
    {"aten._cdist_backward.default",
     "aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor", C::kLoss},
    {"aten._euclidean_dist.default", "aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", C::kLoss},
};
// clang-format on

}  // namespace

std::span<const OpRow> loss_rows() { return kRows; }

}  // namespace sapwood::ops
