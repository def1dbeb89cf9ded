#include "common/state.h"

#include <torch/torch.h>

#include <cstring>
#include <set>
#include <sstream>

namespace sapwood::bench {

namespace {

using ParamState = torch::optim::OptimizerParamState;

void append(NamedState& out, const std::string& what, const std::string& owner, const at::Tensor& value) {
  if (value.defined()) out.emplace_back(what + " of " + owner, value);
}

/// Adam and AdamW keep the same fields in unrelated types.
template <typename State>
bool append_adam(NamedState& out, const std::string& owner, ParamState& state) {
  auto* s = dynamic_cast<State*>(&state);
  if (s == nullptr) return false;
  append(out, "step", owner, at::scalar_tensor(s->step(), at::kLong));
  append(out, "exp_avg", owner, s->exp_avg());
  append(out, "exp_avg_sq", owner, s->exp_avg_sq());
  append(out, "max_exp_avg_sq", owner, s->max_exp_avg_sq());
  return true;
}

void append_state(NamedState& out, const std::string& owner, ParamState& state) {
  if (append_adam<torch::optim::AdamParamState>(out, owner, state)) return;
  if (append_adam<torch::optim::AdamWParamState>(out, owner, state)) return;
  if (auto* sgd = dynamic_cast<torch::optim::SGDParamState*>(&state)) {
    append(out, "momentum_buffer", owner, sgd->momentum_buffer());
  } else if (auto* rms = dynamic_cast<torch::optim::RMSpropParamState*>(&state)) {
    append(out, "step", owner, at::scalar_tensor(rms->step(), at::kLong));
    append(out, "square_avg", owner, rms->square_avg());
    append(out, "momentum_buffer", owner, rms->momentum_buffer());
    append(out, "grad_avg", owner, rms->grad_avg());
  }
}

std::string describe_difference(const at::Tensor& a, const at::Tensor& b) {
  std::ostringstream out;
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    out << a.toString() << a.sizes() << " against " << b.toString() << b.sizes();
    return out.str();
  }
  const at::Tensor distance = (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs();
  out << (distance != 0).sum().item<int64_t>() << " of " << a.numel() << " elements differ, by "
      << distance.max().item<double>() << " at most";
  return out.str();
}

}  // namespace

NamedState named_state(const torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  NamedState out;
  const auto parameters = module.named_parameters();
  for (const auto& parameter : parameters) out.emplace_back("parameter " + parameter.key(), parameter.value());
  for (const auto& buffer : module.named_buffers()) out.emplace_back("buffer " + buffer.key(), buffer.value());
  auto& states = optimizer.state();
  for (const auto& parameter : parameters) {
    const auto found = states.find(parameter.value().unsafeGetTensorImpl());
    if (found != states.end()) append_state(out, parameter.key(), *found->second);
  }
  return out;
}

NamedState cloned(const NamedState& state) {
  NamedState out;
  for (const auto& [name, value] : state) out.emplace_back(name, value.detach().clone());
  return out;
}

bool bit_equal(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const at::Tensor left = a.detach().contiguous(), right = b.detach().contiguous();
  return std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

std::string first_difference(const NamedState& a, const NamedState& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].first != b[i].first) return a[i].first + " against " + b[i].first;
    if (!bit_equal(a[i].second, b[i].second)) return a[i].first + ": " + describe_difference(a[i].second, b[i].second);
  }
  if (a.size() > b.size()) return a[b.size()].first + " exists only on one side";
  if (b.size() > a.size()) return b[a.size()].first + " exists only on one side";
  return {};
}

int64_t storage_bytes(const std::vector<at::Tensor>& tensors) {
  std::set<const void*> seen;
  int64_t bytes = 0;
  for (const at::Tensor& t : tensors) {
    if (!t.defined() || !seen.insert(t.storage().unsafeGetStorageImpl()).second) continue;
    bytes += static_cast<int64_t>(t.storage().nbytes());
  }
  return bytes;
}

}  // namespace sapwood::bench
