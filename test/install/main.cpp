// A program outside of the project: it sees what an installation has and nothing else.

#include <sapwood/sapwood.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <iostream>

int main() {
  torch::manual_seed(0);
  torch::nn::Linear model(3, 1);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  sapwood::TrainStep step(*model, optimizer, [&](const torch::Tensor& x, const torch::Tensor& y) {
    return torch::mse_loss(model->forward(x), y);
  });
  const torch::Tensor x = torch::randn({32, 3});
  const torch::Tensor y = x.sum(1, true);
  const double first = step(x, y).item<double>();
  double last = first;
  for (int i = 0; i < 50; ++i) last = step(x, y).item<double>();
  std::cout << "sapwood " << sapwood::kVersion << '\n'
            << "loss " << first << " -> " << last << ", replayed " << step.report().replayed_steps << " steps\n";
  return last < 0.01 * first ? 0 : 1;
}
