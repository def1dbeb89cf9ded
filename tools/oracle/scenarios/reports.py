"""The smallest steps that show what public reports about the partitioner are about; the tests name the reports."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.checkpoint import CheckpointPolicy

from . import scenario
from .checkpointing import saving, user_operator
from ..features import leaf, train
from ..features.checkpointing import block, region, selective, weights
from ..features.distributed import start
from ..features.mutation import ChangeInBackward

aten = torch.ops.aten


@scenario()
def products_over_shared_factors(compiled):
    a, b, c = torch.randn(64), torch.randn(64), torch.randn(64)
    train(compiled(lambda a, b, c, x, y, z: a * c * x + b * y + (a * b * c) * z), a, b, c, leaf(64), leaf(64), leaf(64))


@scenario()
def residual_products(compiled):
    def step(x, *ws):
        for w in ws:
            x = x + torch.mm(x, w)
        return x
    train(compiled(step), leaf(64, 64), leaf(64, 64), leaf(64, 64), leaf(64, 64))


@scenario()
def checkpointed_pointwise_chain(compiled):
    def chain(x):
        for _ in range(6):
            x = x.sin().exp()
        return x
    train(compiled(lambda x, w: torch.mm(region(chain, torch.mm(x, w)), w)), leaf(64, 64), leaf(64, 64))


@scenario()
def view_of_a_saved_base(compiled):
    def step(x, w):
        y = torch.mm(x, w)
        return torch.mm(y.view(32, 128), w.reshape(128, 32)).sum() + y.exp().sum()
    train(compiled(step), leaf(64, 64), leaf(64, 64))


@scenario(options={"joint"})
def softmax_after_a_product(compiled):
    train(compiled(lambda x, w: torch.softmax(torch.mm(x, w), -1) @ w), leaf(64, 64), leaf(64, 64))


@scenario(options={"dynamic"})
def equal_dynamic_sizes(compiled):
    train(compiled(lambda x, y: (x * y).sin().sum(0) * x.shape[0]), leaf(6, 4), leaf(6, 4))


@scenario()
def shared_blocks_checkpointed_twice(compiled):
    def step(x, a, b, c, d):
        for _ in range(2):
            x = region(block, x, a, b)
            x = region(block, x, c, d)
        return x
    train(compiled(step), leaf(16, 32), *weights(), *weights())


@scenario()
def attention_then_transposed_copy(compiled):
    def step(q, k, v, w):
        y = F.scaled_dot_product_attention(q, k, v)
        y = y.transpose(1, 2).contiguous().view(-1, 64)
        return torch.mm(y, w)
    train(compiled(step), leaf(2, 4, 32, 16), leaf(2, 4, 32, 16), leaf(2, 4, 32, 16), leaf(64, 64))


@scenario()
def user_operator_between_products(compiled):
    double = user_operator()
    train(compiled(lambda x, w: torch.mm(double(torch.mm(x, w)).sin().exp(), w)), leaf(64, 64), leaf(64, 64))


@scenario()
def compared_noise(compiled):
    def step(x, w):
        y = torch.mm(x, w)
        return torch.mm(y * (torch.rand_like(y) > 0.5), w).exp()
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@scenario()
def multinomial_rows(compiled):
    def step(x, w):
        for _ in range(3):
            rows = torch.multinomial(torch.softmax(x, 1).detach(), 16, replacement=True)
            x = torch.mm(x.gather(1, rows), w)
        return x.exp()
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@scenario()
def bernoulli_mask(compiled):
    def step(x, w):
        for _ in range(3):
            mask = torch.bernoulli(torch.full_like(x, 0.5))
            x = torch.mm(x * mask, w)
        return x.exp()
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@scenario()
def dropout_no_gradient_needs(compiled):
    def body(x, a, b):
        with torch.no_grad():
            noise = F.dropout(x, 0.5)
        return torch.mm(torch.mm(x, a).sigmoid(), b), noise
    train(compiled(lambda x, a, b: region(body, x.sin(), a, b)), leaf(16, 32), *weights())


@scenario()
def buffer_changed_after_use(compiled):
    def step(x, buffer):
        y = x * buffer.sin()
        buffer.add_(1)
        return y.exp()
    train(compiled(step), leaf(8), torch.randn(8))


@scenario()
def changed_in_the_backward(compiled):
    train(compiled(lambda x, b: ChangeInBackward.apply(x, b).exp()), leaf(8), torch.zeros(8))


@scenario()
def changed_in_both_halves(compiled):
    def step(x, b):
        b.mul_(2)
        return ChangeInBackward.apply(x * b.exp().detach(), b).exp()
    train(compiled(step), leaf(8), torch.zeros(8))


@scenario(aot={"disable_functionalization": True})
def changed_after_a_use(compiled):
    def step(x, b):
        table = b.clone()
        before = table.sin()
        table.mul_(2)
        return (x * before * table).exp()
    train(compiled(step), leaf(8, 8), torch.randn(8, 8))


class CastWeight(torch.autograd.Function):
    """A product in eight bits: forward and backward cast the weight differently."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.mm(x, w.to(torch.float8_e4m3fn).to(torch.float32))

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return torch.mm(g, w.to(torch.float8_e5m2).to(torch.float32).t()), torch.mm(x.t(), g)


@scenario()
def weight_cast_in_both_halves(compiled):
    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(32, 32))

        def forward(self, x):
            return CastWeight.apply(x, self.weight)
    train(compiled(torch.nn.Sequential(Linear(), Linear())), leaf(16, 32))


class ScaledInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.mm(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        scale = w.abs().amax(0)
        return torch.mm(g * scale, w.t()), torch.mm(x.t(), g)


@scenario()
def weight_scale_for_the_backward(compiled):
    train(compiled(lambda x, w: ScaledInBackward.apply(x, w)), leaf(16, 32), torch.nn.Parameter(torch.randn(32, 32)))


@scenario()
def region_around_casts(compiled):
    def body(x, a):
        return torch.mm(x.to(torch.float8_e4m3fn).float(), a.to(torch.float8_e4m3fn).float()).sigmoid()
    policy = saving(aten.mm.default, other=CheckpointPolicy.MUST_RECOMPUTE)
    train(compiled(lambda x, a, b: region(body, region(body, x.sin(), a, context_fn=policy), b, context_fn=policy)),
          leaf(16, 32), *weights())


@scenario()
def two_regions_back_to_back(compiled):
    train(compiled(lambda x, a, b, c, d: region(block, region(block, x, a, b), c, d).sum(0)), leaf(16, 32), *weights(), *weights())


@scenario(options={"dynamic"}, dynamo={"capture_dynamic_output_shape_ops": True})
def checked_unknown_size(compiled):
    def step(x, w):
        rows = torch.nonzero(x.detach() > 0)
        n = rows.shape[0]
        torch._check(n >= 2)
        torch._check(n <= 64)
        return torch.mm(x.exp(), w).sum() * n + rows.float().sum()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@scenario(options={"dynamic"})
def expression_of_two_sizes(compiled):
    def step(x, y):
        z = torch.cat([x.view(-1), y.view(-1)])
        return z.exp().sum() * (x.shape[0] * y.shape[1] + 1)
    train(compiled(step), leaf(6, 4), leaf(3, 5))


@scenario(options={"dynamic"})
def size_replaced_by_twice_another(compiled):
    def step(x, y):
        z = x.view(2, -1) + y
        return (z.sin() * z.shape[1]).exp()
    train(compiled(step), leaf(12), leaf(6))


@scenario(options={"dynamic"})
def division_by_a_size(compiled):
    train(compiled(lambda x, w: torch.mm(x, w).sin().exp() / (x.shape[0] + 0.5) + torch.zeros_like(x)), leaf(7, 5), leaf(5, 5))


@scenario()
def reduced_between_products(compiled):
    functional = start()

    def step(x, w):
        y = torch.mm(x, w)
        y = y + functional.all_reduce(y.detach(), "sum", dist.group.WORLD)
        return torch.mm(y.sin(), w).exp()
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@scenario()
def reduced_in_a_region(compiled):
    functional = start()

    def body(x, w):
        y = torch.mm(x, w)
        y = y * functional.all_reduce(y.detach(), "sum", dist.group.WORLD)
        return y.sin()
    train(compiled(lambda x, w: torch.mm(region(body, x, w), w).exp()), leaf(16, 16), leaf(16, 16))


@scenario()
def gathered_weights_in_regions(compiled):
    collectives = start()

    def body(x, shard):
        return torch.mm(x, collectives.all_gather_tensor_autograd(shard, 0, dist.group.WORLD)).relu()

    policy = selective(lambda ctx, op, *args, **kwargs:
                       CheckpointPolicy.MUST_RECOMPUTE if op is aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE)
    train(compiled(lambda x, a, b: region(body, region(body, x, a, context_fn=policy), b, context_fn=policy)),
          leaf(16, 16), leaf(4, 16), leaf(4, 16))


@torch.compiler.nested_compile_region
def inner(x, a, b):
    return block(x, a, b).sin()


@scenario()
def region_around_a_compiled_one(compiled):
    policy = saving(aten.mm.default)
    train(compiled(lambda x, a, b: region(inner, x.sin(), a, b, context_fn=policy) + 1), leaf(16, 32), *weights())


@scenario()
def profiler_range_in_a_region(compiled):
    def body(x, a, b):
        with torch.profiler.record_function("range"):
            return block(x, a, b)
    train(compiled(lambda x, a, b: region(body, x.sin(), a, b)), leaf(16, 32), *weights())
