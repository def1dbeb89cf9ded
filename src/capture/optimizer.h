#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/recorder.h"

namespace sapwood::capture {

/// A torch::optim optimizer whose update Sapwood can say as a graph. The user's object stays the owner of options and
/// state: they are read on every step, and the step count is kept there. Not thread-safe.
class OptimizerProgram {
 public:
  /// SGD, Adam and AdamW, exactly these classes: a derived class may do anything. Null for others. `optimizer` must
  /// outlive the program.
  static std::unique_ptr<OptimizerProgram> recognise(torch::optim::Optimizer& optimizer);
  explicit OptimizerProgram(torch::optim::Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~OptimizerProgram() = default;

  /// Emits the update of every parameter that has a gradient, in the operator order of torch::optim. Call after
  /// `optimizer.step()`, while the gradients are still there: the state exists then. `name_of` names a parameter in the
  /// report.
  void emit(Recorder& recorder, const std::function<std::string(const at::Tensor&)>& name_of);

  /// Appends all that decides the shape of the update: which options are on, which parameters have state, which share a
  /// step count.
  void append_structure(std::vector<int64_t>& key) const;
  /// State tensor `index` as the optimizer holds it now (InputSpec::index of role kState). Pre: the structure is that
  /// of `emit`.
  at::Tensor state_tensor(int64_t index) const;
  /// Fills `values` with the scalar inputs of the coming step, by InputSpec::index of role kScalar.
  void scalars(std::vector<double>& values) const;
  /// Counts one step in the state of every parameter that the program updates.
  void advance();

 protected:
  /// A parameter that takes part, and the set of scalars that it uses.
  struct Slot {
    at::Tensor parameter;
    size_t group = 0;
    size_t scalar_set = 0;
  };
  /// Parameters with equal group and step count use the same numbers.
  struct ScalarSet {
    size_t group = 0;
    at::Tensor parameter;  ///< the first of them
    int64_t earlier = 0;   ///< updates that the same step has made to it before: a parameter may be listed twice
    std::vector<graph::NodeId> nodes;
  };

  torch::optim::OptimizerParamState* state_of(const at::Tensor& parameter) const;
  graph::Argument number(const Slot& slot, size_t which) const;
  size_t scalar_set(Recorder& recorder, size_t group, const at::Tensor& parameter, int64_t earlier);
  int64_t steps_of(const at::Tensor& parameter) const;
  void declare_state(Recorder& recorder, const at::Tensor& parameter, const std::string& name);

  virtual std::vector<std::string> scalar_names() const = 0;
  /// The numbers of `scalar_names` for options and the count of the step to come.
  virtual std::vector<double> scalar_values(const torch::optim::OptimizerOptions& options, int64_t step) const = 0;
  virtual void append_options(const torch::optim::OptimizerOptions& options, std::vector<int64_t>& key) const = 0;
  virtual std::vector<std::pair<std::string, at::Tensor>> tensors(
      const torch::optim::OptimizerParamState& state) const = 0;
  virtual int64_t* step_count(
      torch::optim::OptimizerParamState& state) const = 0;  ///< null: the optimizer doesn't count
  virtual void emit_update(Recorder& recorder, const Slot& slot) = 0;

  torch::optim::Optimizer& optimizer_;
  std::vector<Slot> slots_;
  std::vector<ScalarSet> sets_;
  std::vector<std::pair<size_t, size_t>> state_index_;  ///< state input -> slot, which of its tensors
};

}  // namespace sapwood::capture
