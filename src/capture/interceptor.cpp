#include "capture/interceptor.h"

#include <ATen/core/TensorBase.h>
#include <c10/core/SafePyObject.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/PyInterpreter.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <memory>

#include "base/error.h"

namespace sapwood::capture {
namespace {

using c10::impl::TorchDispatchModeTLS;
using Mode = c10::impl::PyObject_TorchDispatchMode;

/// Switches the innermost mode off for a scope.
class ModeOff {
 public:
  ModeOff() : mode_(TorchDispatchModeTLS::pop_stack()) {}
  ~ModeOff() { TorchDispatchModeTLS::push_non_infra_mode_onto_stack(mode_); }
  ModeOff(const ModeOff&) = delete;
  ModeOff& operator=(const ModeOff&) = delete;
  const Mode& mode() const { return *mode_; }

 private:
  std::shared_ptr<Mode> mode_;
};

/// The functions that libtorch calls on a dispatch mode. The "object" of a mode is the address of its OpHook; nothing
/// is reference counted. Only `dispatch` and `detach` are ever reached: the others concern tensors that belong to an
/// interpreter, and no tensor belongs to this one.
struct VTable final : c10::impl::PyInterpreterVTable {
  std::string name() const override { return "sapwood"; }
  void incref(PyObject*) const override {}
  void decref(PyObject*) const override {}
  bool try_incref(const c10::impl::PyObjectSlot&) const override { return true; }
  size_t refcnt(PyObject*) const override { return 1; }

  c10::intrusive_ptr<c10::TensorImpl> detach(const c10::TensorImpl* self) const override {
    const ModeOff off;
    return self->shallow_copy_and_detach(/*version_counter=*/0, /*allow_tensor_metadata_change=*/false);
  }
  void dispatch(const c10::OperatorHandle& op, torch::jit::Stack* stack) const override;

  [[noreturn]] static void unreachable() {
    throw_internal("capture", "libtorch asked the recorder about a tensor of its own");
  }
  void reportErrorCallback(PyObject*, c10::DispatchKey) const override {}
  void python_op_registration_trampoline(const c10::OperatorHandle&, c10::DispatchKey, c10::DispatchKeySet,
                                         torch::jit::Stack*, bool, bool) const override {
    unreachable();
  }
  void throw_abstract_impl_not_imported_error(std::string, const char*, const char*) const override {}
  void python_dispatcher(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) const override {
    unreachable();
  }
  bool is_contiguous(const c10::TensorImpl*, at::MemoryFormat) const override { unreachable(); }
  c10::SymBool sym_is_contiguous(const c10::TensorImpl*, at::MemoryFormat) const override { unreachable(); }
  bool is_strides_like(const c10::TensorImpl*, at::MemoryFormat) const override { unreachable(); }
  bool is_non_overlapping_and_dense(const c10::TensorImpl*) const override { unreachable(); }
  c10::Device device(const c10::TensorImpl*) const override { unreachable(); }
  int64_t dim(const c10::TensorImpl*) const override { unreachable(); }
  c10::IntArrayRef strides(const c10::TensorImpl*) const override { unreachable(); }
  c10::IntArrayRef sizes(const c10::TensorImpl*) const override { unreachable(); }
  c10::SymIntArrayRef sym_sizes(const c10::TensorImpl*) const override { unreachable(); }
  c10::Layout layout(const c10::TensorImpl*) const override { unreachable(); }
  int64_t numel(const c10::TensorImpl*) const override { unreachable(); }
  c10::SymInt sym_numel(const c10::TensorImpl*) const override { unreachable(); }
  c10::SymIntArrayRef sym_strides(const c10::TensorImpl*) const override { unreachable(); }
  c10::SymInt sym_storage_offset(const c10::TensorImpl*) const override { unreachable(); }
  void trace_gpu_event_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_deletion(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_record(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_event_wait(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_memory_allocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_memory_deallocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_stream_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_device_synchronization(c10::DeviceType) const override {}
  void trace_gpu_stream_synchronization(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_synchronization(c10::DeviceType, uintptr_t) const override {}
  void reset_backward_hooks(const c10::TensorImpl*) const override {}
};

/// One for the process, never destroyed: libtorch keeps a plain pointer to it in every mode.
c10::impl::PyInterpreter& interpreter() {
  static const VTable vtable;
  static c10::impl::PyInterpreter instance(&vtable);
  return instance;
}

void VTable::dispatch(const c10::OperatorHandle& op, torch::jit::Stack* stack) const {
  const ModeOff off;
  const auto* hook = reinterpret_cast<const OpHook*>(off.mode().ptr(&interpreter()));
  (*hook)(op, stack);
}

}  // namespace

Interceptor::Interceptor(OpHook hook) : hook_(std::move(hook)) {
  auto* object = reinterpret_cast<PyObject*>(&hook_);
  TorchDispatchModeTLS::push_non_infra_mode_onto_stack(std::make_shared<Mode>(object, &interpreter()));
}

Interceptor::~Interceptor() { TorchDispatchModeTLS::pop_stack(); }

}  // namespace sapwood::capture
