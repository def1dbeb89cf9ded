#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._embedding_bag.default",
     "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
     "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int "
     "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)", C::kIndexing},
    {"aten._embedding_bag_backward.default",
     "aten::_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor "
     "bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
     "per_sample_weights, int padding_idx=-1) -> Tensor", C::kIndexing},
    {"aten._embedding_bag_dense_backward.default",
     "aten::_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor "
     "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int "
     "padding_idx=-1) -> Tensor", C::kIndexing},
    {"aten._embedding_bag_forward_only.default",
     "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
     "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)", C::kIndexing},
    {"aten._embedding_bag_per_sample_weights_backward.default",
     "aten::_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
     "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor", C::kIndexing},
    {"aten._index_put_impl_.default",
     "aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool "
     "unsafe=False) -> Tensor(a!)", C::kIndexing},
    {"aten._index_put_impl_.hacked_twin",
     "aten::_index_put_impl_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False, "
     "bool unsafe=False) -> Tensor(a!)", C::kIndexing},
    {"aten._unsafe_index.Tensor", "aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", C::kIndexing},
    {"aten._unsafe_index.Tensor_hacked_twin",
     "aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", C::kIndexing},
    {"aten._unsafe_index_put.default",
     "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
     C::kIndexing},
    {"aten._unsafe_index_put.hacked_twin",
     "aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor", C::kIndexing},
    {"aten._unsafe_masked_index.default",
     "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor", C::kIndexing},
    {"aten._unsafe_masked_index_put_accumulate.default",
     "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> "
     "Tensor", C::kIndexing},
    {"aten.as_strided_scatter.default",
     "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
     "storage_offset=None) -> Tensor", C::kIndexing},
    {"aten.diagonal_scatter.default",
     "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", C::kIndexing},
    {"aten.diagonal_backward.default",
     "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
     C::kIndexing},
    {"aten.embedding.default",
     "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
     "sparse=False) -> Tensor", C::kIndexing},
    {"aten.embedding_dense_backward.default",
     "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
     "bool scale_grad_by_freq) -> Tensor", C::kIndexing},
    {"aten.embedding_renorm_.default",
     "aten::embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
     C::kIndexing},
    {"aten.gather.default",
     "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
     C::kIndexing, R::kRecompute},
    {"aten.index.Tensor", "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", C::kIndexing, R::kRecompute},
    {"aten.index.Tensor_hacked_twin",
     "aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", C::kIndexing, R::kRecompute},
    {"aten.index.list_Tensor", "aten::index.list_Tensor(Tensor[] self, Tensor el) -> int", C::kIndexing, R::kRecompute},
    {"aten.index_add.default",
     "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", C::kIndexing},
    {"aten.index_copy.default",
     "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", C::kIndexing},
    {"aten.index_copy_.default",
     "aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)", C::kIndexing},
    {"aten.index_fill.int_Tensor",
     "aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", C::kIndexing},
    {"aten.index_fill.int_Scalar",
     "aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", C::kIndexing},
    {"aten.index_fill_.int_Tensor",
     "aten::index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)", C::kIndexing},
    {"aten.index_fill_.int_Scalar",
     "aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)", C::kIndexing},
    {"aten.index_put.default",
     "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", C::kIndexing},
    {"aten.index_put.hacked_twin",
     "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
     C::kIndexing},
    {"aten.index_put_.default",
     "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
     C::kIndexing},
    {"aten.index_put_.hacked_twin",
     "aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor(a!)", C::kIndexing},
    {"aten.index_reduce.default",
     "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) "
     "-> Tensor", C::kIndexing},
    {"aten.index_select.default", "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", C::kIndexing},
    {"aten.masked_scatter.default",
     "aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", C::kIndexing},
    {"aten.masked_scatter_.default",
     "aten::masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)", C::kIndexing},
    {"aten.masked_select.default", "aten::masked_select(Tensor self, Tensor mask) -> Tensor", C::kIndexing},
    {"aten.nonzero.default", "aten::nonzero(Tensor self) -> Tensor", C::kIndexing},
    {"aten.one_hot.default", "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", C::kIndexing},
    {"aten.put.default",
     "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", C::kIndexing},
    {"aten.scatter.value",
     "aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", C::kIndexing},
    {"aten.scatter.src", "aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", C::kIndexing},
    {"aten.scatter.reduce",
     "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", C::kIndexing},
    {"aten.scatter.value_reduce",
     "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
     C::kIndexing},
    {"aten.scatter_.src",
     "aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)", C::kIndexing},
    {"aten.scatter_.value",
     "aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)", C::kIndexing},
    {"aten.scatter_add.default",
     "aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", C::kIndexing},
    {"aten.scatter_add_.default",
     "aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)", C::kIndexing},
    {"aten.scatter_reduce.two",
     "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
     "include_self=True) -> Tensor", C::kIndexing},
    {"aten.segment_reduce.default",
     "aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
     "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor", C::kIndexing},
    {"aten.select_backward.default",
     "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor", C::kIndexing},
    {"aten.select_scatter.default",
     "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", C::kIndexing},
    {"aten.slice_backward.default",
     "aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt "
     "step) -> Tensor", C::kIndexing},
    {"aten.slice_scatter.default",
     "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
     "-> Tensor", C::kIndexing},
    {"aten.take.default", "aten::take(Tensor self, Tensor index) -> Tensor", C::kIndexing},
    {"aten.take_along_dim.default",
     "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", C::kIndexing},
    {"aten.value_selecting_reduction_backward.default",
     "aten::value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, bool keepdim) "
     "-> Tensor", C::kIndexing},
};
// clang-format on

}  // namespace

std::span<const OpRow> indexing_rows() { return kRows; }

}  // namespace sapwood::ops
