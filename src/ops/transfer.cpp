#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// The waits and the stream operators have effects: what reads memory after them relies on their place, and most have
// no reader at all. A copy that nothing waits for may be dropped.

// clang-format off
constexpr OpRow kRows[] = {
    {"ao.offload.default", "ao::offload(Tensor tensor) -> Tensor", C::kCopy},
    {"ao.reload.default",
     "ao::reload(Tensor tensor, Device device, SymInt[]? original_size=None, SymInt[]? original_stride=None) -> "
     "Tensor", C::kCopy},
    {"ao.wait_tensor.default",
     "ao::wait_tensor(Tensor(a) tensor, Tensor? keepalive=None, Tensor? last_use_of_storage=None) -> Tensor(a)",
     C::kOther, R::kNever, kEffect},
    {"streams.fork.default",
     "streams::fork(SymInt from_index, SymInt to_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.join.default",
     "streams::join(SymInt from_index, SymInt to_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.record_event.default",
     "streams::record_event(SymInt event_index, SymInt stream_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.wait_event.default",
     "streams::wait_event(SymInt event_index, SymInt stream_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.wait_stream.default",
     "streams::wait_stream(SymInt waiting_stream_index, SymInt waited_on_stream_index) -> ()",
     C::kOther, R::kNever, kEffect},
    {"streams.record_stream.default",
     "streams::record_stream(Tensor tensor, SymInt stream_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.sync_dealloc.default",
     "streams::sync_dealloc(SymInt wait_event_index, SymInt src_stream_index, Tensor to_dealloc) -> ()",
     C::kOther, R::kNever, kEffect},
    {"streams.synchronize_event.default",
     "streams::synchronize_event(SymInt event_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.synchronize_stream.default",
     "streams::synchronize_stream(SymInt stream_index) -> ()", C::kOther, R::kNever, kEffect},
    {"streams.synchronize_device.default",
     "streams::synchronize_device(str device_type, SymInt device_index) -> ()", C::kOther, R::kNever, kEffect},
};
// clang-format on

}  // namespace

std::span<const OpRow> transfer_rows() { return kRows; }

}  // namespace sapwood::ops
