"""Operators with effects that keep their order through tokens, checks, and prints."""

import functools

import torch
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

from . import feature, leaf, train


@functools.cache
def ops():
    """Two effectful operators: one with a tensor, one with three."""
    lib = torch.library.Library("sapwood_effects", "FRAGMENT")
    lib.define("record(Tensor x, str what) -> Tensor")
    lib.define("record_three(Tensor x) -> (Tensor, Tensor, Tensor)")
    for name, function in (("record", lambda x, what: x.clone()), ("record_three", lambda x: (x + 1, x * 2, x.sin()))):
        lib.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake("sapwood_effects::" + name, function, lib=lib)
        _register_effectful_op("sapwood_effects::" + name, _EffectType.ORDERED)
    torch.library.register_autograd("sapwood_effects::record", lambda ctx, g: (torch.ops.sapwood_effects.record(g, "back"), None), lib=lib)
    torch.library.register_autograd("sapwood_effects::record_three", lambda ctx, a, b, c: a + 2 * b + c, lib=lib)
    ops.library = lib  # its operators live as long as it
    return torch.ops.sapwood_effects


@feature()
def effect_print(compiled):
    def step(x, w):
        torch.ops.aten._print("start")
        y = torch.mm(x.sin(), w)
        torch.ops.aten._print("end")
        return y.cos()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def effect_in_both_halves(compiled):
    user = ops()

    def step(x, w):
        y = user.record(torch.mm(x.sin(), w), "forward")
        return y.cos() * user.record(y, "again")
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def effect_three_results(compiled):
    user = ops()

    def step(x):
        a, b, c = user.record_three(x.sin())
        return a * b * c.exp()
    train(compiled(step), leaf(8, 8))


@feature(functorch={"unlift_effect_tokens": True})
def effect_unlifted(compiled):
    effect_in_both_halves(compiled)


@feature()
def effect_only_backward(compiled):
    user = ops()

    class Say(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return user.record(g, "backward only")
    train(compiled(lambda x: Say.apply(x).exp()), leaf(8, 8))


@feature()
def effect_with_parameters(compiled):
    user = ops()
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
    train(compiled(lambda x: user.record(net(x), "net").cos()), leaf(4, 8))


@feature()
def asynchronous_assert(compiled):
    def step(x):
        torch._assert_async((x.sum() < 1000), "too much")
        return x.sin().exp()
    train(compiled(step), leaf(8, 8))


@feature()
def profiler_range(compiled):
    def step(x):
        with torch.profiler.record_function("inside"):
            return torch.mm(x.sin(), x).exp()
    train(compiled(step), leaf(8, 8))


@feature()
def print_operator(compiled):
    def step(x):
        torch._higher_order_ops.print("value {}", 3)
        return x.sin().cos()
    train(compiled(step), leaf(8, 8))


