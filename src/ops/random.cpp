#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._fused_dropout.default",
     "aten::_fused_dropout(Tensor self, float p, Generator? generator=None) -> (Tensor, Tensor)",
     C::kRandom, R::kNever, kDraws},
    {"aten._masked_scale.default", "aten::_masked_scale(Tensor self, Tensor mask, float scale) -> Tensor", C::kRandom},
    {"aten._standard_gamma.default",
     "aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten._dirichlet_grad.default",
     "aten::_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", C::kRandom},
    {"aten.alpha_dropout.default",
     "aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.bernoulli.default",
     "aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.bernoulli.p",
     "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.bernoulli.Tensor",
     "aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.binomial.default",
     "aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.dropout.default",
     "aten::dropout(Tensor input, float p, bool train) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.dropout_.default",
     "aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", C::kRandom, R::kNever, kDraws},
    {"aten.exponential.default",
     "aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.feature_dropout.default",
     "aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.multinomial.default",
     "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> "
     "Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.native_dropout.default",
     "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", C::kRandom, R::kRandom, kDraws},
    {"aten.normal.Tensor_float",
     "aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.normal.float_Tensor",
     "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.normal.Tensor_Tensor",
     "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.normal.float_float",
     "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.normal_functional.default",
     "aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.poisson.default",
     "aten::poisson(Tensor self, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.rand.default",
     "aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.rand.generator",
     "aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.rand_like.default",
     "aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kRandom, R::kRandom, kDraws},
    {"aten.rand_like.generator",
     "aten::rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     C::kRandom, R::kRandom, kDraws},
    {"aten.randint.default",
     "aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randint.generator",
     "aten::randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randint.low",
     "aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randint.low_generator",
     "aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? "
     "dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.randint_like.default",
     "aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randint_like.Tensor",
     "aten::randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randint_like.low_dtype",
     "aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.randint_like.generator",
     "aten::randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.randint_like.Tensor_generator",
     "aten::randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randint_like.low_generator_dtype",
     "aten::randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randn.default",
     "aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randn.generator",
     "aten::randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randn_like.default",
     "aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor", C::kRandom, R::kRandom, kDraws},
    {"aten.randn_like.generator",
     "aten::randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     C::kRandom, R::kRandom, kDraws},
    {"aten.random.from",
     "aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
    {"aten.random.to",
     "aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.random.default",
     "aten::random(Tensor self, *, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randperm.default",
     "aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.randperm.generator",
     "aten::randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.rrelu.default",
     "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, "
     "Generator? generator=None) -> Tensor", C::kRandom, R::kRecompute, kDraws},
    {"aten.rrelu_with_noise.default",
     "aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
     "bool training=False, Generator? generator=None) -> Tensor", C::kRandom, R::kNever, kDraws},
    {"aten.rrelu_with_noise_functional.default",
     "aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar "
     "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)",
     C::kRandom, R::kNever, kDraws},
    {"aten.uniform.default",
     "aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor",
     C::kRandom, R::kNever, kDraws},
};
// clang-format on

}  // namespace

std::span<const OpRow> random_rows() { return kRows; }

}  // namespace sapwood::ops
