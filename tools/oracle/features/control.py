"""Operators that take functions."""

from unittest import mock

import torch
import torch.nn.functional as F

from . import feature, leaf, train


@feature()
def branch(compiled):
    def step(p, x, w):
        return torch.cond(p, lambda x, w: torch.mm(x.sin(), w), lambda x, w: torch.mm(x, w.cos()), (x, w)).exp()
    train(compiled(step), torch.tensor(True), leaf(6, 6), leaf(6, 6))


@feature(options={"dynamic"})
def branch_on_size(compiled):
    def step(p, x):
        return torch.cond(p, lambda x: x.sin() * x.shape[0], lambda x: x.cos(), (x,)) + 1
    train(compiled(step), torch.tensor(False), leaf(6, 7))


@feature()
def loop(compiled):
    def step(x, n):
        from torch._higher_order_ops.while_loop import while_loop
        _, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.sin() * 2), (n, x.detach() * 1))
        return x.exp() * y
    train(compiled(step), leaf(6), torch.tensor(0))


@feature()
def loop_with_gradient(compiled):
    def step(x, n):
        from torch._higher_order_ops.while_loop import while_loop
        _, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.sin() * 2), (n, x * 1))
        return y.exp()
    train(compiled(step), leaf(6), torch.tensor(0))


@feature()
def scan_over_time(compiled):
    def step(x, h, w):
        from torch._higher_order_ops.scan import scan

        def cell(h, x):
            new = torch.tanh(h @ w + x)
            return new, new.clone()
        last, ys = scan(cell, h, x, dim=0)
        return last.sin() + ys.sum(0)
    train(compiled(step), leaf(5, 3, 4), leaf(3, 4), leaf(4, 4))


@feature()
def associative_scan(compiled):
    def step(x):
        from torch._higher_order_ops.associative_scan import associative_scan
        return associative_scan(lambda a, b: a * b, x.sin(), dim=0, combine_mode="generic").exp()
    train(compiled(step), leaf(5, 3))


@feature()
def map_over_rows(compiled):
    def step(x, w):
        from torch._higher_order_ops.map import map as higher_map
        return higher_map(lambda row, w: torch.mv(w, row.sin()), x, w).exp()
    train(compiled(step), leaf(5, 4), leaf(4, 4))


@feature()
def flexible_attention(compiled):
    """Its backward has no kernel for the CPU, but a trace needs none: the run ends after the graph is recorded."""
    from torch.nn.attention import flex_attention
    causal = flex_attention.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 128, 128, device="cpu")

    def step(q, k, v, bias):
        def score(s, b, h, i, j):
            return s + bias[h] * (i - j)
        return flex_attention.flex_attention(q.sin(), k, v, score_mod=score, block_mask=causal)
    with mock.patch.object(flex_attention, "_validate_device", lambda *_: None):
        train(compiled(step), *(leaf(1, 2, 128, 16) for _ in range(3)), leaf(2))


@feature()
def own_function(compiled):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.square = x * x  # stashed, not saved
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * 3 * ctx.square + 0 * x
    train(compiled(lambda x: Cube.apply(x.sin()).exp() + Cube.apply(x)), leaf(8))


@feature()
def vectorised(compiled):
    def step(x, w):
        return torch.vmap(lambda row: torch.mv(w, row.sin()).softmax(0))(x)
    train(compiled(step), leaf(5, 4), leaf(4, 4))


@feature()
def gradient_inside(compiled):
    def step(x, w):
        inner = torch.func.grad(lambda x: (x.sin() @ w).sum())(x)
        return inner.exp() * x
    train(compiled(step), leaf(5, 4), leaf(4, 4))


@feature()
def strict_and_wrapped(compiled):
    def step(x, w):
        from torch._higher_order_ops.wrap import wrap
        return wrap(lambda x, w: torch.mm(x, w).sin(), x, w).exp()
    train(compiled(step), leaf(4, 4), leaf(4, 4))


@feature()
def hinted(compiled):
    def step(x, w):
        from torch._higher_order_ops.hints_wrap import hints_wrapper
        return hints_wrapper(lambda x, w: F.relu(torch.mm(x, w)), (x, w), {}, hints={"place": "fast"}).exp()
    train(compiled(step), leaf(4, 4), leaf(4, 4))


@feature()
def product_in_other_type(compiled):
    def step(x, y):
        from torch._higher_order_ops.out_dtype import out_dtype
        return y.sin() * out_dtype(torch.ops.aten.mm.default, torch.int32, x, x)
    train(compiled(step), torch.randint(-8, 8, (4, 4), dtype=torch.int8), leaf(4, 4))


@feature()
def foreach(compiled):
    def step(x, y, z):
        parts = torch._foreach_mul([x.sin(), y.cos()], [y, z])
        return sum(torch._foreach_exp(parts))
    train(compiled(step), leaf(4), leaf(4), leaf(4))
