"""Functional collectives of a group that isn't there: the "fake" backend answers for the other ranks."""

import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as functional

from . import feature, leaf, train

RANKS = 4


def start():
    """The module of functional collectives; starts the one group, which stays for the rest of the process."""
    if not dist.is_initialized():
        from torch.testing._internal.distributed.fake_pg import FakeStore
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    return functional


class ReduceInBackward(torch.autograd.Function):
    """The identity whose gradient is summed over ranks."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return functional.all_reduce(g.contiguous(), "sum", dist.group.WORLD)


class ReduceInForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return functional.all_reduce(x, "sum", dist.group.WORLD)

    @staticmethod
    def backward(ctx, g):
        return g


@feature()
def reduce_both_ways(compiled):
    start()
    train(compiled(lambda x, a, b: ReduceInForward.apply(torch.mm(ReduceInBackward.apply(x).mm(a).relu(), b)).sin()),
          leaf(8, 8), leaf(8, 16), leaf(16, 8))


@feature()
def gather_weights(compiled):
    """Sharded weights, gathered before each use; their gradients are scattered."""
    collectives = start()

    def step(x, *shards):
        for shard in shards:
            weight = collectives.all_gather_tensor_autograd(shard, 0, dist.group.WORLD)
            x = torch.mm(x, weight).relu()
        return x
    train(compiled(step), leaf(8, 8), *(leaf(2, 8) for _ in range(3)))


@feature()
def scatter_activations(compiled):
    collectives = start()

    def step(x, w):
        y = collectives.reduce_scatter_tensor_autograd(torch.mm(x, w).sin(), "sum", 0, dist.group.WORLD)
        return collectives.all_gather_tensor_autograd(y.cos(), 0, dist.group.WORLD).exp()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def exchange_rows(compiled):
    collectives = start()

    def step(x, w):
        y = collectives.all_to_all_single_autograd(x.sin(), None, None, dist.group.WORLD)
        y = torch.mm(y, w).relu()
        return collectives.all_to_all_single_autograd(y, None, None, dist.group.WORLD).exp()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def exchange_rows_checkpointed(compiled):
    from torch.utils.checkpoint import checkpoint
    collectives = start()

    def body(x, w):
        y = collectives.all_to_all_single_autograd(x.sin(), None, None, dist.group.WORLD)
        return torch.mm(y, w).relu()
    train(compiled(lambda x, w: checkpoint(body, x, w, use_reentrant=False).exp()), leaf(8, 8), leaf(8, 8))


@feature(options={"dynamic"})
def reduce_dynamic(compiled):
    start()
    train(compiled(lambda x, w: ReduceInForward.apply(torch.mm(ReduceInBackward.apply(x).sin(), w)).exp()), leaf(9, 8), leaf(8, 8))


@feature()
def gather_without_gradient(compiled):
    collectives = start()

    def step(x, y):
        every = collectives.all_gather_tensor(y.detach(), 0, dist.group.WORLD)
        return x.sin() * every.sum(0), collectives.all_reduce(x.detach().sum(), "max", dist.group.WORLD)
    train(compiled(step), leaf(8), torch.randn(2, 8))


@feature()
def dead_collective(compiled):
    """The result of one collective is used only by a wait that nobody reads."""
    collectives = start()

    def step(x):
        collectives.all_reduce(x.detach().sin(), "sum", dist.group.WORLD)
        return ReduceInBackward.apply(x).exp()
    train(compiled(step), leaf(8))


@feature()
def coalesced(compiled):
    collectives = start()

    def step(x, y):
        a, b = collectives.all_reduce_coalesced([x.detach().sin(), y.detach()], "sum", dist.group.WORLD)
        return x * a.exp() + y * b
    train(compiled(step), leaf(8), leaf(8))


@feature(options={"decomposed"})
def tensor_parallel_attention(compiled):
    start()

    def step(x, qkv, out):
        q, k, v = (ReduceInBackward.apply(x) @ qkv).view(2, 8, 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + ReduceInForward.apply(y.transpose(1, 2).reshape(2, 8, 16) @ out)
    train(compiled(step), leaf(2, 8, 16), leaf(16, 48), leaf(16, 16))
