"""Values of sapwood.graph/1 as PyTorch's own: fake tensors that share storages, symbolic numbers of one shape environment."""

import ast
import importlib

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental._backward_state import BackwardState
from torch.fx.experimental.symbolic_shapes import ShapeEnv, ValueRangesSLoc
from torch.utils._sympy import functions as sympy_functions
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges


class Unreadable(Exception):
    """A value that can't be made from its description."""


class SizeReader(ast.NodeTransformer):
    """Reads expressions as str() writes them. Division by // is PyTorch's own function, and numbers are SymPy's."""

    def __init__(self):
        self.names = {name: found for name, found in vars(sympy_functions).items() if isinstance(found, type)}
        self.names.update(FloorDiv=sympy_functions.FloorDiv, Integer=sympy.Integer, Float=sympy.Float)
        for name in ("Eq", "Ne", "And", "Or", "Not", "Piecewise", "Abs", "floor", "ceiling", "oo", "true", "false"):
            self.names[name] = getattr(sympy, name)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.FloorDiv):
            return call("FloorDiv", node.left, node.right)
        return node

    def visit_Constant(self, node):
        return node if isinstance(node.value, bool) else call("Integer" if isinstance(node.value, int) else "Float", node)

    def read(self, text, symbols):
        tree = ast.fix_missing_locations(self.visit(ast.parse(text, mode="eval")))
        return sympy.sympify(eval(compile(tree, text, "eval"), {"__builtins__": {}}, {**self.names, **symbols}))


def call(function, *arguments):
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


class ValueReader:
    """Makes values; tensors whose storages have equal numbers share one."""

    def __init__(self, symbols, ops):
        self.ops = ops
        self.shape_env = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.shape_env, allow_non_fake_inputs=True)
        self.sizes = SizeReader()
        self.storages = {}
        self.symbols = {name: self.symbol(name, facts) for name, facts in symbols.items()}
        self.expressions = {}

    def symbol(self, name, facts):
        """A symbol of the shape environment, with its own name."""
        env, lower, upper = self.shape_env, facts["lower"], facts["upper"]
        is_float = name.startswith("zf") or name.startswith("zuf")
        positive = True if not facts["unbacked"] and lower is not None and lower >= 0 else None
        symbol = sympy.Symbol(name, real=True) if is_float else sympy.Symbol(name, integer=True, positive=positive)
        if is_float:
            env.var_to_range[symbol] = ValueRanges(-sympy.oo, sympy.oo)
        else:
            env.var_to_range[symbol] = ValueRanges(-int_oo if lower is None else lower, int_oo if upper is None else upper)
        env.var_to_range_sloc[symbol] = ValueRangesSLoc(env._get_sloc(), env._get_sloc())
        if not facts["unbacked"]:
            if facts["hint"] is not None:
                env.backed_var_to_val[symbol] = sympy.Integer(facts["hint"])
            env.var_to_sources[symbol] = []
        return symbol

    def expression(self, text):
        if text not in self.expressions:
            self.expressions[text] = self.sizes.read(text, self.symbols)
        return self.expressions[text]

    def size(self, number):
        if isinstance(number, int):
            return number
        return self.symint(number["sym"], number["hint"])

    def symint(self, text, hint):
        return self.shape_env.create_symintnode(self.expression(text), hint=hint)

    def storage(self, number, size):
        if number not in self.storages:
            self.storages[number] = torch.empty(self.size(size), dtype=torch.uint8, device="meta").untyped_storage()
        return self.storages[number]

    def tensor(self, facts):
        """A fake tensor. Layouts without storage get what an empty tensor of that layout has."""
        dtype, device = getattr(torch, facts["dtype"]), torch.device(facts["device"])
        shape = [self.size(n) for n in facts["shape"]]
        if facts["stride"] is None:
            with self.mode:
                return torch.empty(shape, dtype=dtype, device=device, layout=getattr(torch, facts["layout"]))
        meta = torch.empty(0, dtype=dtype, device="meta")
        meta.set_(self.storage(facts["storage"], facts["storage_bytes"]), self.size(facts["offset"]), shape,
                  [self.size(n) for n in facts["stride"]])
        if facts["requires_grad"] and (dtype.is_floating_point or dtype.is_complex):
            meta.requires_grad_()
        return FakeTensor(self.mode, meta, device)

    def value(self, val):
        """Metadata `val` of a node."""
        if val is None:
            return None
        (kind, found), *_ = val.items()
        if kind == "tensor":
            return self.tensor(found)
        if kind == "symint":
            return self.symint(found, val["hint"])
        if kind == "symfloat":
            return self.shape_env.create_symfloatnode(self.expression(found), hint=val["hint"])
        if kind == "symbool":
            return self.shape_env.create_symboolnode(self.expression(found))
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(self.value(v) for v in found)
        if kind == "dict":
            return {key: self.value(v) for key, v in found.items()}
        if kind == "const":
            return self.argument(found, {})
        if found == "BackwardState":
            return BackwardState()
        raise Unreadable(f"a value is an opaque {found}, which can't be made again")

    def argument(self, arg, nodes):
        """An argument of a node; `nodes` are those of its graph by name."""
        if isinstance(arg, list):
            return [self.argument(a, nodes) for a in arg]
        if not isinstance(arg, dict):
            return arg
        (kind, found), *_ = arg.items()
        if kind == "node":
            return nodes[found]
        if kind == "tuple":
            return tuple(self.argument(a, nodes) for a in found)
        if kind == "slice":
            return slice(*(self.argument(a, nodes) for a in found))
        if kind == "dict":
            return {key: self.argument(a, nodes) for key, a in found.items()}
        return self.constant(kind, found, arg)

    def constant(self, kind, found, arg):
        if kind == "float":
            return float(found)
        if kind == "complex":
            return complex(*(self.argument(part, {}) for part in found))
        if kind in ("dtype", "layout", "memory_format"):
            return getattr(torch, found)
        if kind == "device":
            return torch.device(found)
        if kind == "sym":
            return self.symint(found, arg["hint"])
        if kind == "operator":
            return find_target(found, self.ops)
        raise Unreadable(f"an argument is an opaque {found}, which can't be made again")

    def attribute(self, facts):
        """A constant of the graph. Elements that weren't written down are zero."""
        tensor = facts["tensor"]
        shape, dtype = [self.size(n) for n in tensor["shape"]], getattr(torch, tensor["dtype"])
        if facts.get("values") is None:
            return torch.zeros(shape, dtype=dtype)
        return torch.tensor([self.argument(v, {}) for v in facts["values"]], dtype=dtype).reshape(shape)


def find_target(name, ops):
    """The callable with this name; an operator nobody registered is declared from its schema, without an implementation."""
    if name.startswith("higher_order."):
        return getattr(torch.ops.higher_order, name.removeprefix("higher_order."))
    namespace, _, rest = name.partition(".")
    if name in ops or rest.count("."):
        packet, _, overload = rest.partition(".")
        try:
            return getattr(getattr(getattr(torch.ops, namespace), packet), overload)
        except AttributeError:
            if name not in ops:
                raise
        declare(namespace, ops[name])
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload)
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)


LIBRARIES = []  # operators live as long as what declared them


def declare(namespace, facts):
    library = torch.library.Library(namespace, "FRAGMENT")
    LIBRARIES.append(library)
    tags = [getattr(torch.Tag, tag) for tag in facts["tags"] if hasattr(torch.Tag, tag)]
    library.define(facts["schema"].partition("::")[2], tags=tags)
