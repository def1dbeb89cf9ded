"""Random operators, drawn from the global generator or from seeds and offsets."""

import torch
import torch.nn.functional as F

from . import feature, leaf, train


def draw_everything(x):
    p = torch.sigmoid(x)
    y = x * torch.rand_like(x) + torch.randn_like(x) * p + torch.rand(4, 6) + torch.randn(4, 6) * torch.randint(0, 9, (4, 6))
    y = y + torch.bernoulli(p.detach()) * x + torch.normal(0.0, 1.0, (4, 6)) * x + torch.normal(p.detach(), 1.0)
    rows = torch.multinomial(p.detach(), 2).float().mean() + torch.randperm(6).float() + torch.poisson(p.detach())
    return F.dropout(y * rows, 0.3) + F.rrelu(x, training=True) + F.alpha_dropout(x, 0.1, training=True) + F.gumbel_softmax(x)


@feature()
def random_operators(compiled):
    train(compiled(draw_everything), leaf(4, 6))


@feature(options={"decomposed"})
def random_operators_decomposed(compiled):
    train(compiled(draw_everything), leaf(4, 6))


@feature(options={"dynamic"})
def random_operators_dynamic(compiled):
    train(compiled(lambda x, w: torch.mm(F.dropout(x * torch.rand_like(x), 0.5), w) * torch.rand(x.shape[0], 1)), leaf(9, 6), leaf(6, 6))


@feature()
def random_in_place(compiled):
    def step(x, b):
        b.uniform_()
        noise = torch.empty(8).normal_() + torch.zeros(8).exponential_() + torch.zeros(8).bernoulli_(0.5)
        return (x.sin() * noise * b).exp()
    train(compiled(step), leaf(8), torch.zeros(8))


@feature()
def multinomial_times_input(compiled):
    def step(x, w):
        rows = torch.multinomial(torch.softmax(torch.mm(x, w), 1).detach(), 4, replacement=True)
        return torch.mm(x, w).gather(1, rows).exp() * rows
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def dropout_between_products(compiled):
    def step(x, w):
        for _ in range(4):
            x = F.dropout(torch.mm(x, w).relu(), 0.1)
        return x
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@feature(functorch={"functionalize_rng_ops": True}, options={"decomposed"})
def seeds_and_offsets(compiled):
    train(compiled(lambda x, w: F.dropout(torch.mm(torch.rand_like(x) * x, w), 0.5)), leaf(8, 8), leaf(8, 8))


@feature(functorch={"functionalize_rng_ops": True}, options={"decomposed"})
def seeds_and_offsets_checkpointed(compiled):
    from torch.utils.checkpoint import checkpoint
    body = lambda x, w: F.dropout(torch.mm(x.sin(), w), 0.5)  # noqa: E731
    train(compiled(lambda x, w: checkpoint(body, x, w, use_reentrant=False).exp()), leaf(8, 8), leaf(8, 8))


@feature()
def random_in_backward(compiled):
    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin() * torch.rand_like(x)

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * x.cos() * torch.rand_like(g)
    train(compiled(lambda x: Noisy.apply(x).exp()), leaf(8))


@feature()
def stochastic_depth(compiled):
    def step(x, w):
        for i in range(4):
            keep = (torch.rand(8, 1) > 0.2 * i).float()
            x = x + keep * torch.mm(x, w).tanh()
        return x
    train(compiled(step), leaf(8, 8), leaf(8, 8))
