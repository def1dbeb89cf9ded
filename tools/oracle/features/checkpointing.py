"""User checkpointing: plain, selective, nested in calls; and regions compiled once."""

import functools

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from . import feature, leaf, train

aten = torch.ops.aten
PRODUCTS = (aten.mm.default, aten.addmm.default, aten.bmm.default)


def block(x, w1, w2):
    return x + torch.mm(F.gelu(torch.mm(x, w1)), w2)


def noisy_block(x, w1, w2):
    return x + F.dropout(torch.mm(torch.sigmoid(torch.mm(x, w1)), w2), 0.2)


def weights():
    return leaf(32, 64), leaf(64, 32)


def region(function, *inputs, **kwargs):
    return checkpoint(function, *inputs, use_reentrant=False, **kwargs)


def selective(policy):
    return functools.partial(create_selective_checkpoint_contexts, policy)


@feature()
def checkpoint_plain(compiled):
    train(compiled(lambda x, a, b: region(block, x.sin(), a, b).cos()), leaf(16, 32), *weights())


@feature()
def checkpoint_dropout(compiled):
    train(compiled(lambda x, a, b: region(noisy_block, x.sin(), a, b).cos()), leaf(16, 32), *weights())


@feature(options={"decomposed"})
def checkpoint_dropout_decomposed(compiled):
    train(compiled(lambda x, a, b: region(noisy_block, x.sin(), a, b).cos()), leaf(16, 32), *weights())


@feature(options={"dynamic"})
def checkpoint_dropout_dynamic(compiled):
    train(compiled(lambda x, a, b: region(noisy_block, x.sin(), a, b).cos()), leaf(16, 32), *weights())


@feature()
def checkpoint_back_to_back(compiled):
    def step(x, a, b, c, d):
        return region(noisy_block, region(block, x, a, b), c, d).sum(0)
    train(compiled(step), leaf(16, 32), *weights(), *weights())


@feature()
def checkpoint_three_in_a_row(compiled):
    def step(x, a, b):
        for _ in range(3):
            x = region(noisy_block, x, a, b)
        return x
    train(compiled(step), leaf(16, 32), *weights())


@feature()
def checkpoint_nested(compiled):
    def outer(x, a, b):
        return region(block, x.tanh(), a, b) * 2
    train(compiled(lambda x, a, b: region(outer, x, a, b)), leaf(16, 32), *weights())


@feature()
def checkpoint_without_preserved_random_state(compiled):
    train(compiled(lambda x, a, b: region(noisy_block, x, a, b, preserve_rng_state=False)), leaf(16, 32), *weights())


@feature()
def checkpoint_unused_dropout(compiled):
    def body(x, w):
        F.dropout(x, 0.5)
        return torch.mm(x.sin(), w)
    train(compiled(lambda x, w: region(body, x, w)), leaf(8, 8), leaf(8, 8))


@feature()
def checkpoint_all_random_operators(compiled):
    def body(x, w):
        x = x * torch.rand_like(x) + torch.randn_like(x) + torch.bernoulli(torch.sigmoid(x))
        return torch.mm(x, w) + torch.rand(8, 8) * F.dropout(x)
    train(compiled(lambda x, w: region(body, x, w)), leaf(8, 8), leaf(8, 8))


@feature()
def checkpoint_list_and_views(compiled):
    def body(x, y):
        return torch.cat([x.sin().view(-1), y.cos().t().reshape(-1)]).view(4, -1)
    train(compiled(lambda x, y: region(body, x, y)), leaf(8, 4), leaf(8, 4))


@feature()
def checkpoint_topk(compiled):
    def body(x, w):
        values, places = torch.mm(x, w).topk(3, dim=1)
        return values * places
    train(compiled(lambda x, w: region(body, x, w)), leaf(8, 8), leaf(8, 8))


@feature()
def checkpoint_output_with_hook(compiled):
    def step(x, w):
        y = region(lambda x, w: torch.mm(x, w).view(4, 16).sigmoid(), x, w)
        y.register_hook(lambda g: g * 2)
        return y * 3
    train(compiled(step), leaf(8, 8), leaf(8, 8))


def save_products(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE


def recompute_products(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_RECOMPUTE if op in PRODUCTS else CheckpointPolicy.PREFER_SAVE


def prefer_saving(ctx, op, *args, **kwargs):
    return CheckpointPolicy.PREFER_SAVE if op in PRODUCTS else CheckpointPolicy.MUST_RECOMPUTE


def save_random(ctx, op, *args, **kwargs):
    random = torch.Tag.nondeterministic_seeded in op.tags if isinstance(op, torch._ops.OpOverload) else False
    return CheckpointPolicy.MUST_SAVE if random else CheckpointPolicy.PREFER_RECOMPUTE


def save_every_second_product(ctx, op, *args, **kwargs):
    if op not in PRODUCTS:
        return CheckpointPolicy.PREFER_RECOMPUTE
    save_every_second_product.calls += 1
    return CheckpointPolicy.MUST_SAVE if save_every_second_product.calls % 2 else CheckpointPolicy.PREFER_RECOMPUTE


save_every_second_product.calls = 0


def run_selective(compiled, policy, body=block):
    def step(x, a, b):
        return region(body, region(body, x.sin(), a, b, context_fn=selective(policy)), a, b, context_fn=selective(policy)).cos()
    train(compiled(step), leaf(16, 32), *weights())


@feature()
def selective_must_save(compiled):
    run_selective(compiled, save_products)


@feature()
def selective_must_recompute(compiled):
    run_selective(compiled, recompute_products)


@feature()
def selective_prefer_save(compiled):
    run_selective(compiled, prefer_saving)


@feature()
def selective_save_random(compiled):
    run_selective(compiled, save_random, noisy_block)


@feature()
def selective_alternate(compiled):
    run_selective(compiled, save_every_second_product)


@feature()
def selective_must_offload(compiled):
    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_CPU_OFFLOAD if op in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE
    run_selective(compiled, policy)


@feature()
def selective_prefer_offload(compiled):
    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.PREFER_CPU_OFFLOAD if op in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE
    run_selective(compiled, policy)


@feature(options={"decomposed"})
def selective_must_save_decomposed(compiled):
    run_selective(compiled, save_products, noisy_block)


@feature()
def selective_topk_saved(compiled):
    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is aten.topk.default else CheckpointPolicy.PREFER_RECOMPUTE
    run_selective(compiled, policy, lambda x, a, b: torch.mm(torch.mm(x, a).topk(32, dim=1)[0], b[:32]))


@feature()
def selective_silu(compiled):
    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is aten.silu.default else CheckpointPolicy.PREFER_RECOMPUTE
    run_selective(compiled, policy, lambda x, a, b: torch.mm(F.silu(torch.mm(x, a)), b))


@feature(options={"decomposed"})
def selective_silu_decomposed(compiled):
    selective_silu(compiled)


@torch.compiler.nested_compile_region
def compiled_region(x, a, b):
    return block(x, a, b).sin()


@torch.compiler.nested_compile_region
def compiled_noisy_region(x, a, b):
    return noisy_block(x, a, b)


@feature()
def region_called_twice(compiled):
    train(compiled(lambda x, a, b: compiled_region(compiled_region(x, a, b) * 2, a, b).cos()), leaf(16, 32), *weights())


@feature()
def region_with_dropout(compiled):
    train(compiled(lambda x, a, b: compiled_noisy_region(compiled_noisy_region(x, a, b).sin(), a, b)), leaf(16, 32), *weights())


@feature(options={"decomposed", "dynamic"})
def region_dynamic_decomposed(compiled):
    train(compiled(lambda x, a, b: compiled_noisy_region(compiled_region(x, a, b), a, b)), leaf(16, 32), *weights())


@feature()
def region_several_outputs(compiled):
    @torch.compiler.nested_compile_region
    def split(x):
        return x.sin(), x.cos(), x.sum()

    def step(x):
        a, b, c = split(x)
        d, e, f = split(a * b)
        return a + e, (c + f) * d
    train(compiled(step), leaf(6, 6))


@feature()
def region_without_gradient(compiled):
    @torch.compiler.nested_compile_region
    def mask(x):
        return (x > 0).float()
    train(compiled(lambda x, y: mask(y) * x.sin() * mask(y + 1)), leaf(6, 6), torch.randn(6, 6))


@feature()
def region_in_checkpoint(compiled):
    train(compiled(lambda x, a, b: region(compiled_region, x, a, b) + 1), leaf(16, 32), *weights())
