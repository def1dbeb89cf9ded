"""Checkpointed regions: how often each operator runs forward and backward."""

import functools

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

from . import scenario
from ..features import leaf, train
from ..features.checkpointing import region, selective

aten = torch.ops.aten
SAVE, MUST, PREFER = CheckpointPolicy.MUST_SAVE, CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE


def saving(*operators, other=PREFER):
    """A context function whose policy saves these operators."""
    return selective(lambda ctx, op, *args, **kwargs: SAVE if op in operators else other)


def square(n=4):
    return leaf(n, n)


def sigmoid_of_product(x, y):
    return torch.sigmoid(torch.matmul(x, y))


@scenario()
def ac1_one_region(compiled):
    train(compiled(lambda x, y: region(sigmoid_of_product, torch.sin(x), y)), square(), square())


@scenario()
def ac2_two_blocks_in_sequence(compiled):
    def block(x):
        x = x.cos()
        for _ in range(3):
            x = torch.mm(x, x)
        return x.cos()
    train(compiled(lambda x: region(block, region(block, x))), square())


@scenario()
def ac3_several_regions(compiled):
    train(compiled(lambda x, y: region(sigmoid_of_product, torch.sin(region(sigmoid_of_product, torch.sin(x), y)), y)), square(), square())


class SigmoidOfLinear(torch.nn.Module):
    def __init__(self, after):
        super().__init__()
        self.linear, self.after = torch.nn.Linear(10, 10), after

    def forward(self, x):
        return self.after(self.linear(x))


@scenario()
def ac4_module(compiled):
    module = SigmoidOfLinear(torch.sigmoid)
    train(compiled(lambda x: region(module, torch.sin(x))), leaf(10, 10))


@scenario(options={"decomposed"})
def ac5_decomposed(compiled):
    module = SigmoidOfLinear(F.gelu)
    train(compiled(lambda x: region(module, torch.sin(x))), leaf(10, 10))


def hook_on_product(module):
    """What Dynamo notes of a tensor on which the region registers a backward hook."""
    for node in module.graph.nodes:
        if node.name == "mul":
            node.meta["has_backward_hook"] = True


@scenario(edit=hook_on_product)
def ac6_output_with_hook(compiled):
    def body(x):
        y = torch.matmul(x, x)
        return y * y

    train(compiled(lambda x, w: torch.mm(region(body, x).view(8, 2), w)), square(), leaf(2, 3))


def two_products(x, y):
    return torch.sigmoid(torch.matmul(torch.matmul(x, y), y)) * y


def run_selective(compiled, body, context_fn):
    train(compiled(lambda x, y: region(body, torch.sin(x), y, context_fn=context_fn)), square(), square())


@scenario()
def ac7_products_must_recompute(compiled):
    run_selective(compiled, two_products, selective(
        lambda ctx, op, *args, **kwargs: MUST if op is aten.mm.default else PREFER))


@scenario()
def ac7_products_must_not_recompute(compiled):
    run_selective(compiled, two_products, saving(aten.mm.default))


@scenario(aot={"disable_functionalization": True})
def ac8_without_functionalization(compiled):
    run_selective(compiled, two_products, saving(aten.mm.default))


@scenario()
def ac9_user_kernel(compiled):
    double = user_operator()
    run_selective(compiled, lambda x, y: double(torch.sigmoid(torch.mm(double(torch.mm(x, y)), y))), saving(aten.mm.default))


@functools.cache
def user_operator():
    lib = torch.library.Library("sapwood_scenarios", "FRAGMENT")
    lib.define("double(Tensor x) -> Tensor")
    lib.impl("double", lambda x: x * 2, "CompositeExplicitAutograd")
    torch.library.register_fake("sapwood_scenarios::double", torch.empty_like, lib=lib)
    torch.library.register_autograd("sapwood_scenarios::double", lambda ctx, g: g * 2, lib=lib)
    user_operator.library = lib  # its operators live as long as it
    return torch.ops.sapwood_scenarios.double


@scenario()
def ac10_tensor_subclass(compiled):
    from torch.testing._internal.two_tensor import TwoTensor

    def two():
        return TwoTensor(torch.randn(4, 4), torch.randn(4, 4)).requires_grad_(True)
    train(compiled(lambda x, y: region(two_products, torch.sin(x), y, context_fn=saving(aten.mm.default))), two(), two())


@scenario()
def ac11_every_second_product(compiled):
    def contexts():
        calls = {True: 0, False: 0}

        def policy(ctx, op, *args, **kwargs):
            if op is not aten.mm.default:
                return PREFER
            calls[ctx.is_recompute] += 1
            return SAVE if calls[ctx.is_recompute] % 2 == 0 else PREFER
        return create_selective_checkpoint_contexts(policy)
    run_selective(compiled, two_products, contexts)


@scenario()
def ac12_products_and_sigmoid_kept(compiled):
    run_selective(compiled, lambda x, y: torch.sigmoid(torch.mm(torch.mm(x, y), y)), saving(aten.mm.default, aten.sigmoid.default))


@scenario()
def ac13_list_operator(compiled):
    run_selective(compiled, lambda x, y: torch.cat([x, y]).sin(), saving(aten.mm.default))


@scenario()
def ac14_random_operator(compiled):
    run_selective(compiled, lambda x, y: torch.sigmoid(torch.nn.functional.dropout(torch.sigmoid(x), 0.5)) * y,
                  saving(aten.sigmoid.default))


class SigmoidOfSquare(torch.nn.Module):
    def forward(self, weight):
        return region(lambda w: torch.sigmoid(w * w), weight, context_fn=selective(lambda *args, **kwargs: MUST))


@scenario()
def ac15_parametrization(compiled):
    linear = torch.nn.Linear(16, 16, bias=False)
    torch.nn.utils.parametrize.register_parametrization(linear, "weight", SigmoidOfSquare())
    train(compiled(linear), leaf(4, 16))


@scenario(options={"joint"})
def ac16_attention_pattern(compiled):
    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v)
    train(compiled(lambda q, k, v: region(attention, q.sin(), k, v)), leaf(2, 4, 16, 32), leaf(2, 4, 16, 32), leaf(2, 4, 16, 32))


@scenario(options={"decomposed"})
def ac17_silu_decomposed(compiled):
    run_selective(compiled, lambda x, y: torch.mm(F.silu(torch.mm(x, y)), y), saving(aten.silu.default))


@scenario()
def ac18_topk(compiled):
    def body(x, y):
        values, places = torch.topk(torch.mm(x, y), 2, dim=1)
        return torch.mm(values.sin(), y[:2]) * places.float().detach().sum()
    run_selective(compiled, body, saving(aten.topk.default))


@scenario(dynamo={"skip_fwd_side_effects_in_bwd_under_checkpoint": True})
def ac19_list_mutated_inside(compiled):
    def step(x):
        hidden = []

        def body(x):
            hidden.append(x.sin())
            return x.cos() + hidden[-1]
        return region(body, x), hidden[0]
    train(compiled(step), square())


@scenario()
def ac21_partial_context_function(compiled):
    run_selective(compiled, two_products, functools.partial(create_selective_checkpoint_contexts, [aten.mm.default]))
