"""Arguments and value metadata of FX nodes as JSON values (format sapwood.graph/1)."""

import math

import torch
from torch.fx.experimental._backward_state import BackwardState
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, optimization_hint
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._mode_utils import no_dispatch

FALLBACK = 4096  # elements that the partitioner assumes for a size nobody knows
MAX_VALUES = 64  # elements of a constant that are written out
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def last_word(thing):
    """`torch.float32` -> `float32`."""
    return str(thing).removeprefix("torch.")


def target_name(target):
    """The name of a call_function target: an operator, a higher-order operator or a Python callable."""
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.HigherOrderOperator):
        return "higher_order." + target.name()
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(target)
    name = getattr(target, "__name__", type(target).__name__)
    if getattr(torch, name, None) is target:
        return "torch." + name
    module = (getattr(target, "__module__", None) or "builtins").removeprefix("_")
    return f"{module}.{name}"


def symbols_of(thing):
    """The shape environment's symbols in a SymInt, SymFloat or SymBool, in name order."""
    return sorted(thing.node.expr.free_symbols, key=str)


def hint_of(thing):
    """What a symbolic number is in this trace, or None if that is known only when the step runs."""
    node = thing.node
    if node._hint is not None and not isinstance(node._hint, SYMBOLIC):
        return node._hint
    if node.expr.is_number or node.expr.is_Boolean and not node.expr.free_symbols:
        return node.pytype(node.expr)
    if free_unbacked_symbols(node.expr):
        return None
    values = {s: node.shape_env.backed_var_to_val.get(s) for s in node.expr.free_symbols}
    if None in values.values():
        return None
    found = node.expr.xreplace(values)
    return node.pytype(found) if found.is_number or found.is_Boolean else None  # a ragged size has no number


class ValueWriter:
    """Writes values; numbers the storages that it meets and remembers the symbols and operators."""

    def __init__(self):
        self.storages = {}
        self.symbols = {}  # name -> (symbol, shape environment), in order of first occurrence
        self.ops = {}  # name -> overload, in order of first occurrence
        self.alive = []  # keeps every storage numbered here from being freed, and its key from being reused

    def see_symbols(self, thing):
        for symbol in symbols_of(thing):
            self.symbols.setdefault(str(symbol), (symbol, thing.node.shape_env))

    def size(self, number):
        """A size, stride, offset or byte count."""
        if not isinstance(number, torch.SymInt):
            return int(number)
        if number.node.expr.is_number:
            return int(number.node.expr)
        self.see_symbols(number)
        hint = hint_of(number)
        out = {"sym": str(number.node.expr), "hint": hint}
        if hint is None:
            out["fallback_hint"] = int(optimization_hint(number, fallback=FALLBACK))
        return out

    def storage(self, tensor):
        """(number, bytes) of a tensor's storage; None where the layout has none."""
        try:
            storage = tensor.untyped_storage()
        except NotImplementedError:
            return None
        self.alive.append(storage)
        number = self.storages.setdefault(storage._cdata, len(self.storages))
        return number, self.size(storage.nbytes())

    def tensor(self, tensor):
        shape = [self.size(n) for n in tensor.shape]
        storage = self.storage(tensor) if tensor.layout is torch.strided else None
        out = {"dtype": last_word(tensor.dtype), "device": str(tensor.device), "shape": shape,
               "stride": [self.size(n) for n in tensor.stride()] if storage else None,
               "offset": self.size(tensor.storage_offset()) if storage else None,
               "storage": storage and storage[0], "storage_bytes": storage and storage[1],
               "requires_grad": tensor.requires_grad, "layout": last_word(tensor.layout)}
        if any(isinstance(n, dict) for n in shape):
            out["numel_hint"] = int(optimization_hint(tensor.numel(), fallback=FALLBACK))
        if type(tensor) not in (FakeTensor, torch.Tensor, torch.nn.Parameter):
            out["subclass"] = type(tensor).__name__
        return out

    def symbolic(self, kind, thing):
        self.see_symbols(thing)
        return {kind: str(thing.node.expr), "hint": hint_of(thing)}

    def value(self, val):
        """Metadata `val` of a node."""
        if val is None:
            return None
        if isinstance(val, torch.Tensor):
            return {"tensor": self.tensor(val)}
        if isinstance(val, SYMBOLIC):
            return self.symbolic(type(val).__name__.lower(), val)
        if isinstance(val, (tuple, list)):
            return {"tuple" if isinstance(val, tuple) else "list": [self.value(v) for v in val]}
        if isinstance(val, dict):
            return {"dict": {str(k): self.value(v) for k, v in val.items()}}
        if isinstance(val, (bool, int, float, complex, str, torch.dtype, torch.device)):
            return {"const": self.argument(val)}
        return {"opaque": "BackwardState" if isinstance(val, BackwardState) else opaque_text(val)}

    def argument(self, arg):
        """An argument of a node."""
        if arg is None or isinstance(arg, (bool, int, str)):
            return arg
        if isinstance(arg, float):
            return arg if math.isfinite(arg) else {"float": "nan" if math.isnan(arg) else "inf" if arg > 0 else "-inf"}
        if isinstance(arg, complex):
            return {"complex": [self.argument(arg.real), self.argument(arg.imag)]}
        if isinstance(arg, torch.fx.Node):
            return {"node": arg.name}
        if isinstance(arg, SYMBOLIC):
            return self.symbolic("sym", arg)
        return self.container(arg) or self.constant(arg)

    def container(self, arg):
        if isinstance(arg, list):
            return [self.argument(a) for a in arg] or WrittenEmpty()
        if isinstance(arg, tuple):
            return {"tuple": [self.argument(a) for a in arg]}
        if isinstance(arg, dict):
            return {"dict": {str(k): self.argument(v) for k, v in arg.items()}}
        if isinstance(arg, slice):
            return {"slice": [self.argument(a) for a in (arg.start, arg.stop, arg.step)]}
        return None

    def constant(self, arg):
        for kind in ("dtype", "layout", "memory_format"):
            if isinstance(arg, getattr(torch, kind)):
                return {kind: last_word(arg)}
        if isinstance(arg, torch.device):
            return {"device": str(arg)}
        if isinstance(arg, torch._ops.OpOverload):
            self.ops.setdefault(target_name(arg), arg)
            return {"operator": target_name(arg)}
        if isinstance(arg, torch._ops.HigherOrderOperator):
            return {"operator": target_name(arg)}
        return {"opaque": opaque_text(arg)}

    def attribute(self, tensor):
        """A constant of the graph: its metadata and, if it is small, its elements."""
        out = {"tensor": self.tensor(tensor)}
        known = tensor.layout is torch.strided and not isinstance(tensor, FakeTensor)
        if known and tensor.numel() <= MAX_VALUES:
            with no_dispatch():  # the fake tensors of the running trace are not for these elements
                out["values"] = [self.argument(v) for v in tensor.detach().flatten().tolist()]
        return out


class WrittenEmpty(list):
    """An empty list that is true, so that `or` tells it from "no container"."""

    def __bool__(self):
        return True


def opaque_text(thing):
    """A description without addresses, the same in every run."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
