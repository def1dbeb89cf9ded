"""Hooks, gradients of gradients, and graphs where only part wants a gradient."""

import torch

from . import feature, leaf, train


def print_free_hook(g):
    return g.mul(2)


@feature()
def tensor_hook(compiled):
    def step(x, w):
        y = torch.mm(x.sin(), w)
        y.register_hook(print_free_hook)
        return y.exp()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature(dynamo={"compiled_autograd": True})
def backward_state_hook(compiled):
    def step(x, w):
        y = torch.mm(x.sin(), w)
        y.register_hook(print_free_hook)
        return y.exp()
    with torch._dynamo.compiled_autograd._enable(lambda graph: graph):
        compiled(step)(leaf(8, 8), leaf(8, 8))


@feature(dynamo={"compiled_autograd": True})
def backward_state_hook_checkpointed(compiled):
    from torch.utils.checkpoint import checkpoint

    def step(x, w):
        y = checkpoint(lambda x, w: torch.mm(x.sin(), w).view(4, 16).sigmoid(), x, w, use_reentrant=False)
        y.register_hook(print_free_hook)
        return y * 3
    with torch._dynamo.compiled_autograd._enable(lambda graph: graph):
        compiled(step)(leaf(8, 8), leaf(8, 8))


@feature()
def partly_without_gradient(compiled):
    def step(x, y, w):
        with torch.no_grad():
            scale = torch.mm(y, w).softmax(1).amax(1, keepdim=True)
        return torch.mm(x, w) * scale, y.sin() * 2
    train(compiled(step), leaf(8, 8), torch.randn(8, 8), leaf(8, 8))


@feature()
def several_tangents(compiled):
    train(compiled(lambda x, w: (torch.mm(x, w), x.exp().sum(0), (x * w).sin().view(-1)[:5], w.cos().mean())), leaf(8, 8), leaf(8, 8))


@feature()
def nothing_needed(compiled):
    """A linear step: its backward reads nothing of the forward."""
    train(compiled(lambda x, y: (x + y).view(-1)[::2] * 3 - y.sum()), leaf(4, 4), leaf(4, 4))


@feature()
def joint_passes(compiled):
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Softmax(1), torch.nn.Linear(8, 8))
    train(compiled(lambda x: net(x * 1.0 + 0) * torch.ones(4, 8) + torch.full((4, 8), 2.0)), leaf(4, 8))


@feature(options={"joint"})
def joint_passes_applied(compiled):
    joint_passes(compiled)


@feature(options={"joint", "dynamic"})
def joint_passes_dynamic(compiled):
    joint_passes(compiled)


@feature()
def weight_normalised(compiled):
    from torch.nn.utils import parametrizations
    layer = parametrizations.weight_norm(torch.nn.Linear(8, 8))
    train(compiled(lambda x: layer(layer(x)).sigmoid()), torch.randn(4, 8))


@feature()
def loss_of_everything(compiled):
    """Forward output is one number; all gradients are reductions."""
    def step(x, w, b):
        y = torch.nn.functional.linear(x, w, b).relu()
        return (y.pow(2).mean() + y.abs().sum().log()) * w.norm()
    train(compiled(step), torch.randn(32, 16), leaf(16, 16), leaf(16))
