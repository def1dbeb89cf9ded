#include "common/workload.h"

#include <array>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "common/conv_models.h"
#include "common/dense_models.h"
#include "common/gpt_model.h"
#include "common/npz.h"

namespace sapwood::bench {

namespace {

using ModelPtr = std::shared_ptr<Model>;
using OptimizerPtr = std::unique_ptr<torch::optim::Optimizer>;

/// How a workload is made. Layers of torch::nn initialise themselves as the workloads ask, U(-1/sqrt(fan_in),
/// 1/sqrt(fan_in)).
struct Recipe {
  std::string_view id, name;
  int64_t batch;
  std::function<ModelPtr()> model;
  std::function<Batch(int64_t batch)> data;
  std::function<OptimizerPtr(std::vector<at::Tensor>)> optimizer;
};

OptimizerPtr adamw(std::vector<at::Tensor> parameters) {
  const auto options = torch::optim::AdamWOptions(1e-3).weight_decay(0.01);
  return std::make_unique<torch::optim::AdamW>(std::move(parameters), options);
}

OptimizerPtr adam(std::vector<at::Tensor> parameters) {
  return std::make_unique<torch::optim::Adam>(std::move(parameters), torch::optim::AdamOptions(1e-3));
}

OptimizerPtr sgd(std::vector<at::Tensor> parameters) {
  return std::make_unique<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(0.01).momentum(0.9));
}

at::Tensor classes(int64_t count, at::IntArrayRef shape) { return at::randint(count, shape, at::kLong); }

std::function<ModelPtr()> gpt(const GptShape& shape) {
  return [shape] {
    auto model = std::make_shared<Gpt>(shape);
    initialise_gpt(*model, shape.layers);
    return model;
  };
}

ModelPtr lstm() {
  auto model = std::make_shared<LstmTagger>();
  const at::NoGradGuard no_grad;
  model->named_parameters()["emb.weight"].normal_(0.0, 0.1);
  return model;
}

const std::array<Recipe, 9>& recipes() {
  static const std::array<Recipe, 9> table{{
      {"W0", "call-overhead", 4, [] { return std::make_shared<Mlp>(4, 4, 4); },
       [](int64_t n) { return Batch{at::randn({n, 4}), classes(4, {n})}; }, adamw},
      {"W1", "mlp-tiny", 32, [] { return std::make_shared<Mlp>(64, 256, 10); },
       [](int64_t n) { return Batch{at::randn({n, 64}), classes(10, {n})}; }, adamw},
      {"W2", "mlp-wide", 128, [] { return std::make_shared<WideMlp>(0.1); },
       [](int64_t n) { return Batch{at::randn({n, 784}), classes(10, {n})}; }, sgd},
      {"W3", "chargpt-small", 12, gpt({.vocabulary = 96, .context = 64, .layers = 4, .heads = 4, .width = 128}),
       [](int64_t n) { return Batch{classes(96, {n, 64}), classes(96, {n, 64})}; }, adamw},
      {"W4", "chargpt-medium", 4, gpt({.vocabulary = 96, .context = 256, .layers = 6, .heads = 6, .width = 384}),
       [](int64_t n) { return Batch{classes(96, {n, 256}), classes(96, {n, 256})}; }, adamw},
      {"W5", "resnet18-cifar", 32, [] { return std::make_shared<ResNet>(); },
       [](int64_t n) { return Batch{at::randn({n, 3, 32, 32}), classes(10, {n})}; }, sgd},
      {"W6", "lstm", 16, lstm, [](int64_t n) { return Batch{classes(96, {32, n}), classes(96, {32, n})}; }, adamw},
      {"W7", "pointwise", 256, [] { return std::make_shared<Pointwise>(); },
       [](int64_t n) { return Batch{at::randn({n, 1024}), at::randn({n, 1024})}; }, sgd},
      {"W8", "vae-conv-small", 64, [] { return std::make_shared<Vae>(); },
       [](int64_t n) { return Batch{at::rand({n, 1, 28, 28}), at::randn({n, 16})}; }, adam},
  }};
  return table;
}

const Recipe& find_recipe(std::string_view id) {
  std::string known;
  for (const Recipe& recipe : recipes()) {
    if (recipe.id == id) return recipe;
    known += (known.empty() ? "" : ", ") + std::string(recipe.id);
  }
  throw std::invalid_argument("no workload " + std::string(id) + "; there are " + known);
}

void load_values(Workload& workload, const std::filesystem::path& file) {
  const auto arrays = read_npz(file);
  const auto at = [&](const std::string& key) {
    const auto found = arrays.find(key);
    if (found == arrays.end()) throw std::runtime_error(file.string() + " has no array " + key);
    return found->second;
  };
  const at::NoGradGuard no_grad;
  for (auto& parameter : workload.model->named_parameters()) parameter.value().copy_(at(parameter.key()));
  for (size_t i = 0; i < workload.batches.size(); ++i) {
    const std::string number = std::to_string(i);
    workload.batches[i] = {at("x" + number), at("y" + number)};
  }
}

}  // namespace

SeedScope::SeedScope(uint64_t seed) : state_(at::detail::getDefaultCPUGenerator().get_state()) {
  torch::manual_seed(seed);
}

SeedScope::~SeedScope() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(state_);
}

std::vector<std::string> workload_ids() {
  std::vector<std::string> ids;
  for (const Recipe& recipe : recipes()) ids.emplace_back(recipe.id);
  return ids;
}

void initialise_gpt(Model& model, int64_t layers) {
  const at::NoGradGuard no_grad;
  const double residual_std = 0.02 / std::sqrt(2.0 * static_cast<double>(layers));
  for (auto& parameter : model.named_parameters()) {
    if (parameter.value().dim() < 2) continue;
    const std::string& name = parameter.key();
    const bool into_residual = name.ends_with("proj.weight") || name.ends_with("fc2.weight");
    parameter.value().normal_(0.0, into_residual ? residual_std : 0.02);
  }
}

Workload make_workload(std::string_view id, const WorkloadOptions& options) {
  const Recipe& recipe = find_recipe(id);
  const SeedScope seed(1000 + static_cast<uint64_t>(id[1] - '0'));
  Workload workload;
  workload.id = id;
  workload.name = recipe.name;
  workload.model = recipe.model();
  const int64_t batch = options.batch > 0 ? options.batch : recipe.batch;
  for (int i = 0; i < 4; ++i) workload.batches.push_back(recipe.data(batch));
  if (options.data) load_values(workload, *options.data / (workload.id + ".npz"));
  workload.optimizer = recipe.optimizer(workload.model->parameters());
  return workload;
}

}  // namespace sapwood::bench
