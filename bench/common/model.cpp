#include "common/model.h"

namespace sapwood::bench {

torch::nn::Linear Model::linear(const std::string& name, int64_t in, int64_t out, bool bias) {
  return register_module(name, torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias)));
}

torch::nn::Conv2d make_conv(const ConvShape& shape) {
  auto options = torch::nn::Conv2dOptions(shape.in, shape.out, shape.kernel);
  return torch::nn::Conv2d(options.stride(shape.stride).padding(shape.padding).bias(shape.bias));
}

torch::nn::ConvTranspose2d make_conv_transpose(const ConvShape& shape) {
  auto options = torch::nn::ConvTranspose2dOptions(shape.in, shape.out, shape.kernel);
  return torch::nn::ConvTranspose2d(options.stride(shape.stride).padding(shape.padding).bias(shape.bias));
}

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& target) {
  return torch::nn::functional::cross_entropy(logits.flatten(0, -2), target.flatten());
}

}  // namespace sapwood::bench
