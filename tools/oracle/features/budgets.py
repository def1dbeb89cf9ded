"""Memory budgets set by a region or by the older mark on nodes, and marks that only internal users set."""

import operator

import torch
from torch.autograd.graph import region_activation_memory_budget
from torch.utils.checkpoint import CheckpointPolicy

from . import feature, leaf, train


def chain(x, w):
    for i in range(4):
        x = torch.mm(x.cos(), w).sin() * (x if i % 2 else 1)
    return x


def run(compiled, budget):
    def step(x, w):
        with region_activation_memory_budget(budget):
            return chain(x, w)
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@feature()
def region_budget_half(compiled):
    run(compiled, 0.5)


@feature()
def region_budget_zero(compiled):
    run(compiled, 0.0)


@feature(options={"decomposed"})
def region_budget_low_decomposed(compiled):
    run(compiled, 0.2)


@feature()
def region_budget_part(compiled):
    """Only part of the forward is covered: the partitioner must refuse."""
    def step(x, w):
        y = chain(x, w)
        with region_activation_memory_budget(0.5):
            y = chain(y, w)
        return y
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@feature()
def region_budget_conflict(compiled):
    """Two budgets in one graph: the partitioner must refuse."""
    def step(x, w):
        with region_activation_memory_budget(0.5):
            y = chain(x, w)
        with region_activation_memory_budget(0.25):
            return chain(y, w)
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@feature()
def region_budget_per_graph(compiled):
    def step(x, w):
        with region_activation_memory_budget(0.0):
            y = chain(x, w)
        torch._dynamo.graph_break()
        with region_activation_memory_budget(1.0):
            return chain(y, w)
    train(compiled(step, fullgraph=False), leaf(16, 16), leaf(16, 16))


def mark(budget, wanted="aten.mm.default"):
    def edit(module):
        for node in module.graph.nodes:
            if str(node.target) == wanted and node.meta.get("partitioner_tag") == "is_forward":
                node.meta["memory_budget"] = budget
    return edit


@feature(edit=mark(0.3))
def node_budget(compiled):
    train(compiled(chain), leaf(16, 16), leaf(16, 16))


@feature(edit=mark(0))
def node_budget_integer(compiled):
    """An integer is no budget."""
    train(compiled(chain), leaf(16, 16), leaf(16, 16))


@feature(edit=mark(0.5))
def node_budget_under_region(compiled):
    run(compiled, 0.1)


@feature()
def annotation_of_the_user(compiled):
    def step(x, w):
        with torch.fx.traceback.annotate({"stage": 1, "names": ["a", "b"], "scale": 0.5}):
            y = chain(x, w)
        return y.exp()
    train(compiled(step), leaf(16, 16), leaf(16, 16))


def fewer_version_checks(module):
    """Every second forward product and every cosine as if stashed on a context instead of saved."""
    for i, node in enumerate(module.graph.nodes):
        if i % 2 and str(node.target) in ("aten.mm.default", "aten.cos.default", "aten.sin.default"):
            node.meta["saved_tensor_with_no_vc_check"] = True


@feature(edit=fewer_version_checks)
def saved_without_version_check(compiled):
    train(compiled(chain), leaf(16, 16), leaf(16, 16))


def swap_halves(module):
    """Pins one forward sine to the backward, as a pass over joint graphs may."""
    for node in module.graph.nodes:
        if str(node.target) == "aten.exp.default":
            node.meta["partitioner_tag"] = "must_be_in_backward"


@feature(edit=swap_halves)
def pinned_to_backward(compiled):
    class Later(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y.exp(), g * x.sin()
    train(compiled(lambda x, y: Later.apply(x, y).cos()), leaf(8), leaf(8))


@feature()
def user_marks_and_budget(compiled):
    from torch.utils.checkpoint import checkpoint

    def step(x, w):
        with region_activation_memory_budget(0.4):
            for _ in range(3):
                x = checkpoint(lambda x, w: torch.mm(x.sin(), w).tanh(), x, w, use_reentrant=False) + torch.mm(x, w)
            return x
    train(compiled(step), leaf(16, 16), leaf(16, 16))


def must_recompute_results(module):
    """A user's mark that can't be met: the results of an operator that may be neither saved as a tuple nor repeated."""
    for node in module.graph.nodes:
        if node.target is operator.getitem and node.meta.get("partitioner_tag") == "is_forward":
            node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE
            node.meta["ac_graph_id"] = 1


@feature(edit=must_recompute_results)
def unbounded_cut(compiled):
    def step(x):
        values, places = x.sort(dim=1)
        return (values.sin() * places).exp()
    train(compiled(step), leaf(6, 6))


def save_var_mean(module):
    for node in module.graph.nodes:
        if str(node.target) == "aten.var_mean.correction":
            node.meta["recompute"] = CheckpointPolicy.MUST_SAVE


class MeanAsGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        var, mean = torch.var_mean(x, 0)
        ctx.save_for_backward(mean)
        return y * var

    @staticmethod
    def backward(ctx, g):
        return None, ctx.saved_tensors[0]


@feature(edit=save_var_mean)
def saved_result_is_gradient(compiled):
    """A result that must be saved and is a gradient as it is."""
    train(compiled(lambda x, y: MeanAsGradient.apply(x, y) * 2), torch.randn(4, 6), leaf(6))
