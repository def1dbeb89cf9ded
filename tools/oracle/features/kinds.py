"""Number types, layouts, subclasses."""

import torch
import torch.nn.functional as F

from . import feature, leaf, train


@feature()
def complex_numbers(compiled):
    def step(x, w):
        y = torch.fft.fft(x * (1 + 2j)) @ w
        return torch.view_as_real(y), y.abs(), y.angle(), y.conj() * y, torch.fft.irfft(torch.fft.rfft(x.real))
    train(compiled(step), leaf(4, 4, dtype=torch.complex64), leaf(4, 4, dtype=torch.complex64))


@feature()
def rotary_complex(compiled):
    def step(q, angles):
        turn = torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(torch.view_as_complex(q.view(4, 8, 2, 2)) * turn[:, None]).flatten(2)
    train(compiled(step), leaf(4, 8, 4), torch.randn(4, 2))


@feature()
def sparse_product(compiled):
    """Dynamo doesn't take sparse tensors, AOTAutograd does."""
    train(compiled.direct(lambda x, y: torch.sparse.mm(x.to_sparse(), y).sin()), leaf(4, 4), leaf(4, 3))


@feature()
def sparse_coalesced(compiled):
    train(compiled.direct(lambda x, y: (x.to_sparse().coalesce() @ y).sin()), leaf(4, 4), leaf(4, 3))


@feature()
def sparse_input(compiled):
    train(compiled.direct(lambda m, x: torch.mm(m, x).sin()), torch.eye(4).to_sparse(), leaf(4, 4))


@feature()
def sparse_embedding_gradient(compiled):
    table = torch.nn.Embedding(10, 4, sparse=True)
    train(compiled(lambda i: table(i).sin()), torch.tensor([1, 3, 3]))


@feature()
def integers_and_flags(compiled):
    def step(x, i, m):
        j = (i * 2 + 1).remainder(8).to(torch.int32)
        k = torch.bitwise_xor(i, 3) << 1
        keep = m & (j > 2) | ~m
        return x.sin() * keep * j, k, keep, x[j.long() % 8].exp() * k.to(torch.uint8), i.to(torch.int16).cumsum(0).double().mean()
    train(compiled(step), leaf(8), torch.arange(8), torch.arange(8) % 2 == 0)


@feature()
def half_precisions(compiled):
    def step(x, w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = F.linear(x, w).relu()
            return F.layer_norm(F.linear(y, w), (8,)), y.half() * 2, y.double().sum()
    train(compiled(step), leaf(8, 8), leaf(8, 8))


@feature()
def eighth_precisions(compiled):
    def step(x, w):
        scale = x.detach().abs().max() / 448
        y = (x / scale).to(torch.float8_e4m3fn).to(torch.float32) * scale
        return torch.mm(y + x, w.to(torch.float8_e5m2).float() + w).sin()
    train(compiled(step), leaf(16, 16), leaf(16, 16))


@feature()
def quantised_weights(compiled):
    def step(x, q, scale):
        return (x @ (q.float() * scale)).tanh() * scale
    train(compiled(step), leaf(4, 8), torch.randint(-128, 127, (8, 8), dtype=torch.int8), leaf(8))


@feature()
def channels_last(compiled):
    net = torch.nn.Conv2d(4, 4, 3, padding=1).to(memory_format=torch.channels_last)
    train(compiled(lambda x: net(x.contiguous(memory_format=torch.channels_last)).sin().permute(0, 3, 1, 2)), leaf(2, 4, 8, 8))


@feature()
def two_tensor_input(compiled):
    from torch.testing._internal.two_tensor import TwoTensor
    x = TwoTensor(torch.randn(4, 4), torch.randn(4, 4)).requires_grad_()
    train(compiled(lambda x, w: torch.mm(x.sin(), w).exp()), x, leaf(4, 4))


@feature()
def two_tensor_output(compiled):
    from torch.testing._internal.two_tensor import TwoTensor
    other = TwoTensor(torch.randn(4, 4), torch.randn(4, 4))
    train(compiled(lambda w, o: ((w * o).sin(), w.cos(), o * 2)), leaf(4, 4), other)


@feature(options={"dynamic"})
def two_tensor_dynamic(compiled):
    from torch.testing._internal.two_tensor import TwoTensor
    x = TwoTensor(torch.randn(5, 4), torch.randn(5, 4)).requires_grad_()
    train(compiled(lambda x: (x.sin().view(-1) * x.shape[0]).exp()), x)


@feature()
def jagged(compiled):
    rows = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged, requires_grad=True)
    train(compiled(lambda n, w: torch.matmul(n.sin(), w).values().exp()), rows, leaf(8, 8))


@feature()
def strided_oddly(compiled):
    def step(x):
        return x.as_strided((3, 3), (1, 2), 1).sin(), x.unfold(0, 3, 2).cos(), x[::2].exp(), x.expand(2, -1).t().contiguous()
    train(compiled(step), leaf(12))


@feature()
def zero_sized(compiled):
    train(compiled(lambda x, y: (torch.cat([x, y]).sin(), x.exp().sum(), y[:0].cos())), leaf(0, 4), leaf(3, 4))


@feature()
def scalars(compiled):
    train(compiled(lambda x, y: (x * y.exp()).sin() + x ** 3 / (y + 2) - 1.5), leaf(), leaf())


@feature()
def meta_device(compiled):
    train(compiled(lambda x: x.sin().exp()), torch.randn(4, 4, device="meta", requires_grad=True))
