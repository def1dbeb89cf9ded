// What the executor adds to the kernels it calls, and what a fused update costs.
// Writes rows {bench, case, system, threads, metric, value, unit, better} to the path given, or to
// build/bench/exec_overhead.json.

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>

#include "common/rows.h"
#include "graph/joint_graph.h"
#include "runtime/exec/executable.h"

namespace {

using sapwood::bench::Row;
using sapwood::exec::Executable;
using sapwood::graph::Argument;
using sapwood::graph::ArgumentList;
using sapwood::graph::JointGraph;
using sapwood::graph::NodeId;
using sapwood::graph::TensorMeta;

TensorMeta meta(const std::vector<int64_t>& sizes) {
  TensorMeta tensor;
  tensor.shape.assign(sizes.begin(), sizes.end());
  return tensor;
}

/// Best time of one call in nanoseconds: many calls per round, the fastest round counts.
double nanoseconds(int64_t calls, const std::function<void()>& work) {
  double best = INFINITY;
  for (int round = 0; round < 30; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < calls; ++i) work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / static_cast<double>(calls));
  }
  return best;
}

struct Results {
  std::vector<Row> rows;
  void add(const std::string& name, const std::string& system, double value, const std::string& unit) {
    rows.push_back({"exec_overhead", name, system, at::get_num_threads(), "time", value, unit, "lower"});
    std::cout << name << " " << system << ": " << sapwood::bench::format_number(value) << " " << unit << "\n";
  }
};

constexpr int kChain = 200;

/// A chain of `kChain` launches of an operator with small operands.
struct Chain {
  std::string target;
  std::vector<int64_t> sizes;
  bool binary = false;
  std::function<void(at::Tensor&, const at::Tensor&, const at::Tensor&)> direct;  ///< out, previous, first
};

JointGraph chain_step(const Chain& chain) {
  JointGraph step;
  const NodeId x = step.graph.placeholder("x", sapwood::graph::Value(meta(chain.sizes)));
  NodeId last = x;
  for (int i = 0; i < kChain; ++i) {
    ArgumentList args{Argument::node(last)};
    if (chain.binary) args.push_back(Argument::node(x));
    last = step.graph.call(chain.target, std::move(args), sapwood::graph::Value(meta(chain.sizes)));
  }
  step.graph.output({last});
  return step;
}

void measure_chain(const Chain& chain, Results& results) {
  const at::Tensor x = at::rand(chain.sizes) * 0.1;
  std::array<at::Tensor, 2> out{at::empty(chain.sizes), at::empty(chain.sizes)};
  const double direct = nanoseconds(20, [&] {
    chain.direct(out[1], x, x);
    for (int i = 1; i < kChain; ++i)
      chain.direct(out[static_cast<size_t>(i % 2 == 0)], out[static_cast<size_t>(i % 2 != 0)], x);
  });
  const auto executable = Executable::build(chain_step(chain), {.fuse_pointwise = false, .plan_memory = true});
  const std::vector<c10::IValue> inputs{x};
  const double executed = nanoseconds(20, [&] { executable->run(inputs); });
  results.add("launch/" + chain.target, "out_variant", direct / kChain, "ns");
  results.add("launch/" + chain.target, "sapwood", executed / kChain, "ns");
}

// AdamW.

/// Parameters of a small MLP: 84,810 numbers in 8 tensors.
const std::vector<std::vector<int64_t>> kShapes{{256, 128}, {256}, {256}, {256}, {192, 256}, {192}, {10, 192}, {10}};
constexpr double kDecay = 1 - 1e-3 * 0.01;
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;

struct Parameter {
  at::Tensor p, m, v, g;
};

std::vector<Parameter> parameters() {
  std::vector<Parameter> list;
  for (const auto& shape : kShapes)
    list.push_back({at::randn(shape), at::zeros(shape), at::zeros(shape), at::randn(shape) * 0.01});
  return list;
}

/// As torch::optim::AdamW does it.
void eager_adamw(std::vector<Parameter>& list, double bias, double rate) {
  for (Parameter& x : list) {
    x.p.mul_(kDecay);
    x.m.mul_(kBeta1).add_(x.g, 1 - kBeta1);
    x.v.mul_(kBeta2).addcmul_(x.g, x.g, 1 - kBeta2);
    const at::Tensor denominator = (x.v.sqrt() / bias).add_(1e-8);
    x.p.addcdiv_(x.m, denominator, -rate);
  }
}

class AdamWStep {
 public:
  JointGraph build() {
    bias_ = input("bias", std::nullopt);
    rate_ = input("rate", std::nullopt);
    for (const auto& shape : kShapes) update(shape);
    step_.graph.output(results_);
    return step_;
  }

 private:
  NodeId input(const std::string& name, std::optional<TensorMeta> tensor) {
    using sapwood::graph::Value;
    const std::string unique = step_.graph.unique_name(name);
    return step_.graph.placeholder(unique, tensor ? Value(*tensor) : Value(sapwood::graph::SymFloatValue{unique, 0.5}));
  }
  void writes(NodeId target, NodeId value) {
    results_.push_back(value);
    step_.outputs.push_back({sapwood::graph::OutputRole::kWriteBack, target});
  }
  NodeId call(const std::string& target, ArgumentList args, const TensorMeta& tensor,
              std::vector<std::pair<std::string, Argument>> keywords = {}) {
    const NodeId id = step_.graph.call(target, std::move(args), sapwood::graph::Value(tensor));
    step_.graph.set_kwargs(id, std::move(keywords));
    step_.graph.meta(id).partitioner_tag = sapwood::graph::PartitionerTag::kOptimizer;
    return id;
  }
  void update(const std::vector<int64_t>& shape) {
    const TensorMeta t = meta(shape);
    const auto arg = [](NodeId id) { return Argument::node(id); };
    const NodeId p = input("p", t), m = input("m", t), v = input("v", t), g = input("g", t);
    const NodeId decayed = call("aten.mul.Tensor", {arg(p), kDecay}, t);
    const NodeId m1 = call("aten.mul.Tensor", {arg(m), kBeta1}, t);
    const NodeId m2 = call("aten.add.Tensor", {arg(m1), arg(g)}, t, {{"alpha", 1 - kBeta1}});
    const NodeId v1 = call("aten.mul.Tensor", {arg(v), kBeta2}, t);
    const NodeId v2 = call("aten.addcmul.default", {arg(v1), arg(g), arg(g)}, t, {{"value", 1 - kBeta2}});
    const NodeId root = call("aten.sqrt.default", {arg(v2)}, t);
    const NodeId scaled = call("aten.div.Tensor", {arg(root), arg(bias_)}, t);
    const NodeId denominator = call("aten.add.Tensor", {arg(scaled), 1e-8}, t);
    writes(p, call("aten.addcdiv.default", {arg(decayed), arg(m2), arg(denominator)}, t, {{"value", arg(rate_)}}));
    writes(m, m2);
    writes(v, v2);
  }

  JointGraph step_;
  NodeId bias_ = 0, rate_ = 0;
  std::vector<NodeId> results_;
};

void measure_adamw(Results& results) {
  std::vector<Parameter> list = parameters();
  results.add("adamw/85k in 8 tensors", "eager", nanoseconds(10, [&] { eager_adamw(list, 0.5, 1e-5); }) / 1000, "us");
  std::vector<c10::IValue> inputs{0.5, -1e-5};
  for (const Parameter& x : list)
    for (const at::Tensor& tensor : {x.p, x.m, x.v, x.g}) inputs.emplace_back(tensor);
  const auto executable = Executable::build(AdamWStep().build(), {});
  results.add("adamw/85k in 8 tensors", "sapwood", nanoseconds(20, [&] { executable->run(inputs); }) / 1000, "us");
}

}  // namespace

int main(int argc, char** argv) {
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  Results results;
  using T = at::Tensor;
  measure_chain({"aten.exp.default", {8}, false, [](T& o, const T& a, const T&) { at::exp_out(o, a); }}, results);
  measure_chain({"aten.add.Tensor", {8}, true, [](T& o, const T& a, const T& b) { at::add_out(o, a, b); }}, results);
  measure_chain({"aten.mul.Tensor", {8}, true, [](T& o, const T& a, const T& b) { at::mul_out(o, a, b); }}, results);
  measure_chain({"aten.mm.default", {8, 8}, true, [](T& o, const T& a, const T& b) { at::mm_out(o, a, b); }}, results);
  measure_adamw(results);
  sapwood::bench::write_rows(argc > 1 ? argv[1] : "build/bench/exec_overhead.json", results.rows);
}
