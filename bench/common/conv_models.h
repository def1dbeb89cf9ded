#pragma once

#include <vector>

#include "common/model.h"

namespace sapwood::bench {

/// Two 3x3 convolutions with batch norm and a shortcut around them, projected where the shape changes.
class BasicBlockImpl : public torch::nn::Module {
 public:
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride);
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Conv2d conv1_, conv2_, shortcut_{nullptr};
  torch::nn::BatchNorm2d bn1_, bn2_, shortcut_bn_{nullptr};
};
TORCH_MODULE(BasicBlock);

/// W5: ResNet-18 for 32x32 images.
class ResNet : public Model {
 public:
  ResNet();
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) override;

 private:
  torch::nn::Conv2d conv1_;
  torch::nn::BatchNorm2d bn1_;
  std::vector<BasicBlock> blocks_;
  torch::nn::Linear fc_;
};

/// W8: a small convolutional variational autoencoder of 28x28 images; its noise is an input.
class Vae : public Model {
 public:
  Vae();
  at::Tensor loss(const at::Tensor& x, const at::Tensor& noise) override;

 private:
  torch::nn::Conv2d enc1_, enc2_;
  torch::nn::Linear mean_, log_variance_, dec_;
  torch::nn::ConvTranspose2d up1_, up2_;
};

}  // namespace sapwood::bench
