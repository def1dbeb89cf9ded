// The program of the README: a small network that learns y = sin(x1) * x2.

// [quickstart]
#include <sapwood/sapwood.h>
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(0);
  torch::nn::Sequential model(torch::nn::Linear(2, 64), torch::nn::GELU(), torch::nn::Linear(64, 64), torch::nn::GELU(),
                              torch::nn::Linear(64, 1));
  torch::optim::AdamW optimizer(model->parameters(), 1e-2);

  // Forward and loss. Backward and the optimizer's update are part of every call of `step`.
  sapwood::TrainStep step(*model, optimizer, [&](const torch::Tensor& x, const torch::Tensor& y) {
    return torch::mse_loss(model->forward(x), y);
  });

  double first = 0, last = 0;
  for (int i = 0; i < 300; ++i) {
    torch::Tensor x = torch::randn({128, 2});
    torch::Tensor y = (x.select(1, 0).sin() * x.select(1, 1)).unsqueeze(1);
    last = step(x, y).item<double>();  // the first call records the step, later ones replay it
    if (i == 0) first = last;
  }
  std::cout << "loss " << first << " -> " << last << "\n\n" << step.report();
  return last < 0.1 * first ? 0 : 1;
}
// [/quickstart]
