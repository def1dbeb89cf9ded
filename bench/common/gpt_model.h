#pragma once

#include <vector>

#include "common/model.h"

namespace sapwood::bench {

struct GptShape {
  int64_t vocabulary = 96;
  int64_t context = 64;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t width = 128;
};

/// LayerNorm with a weight and no bias, which torch::nn::LayerNorm doesn't offer.
class ScaleNormImpl : public torch::nn::Module {
 public:
  explicit ScaleNormImpl(int64_t width);
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor weight_;
};
TORCH_MODULE(ScaleNorm);

/// One pre-norm transformer block: causal attention, then a GELU network four times as wide.
class GptBlockImpl : public torch::nn::Module {
 public:
  GptBlockImpl(int64_t width, int64_t heads);
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor attend(const at::Tensor& x);

  int64_t heads_;
  ScaleNorm ln1_, ln2_;
  torch::nn::Linear qkv_, proj_, fc_, fc2_;
};
TORCH_MODULE(GptBlock);

/// W3, W4 and the demo: a GPT over characters with learned positions, no biases and a head tied to the embedding.
class Gpt : public Model {
 public:
  explicit Gpt(const GptShape& shape);
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) override;
  /// Logits `[batch, time, vocabulary]` of tokens `[batch, time]`, time at most the context.
  at::Tensor logits(const at::Tensor& tokens);
  const GptShape& shape() const { return shape_; }

 private:
  GptShape shape_;
  torch::nn::Embedding tokens_, positions_;
  std::vector<GptBlock> blocks_;
  ScaleNorm final_norm_;
  at::Tensor position_ids_;
};

}  // namespace sapwood::bench
