"""Programs whose traffic over memory is stated: elements that the fused loops of both halves read and write."""

import torch

from . import scenario
from ..features import leaf, train


def traffic():
    return scenario(options={"joint"})


@traffic()
def tr1_three_cosines(compiled):
    train(compiled(lambda x: x.cos().cos().cos()), leaf(10))


@traffic()
def tr2_sum_of_four(compiled):
    train(compiled(lambda a, b, c, d: (a + b + c + d).cos().cos()), leaf(10), leaf(10), leaf(10), leaf(10))


@traffic()
def tr3_mask(compiled):
    train(compiled(lambda x: (x < 0) * x), leaf(100))


@traffic()
def tr4_product_with_ones(compiled):
    train(compiled(lambda x: torch.mm(x, x.new_ones(x.shape)).tanh().tanh()), leaf(10, 10))


@traffic()
def tr5_product_of_sums(compiled):
    def step(a):
        a = torch.mm(a, a) + 1
        return torch.mm(a, a + 2)
    train(compiled(step), leaf(10, 10))


@traffic()
def tr6_broadcast_product(compiled):
    train(compiled(lambda a, b: (a * b).cos().sum(dim=1)), leaf(20, 1), leaf(1, 20))


@traffic()
def tr7_tanh_and_cat(compiled):
    train(compiled(lambda a, b: torch.cat([torch.tanh(a), b])), leaf(10), leaf(10))


@traffic()
def tr8_relu(compiled):
    train(compiled(torch.relu), leaf(16))


class SineByProduct(torch.autograd.Function):
    """A sine whose gradient multiplies by a view of the cosine."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.cos().view(10, 10))
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        cosine, = ctx.saved_tensors
        return (torch.mm(g.view(10, 10), cosine) * cosine).view(100)


@traffic()
def tr9_view_in_the_middle(compiled):
    train(compiled(SineByProduct.apply), leaf(100))


@traffic()
def tr10_long_chain(compiled):
    def step(x):
        for _ in range(2):
            y = x * x
            x = x + torch.mm(y, y) * 2
        return x
    train(compiled(step), leaf(10, 10))
