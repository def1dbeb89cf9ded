#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._efficientzerotensor.default",
     "aten::_efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.arange.default",
     "aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.arange.start",
     "aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.arange.start_step",
     "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.empty.memory_format",
     "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.empty_like.default",
     "aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.empty_permuted.default",
     "aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.empty_strided.default",
     "aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.eye.default",
     "aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kCreation},
    {"aten.eye.m",
     "aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kCreation},
    {"aten.fill.Scalar", "aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", C::kCreation},
    {"aten.fill.Tensor", "aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", C::kCreation},
    {"aten.full.default",
     "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.full_like.default",
     "aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.hann_window.default",
     "aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.hann_window.periodic",
     "aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.linspace.Tensor_Tensor",
     "aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.linspace.Tensor_Scalar",
     "aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.linspace.Scalar_Tensor",
     "aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.linspace.default",
     "aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.logspace.Tensor_Tensor",
     "aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.logspace.Tensor_Scalar",
     "aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.logspace.Scalar_Tensor",
     "aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.logspace.default",
     "aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.new_empty.default",
     "aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.new_empty_strided.default",
     "aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.new_full.default",
     "aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.new_ones.default",
     "aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.new_zeros.default",
     "aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.ones.default",
     "aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.ones_like.default",
     "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kCreation},
    {"aten.scalar_tensor.default",
     "aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.tril_indices.default",
     "aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.triu_indices.default",
     "aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kCreation},
    {"aten.vander.default", "aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", C::kCreation},
    {"aten.zero.default", "aten::zero(Tensor self) -> Tensor", C::kCreation},
    {"aten.zeros.default",
     "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kCreation, R::kRecompute},
    {"aten.zeros_like.default",
     "aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kCreation, R::kRecompute},
};
// clang-format on

}  // namespace

std::span<const OpRow> creation_rows() { return kRows; }

}  // namespace sapwood::ops
