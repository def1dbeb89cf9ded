#include "common/gpt_model.h"

namespace sapwood::bench {

namespace nn = torch::nn;

namespace {

nn::Linear no_bias(int64_t in, int64_t out) { return nn::Linear(nn::LinearOptions(in, out).bias(false)); }

}  // namespace

ScaleNormImpl::ScaleNormImpl(int64_t width) : weight_(register_parameter("weight", at::ones({width}))) {}

at::Tensor ScaleNormImpl::forward(const at::Tensor& x) { return at::layer_norm(x, weight_.sizes(), weight_); }

GptBlockImpl::GptBlockImpl(int64_t width, int64_t heads)
    : heads_(heads),
      ln1_(register_module("ln1", ScaleNorm(width))),
      ln2_(register_module("ln2", ScaleNorm(width))),
      qkv_(register_module("qkv", no_bias(width, 3 * width))),
      proj_(register_module("proj", no_bias(width, width))),
      fc_(register_module("fc", no_bias(width, 4 * width))),
      fc2_(register_module("fc2", no_bias(4 * width, width))) {}

at::Tensor GptBlockImpl::attend(const at::Tensor& x) {
  const int64_t batch = x.size(0), time = x.size(1), width = x.size(2);
  std::vector<at::Tensor> parts = qkv_(x).split(width, 2);
  for (at::Tensor& part : parts) part = part.view({batch, time, heads_, width / heads_}).transpose(1, 2);
  const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
  return proj_(mixed.transpose(1, 2).contiguous().view({batch, time, width}));
}

at::Tensor GptBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor attended = x + attend(ln1_(x));
  return attended + fc2_(at::gelu(fc_(ln2_(attended))));
}

Gpt::Gpt(const GptShape& shape)
    : shape_(shape),
      tokens_(register_module("wte", nn::Embedding(shape.vocabulary, shape.width))),
      positions_(register_module("wpe", nn::Embedding(shape.context, shape.width))),
      final_norm_(nullptr),
      position_ids_(at::arange(shape.context)) {
  nn::ModuleList list;
  for (int64_t i = 0; i < shape.layers; ++i) {
    blocks_.push_back(GptBlock(shape.width, shape.heads));
    list->push_back(blocks_.back());
  }
  register_module("h", list);
  final_norm_ = register_module("lnf", ScaleNorm(shape.width));
}

at::Tensor Gpt::logits(const at::Tensor& tokens) {
  const int64_t time = tokens.size(1);
  const at::Tensor ids = time == shape_.context ? position_ids_ : position_ids_.narrow(0, 0, time);
  at::Tensor x = tokens_(tokens) + positions_(ids);
  for (GptBlock& block : blocks_) x = block(x);
  return nn::functional::linear(final_norm_(x), tokens_->weight);
}

at::Tensor Gpt::loss(const at::Tensor& x, const at::Tensor& y) { return cross_entropy(logits(x), y); }

}  // namespace sapwood::bench
