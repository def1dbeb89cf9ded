"""Runs PyTorch's partitioner on copies of a joint graph and records what it decides, one record per configuration."""

import contextlib
import math
import os
import signal
import tempfile
import time
import traceback
import warnings
from unittest import mock

import networkx
import torch
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch.utils import _pytree as pytree

from .values import target_name

TIME_LIMIT = 120  # seconds for one decision
BUDGET = "activation_memory_budget"
BANS = ("ban_recompute_used_far_apart", "ban_recompute_long_fusible_chains", "ban_recompute_materialized_backward",
        "ban_recompute_not_in_allowlist", "ban_recompute_reductions", "treat_parameters_as_free_to_save", "cse")


def configurations():
    """What each joint graph is partitioned with, in the order of the corpus."""
    def entry(partitioner, functorch=None, compiler="inductor"):
        return {"partitioner": partitioner, "functorch": functorch or {}, "compiler": compiler}

    def budget(value, solver):
        return entry("min_cut", {BUDGET: value, BUDGET + "_solver": solver, BUDGET + "_runtime_estimator": "flops"})

    return ([entry("default", compiler=None), entry("min_cut")]
            + [entry("min_cut", {option: False}) for option in BANS]
            + [entry("min_cut", {option: True}) for option in ("recompute_views", "aggressive_recomputation")]
            + [budget(value, "dp") for value in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)]
            + [budget(0.5, solver) for solver in ("greedy", "ilp", "dp_knapsack_sliding_hirschberg", "dynamic_memory_budget_dp")]
            + [entry("min_cut", compiler="nvfuser")])


def copy_module(module):
    """A copy with the same names, arguments and user order; metadata dictionaries are new, their values are shared."""
    graph = torch.fx.Graph()
    copies = {}
    for node in module.graph.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
        if copies[node].name != node.name:
            raise RuntimeError(f"the copy of node {node.name} is called {copies[node].name}")
    for node, copied in copies.items():
        copied.users = {copies[user]: None for user in node.users}
        copied.meta = dict(node.meta)
    root = {name: getattr(module, name) for name in attribute_roots(module)}
    root = {name: copy_module(found) if isinstance(found, torch.fx.GraphModule) else found for name, found in root.items()}
    holder = torch.nn.Module()
    for name, found in root.items():
        setattr(holder, name, found)
    return torch.fx.GraphModule(holder, graph)


def attribute_roots(module):
    return dict.fromkeys(node.target.split(".")[0] for node in module.graph.nodes if node.op == "get_attr")


class TimeLimit(BaseException):
    """Not an Exception, so that no handler in between takes it for an error of the graph."""


@contextlib.contextmanager
def time_limit(seconds):
    def stop(*_):
        raise TimeLimit
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def own_folder():
    """An infinite cut makes the partitioner write files into the current folder."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def names(nodes):
    return [node.name for node in nodes]


def number(capacity):
    return None if capacity == math.inf else capacity


class Recorder:
    """Stands around the partitioner's own functions and notes what goes in and out."""

    def __init__(self):
        self.solves, self.knapsack, self.network = [], None, None
        self.max_flow_seconds = 0.0
        self.chosen, self.saved = ([], []), ([], [])

    @contextlib.contextmanager
    def installed(self):
        with contextlib.ExitStack() as stack:
            for module, name, wrapper in ((networkx, "minimum_cut", self.minimum_cut), (partitioners, "solve_min_cut", self.solve),
                                          (partitioners, "_optimize_runtime_with_given_memory", self.optimize),
                                          (partitioners, "_extract_fwd_bwd_modules", self.extract)):
                original = getattr(module, name)
                stack.enter_context(mock.patch.object(module, name, lambda *a, w=wrapper, o=original, **k: w(o, *a, **k)))
            yield self

    def minimum_cut(self, original, graph, *args, **kwargs):
        start = time.perf_counter()
        value, parts = original(graph, *args, **kwargs)
        self.max_flow_seconds += time.perf_counter() - start
        self.network = graph
        self.solves[-1]["cut_value"] = value
        return value, parts

    def solve(self, original, graph, info, options, dont_ban=None):
        self.solves.append({"options": dict(vars(options)), "dont_ban": names(dont_ban or []), "cut_value": None})
        saved, banned = original(graph, info, options, dont_ban)
        self.solves[-1].update(saved=names(saved), banned=names(banned))
        return saved, banned

    def optimize(self, original, graph, memory, runtimes, max_memory, info, candidates):
        result = original(graph, memory, runtimes, max_memory, info, candidates)
        runtime, save, recompute = result
        self.knapsack = {"candidates": names(candidates), "memory": [float(m) for m in memory],
                         "runtime": [plain(r) for r in runtimes], "max_memory": float(max_memory),
                         "expected_runtime": float(runtime), "save": [int(i) for i in save],
                         "recompute": [int(i) for i in recompute]}
        return result

    def extract(self, original, module, saved, saved_sym_nodes, *args, **kwargs):
        self.chosen = names(saved), names(saved_sym_nodes)
        result = original(module, saved, saved_sym_nodes, *args, **kwargs)
        self.saved = names(saved), names(saved_sym_nodes)
        return result

    def bans(self):
        """Edges out of the source, and the capacities of the nodes' own edges."""
        graph = self.network
        bans = [[vertex.removesuffix("_in"), edge.get("reason")] for vertex, edge in graph["source"].items()]
        weights = {a.removesuffix("_in"): number(edge["capacity"]) for a, b, edge in graph.edges(data=True)
                   if a.endswith("_in") and b == a.removesuffix("_in") + "_out"}
        return bans, weights


def plain(value):
    return int(value) if float(value).is_integer() else float(value)


class JointGraph:
    """A captured joint graph with everything that a partitioner is told about it."""

    def __init__(self, module, joint_inputs, num_fwd_outputs, static_lifetime_input_indices):
        self.module = module
        self.joint_inputs = joint_inputs
        self.options = {"num_fwd_outputs": num_fwd_outputs, "static_lifetime_input_indices": static_lifetime_input_indices}
        self.inputs = {node.name: names(node.all_input_nodes) for node in module.graph.nodes}

    def side(self, module):
        """Nodes of one half; inputs only where they aren't those of the joint graph's node of that name."""
        out = []
        for node in module.graph.nodes:
            entry = {"name": node.name, "op": node.op, "target": target_name(node.target)}
            inputs = names(node.all_input_nodes)
            if node.op == "call_function" and inputs != self.inputs.get(node.name):
                entry["inputs"] = inputs
            out.append(entry)
        return out

    def partition(self, config):
        module = copy_module(self.module)
        recorder, out = Recorder(), {"config": config}
        with recorder.installed(), functorch_config.patch(**config["functorch"]), own_folder(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start, cpu = time.perf_counter(), time.process_time()
            try:
                with time_limit(TIME_LIMIT):
                    halves = self.call(config, module)
                out["ok"] = True
            except (Exception, TimeLimit) as error:
                halves = None
                out.update(ok=False, **error_json(error))
            out.update(seconds=round(time.perf_counter() - start, 4), cpu_seconds=round(time.process_time() - cpu, 4),
                       max_flow_seconds=round(recorder.max_flow_seconds, 4))
        if halves is not None:
            out.update(self.result(recorder, *halves))
            if config["partitioner"] == "min_cut" and not config["functorch"] and config["compiler"] == "inductor" and recorder.network:
                out["bans"], out["weights"] = recorder.bans()
        return out

    def call(self, config, module):
        if config["partitioner"] == "default":
            return partitioners.default_partition(module, self.joint_inputs, **self.options)
        return partitioners.min_cut_rematerialization_partition(module, self.joint_inputs, compiler=config["compiler"],
                                                                **self.options)

    def result(self, recorder, forward, backward):
        return {"saved": recorder.saved[0], "saved_sym": recorder.saved[1], "chosen": recorder.chosen[0],
                "chosen_sym": recorder.chosen[1], "forward": self.side(forward), "backward": self.side(backward),
                "forward_outputs": output_names(forward), "backward_outputs": output_names(backward),
                "backward_inputs": names(backward.graph.find_nodes(op="placeholder")),
                "solves": recorder.solves, "knapsack": recorder.knapsack}

    def decisions(self):
        return [self.partition(config) for config in configurations()]


def output_names(module):
    output = module.graph.find_nodes(op="output")[0]
    return [getattr(leaf, "name", None) for leaf in pytree.arg_tree_leaves(*output.args)]


def error_json(error):
    if isinstance(error, TimeLimit):
        return {"error": f"skipped: more than {TIME_LIMIT} s", "error_at": None}
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return {"error": f"{type(error).__name__}: {error}"[:2000],
            "error_at": f"{os.path.basename(frame.filename)}:{frame.lineno}, in {frame.name}"}
