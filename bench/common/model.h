#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace sapwood::bench {

/// A network together with its loss: what one training step of a workload differentiates.
class Model : public torch::nn::Module {
 public:
  /// The scalar loss of a batch. `y` is the target, or for W8 the noise of the latent.
  virtual at::Tensor loss(const at::Tensor& x, const at::Tensor& y) = 0;

 protected:
  /// A registered linear layer.
  torch::nn::Linear linear(const std::string& name, int64_t in, int64_t out, bool bias = true);
};

/// Shape of a square convolution.
struct ConvShape {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 1;
  bool bias = false;
};

torch::nn::Conv2d make_conv(const ConvShape& shape);
torch::nn::ConvTranspose2d make_conv_transpose(const ConvShape& shape);

/// Mean cross entropy of logits `[..., classes]` against class numbers of the leading shape.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& target);

}  // namespace sapwood::bench
