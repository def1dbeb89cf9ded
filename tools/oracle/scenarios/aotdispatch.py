"""Splits of small functions, as tests of AOTAutograd state them."""

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import CheckpointPolicy, checkpoint

from . import marked, scenario
from ..features import leaf, train
from ..features.effects import ops as effectful

aten = torch.ops.aten
SAVE, RECOMPUTE = CheckpointPolicy.MUST_SAVE, CheckpointPolicy.MUST_RECOMPUTE


def symbolic():
    return scenario(options={"dynamic"})


@scenario()
def pa1_sines(compiled):
    train(compiled.direct(lambda a, b: torch.sin(torch.sin(a)) + b), leaf(2), leaf(2))


@scenario(edit=marked(RECOMPUTE, aten.sin.default, aten.cos.default))
def pa2_forced_recomputation(compiled):
    train(compiled.direct(lambda x, y: torch.mm(x.cos().sin(), y).sin()), leaf(4, 4), leaf(4, 4))


@scenario()
def pa3_in_place(compiled):
    def step(x):
        y = x.sin()
        y.mul_(2)
        return y.cos()
    train(compiled.direct(step), leaf(8))


@scenario()
def pa4_layer_norm(compiled):
    train(compiled.direct(lambda x, w, b: F.layer_norm(x, (10,), w, b)), leaf(2, 10), leaf(10), leaf(10))


@scenario()
def pa6_split(compiled):
    def step(x):
        first, second = torch.split(x.cos(), 4)
        return first.sin() + second.sin()
    train(compiled.direct(step), leaf(8))


@scenario()
def pa7_two_cosines(compiled):
    train(compiled.direct(lambda x: x.cos().cos()), leaf(8))


@scenario()
def pa8_sum_of_two(compiled):
    train(compiled.direct(lambda a, b: (a + b).cos().cos()), leaf(8), leaf(8))


@symbolic()
def pa9_size_of_a_sum(compiled):
    train(compiled.direct(lambda x: x.sum(dim=1)), leaf(10, 10))


def rows_of_both(a, b, c):
    return torch.cat([a.expand((b.size(0) + c.size(0), a.size(0))), b, c])


@symbolic()
def pa10_expand_and_cat(compiled):
    train(compiled.direct(rows_of_both), leaf(10), leaf(3, 10), leaf(2, 10))


@symbolic()
def pa11_sizes_among_outputs(compiled):
    def step(a, b, c, d):
        cat = rows_of_both(a, b, c)
        mm = torch.mm(cat, d)
        return cat, b.size(), c, torch.mm(mm, a.view(mm.size(1), a.size(0)))
    train(compiled.direct(step), leaf(10), leaf(3, 10), leaf(2, 10), leaf(10, 1))


@scenario()
def pa12_three_cosines(compiled):
    train(compiled.direct(lambda x: x.cos().cos().cos()), leaf(8))


@scenario()
def pa13_sum_of_four(compiled):
    train(compiled.direct(lambda a, b, c, d: (a + b + c + d).cos().cos()), leaf(8), leaf(8), leaf(8), leaf(8))


@scenario()
def pa14_contiguous(compiled):
    train(compiled.direct(lambda x: x.t().contiguous().sin()), leaf(4, 6))


@scenario()
def pa14_dropout(compiled):
    def step(x, w):
        return checkpoint(lambda x, w: F.dropout(torch.mm(x, w).sigmoid(), 0.5).sin(), x, w, use_reentrant=False)
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@scenario(edit=marked(SAVE, aten.var_mean.correction))
def pa17_mean_as_gradient(compiled):
    class Centred(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            variance, mean = torch.var_mean(x, dim=[0], correction=0, keepdim=True)
            ctx.save_for_backward(mean)
            return x.sin() * variance

        @staticmethod
        def backward(ctx, gradient):
            return ctx.saved_tensors[0]
    train(compiled.direct(Centred.apply), leaf(1, 4))


@scenario()
def pa18_effect(compiled):
    user = effectful()
    train(compiled(lambda x, w: user.record(torch.mm(x.sin(), w), "here").cos()), leaf(8, 8), leaf(8, 8))


@scenario()
def pa18_effect_with_three_results(compiled):
    user = effectful()

    def step(x):
        a, b, c = user.record_three(x.sin())
        return a.exp() * b.exp() * c.exp()
    train(compiled(step), leaf(8, 8))


class Product8(torch.autograd.Function):
    """A product, element by element, of numbers rounded to eight bits; so is its gradient."""

    @staticmethod
    def forward(ctx, x, w):
        x8, w8 = x.to(torch.float8_e4m3fn), w.to(torch.float8_e4m3fn)
        ctx.save_for_backward(x8, w8)
        return x8.to(torch.bfloat16) * w8.to(torch.bfloat16)

    @staticmethod
    def backward(ctx, g):
        x8, w8 = ctx.saved_tensors
        g8 = g.to(torch.float8_e5m2).to(torch.bfloat16)
        return g8 * w8.to(torch.bfloat16), g8 * x8.to(torch.bfloat16)


@scenario()
def other_fp8_linear(compiled):
    weight = torch.nn.Parameter(torch.randn(16, 16, dtype=torch.bfloat16))

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return Product8.apply(x, self.weight)
    train(compiled(Linear()), leaf(16, 16, dtype=torch.bfloat16))


@torch.compiler.nested_compile_region
def noisy(x):
    return F.dropout(x.sin(), 0.5) * 2


@scenario()
def other_regions_with_dropout(compiled):
    train(compiled(lambda x, y: noisy(x) + noisy(y)), leaf(8), leaf(8))
