#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"operator.getitem", "", C::kOther, R::kRecompute},
    {"operator.abs", "", C::kScalar, R::kRecompute},
    {"operator.add", "", C::kScalar, R::kRecompute},
    {"operator.and_", "", C::kScalar, R::kRecompute},
    {"operator.eq", "", C::kScalar, R::kRecompute},
    {"operator.floordiv", "", C::kScalar, R::kRecompute},
    {"operator.ge", "", C::kScalar, R::kRecompute},
    {"operator.gt", "", C::kScalar, R::kRecompute},
    {"operator.le", "", C::kScalar, R::kRecompute},
    {"operator.lshift", "", C::kScalar, R::kRecompute},
    {"operator.lt", "", C::kScalar, R::kRecompute},
    {"operator.mod", "", C::kScalar, R::kRecompute},
    {"operator.mul", "", C::kScalar, R::kRecompute},
    {"operator.ne", "", C::kScalar, R::kRecompute},
    {"operator.neg", "", C::kScalar, R::kRecompute},
    {"operator.or_", "", C::kScalar, R::kRecompute},
    {"operator.pos", "", C::kScalar, R::kRecompute},
    {"operator.pow", "", C::kScalar, R::kRecompute},
    {"operator.rshift", "", C::kScalar, R::kRecompute},
    {"operator.sub", "", C::kScalar, R::kRecompute},
    {"operator.truediv", "", C::kScalar, R::kRecompute},
    {"operator.xor", "", C::kScalar, R::kRecompute},
    {"builtins.round", "", C::kScalar, R::kRecompute},
    {"math.ceil", "", C::kScalar, R::kRecompute},
    {"math.floor", "", C::kScalar, R::kRecompute},
    {"math.trunc", "", C::kScalar, R::kRecompute},
    {"torch.sym_float", "", C::kScalar, R::kRecompute},
    {"torch.sym_int", "", C::kScalar},
    {"torch.sym_ite", "", C::kScalar, R::kRecompute},
    {"torch.sym_max", "", C::kScalar, R::kRecompute},
    {"torch.sym_min", "", C::kScalar, R::kRecompute},
    {"torch.sym_not", "", C::kScalar, R::kRecompute},
    {"torch.sym_sum", "", C::kScalar},
    {"torch._sym_acos", "", C::kScalar, R::kRecompute},
    {"torch._sym_asin", "", C::kScalar, R::kRecompute},
    {"torch._sym_atan", "", C::kScalar, R::kRecompute},
    {"torch._sym_cos", "", C::kScalar, R::kRecompute},
    {"torch._sym_cosh", "", C::kScalar, R::kRecompute},
    {"torch._sym_log2", "", C::kScalar, R::kRecompute},
    {"torch._sym_sin", "", C::kScalar, R::kRecompute},
    {"torch._sym_sinh", "", C::kScalar, R::kRecompute},
    {"torch._sym_sqrt", "", C::kScalar, R::kRecompute},
    {"torch._sym_tan", "", C::kScalar, R::kRecompute},
    {"torch._sym_tanh", "", C::kScalar, R::kRecompute},
};
// clang-format on

}  // namespace

std::span<const OpRow> scalar_rows() { return kRows; }

}  // namespace sapwood::ops
