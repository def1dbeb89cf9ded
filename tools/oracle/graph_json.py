"""A joint graph as the JSON value sapwood.graph/1. The graph is read, never changed."""

import inspect
import re

import torch
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import flop_registry

from .values import ValueWriter, last_word, target_name

COPIED = ("partitioner_tag", "autograd_backward", "ac_graph_id", "has_backward_hook", "memory_budget", "seq_nr", "recompute",
          "saved_tensor_with_no_vc_check", "saved_for_quantization", "is_gradient_acc", "is_functional_regenerated",
          "quantization_tag")
FRAME = re.compile(r'File "([^"]*)", line (\d+), in (\S+)')


def joint_graph_json(name, module, num_fwd_outputs, static_lifetime_input_indices):
    """The graph of `module` (a joint graph before any partitioning) as a JSON value."""
    writer = GraphWriter()
    nodes, subgraphs, attributes = writer.body(module)
    return {"format": "sapwood.graph/1", "name": name,
            "producer": {"torch": torch.__version__, "source": "aot_autograd joint"},
            "num_fwd_outputs": num_fwd_outputs,
            "static_lifetime_input_indices": [int(i) for i in static_lifetime_input_indices or []],
            "symbols": {s: symbol_json(*found) for s, found in writer.values.symbols.items()},
            "ops": {op: op_json(overload) for op, overload in writer.values.ops.items()},
            "nodes": nodes, "subgraphs": subgraphs, "attributes": attributes}


def symbol_json(symbol, shape_env):
    bounds = shape_env.var_to_range.get(symbol)
    unbacked = shape_env.is_unbacked_symint(symbol)
    value = None if unbacked else shape_env.backed_var_to_val.get(symbol)
    return {"hint": int(value) if value is not None and value.is_Integer else None, "lower": bound_json(bounds and bounds.lower),
            "upper": bound_json(bounds and bounds.upper), "unbacked": unbacked}


def bound_json(bound):
    """A finite bound that fits 64 bits; anything else is no bound."""
    if bound is None or not bound.is_Integer or abs(int(bound)) >= 2**63 - 1:
        return None
    return int(bound)


def op_json(overload):
    return {"schema": str(overload._schema), "tags": sorted(tag.name for tag in overload.tags),
            "is_mutable": overload._schema.is_mutable, "is_view": overload.is_view}


def innermost_frame(stack_trace):
    """`file.py:12, in function, code` of the last frame of a stack trace."""
    frames = list(FRAME.finditer(stack_trace))
    if not frames:
        return stack_trace.strip().splitlines()[-1].strip() if stack_trace.strip() else ""
    last = frames[-1]
    code = stack_trace[last.end():].strip().splitlines()
    place = f"{last[1].rsplit('/', 1)[-1]}:{last[2]}, in {last[3]}"
    return f"{place}, {code[0].strip()}" if code else place


def module_path(stack):
    """The path of the innermost module of an nn_module_stack."""
    path = list(stack.values())[-1][0]
    return re.sub(r"L\['([^']*)'\]", r"\1", path)


def users_differ(node, order):
    positions = [order[user] for user in node.users]
    return positions != sorted(positions)


class GraphWriter:
    """Writes a graph and the bodies that it calls; storages, symbols and operators are shared between them."""

    def __init__(self):
        self.values = ValueWriter()

    def body(self, module):
        """(nodes, subgraphs, attributes) of one graph module."""
        order = {node: i for i, node in enumerate(module.graph.nodes)}
        nodes, subgraphs, attributes, mutations = [], {}, {}, 0
        for node in module.graph.nodes:
            mutations += is_mutation(node)
            nodes.append(self.node(node, order, mutations))
            if node.op == "get_attr":
                self.attribute(module, node.target, subgraphs, attributes)
        return nodes, subgraphs, attributes

    def attribute(self, module, target, subgraphs, attributes):
        found = module
        for part in target.split("."):
            found = getattr(found, part)
        if isinstance(found, torch.fx.GraphModule):
            if target not in subgraphs:
                subgraphs[target] = dict(zip(("nodes", "subgraphs", "attributes"), self.body(found)))
        elif isinstance(found, torch.Tensor):
            attributes.setdefault(target, self.values.attribute(found))

    def node(self, node, order, mutations):
        if isinstance(node.target, torch._ops.OpOverload):
            self.values.ops.setdefault(target_name(node.target), node.target)
        out = {"name": node.name, "op": node.op, "target": target_name(node.target),
               "args": self.output_arguments(node) if node.op == "output" else [self.values.argument(a) for a in node.args],
               "kwargs": {k: self.values.argument(v) for k, v in node.kwargs.items()}}
        if node.op == "placeholder":
            out["args"] = []  # a default value, which no joint graph has
        if "val" in node.meta:
            out["val"] = self.values.value(node.meta["val"])
        out["meta"] = self.meta(node, mutations)
        if users_differ(node, order):
            out["users"] = [user.name for user in node.users]
        return out

    def output_arguments(self, node):
        return [[self.values.argument(a) for a in pytree.arg_tree_leaves(*node.args)]]

    def meta(self, node, mutations):
        meta = node.meta
        out = {key: last_word(meta[key]) if key == "quantization_tag" else meta[key]
               for key in COPIED if key in meta and meta[key] is not None}
        if "recompute" in out:
            out["recompute"] = out["recompute"].name
        if meta.get("custom"):
            out["custom"] = {str(k): self.values.argument(v) for k, v in meta["custom"].items()}
        if mutations:
            out["mutation_region_id"] = mutations
        if meta.get("stack_trace"):
            out["stack_trace"] = innermost_frame(meta["stack_trace"])
        stack = meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack")
        if stack:
            out["nn_module"] = module_path(stack)
        if meta.get("original_aten") is not None:
            out["original_aten"] = target_name(meta["original_aten"])
        if "desc" in meta:
            desc = meta["desc"]
            out["desc"] = [repr(d) for d in pytree.tree_leaves(desc, is_leaf=lambda d: d is None)] if node.op == "output" else repr(desc)
        if meta.get("unbacked_bindings"):
            out["unbacked_bindings"] = {str(s): pytree.keystr(path) for s, path in meta["unbacked_bindings"].items()}
        if "tensor_meta" in meta:
            out["tensor_meta"] = True
        if node.op == "call_function":
            out.update(derived_meta(node))
        return out


def derived_meta(node):
    """What follows from the operator of a call."""
    out = {}
    if node.is_impure(torch._inductor.config.fallback_random):
        out["impure"] = True
    flops = flops_of(node)
    if flops is not None:
        out["flops"] = flops
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        parameters = inspect.signature(type(node.target).__call__).parameters
        out["hop"] = [p for p in parameters if p not in ("self", "_HigherOrderOperator__self")]
    return out


def is_mutation(node):
    """Whether a node opens a new mutation region for common subexpressions."""
    from torch._inductor.pattern_matcher import is_mutation_op
    return node.op not in ("placeholder", "get_attr", "output") and bool(is_mutation_op(node))


def flops_of(node):
    """What the "flops" estimator gives for an operator that has a formula; None for others."""
    from torch._functorch import config, partitioners
    if getattr(node.target, "overloadpacket", None) not in flop_registry:
        return None
    try:
        with config.patch(activation_memory_budget_runtime_estimator="flops"):
            return int(partitioners.estimate_runtime(node))
    except Exception:  # the estimator can't build arguments of this kind; upstream would fail as well
        return None
