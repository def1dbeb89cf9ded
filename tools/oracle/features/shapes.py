"""The shape of the graph: outputs and inputs of every kind, long chains, many users, constants, cases of upstream's own tests."""

import torch
import torch.nn.functional as F

from . import feature, leaf, train


@feature()
def upstream_sin_sin_add(compiled):
    train(compiled(lambda a, b: a.sin().sin() + b), leaf(4), leaf(4))


@feature()
def upstream_layer_norm(compiled):
    train(compiled(lambda x, w, b: F.layer_norm(x, (4,), w, b)), leaf(4, 4), leaf(4), leaf(4))


@feature()
def upstream_cos_cos_cos(compiled):
    train(compiled(lambda x: x.cos().cos().cos()), leaf(10))


@feature()
def upstream_four_sums(compiled):
    train(compiled(lambda a, b, c, d: (a + b + c + d).cos().cos()), *(leaf(10) for _ in range(4)))


@feature(options={"dynamic"})
def upstream_mixed_outputs(compiled):
    def step(primals_1, primals_2):
        first, second = primals_1 @ primals_2, primals_1.sin()
        return first, first.shape[0], primals_2.shape[1], second.cos(), first.transpose(0, 1).clone()
    train(compiled(step), leaf(3, 4), leaf(4, 5))


@feature()
def upstream_shared_factors(compiled):
    factors, inputs = (torch.randn(8) for _ in range(3)), (leaf(8) for _ in range(3))
    train(compiled(lambda a, b, c, x, y, z: a * c * x + b * y + (a * b * c) * z), *factors, *inputs)


@feature()
def upstream_split_getitems(compiled):
    train(compiled(lambda x: torch.cat([p.sin() for p in x.exp().split(2)][::-1])), leaf(6, 4))


@feature()
def same_output_twice(compiled):
    def step(x):
        y = x.sin().exp()
        return y, y, y * 2, x
    train(compiled(step), leaf(6, 4))


@feature()
def outputs_alias_inputs(compiled):
    train(compiled(lambda x, y: (x.view(-1), x.t(), y, x.sin()[1:], y.detach())), leaf(6, 4), leaf(3))


@feature()
def outputs_alias_each_other(compiled):
    def step(x):
        y = x.exp()
        return y.view(-1), y[0], y.t().sin(), y
    train(compiled(step), leaf(6, 4))


@feature()
def constant_outputs(compiled):
    train(compiled(lambda x: (x.sin(), None, 3, "word", torch.ones(3), x.shape)), leaf(6, 4))


@feature()
def unused_inputs(compiled):
    train(compiled(lambda x, y, z: x.sin() * z.detach()), leaf(6), leaf(6), leaf(6))


@feature()
def gradient_is_input(compiled):
    """The gradient of one factor is the other factor times the tangent; of a copy it is the tangent itself."""
    train(compiled(lambda x, y: (x * y, x + y, y.clone())), leaf(6), leaf(6))


@feature()
def only_integers_differ(compiled):
    """Arguments that hash or compare alike: -1 and -2, 1 and 1.0 and True."""
    def step(x):
        y = x.exp()
        sums, products = y.sum(-1) + y.sum(-2) + y.sum(-2), y * 1 + y * 1.0 + y * True
        return sums, products, y.sum(-1).sin() * y.sum(-2).sin(), torch.add(y, 1).cos(), torch.add(y, 1.0).cos()
    train(compiled(step), leaf(6, 6))


@feature()
def duplicates_of_everything(compiled):
    def step(x, w):
        products = sum(torch.mm(x.sin(), w.t().contiguous()).softmax(-1) * i for i in (1, 2, 1, 3))
        return products, torch.zeros(3) + torch.zeros(3), torch.empty(6, 6).fill_(1) * x
    train(compiled(step), leaf(6, 6), leaf(6, 6))


def chain(x, length):
    for i in range(length):
        x = (x.sin(), x + 1, x * 0.5, x.tanh())[i % 4]
    return x


@feature()
def long_chain(compiled):
    train(compiled(lambda x: chain(x, 130)), leaf(64))


@feature()
def longer_chain_between_products(compiled):
    train(compiled(lambda x, w: torch.mm(chain(torch.mm(x, w), 220), w)), leaf(8, 8), leaf(8, 8))


@feature(options={"decomposed"})
def very_long_chain(compiled):
    train(compiled(lambda x: chain(x, 1060)), leaf(64))


@feature()
def two_chains_with_links(compiled):
    def step(x, y):
        for i in range(60):
            x, y = (x * y).sin(), (x + y).cos() if i % 7 else y.sum(0, keepdim=True).expand(8, 8)
        return x + y
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def many_users(compiled):
    def step(x, w):
        y = torch.mm(x, w).exp()
        return torch.stack([(y * i).sin() if i % 2 else (y + i).cos().sum(0).expand(8, 8) for i in range(60)]).sum(0)
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def used_near_and_far(compiled):
    def step(x, w):
        y = x.sin().exp()
        z = y.cos()
        for _ in range(5):
            z = torch.mm(z, w).relu()
        return z * y + y.tanh()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def small_and_large(compiled):
    def step(x, w):
        norm = x.norm(dim=-1, keepdim=True)
        y = torch.mm(x / norm, w)
        return y.mean(), y.var(0), (y - y.amax(1, keepdim=True)).logsumexp(1), y.argmax(1).float()
    train(compiled(step), leaf(64, 64), leaf(64, 64))


@feature()
def mask_product(compiled):
    train(compiled(lambda x: (x < 0) * x), leaf(100))


@feature()
def ones_product(compiled):
    train(compiled(lambda x: torch.mm(x, torch.ones(10, 10)).tanh().tanh()), leaf(10, 10))


@feature()
def broadcast_product(compiled):
    train(compiled(lambda a, b: (a * b).cos().sum()), leaf(20, 1), leaf(1, 20))


@feature()
def view_in_the_middle(compiled):
    train(compiled(lambda x: torch.mm(x.cos().view(10, 10), torch.ones(10, 10)).sin()), leaf(100))


@feature()
def constants(compiled):
    small, large, flags = torch.tensor([1.5, float("inf"), float("nan")]), torch.randn(100), torch.tensor([True, False, True])

    def step(x):
        inside = x.sin() * torch.tensor([1, 2, 3]) + torch.tensor(0.5)
        return inside, x * small.nan_to_num(), x.cos() * large[:3] * flags, x * torch.tensor([2.0, 4.0, 8.0], dtype=torch.float64)
    train(compiled(step), leaf(3))


@feature()
def complex_constant(compiled):
    train(compiled(lambda x: x.sin() * torch.tensor([1 + 2j, 3j, 1.0])), leaf(3, dtype=torch.complex64))


@feature()
def residual_stack(compiled):
    def step(x, w):
        for i in range(8):
            x = x + torch.mm(F.layer_norm(x, (16,)), w[i]).relu()
        return x
    train(compiled(step), leaf(8, 16), leaf(8, 16, 16))


@feature()
def frozen_weights(compiled):
    """Low-rank updates beside frozen weights, with dropout before them."""
    def step(x, w, a, b):
        for _ in range(3):
            x = (x @ w + F.dropout(x, 0.1) @ a @ b).relu()
        return x
    train(compiled(step), torch.randn(8, 16), torch.randn(16, 16), leaf(16, 2), leaf(2, 16))


@feature()
def uneven_products(compiled):
    widths = (11, 3, 4, 2)
    train(compiled(lambda x, *w: tuple(torch.mm(x, v).cos() for v in w)), torch.randn(64, 64), *(leaf(64, 16 * n) for n in widths))


@feature()
def products_of_two_sizes(compiled):
    def step(*xs):
        return tuple(torch.mm(x.cos(), w) for x, w in zip(xs[::2], xs[1::2]))
    train(compiled(step), *(t for b, o in ((4, 4), (6, 2), (2, 6)) for t in (leaf(16 * b, 16 * b), leaf(16 * b, 16 * o))))


@feature()
def passed_through_module(compiled):
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.3), torch.nn.GELU(), torch.nn.Linear(16, 8))
    train(compiled(net), torch.randn(4, 8))


@feature()
def two_graphs(compiled):
    def step(x):
        y = x.sin().exp()
        torch._dynamo.graph_break()
        return y.cos() * y
    train(compiled(step, fullgraph=False), leaf(8))
