"""Sizes that only the running step knows, and arithmetic on sizes."""

import math

import torch
import torch.nn.functional as F

from . import feature, leaf, train

UNKNOWN = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}


@feature(dynamo=UNKNOWN)
def unbacked_nonzero(compiled):
    def step(x, m):
        rows = m.nonzero().squeeze(1)
        return x.sin()[rows].exp().sum(0) * rows.shape[0]
    train(compiled(step), leaf(8, 8), torch.tensor([1, 0, 1, 1, 0, 0, 1, 0]))


@feature(dynamo=UNKNOWN)
def unbacked_item(compiled):
    def step(x, n):
        k = n.item()
        torch._check(k >= 2)
        torch._check(k <= x.shape[0])
        return x.narrow(0, 0, k).sin().exp() * k, x.new_ones(k, 4) @ x[:4].cos()
    train(compiled(step), leaf(8, 8), torch.tensor(5))


@feature(dynamo=UNKNOWN)
def unbacked_scalar_factor(compiled):
    train(compiled(lambda x, s: (x.sin() * s.item()).exp() + s.item()), leaf(8, 8), torch.tensor(0.5))


@feature(dynamo=UNKNOWN)
def unbacked_repeat(compiled):
    def step(x, n):
        return torch.repeat_interleave(x.sin(), n, dim=0).exp().mean(0)
    train(compiled(step), leaf(4, 8), torch.tensor([2, 0, 1, 3]))


@feature(dynamo=UNKNOWN)
def unbacked_masked_select(compiled):
    train(compiled(lambda x: x.sin().masked_select(x > 0).exp().sum()), leaf(8, 8))


@feature(dynamo=UNKNOWN)
def unbacked_two_sizes(compiled):
    def step(x, m, w):
        kept = x[m]
        y = torch.mm(kept.sin(), w)
        return F.softmax(y, dim=1), torch.cat([y, y * kept.shape[0]]), torch.zeros(kept.shape[0] * 2 + 1, 3)
    train(compiled(step), leaf(8, 6), torch.arange(8) % 2 == 0, leaf(6, 6))


@feature(dynamo=UNKNOWN, options={"dynamic"})
def unbacked_and_dynamic(compiled):
    def step(x, m):
        kept = x.sin()[m]
        return kept.exp().sum(0) * (kept.shape[0] / x.shape[0])
    train(compiled(step), leaf(9, 6), torch.arange(9) % 2 == 0)


@feature(dynamo=UNKNOWN, options={"decomposed"})
def unbacked_list_of_sizes(compiled):
    def step(x, sizes):
        a, b = sizes.tolist()
        torch._check(a >= 0)
        torch._check(b >= 0)
        torch._check(a + b == x.shape[0])
        first, second = x.sin().split([a, b])
        return first.exp().sum() * second.cos().sum()
    train(compiled(step), leaf(8, 8), torch.tensor([3, 5]))


@feature(dynamo=UNKNOWN)
def unbacked_unique(compiled):
    train(compiled(lambda x, i: x[torch.unique(i)].sin().exp()), leaf(8, 8), torch.tensor([1, 1, 4, 2]))


@feature(dynamo=UNKNOWN)
def unbacked_experts(compiled):
    """Rows routed to one of three weights, as a mixture of experts does."""
    def step(x, w):
        choice = x.detach().argmax(dim=1) % 3
        out = torch.zeros_like(x)
        for e in range(3):
            rows = (choice == e).nonzero().squeeze(1)
            out = out.index_add(0, rows, torch.mm(x[rows], w[e]).relu())
        return out
    train(compiled(step), leaf(8, 8), leaf(3, 8, 8))


@feature(options={"dynamic"})
def float_of_sizes(compiled):
    def step(x):
        rows, columns = x.shape
        y = x.sin() * (1 / math.sqrt(columns)) + rows / 3.0
        return y.exp() * float(rows) ** 0.5, y * (rows // 2) * (columns % 3)
    train(compiled(step), leaf(9, 6))


@feature(options={"dynamic"})
def bool_of_sizes(compiled):
    def step(x, y):
        longest = torch.sym_max(x.shape[0], y.shape[0])
        even = torch.sym_ite(x.shape[0] % 2 == 0, x.shape[0], 2 * x.shape[0])
        return F.pad(x.sin(), (0, 0, 0, longest - x.shape[0])).exp() * longest, y.cos() * even
    train(compiled(step), leaf(9, 6), leaf(11, 6))


@feature(options={"dynamic"})
def sum_dynamic(compiled):
    train(compiled(lambda x: x.sum(dim=1)), leaf(10, 10))


@feature(options={"dynamic"})
def expand_cat_dynamic(compiled):
    train(compiled(lambda x, y: torch.cat([x.expand(y.shape[0], x.shape[1]), y.sin()]).exp()), leaf(1, 7), leaf(9, 7))


@feature(options={"dynamic"})
def views_of_sizes(compiled):
    def step(x, w):
        b, t, d = x.shape
        y = (x.reshape(b * t, d) @ w).view(b, t, 2, -1).transpose(1, 2)
        scores = (y @ y.mT) / d**0.5
        scores = scores + torch.full((t, t), float("-inf")).triu(1)
        return scores.softmax(-1) @ y, torch.arange(t) * y.sum(-1), y[..., : t // 2].flatten(1)
    train(compiled(step), leaf(3, 10, 8), leaf(8, 12))


@feature(options={"dynamic"})
def summed_gradients_dynamic(compiled):
    def step(x):
        y = x.sin()
        for _ in range(4):
            y = y + x.view(-1).view(x.shape) * y.sum(0, keepdim=True).expand(x.shape) + x.shape[0]
        return y
    train(compiled(step), leaf(9, 6))


@feature(options={"dynamic"})
def size_inputs(compiled):
    train(compiled(lambda x, n, s: (x.sin()[:n] * n).exp() * s), leaf(9, 6), 5, 0.25)


@feature(dynamo={"specialize_float": False}, options={"dynamic"})
def float_inputs(compiled):
    function = compiled(lambda x, s: (x.sin() * s).exp() + s / 2)
    train(function, leaf(9, 6), 0.25)
    train(function, leaf(9, 6), 0.75)


@feature(options={"dynamic"})
def equal_sizes(compiled):
    """Two inputs whose sizes turn out equal: one symbol has to stand for both."""
    train(compiled(lambda x, y, z: ((x + y).sin() @ z).exp()), leaf(9, 7), leaf(9, 7), leaf(7, 5))


@feature(options={"dynamic"})
def convolution_sizes(compiled):
    def step(x, w):
        y = F.avg_pool2d(F.conv2d(x, w, stride=2, padding=1), 2)
        return F.interpolate(y.tanh(), size=x.shape[2:]) * x[:, :1]
    train(compiled(step), leaf(2, 3, 17, 19), leaf(4, 3, 3, 3))
