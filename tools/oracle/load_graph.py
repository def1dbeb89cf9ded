#!/usr/bin/env python3
"""Joint graphs of sapwood.graph/1 files as PyTorch's partitioner takes them: load(path) gives a decide.JointGraph.

As a program: takes recorded decisions again on loaded graphs, and says per graph which come out the same."""

import argparse
import json
import pathlib
import subprocess
import sys

import torch
from torch import _guards
import torch._inductor.inductor_prims  # operators that graphs contain are registered when these are imported
import torch._higher_order_ops
import torch.distributed._functional_collectives
from torch.utils.checkpoint import CheckpointPolicy

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from oracle.decide import JointGraph  # noqa: E402
from oracle.read_values import ValueReader, find_target  # noqa: E402

DERIVED = ("mutation_region_id", "impure", "flops", "hop", "stack_trace", "nn_module", "tensor_meta", "original_aten",
           "recompute", "custom", "unbacked_bindings")  # made from other things, or read apart


def read_json(path):
    path = pathlib.Path(path)
    if path.suffix != ".zst":
        return json.loads(path.read_text())
    return json.loads(subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout)


def find_file(folder, name):
    """`name`.json or `name`.json.zst of a folder, or None."""
    for path in (folder / f"{name}.json", folder / f"{name}.json.zst"):
        if path.exists():
            return path
    return None


class GraphReader:
    """Builds graph modules; bodies share symbols, operators and storages with the graph that calls them."""

    def __init__(self, ops, values):
        self.ops, self.values = ops, values

    def module(self, body):
        holder = torch.nn.Module()
        for name, inner in body["subgraphs"].items():
            self.place(holder, name, self.module(inner))
        for name, facts in body["attributes"].items():
            self.place(holder, name, self.values.attribute(facts))
        graph, nodes = torch.fx.Graph(), {}
        for entry in body["nodes"]:
            nodes[entry["name"]] = self.node(graph, entry, nodes)
        for entry in body["nodes"]:
            if "users" in entry:
                nodes[entry["name"]].users = {nodes[user]: None for user in entry["users"]}
        return torch.fx.GraphModule(holder, graph)

    def place(self, holder, path, thing):
        *outer, name = path.split(".")
        for part in outer:
            if not hasattr(holder, part):
                setattr(holder, part, torch.nn.Module())
            holder = getattr(holder, part)
        if isinstance(thing, torch.Tensor):
            holder.register_buffer(name, thing)
        else:
            setattr(holder, name, thing)

    def node(self, graph, entry, nodes):
        is_call = entry["op"] == "call_function"
        target = find_target(entry["target"], self.ops) if is_call else entry["target"]
        arguments = tuple(self.values.argument(a, nodes) for a in entry["args"])
        keywords = {key: self.values.argument(a, nodes) for key, a in entry["kwargs"].items()}
        node = graph.create_node(entry["op"], target, arguments, keywords, name=entry["name"])
        if node.name != entry["name"]:
            raise RuntimeError(f"node {entry['name']} can't have that name in PyTorch; it got {node.name}")
        if "val" in entry:
            node.meta["val"] = self.values.value(entry["val"])
        self.fill_meta(node, entry["meta"])
        return node

    def fill_meta(self, node, facts):
        meta = node.meta
        meta.update({key: found for key, found in facts.items() if key not in DERIVED})
        if "recompute" in facts:
            meta["recompute"] = CheckpointPolicy[facts["recompute"]]
        if "custom" in facts:
            meta["custom"] = {key: self.values.argument(a, {}) for key, a in facts["custom"].items()}
        if "stack_trace" in facts:
            meta["stack_trace"] = facts["stack_trace"]
        if "unbacked_bindings" in facts:
            meta["unbacked_bindings"] = {self.values.symbols[name]: () for name in facts["unbacked_bindings"]
                                         if name in self.values.symbols}
        if facts.get("tensor_meta"):
            meta["tensor_meta"] = True  # the partitioner asks only whether there is one


class LoadedGraph(JointGraph):
    """A joint graph from a file. The partitioner runs as it does in a compilation: it takes new fake tensors from the
    graph's mode, and random operators that nothing reads for dead."""

    def __init__(self, facts):
        values = ValueReader(facts["symbols"], facts["ops"])
        self.mode = values.mode
        super().__init__(GraphReader(facts["ops"], values).module(facts), [], facts["num_fwd_outputs"],
                         facts["static_lifetime_input_indices"])

    def call(self, config, module):
        with _guards.tracing(_guards.TracingContext(self.mode)):
            return super().call(config, module)


def joint_graph(facts):
    """A JointGraph of a parsed sapwood.graph/1 value."""
    return LoadedGraph(facts)


def load(path):
    """A JointGraph of a sapwood.graph/1 file, packed by zstd or not."""
    return joint_graph(read_json(path))


TIMES = ("seconds", "cpu_seconds", "max_flow_seconds", "error", "error_at")


def comparable(part, known):
    """A part of a decision. That a new node reads nothing may be written down or left out."""
    if not isinstance(part, list):
        return part
    return [{key: found for key, found in node.items() if key != "inputs" or found or node["name"] in known}
            if isinstance(node, dict) and "op" in node else node for node in part]


def first_difference(ours, recorded, known=()):
    """The name of the first part of a decision that differs, or None; `known` are the names of the joint graph."""
    ours = json.loads(json.dumps(ours))
    for key, found in recorded.items():
        if key not in TIMES and comparable(ours.get(key), known) != comparable(found, known):
            return key if ours["ok"] else f"{key} ({ours['error'][:200]})"
    return None


def is_plain(config):
    """The configurations of a quick check: both partitioners, and half the budget."""
    options = config["functorch"]
    budget = options.get("activation_memory_budget") == 0.5 and options.get("activation_memory_budget_solver") == "dp"
    return config["compiler"] != "nvfuser" and (not options or budget)


def check(folder, thorough):
    """Differences of a corpus folder: {configuration: part of the decision}, and the number compared."""
    joint = load(find_file(folder, "graph"))
    differences, compared = {}, 0
    for recorded in read_json(find_file(folder, "decisions")):
        if not (thorough or is_plain(recorded["config"])):
            continue
        compared += 1
        difference = first_difference(joint.partition(recorded["config"]), recorded, joint.inputs)
        if difference:
            differences[json.dumps(recorded["config"])] = difference
    return differences, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="folders with a graph and decisions, or folders of such")
    parser.add_argument("--all", action="store_true", help="every recorded configuration, not three of them")
    arguments = parser.parse_args()
    folders = []
    for folder in arguments.folders:
        folders += [folder] if find_file(folder, "graph") else sorted(f for f in folder.iterdir() if find_file(f, "graph"))
    failed = 0
    for folder in folders:
        try:
            differences, compared = check(folder, arguments.all)
        except Exception as error:
            differences, compared = {"reading": f"{type(error).__name__}: {error}"}, 0
        failed += bool(differences)
        print(f"{folder.name}: {'the same' if not differences else 'DIFFERENT'}, {compared} decisions", flush=True)
        for config, part in differences.items():
            print(f"  {config}: {part}")
    print(f"{len(folders) - failed} of {len(folders)} graphs give the recorded decisions")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
