#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._scaled_dot_product_attention_math.default",
     "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
     "float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool "
     "enable_gqa=False) -> (Tensor, Tensor)", C::kAttention, R::kNever, kDraws},
    {"aten._scaled_dot_product_attention_math_for_mps.default",
     "aten::_scaled_dot_product_attention_math_for_mps(Tensor query, Tensor key, Tensor value, Tensor? "
     "attn_mask=None, float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, "
     "bool enable_gqa=False) -> (Tensor, Tensor)", C::kAttention, R::kNever, kDraws},
    {"aten._scaled_dot_product_cudnn_attention.default",
     "aten::_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool "
     "compute_log_sumexp, float dropout_p=0., bool is_causal=False, bool return_debug_mask=False, *, float? "
     "scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt "
     "max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)",
     C::kAttention, R::kNever, kDraws, F::kAttention},
    {"aten._scaled_dot_product_cudnn_attention_backward.default",
     "aten::_scaled_dot_product_cudnn_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
     "Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, Tensor attn_bias, Tensor cum_seq_q, "
     "Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, *, float? scale=None) -> "
     "(Tensor, Tensor, Tensor)", C::kAttention, R::kNever, kDraws, F::kAttentionBackward},
    {"aten._scaled_dot_product_efficient_attention.default",
     "aten::_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool "
     "compute_log_sumexp, float dropout_p=0., bool is_causal=False, *, float? scale=None) -> (Tensor output, Tensor "
     "log_sumexp, Tensor philox_seed, Tensor philox_offset)", C::kAttention, R::kHeavy, kDraws, F::kAttention},
    {"aten._scaled_dot_product_efficient_attention_backward.default",
     "aten::_scaled_dot_product_efficient_attention_backward(Tensor grad_out_, Tensor query, Tensor key, Tensor "
     "value, Tensor attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, float "
     "dropout_p, bool[4] grad_input_mask, bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, "
     "Tensor)", C::kAttention, R::kNever, kDraws, F::kAttentionBackward},
    {"aten._scaled_dot_product_flash_attention.default",
     "aten::_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool "
     "is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, "
     "Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor rng_state, Tensor unused, Tensor "
     "debug_attn_mask)", C::kAttention, R::kHeavy, kDraws, F::kAttention},
    {"aten._scaled_dot_product_flash_attention.quantized",
     "aten::_scaled_dot_product_flash_attention.quantized(Tensor query, Tensor key, Tensor value, Tensor? "
     "q_descale, Tensor? k_descale, Tensor? v_descale, float dropout_p=0., bool is_causal=False, bool "
     "return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor "
     "cum_seq_k, SymInt max_q, SymInt max_k, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)",
     C::kAttention, R::kHeavy, kDraws},
    {"aten._scaled_dot_product_flash_attention_backward.default",
     "aten::_scaled_dot_product_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
     "Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float "
     "dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) -> (Tensor "
     "grad_query, Tensor grad_key, Tensor grad_value)", C::kAttention, R::kNever, 0, F::kAttentionBackward},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default",
     "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., "
     "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
     C::kAttention, R::kNever, kDraws},
    {"aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
     "aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor "
     "value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? "
     "scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)", C::kAttention},
    {"aten._scaled_dot_product_fused_attention_overrideable.default",
     "aten::_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor value, Tensor? "
     "attn_bias=None, float dropout_p=0., bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) "
     "-> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor "
     "philox_seed, Tensor philox_offset, Tensor debug_attn_mask)", C::kAttention, R::kNever, kDraws},
    {"aten._scaled_dot_product_fused_attention_overrideable_backward.default",
     "aten::_scaled_dot_product_fused_attention_overrideable_backward(Tensor grad_out, Tensor query, Tensor key, "
     "Tensor value, Tensor attn_bias, bool[4] grad_input_mask, Tensor out, Tensor logsumexp, Tensor cum_seq_q, "
     "Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor "
     "philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor "
     "grad_attn_bias)", C::kAttention},
    {"aten._flash_attention_forward.default",
     "aten::_flash_attention_forward(Tensor query, Tensor key, Tensor value, Tensor? cum_seq_q, Tensor? cum_seq_k, "
     "SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, bool return_debug_mask, *, float? scale=None, "
     "SymInt? window_size_left=None, SymInt? window_size_right=None, Tensor? seqused_k=None, Tensor? "
     "alibi_slopes=None, Tensor? block_table=None, int? num_splits=None) -> (Tensor output, Tensor "
     "softmax_logsumexp, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)", C::kAttention, R::kHeavy, kDraws},
    {"aten._flash_attention_forward.quantized",
     "aten::_flash_attention_forward.quantized(Tensor query, Tensor key, Tensor value, Tensor? cum_seq_q, Tensor? "
     "cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, bool return_debug_mask, Tensor? "
     "q_descale, Tensor? k_descale, Tensor? v_descale, *, float? scale=None, SymInt? window_size_left=None, SymInt? "
     "window_size_right=None, Tensor? seqused_k=None, Tensor? alibi_slopes=None) -> (Tensor output, Tensor "
     "softmax_logsumexp, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)", C::kAttention, R::kHeavy, kDraws},
    {"aten._flash_attention_backward.default",
     "aten::_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor "
     "logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, "
     "Tensor rng_state, Tensor unused, *, float? scale=None, SymInt? window_size_left=None, SymInt? "
     "window_size_right=None) -> (Tensor, Tensor, Tensor)", C::kAttention},
    {"aten._efficient_attention_forward.default",
     "aten::_efficient_attention_forward(Tensor query, Tensor key, Tensor value, Tensor? bias, Tensor? "
     "cu_seqlens_q, Tensor? cu_seqlens_k, SymInt? max_seqlen_q, SymInt? max_seqlen_k, float dropout_p, int "
     "custom_mask_type, bool compute_log_sumexp=False, *, float? scale=None, Tensor? seqlen_k=None, int? "
     "window_size=None) -> (Tensor output, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, SymInt "
     "max_seqlen_batch_q, SymInt max_seqlen_batch_k)", C::kAttention, R::kHeavy, kDraws},
    {"aten._efficient_attention_backward.default",
     "aten::_efficient_attention_backward(Tensor grad_out_, Tensor query, Tensor key, Tensor value, Tensor? bias, "
     "Tensor out, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, SymInt max_seqlen_q, SymInt max_seqlen_k, Tensor "
     "logsumexp, float dropout_p, Tensor philox_seed, Tensor philox_offset, int custom_mask_type, bool "
     "bias_requires_grad, *, float? scale=None, int? num_splits_key=None, int? window_size=None, bool "
     "shared_storage_dqdkdv=False) -> (Tensor, Tensor, Tensor, Tensor)", C::kAttention},
    {"aten.scaled_dot_product_attention.default",
     "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
     "dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     C::kAttention, R::kNever, kDraws},
};
// clang-format on

}  // namespace

std::span<const OpRow> attention_rows() { return kRows; }

}  // namespace sapwood::ops
