#include "common/conv_models.h"

namespace sapwood::bench {

namespace nn = torch::nn;

BasicBlockImpl::BasicBlockImpl(int64_t in, int64_t out, int64_t stride)
    : conv1_(register_module("conv1", make_conv({.in = in, .out = out, .stride = stride}))),
      conv2_(register_module("conv2", make_conv({.in = out, .out = out}))),
      bn1_(register_module("bn1", nn::BatchNorm2d(out))),
      bn2_(register_module("bn2", nn::BatchNorm2d(out))) {
  if (in == out) return;
  shortcut_ = register_module("sc", make_conv({.in = in, .out = out, .kernel = 1, .stride = stride, .padding = 0}));
  shortcut_bn_ = register_module("sbn", nn::BatchNorm2d(out));
}

at::Tensor BasicBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor y = bn2_(conv2_(at::relu(bn1_(conv1_(x)))));
  return at::relu(y + (shortcut_ ? shortcut_bn_(shortcut_(x)) : x));
}

ResNet::ResNet()
    : conv1_(register_module("conv1", make_conv({.in = 3, .out = 64}))),
      bn1_(register_module("bn1", nn::BatchNorm2d(64))),
      fc_(nullptr) {
  int64_t in = 64;
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t out = int64_t{64} << stage;
    nn::ModuleList list;
    for (int64_t i = 0; i < 2; ++i) {
      blocks_.push_back(BasicBlock(in, out, stage > 0 && i == 0 ? 2 : 1));
      list->push_back(blocks_.back());
      in = out;
    }
    register_module("layer" + std::to_string(stage + 1), list);
  }
  fc_ = linear("fc", 512, 10);
}

at::Tensor ResNet::loss(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor t = at::relu(bn1_(conv1_(x)));
  for (BasicBlock& block : blocks_) t = block(t);
  return cross_entropy(fc_(t.mean({2, 3})), y);
}

Vae::Vae()
    : enc1_(register_module("enc1", make_conv({.in = 1, .out = 16, .stride = 2, .bias = true}))),
      enc2_(register_module("enc2", make_conv({.in = 16, .out = 32, .stride = 2, .bias = true}))),
      mean_(linear("mu", 1568, 16)),
      log_variance_(linear("logvar", 1568, 16)),
      dec_(linear("dec", 16, 1568)),
      up1_(register_module("dt1", make_conv_transpose({.in = 32, .out = 16, .kernel = 4, .stride = 2, .bias = true}))),
      up2_(register_module("dt2", make_conv_transpose({.in = 16, .out = 1, .kernel = 4, .stride = 2, .bias = true}))) {}

at::Tensor Vae::loss(const at::Tensor& x, const at::Tensor& noise) {
  const at::Tensor h = at::relu(enc2_(at::relu(enc1_(x)))).flatten(1);
  const at::Tensor m = mean_(h), v = log_variance_(h);
  const at::Tensor z = m + noise * at::exp(0.5 * v);
  const at::Tensor image = up2_(at::relu(up1_(at::relu(dec_(z)).view({-1, 32, 7, 7}))));
  const at::Tensor reconstruction = at::binary_cross_entropy_with_logits(image, x, {}, {}, at::Reduction::Sum);
  const at::Tensor divergence = -0.5 * (1 + v - m * m - v.exp()).sum();
  return (reconstruction + divergence) / 64;
}

}  // namespace sapwood::bench
