#include "runtime/exec/executable.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/error.h"
#include "runtime/exec/finish_program.h"
#include "runtime/exec/launch.h"
#include "runtime/exec/lower_graph.h"
#include "runtime/exec/slots.h"

namespace sapwood::exec {
namespace {

using c10::IValue;

constexpr std::string_view kStage = "exec";

/// A storage that follows one of the caller's tensors.
struct BoundStorage {
  c10::StorageImpl* storage = nullptr;
  int32_t input = -1;
  int64_t offset = 0;  ///< bytes from the region's start to the tensor's first element
};

/// A region whose memory an output has taken over, and the first such output.
struct TakenRegion {
  RegionId region = -1;
  c10::intrusive_ptr<c10::StorageImpl> storage;
  at::Tensor first;
};
using Taken = std::vector<TakenRegion>;

class StepExecutable final : public Executable {
 public:
  StepExecutable(const graph::JointGraph& step, const ExecutableOptions& options) : step_(step), options_(options) {
    if (options_.workspace == nullptr) options_.workspace = std::make_shared<Workspace>();
    program_ = lower_graph(step_, &node_values_);
    finished_ = finish_program(program_, step_, options_);
    find_written_inputs();
    for (const Region& region : program_.regions)
      if (region.placement == Placement::kInput)
        bound_.push_back({region.storage.get(), region.input, region.input_offset});
    place_numbers();
    place_arena();
  }

  std::vector<at::Tensor> run(std::span<const IValue> inputs) override {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    bind(inputs);
    place_arena();
    for (const Launch& launch : finished_.launches) run_launch(launch, inputs, stack_);
    return take_outputs(inputs);
  }

  std::vector<at::Tensor> run_observed(std::span<const IValue> inputs, const Observer& observer) override {
    if (!observed_) {
      observed_ =
          std::make_unique<StepExecutable>(step_, ExecutableOptions{.fuse_pointwise = false, .plan_memory = false});
      observed_->keep_everything();
    }
    return observed_->run_each(inputs, observer);
  }

  const MemoryReport& memory() const override { return finished_.memory; }
  int64_t launches() const override { return static_cast<int64_t>(finished_.launches.size()); }
  int64_t fused_nodes() const override { return finished_.fused_nodes; }

 private:
  void bind(std::span<const IValue> inputs) {
    if (inputs.size() != program_.inputs.size())
      throw_user(kStage, "the step has " + std::to_string(program_.inputs.size()) + " inputs, " +
                             std::to_string(inputs.size()) + " were given");
    for (const BoundStorage& bound : bound_) {
      const IValue& input = inputs[static_cast<size_t>(bound.input)];
      if (!input.isTensor() || !input.toTensor().defined())
        throw_user(kStage, "input '" + program_.inputs[static_cast<size_t>(bound.input)].name + "' must be a tensor");
      char* data = static_cast<char*>(input.toTensor().data_ptr()) - bound.offset;
      if (bound.storage->data() != data) bound.storage->set_data_ptr_noswap(at::DataPtr(data, c10::kCPU));
    }
  }

  void place_numbers() {
    numbers_.resize(program_.regions.size());
    for (size_t r = 0; r < program_.regions.size(); ++r)
      if (program_.regions[r].placement == Placement::kNumber)
        program_.regions[r].storage->set_data_ptr_noswap(at::DataPtr(&numbers_[r], c10::kCPU));
  }

  /// Tells the values in the arena where it is; it moves when another executable needs more of the workspace.
  void place_arena() {
    char* arena = options_.workspace->reserve(static_cast<size_t>(finished_.memory.arena_bytes));
    if (arena == arena_) return;
    arena_ = arena;
    for (const Region& region : program_.regions)
      if (region.placement == Placement::kArena)
        region.storage->set_data_ptr_noswap(at::DataPtr(arena + region.arena_offset, c10::kCPU));
  }

  void find_written_inputs() {
    std::vector<bool> written(program_.inputs.size(), false);
    for (const OutputBinding& output : program_.outputs)
      if (output.role == graph::OutputRole::kWriteBack && output.target >= 0)
        written[static_cast<size_t>(output.target)] = true;
    for (const Call& call : program_.calls)
      for (const ValueId value : call.mutated)
        if (program_.region(value).placement == Placement::kInput)
          written[static_cast<size_t>(program_.region(value).input)] = true;
    for (size_t i = 0; i < written.size(); ++i)
      if (written[i]) written_inputs_.push_back(static_cast<int32_t>(i));
  }

  /// As in-place operators do, so that autograd notices if a graph of the caller's saved an old value.
  void bump_versions(std::span<const IValue> inputs) const {
    for (const int32_t i : written_inputs_) {
      const at::Tensor& tensor = inputs[static_cast<size_t>(i)].toTensor();
      if (!tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
    }
  }

  std::vector<at::Tensor> take_outputs(std::span<const IValue> inputs) {
    bump_versions(inputs);
    std::vector<at::Tensor> outputs(program_.outputs.size());
    Taken taken;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const OutputBinding& output = program_.outputs[i];
      if (output.value == kNoValue || output.role == graph::OutputRole::kWriteBack) continue;
      outputs[i] = take(output.value, inputs, taken);
    }
    return outputs;
  }

  at::Tensor take(ValueId value, std::span<const IValue> inputs, Taken& taken) {
    const at::Tensor& slot = program_.tensor(value);
    const Region& region = program_.region(value);
    if (region.placement == Placement::kConstant) return slot.clone();
    interp::TensorGeometry geometry{
        .sizes = slot.sizes().vec(), .strides = slot.strides().vec(), .offset = slot.storage_offset()};
    if (region.placement == Placement::kInput) {
      const at::Tensor& input = inputs[static_cast<size_t>(region.input)].toTensor();
      const int64_t bytes =
          slot.storage_offset() * slot.itemsize() - region.input_offset + input.storage_offset() * input.itemsize();
      geometry.offset = bytes / slot.itemsize();
      at::Tensor view =
          make_tensor(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(input.storage().unsafeGetStorageImpl()),
                      geometry, slot.scalar_type());
      share_version(input, view);
      return view;
    }
    const RegionId id = program_.region_of(value);
    auto it = std::find_if(taken.begin(), taken.end(), [id](const TakenRegion& entry) { return entry.region == id; });
    if (it == taken.end()) {
      if (region.storage->data() == nullptr && region.bytes > 0)  // never written: the result of an empty-like factory
        region.storage->set_data_ptr_noswap(c10::GetCPUAllocator()->allocate(static_cast<size_t>(region.bytes)));
      auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), region.bytes,
                                                           std::move(region.storage->mutable_data_ptr()),
                                                           c10::GetCPUAllocator(), /*resizable=*/true);
      it = taken.insert(taken.end(), {id, std::move(storage), at::Tensor()});
    }
    at::Tensor output = make_tensor(it->storage, geometry, slot.scalar_type());
    if (it->first.defined())
      share_version(it->first, output);
    else
      it->first = output;
    return output;
  }

  /// Tensors on one memory: autograd must notice if it is written through any of them.
  static void share_version(const at::Tensor& base, const at::Tensor& alias) {
    if (!base.is_inference())
      alias.unsafeGetTensorImpl()->set_version_counter(base.unsafeGetTensorImpl()->version_counter());
  }

  void keep_everything() {
    for (Launch& launch : finished_.launches) launch.releases.clear();
  }

  /// Runs node by node, in graph order, and shows every value.
  std::vector<at::Tensor> run_each(std::span<const IValue> inputs, const Observer& observer) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    bind(inputs);
    size_t next_input = 0;
    size_t next = 0;
    for (const graph::NodeId id : step_.graph.order()) {
      const graph::Node& node = step_.graph[id];
      while (next < finished_.launches.size() && finished_.launch_nodes[next] == id)
        run_launch(finished_.launches[next++], inputs, stack_);
      if (node.kind == graph::NodeKind::kOutput) break;
      observer(node, node.kind == graph::NodeKind::kPlaceholder ? inputs[next_input++] : shown_value(node));
    }
    for (; next < finished_.launches.size(); ++next) run_launch(finished_.launches[next], inputs, stack_);
    return take_outputs(inputs);
  }

  /// A copy of what the node's slots hold; undefined where nothing was written (the result of an empty-like factory).
  IValue shown_value(const graph::Node& node) const {
    const auto copy = [this](ValueId value) {
      if (value == kNoValue || program_.region(value).storage->data() == nullptr) return at::Tensor();
      return program_.tensor(value).clone();
    };
    const std::vector<ValueId>& values = node_values_[static_cast<size_t>(node.id)];
    if (node.tensor() != nullptr && values.size() == 1) return copy(values.front());
    std::vector<IValue> items;
    for (const ValueId value : values) items.emplace_back(copy(value));
    return items.empty() ? IValue() : IValue(c10::ivalue::Tuple::create(std::move(items)));
  }

  graph::JointGraph step_;
  ExecutableOptions options_;
  std::vector<std::vector<ValueId>> node_values_;
  Program program_;
  FinishedProgram finished_;
  std::vector<BoundStorage> bound_;
  std::vector<int32_t> written_inputs_;  ///< placeholders that a run changes
  std::vector<double> numbers_;          ///< by region, where its placement is kNumber
  char* arena_ = nullptr;                ///< where the workspace was when it was last used
  torch::jit::Stack stack_;
  std::unique_ptr<StepExecutable> observed_;
};

}  // namespace

std::unique_ptr<Executable> Executable::build(const graph::JointGraph& step, const ExecutableOptions& options) {
  return std::make_unique<StepExecutable>(step, options);
}

}  // namespace sapwood::exec
