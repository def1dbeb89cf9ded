#pragma once

#include <vector>

#include "common/model.h"

namespace sapwood::bench {

/// W0 and W1: Linear, LayerNorm, GELU, Linear, GELU, Linear.
class Mlp : public Model {
 public:
  Mlp(int64_t in, int64_t hidden, int64_t out);
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) override;

 private:
  torch::nn::Linear l1_, l2_, l3_;
  torch::nn::LayerNorm ln_;
};

/// W2: two wide ReLU layers with dropout (drawn only in training mode), then the classifier.
class WideMlp : public Model {
 public:
  explicit WideMlp(double dropout);
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) override;

 private:
  torch::nn::Linear l1_, l2_, l3_;
  double dropout_;
};

/// W7: eight blocks of LayerNorm, SiLU and softmax, almost no arithmetic per byte.
class Pointwise : public Model {
 public:
  Pointwise();
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) override;

 private:
  std::vector<torch::nn::LayerNorm> norms_;
};

/// W6: embedding, two-layer LSTM with a zero initial state, a classifier per time step.
class LstmTagger : public Model {
 public:
  LstmTagger();
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) override;

 private:
  torch::nn::Embedding embedding_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear head_;
};

}  // namespace sapwood::bench
