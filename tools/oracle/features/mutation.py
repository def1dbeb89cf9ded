"""Inputs and buffers that the step changes, in the forward and in the backward."""

import torch

from . import feature, leaf, train


@feature()
def input_changed(compiled):
    def step(x, y):
        y.mul_(2)
        z = x.sin() * y.clone()
        y.add_(z.detach())
        return z.exp()
    train(compiled(step), leaf(8), torch.randn(8))


@feature()
def input_changed_after_use(compiled):
    """The backward needs the value from before the change."""
    def step(x, buffer):
        y = x * buffer.sin()
        buffer.add_(1)
        return y.exp()
    train(compiled(step), leaf(8), torch.randn(8))


@feature()
def input_view_changed(compiled):
    def step(x, y):
        y[2:4].add_(1)
        y.t()[0].zero_()
        return x.sin() * y
    train(compiled(step), leaf(8, 8), torch.randn(8, 8))


@feature()
def input_with_gradient_changed(compiled):
    def step(x, w):
        y = x * 1
        y.mul_(w)
        y[0].copy_(w[1])
        return y.sin()
    function = compiled(step)
    train(function, leaf(4, 4), leaf(4, 4))


@feature()
def non_leaf_changed(compiled):
    function = compiled(lambda x, w: (x.mul_(w), x.sin())[1])
    train(lambda x, w: function(x * 1, w), leaf(4, 4), leaf(4, 4))


@feature()
def inputs_share_storage(compiled):
    base = torch.randn(8, 8)
    function = compiled(lambda a, b, w: (a.add_(1), b.mul(w).sin() * a.sum())[1])
    train(lambda w: function(base[:4], base[2:6], w), leaf(4, 8))


@feature()
def batch_norm(compiled):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True))
    train(compiled(net), torch.randn(2, 3, 8, 8))


@feature(options={"joint", "dynamic"})
def batch_norm_dynamic_joint(compiled):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True))
    train(compiled(net), torch.randn(3, 3, 9, 9))


@feature()
def running_average(compiled):
    class Average(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(8, 8))
            self.register_buffer("average", torch.zeros(8))
            self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            self.steps += 1
            y = x @ self.weight
            with torch.no_grad():
                self.average.lerp_(y.mean(0), 0.1)
            return (y - self.average).sin()
    train(compiled(Average()), torch.randn(4, 8))


class ChangeInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, buffer):
        ctx.save_for_backward(x, buffer)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        x, buffer = ctx.saved_tensors
        buffer.add_(g.sum())
        return g * x.cos() * buffer, None


@feature()
def changed_in_backward(compiled):
    train(compiled(lambda x, b: ChangeInBackward.apply(x, b).exp()), leaf(8), torch.zeros(8))


@feature()
def changed_in_both_halves(compiled):
    def step(x, b):
        b.mul_(2)
        return ChangeInBackward.apply(x * b.exp().detach(), b).exp()
    train(compiled(step), leaf(8), torch.zeros(8))


@feature()
def temporary_changed(compiled):
    def step(x, w):
        y = torch.zeros(8, 8)
        y[1:3] = x[1:3].sin()
        y[:, 2] += w[0]
        y.mul_(w)
        return y.exp_()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def resized_metadata(compiled):
    """Dynamo doesn't take changes of a shape in place, AOTAutograd does."""
    def step(x, y):
        y.t_()
        y.unsqueeze_(0)
        return x.sin() + y
    train(compiled.direct(step), leaf(4, 6), torch.randn(6, 4))
