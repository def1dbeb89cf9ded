#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/storage_tracker.h"
#include "graph/joint_graph.h"

namespace sapwood::capture {

class SourceLocator;

/// What the recorder made of a step.
struct Recording {
  graph::JointGraph step;
  std::vector<at::Tensor> placeholder_tensors;  ///< behind each placeholder; undefined for scalars
  std::vector<uint64_t>
      value_hashes;     ///< of the first result of each node by node id, 0 if not taken; empty unless asked for
  std::string failure;  ///< why there is no graph; empty if there is one
};

struct RecorderOptions {
  bool hash_values = false;               ///< for comparing two runs node by node
  bool differentiable_constants = false;  ///< leaves that need a gradient may be read without being declared
  bool locate_sources = true;             ///< find the user's source line of each call (needs debug information)
};

/// Records what a step does into one functional graph while the step runs for real.
///
/// Use: declare inputs; `record` the parts in order; read values for outputs; `finish`. Whatever happens to the
/// recording, the step itself runs as it would without: a construct that can't be recorded ends the recording with a
/// reason (`failure`), not the step. One thread. Exceptions of the recorded function pass through.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// See StorageTracker::declare.
  void declare(const at::Tensor& tensor, graph::InputRole role, std::string name, int64_t index = -1);
  /// Runs `fn`; every ATen call of this thread becomes a node of part `part`.
  void record(graph::PartitionerTag part, const std::function<void()>& fn);

  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  void fail(std::string reason);

  /// Building by hand (the optimizer): values, numbers of the host, calls, and writes to tensors. No-ops once failed.
  graph::NodeId read(const at::Tensor& tensor);
  graph::NodeId scalar(std::string name, double value, int64_t index);
  graph::NodeId call(graph::PartitionerTag part, std::string_view target, graph::ArgumentList args,
                     std::vector<std::pair<std::string, graph::Argument>> kwargs, const at::Tensor& like);
  void write(const at::Tensor& tensor, graph::NodeId node);
  /// The placeholder of parameter `index`; fails the recording if the step doesn't read it as a tensor of its own.
  graph::NodeId parameter_node(int64_t index);

  /// Tensors that need a gradient and were found by being read, in placeholder order.
  std::vector<at::Tensor> differentiable_constants() const;
  /// The placeholder behind a tensor that the step reads; kNoNode if it reads none there.
  graph::NodeId placeholder_of(const at::Tensor& tensor) const;

  /// Ends the recording with `outputs`, user outputs first; a write-back is added for every input that was written:
  /// those of the forward behind the user outputs, others last. Dead nodes are removed by the caller.
  Recording finish(std::vector<std::pair<graph::NodeId, graph::OutputSpec>> outputs);

 private:
  struct Call;
  void on_op(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  void fail_host_read(const c10::OperatorHandle& op);
  void record_comparison(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  void record_op(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  void record_functional(const Call& call);
  void record_mutation(const Call& call);
  void record_batch_norm(const Call& call);
  bool record_overwrite(const Call& call);
  void write_results(graph::NodeId node, const Call& call, const std::vector<size_t>& written,
                     const std::vector<c10::IValue>& results);
  void write_value(const at::Tensor& tensor, graph::NodeId node, Geometry geometry, const Geometry& before);
  static std::vector<Geometry> geometries(const Call& call);
  graph::NodeId emit(std::string target, graph::ArgumentList args,
                     std::vector<std::pair<std::string, graph::Argument>> kwargs, graph::Shared<graph::Value> val);
  void define_results(graph::NodeId node, const Call& call, const std::vector<c10::IValue>& results);
  graph::NodeId item(graph::NodeId tuple, int64_t index, graph::Value val);
  graph::NodeId read_argument(const at::Tensor& tensor, bool content_matters);
  graph::Value value_of(const c10::IValue& result, const Call& call);
  void declare_ops();
  void stamp(graph::NodeId node);
  std::string where() const;

  RecorderOptions options_;
  std::unique_ptr<graph::JointGraph> joint_;
  std::unique_ptr<StorageTracker> tracker_;
  std::unique_ptr<SourceLocator> locator_;
  std::unordered_map<int64_t, std::string>
      source_of_sequence_;  // autograd sequence number -> source line of the forward call
  std::vector<uint64_t> hashes_;
  graph::PartitionerTag part_ = graph::PartitionerTag::kForward;
  std::string failure_;
};

}  // namespace sapwood::capture
