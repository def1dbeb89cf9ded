"""User operators, and operators with unusual signatures or many results."""

import functools

import torch
import torch.nn.functional as F

from . import feature, leaf, train


@functools.cache
def library():
    """The operators of this file, registered once."""
    lib = torch.library.Library("sapwood_test", "FRAGMENT")
    define_functional(lib)
    define_mutable(lib)
    return lib


def implement(lib, name, function, fake=None):
    lib.impl(name, function, "CompositeExplicitAutograd")
    torch.library.register_fake("sapwood_test::" + name, fake or function, lib=lib)


def gradient(lib, name, backward):
    def setup(ctx, inputs, output):
        ctx.save_for_backward(*(i for i in inputs if isinstance(i, torch.Tensor)))
    torch.library.register_autograd("sapwood_test::" + name, backward, setup_context=setup, lib=lib)


def define_functional(lib):
    pt2 = (torch.Tag.pt2_compliant_tag,)
    lib.define("twice(Tensor x) -> Tensor", tags=pt2)
    implement(lib, "twice", lambda x: x * 2)
    gradient(lib, "twice", lambda ctx, g: g * 2 + 0 * ctx.saved_tensors[0])
    lib.define("both(Tensor x, Tensor y) -> (Tensor, Tensor, Tensor)", tags=pt2)
    implement(lib, "both", lambda x, y: (x + y, x - y, x * y))
    gradient(lib, "both", lambda ctx, a, b, c: (a + b + c * ctx.saved_tensors[1], a - b + c * ctx.saved_tensors[0]))
    lib.define("pieces(Tensor x, int n) -> Tensor[]", tags=pt2)
    implement(lib, "pieces", lambda x, n: [x * (i + 1) for i in range(n)])
    gradient(lib, "pieces", lambda ctx, gs: (sum(g * (i + 1) for i, g in enumerate(gs)), None))
    lib.define("noise(Tensor x) -> Tensor", tags=(*pt2, torch.Tag.nondeterministic_seeded))
    implement(lib, "noise", lambda x: x * torch.rand(x.shape), torch.empty_like)
    gradient(lib, "noise", lambda ctx, g: g)
    lib.define("dense(Tensor x, Tensor w) -> Tensor", tags=(*pt2, torch.Tag.needs_fixed_stride_order))
    implement(lib, "dense", lambda x, w: x @ w, lambda x, w: x.new_empty(x.shape[0], w.shape[1]))
    gradient(lib, "dense", lambda ctx, g: (g @ ctx.saved_tensors[1].t(), ctx.saved_tensors[0].t() @ g))


def define_mutable(lib):
    pt2 = (torch.Tag.pt2_compliant_tag,)
    lib.define("add_one_(Tensor(a!) x) -> ()", tags=pt2)
    implement(lib, "add_one_", lambda x: None if x.add_(1) is None else None)
    lib.define("fill_two(Tensor x, Tensor(a!) y, Tensor(b!)? z) -> Tensor", tags=pt2)

    def fill_two(x, y, z):
        y.copy_(x + 1)
        if z is not None:
            z.copy_(x + 2)
        return x * 3
    implement(lib, "fill_two", fill_two)
    lib.define("fill_list(Tensor x, Tensor(a!)[] out) -> ()", tags=pt2)

    def fill_list(x, out):
        for i, o in enumerate(out):
            o.copy_(x * i)
    implement(lib, "fill_list", fill_list)
    lib.define("look(Tensor x) -> ()", tags=pt2)
    implement(lib, "look", lambda x: None)


def ops():
    """The operators; fetched outside of steps, since Dynamo doesn't enter a cache."""
    library()
    return torch.ops.sapwood_test


@feature()
def custom_functional(compiled):
    twice = ops().twice
    train(compiled(lambda x, w: twice(torch.mm(x.sin(), w)).cos() * twice(x).exp()), leaf(8, 8), leaf(8, 8))


@feature()
def custom_several_outputs(compiled):
    user = ops()

    def step(x, y):
        a, b, c = user.both(x.sin(), y.cos())
        return a * b + c.exp()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def custom_list_output(compiled):
    user = ops()

    def step(x):
        a, b, c = user.pieces(x.sin(), 3)
        return (a * b + c).exp()
    train(compiled(step), leaf(8, 8))


@feature()
def custom_random(compiled):
    user = ops()
    train(compiled(lambda x, w: torch.mm(user.noise(x.sin()).cos(), w).exp()), leaf(8, 8), leaf(8, 8))


@feature()
def custom_random_checkpointed(compiled):
    user = ops()
    from torch.utils.checkpoint import checkpoint
    body = lambda x, w: torch.mm(user.noise(x.sin()).cos(), w).exp()  # noqa: E731
    train(compiled(lambda x, w: checkpoint(body, x, w, use_reentrant=False)), leaf(8, 8), leaf(8, 8))


@feature(options={"dynamic"})
def custom_product_dynamic(compiled):
    user = ops()
    train(compiled(lambda x, w: user.dense(x.sin(), w).tanh() * user.dense(x, w.cos())), leaf(8, 6), leaf(6, 8))


@feature(functorch={"is_non_builtin_to_include": True})
def custom_included_in_budget(compiled):
    user = ops()

    def step(x, w):
        for _ in range(3):
            x = user.dense(x, w).cos()
        return x
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def custom_mutating(compiled):
    user = ops()

    def step(x, y):
        user.add_one_(y)
        return x.sin() * y
    train(compiled(step), leaf(8, 8), torch.randn(8, 8))


@feature()
def custom_mutating_temporary(compiled):
    user = ops()

    def step(x):
        y, z = torch.zeros_like(x), torch.ones_like(x)
        t = user.fill_two(x.detach().sin(), y, z)
        user.fill_two(t, y, None)
        return x.exp() * (y + z) * t
    train(compiled(step), leaf(8, 8))


@feature()
def custom_mutating_views(compiled):
    user = ops()

    def step(x):
        y = torch.zeros(4, 8)
        user.add_one_(y[1])
        user.add_one_(y[:, 2:5])
        return x.sin() * y
    train(compiled(step), leaf(4, 8))


@feature()
def custom_mutating_list(compiled):
    user = ops()

    def step(x):
        out = [torch.zeros_like(x) for _ in range(3)]
        user.fill_list(x.detach(), out)
        return x.sin() * out[0] + x.cos() * out[2]
    train(compiled(step), leaf(8, 8))


@feature(dynamo={}, functorch={})
def custom_mutating_old_form(compiled):
    from torch._inductor import config
    with config.patch(enable_auto_functionalized_v2=False):
        custom_mutating_temporary(compiled)


@feature()
def custom_without_result(compiled):
    user = ops()

    def step(x):
        y = x.sin()
        user.look(y)
        return y.cos()
    train(compiled(step), leaf(8, 8))


@feature()
def many_results(compiled):
    def step(x):
        values, places = x.sort(dim=1)
        var, mean = torch.var_mean(x, dim=1)
        q, r = torch.linalg.qr(x)
        return values * places, var + mean, q @ r, x.max(dim=1)[0], torch.frexp(x)[0], *x.split([2, 3, 3], dim=1), *x.unbind(0)
    train(compiled(step), leaf(8, 8))


@feature()
def layer_zoo(compiled):
    def step(x, w):
        y = F.layer_norm(F.conv2d(x, w, padding=1), (8, 8))
        y = F.group_norm(F.interpolate(F.max_pool2d(F.silu(y), 2), scale_factor=2), 2)
        return F.adaptive_avg_pool2d(F.pixel_shuffle(F.softmax(y, dim=1), 2), 1)
    train(compiled(step), leaf(2, 4, 8, 8), leaf(4, 4, 3, 3))


@feature()
def linear_algebra(compiled):
    def step(x):
        a = x @ x.mT + 8 * torch.eye(6)
        return torch.linalg.solve(a, x), torch.linalg.cholesky(a), torch.logdet(a), torch.linalg.inv(a), torch.einsum("ij,kj->ik", a, x)
    train(compiled(step), leaf(6, 6))


@feature()
def pick_and_scatter(compiled):
    def step(x, i):
        y = x.gather(1, i).cumsum(1).logcumsumexp(0)
        y = y.scatter_add(1, i, x).index_add(0, i[0], x[: i.shape[1]])
        return torch.where(y > 0, y, x).masked_fill(x > 1, float("-inf")).clamp(min=-3), y.cumprod(1), y.index_select(1, i[0]).flip(0)
    train(compiled(step), leaf(8, 8), torch.randint(0, 8, (8, 8)))


@feature()
def attention_forms(compiled):
    def step(q, k, v):
        plain = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        masked = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(8, 8, dtype=torch.bool).tril())
        dropped = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)
        return plain + masked * dropped
    train(compiled(step), *(leaf(2, 2, 8, 8) for _ in range(3)))


@feature()
def recurrent_cells(compiled):
    lstm, gru = torch.nn.LSTMCell(6, 6), torch.nn.GRUCell(6, 6)

    def step(x):
        h = c = torch.zeros(4, 6)
        for t in range(3):
            h, c = lstm(x[t], (h, c))
            h = gru(h, c)
        return h
    train(compiled(step), leaf(3, 4, 6))


@feature()
def embeddings_and_losses(compiled):
    table, bag = torch.nn.Embedding(10, 6), torch.nn.EmbeddingBag(10, 6, mode="mean")

    def step(i, y):
        x = table(i).mean(1) + bag(i)
        divergence = F.kl_div(x.log_softmax(1), x.softmax(1), reduction="sum")
        return F.cross_entropy(x, y, label_smoothing=0.1) + F.multi_margin_loss(x, y) + divergence
    train(compiled(step), torch.randint(0, 10, (4, 5)), torch.randint(0, 6, (4,)))
