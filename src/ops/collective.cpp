#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"_c10d_functional.all_gather_into_tensor.default",
     "_c10d_functional::all_gather_into_tensor(Tensor input, int group_size, Any group_name) -> Tensor",
     C::kCollective},
    {"_c10d_functional.all_gather_into_tensor_coalesced.default",
     "_c10d_functional::all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, Any group_name) -> "
     "Tensor[]", C::kCollective},
    {"_c10d_functional.all_reduce.default",
     "_c10d_functional::all_reduce(Tensor input, str reduce_op, Any group_name) -> Tensor", C::kCollective},
    {"_c10d_functional.all_reduce_.default",
     "_c10d_functional::all_reduce_(Tensor(a!) input, str reduce_op, Any group_name) -> Tensor(a!)",
     C::kCollective, R::kNever, kEffect},
    {"_c10d_functional.all_reduce_coalesced.default",
     "_c10d_functional::all_reduce_coalesced(Tensor[] inputs, str reduce_op, Any group_name) -> Tensor[]",
     C::kCollective},
    {"_c10d_functional.all_to_all_single.default",
     "_c10d_functional::all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, "
     "Any group_name) -> Tensor", C::kCollective},
    {"_c10d_functional.broadcast.default",
     "_c10d_functional::broadcast(Tensor input, int src, Any group_name) -> Tensor", C::kCollective},
    {"_c10d_functional.broadcast_.default",
     "_c10d_functional::broadcast_(Tensor(a!) input, int src, Any group_name) -> Tensor(a!)",
     C::kCollective, R::kNever, kEffect},
    {"_c10d_functional.reduce_scatter_tensor.default",
     "_c10d_functional::reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor",
     C::kCollective},
    {"_c10d_functional.reduce_scatter_tensor_coalesced.default",
     "_c10d_functional::reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int group_size, Any "
     "group_name) -> Tensor[]", C::kCollective},
    {"_c10d_functional.wait_tensor.default",
     "_c10d_functional::wait_tensor(Tensor tensor) -> Tensor", C::kCollective, R::kNever, kEffect},
};
// clang-format on

}  // namespace

std::span<const OpRow> collective_rows() { return kRows; }

}  // namespace sapwood::ops
