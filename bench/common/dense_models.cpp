#include "common/dense_models.h"

#include <tuple>

namespace sapwood::bench {

namespace nn = torch::nn;

Mlp::Mlp(int64_t in, int64_t hidden, int64_t out)
    : l1_(linear("l1", in, hidden)),
      l2_(linear("l2", hidden, hidden)),
      l3_(linear("l3", hidden, out)),
      ln_(register_module("ln", nn::LayerNorm(nn::LayerNormOptions({hidden})))) {}

at::Tensor Mlp::loss(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor hidden = at::gelu(l2_(at::gelu(ln_(l1_(x)))));
  return cross_entropy(l3_(hidden), y);
}

WideMlp::WideMlp(double dropout)
    : l1_(linear("l1", 784, 1024)), l2_(linear("l2", 1024, 1024)), l3_(linear("l3", 1024, 10)), dropout_(dropout) {}

at::Tensor WideMlp::loss(const at::Tensor& x, const at::Tensor& y) {
  const auto layer = [this](nn::Linear& l, const at::Tensor& in) {
    const at::Tensor out = at::relu(l(in));
    return dropout_ > 0 ? at::dropout(out, dropout_, is_training()) : out;
  };
  return cross_entropy(l3_(layer(l2_, layer(l1_, x))), y);
}

Pointwise::Pointwise() {
  nn::ModuleList list;
  for (int i = 0; i < 8; ++i) {
    norms_.push_back(nn::LayerNorm(nn::LayerNormOptions({1024})));
    list->push_back(norms_.back());
  }
  register_module("ln", list);
}

at::Tensor Pointwise::loss(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor t = x;
  for (nn::LayerNorm& norm : norms_) {
    const at::Tensor h = t + at::silu(norm(t));
    t = h * (1 - at::softmax(h, -1));
  }
  return at::mse_loss(t, y) + 0.1 * at::smooth_l1_loss(t, y);
}

LstmTagger::LstmTagger()
    : embedding_(register_module("emb", nn::Embedding(96, 256))),
      lstm_(register_module("lstm", nn::LSTM(nn::LSTMOptions(256, 256).num_layers(2)))),
      head_(linear("head", 256, 96)) {}

at::Tensor LstmTagger::loss(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor out = std::get<0>(lstm_(embedding_(x)));
  return cross_entropy(head_(out), y);
}

}  // namespace sapwood::bench
