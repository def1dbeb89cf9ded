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


@feature(options={"joint"})
def random_operators_joint(compiled):
    """Inductor's passes turn draws into seeds and reads of them."""
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


def seeded_joint_graph(inputs):
    """A step drawn from seeds and offsets, as AOTAutograd writes it for devices with counter-based generators."""
    from torch.fx.experimental.proxy_tensor import make_fx
    philox = torch.ops.rngprims.philox_rand

    def joint(x, w, tangent, seed, offset, back_seed, back_offset):
        noise, step = philox([8, 8], seed, offset, None, torch.device("cpu"), torch.float32)
        y = torch.mm(x.sin() * noise, w)
        back_noise, back_step = philox([8, 8], back_seed, back_offset, None, torch.device("cpu"), torch.float32)
        g = tangent * y.exp() * back_noise
        return y.exp(), offset + step, torch.mm(g, w.t()) * noise * x.cos(), torch.mm((x.sin() * noise).t(), g), back_offset + back_step
    return make_fx(joint, tracing_mode="fake")(*inputs)


def rename_inputs(module, names):
    for node, name in zip(module.graph.find_nodes(op="placeholder"), names):
        node.name = node.target = name


@feature()
def seeds_and_offsets(compiled):
    inputs = (torch.randn(8, 8), torch.randn(8, 8), torch.randn(8, 8), *(torch.tensor(i) for i in range(4)))
    module = seeded_joint_graph(inputs)
    rename_inputs(module, ("primals_1", "primals_2", "tangents_1", "fwd_seed_1", "fwd_base_offset_1", "bwd_seed_1", "bwd_base_offset_1"))
    compiled.record(module, (inputs[:2], inputs[2:]), 2)
