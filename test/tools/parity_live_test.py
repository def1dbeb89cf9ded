#!/usr/bin/env python3
"""Tests of tools/parity_live.py: what it writes for a small network keeps every rule of the format. Skipped where no torch is."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

HAS_TORCH = importlib.util.find_spec("torch") is not None
TENSOR_KEYS = ["dtype", "device", "shape", "stride", "offset", "storage", "storage_bytes", "requires_grad", "layout"]
DECISION_KEYS = {"config", "ok", "seconds", "cpu_seconds", "max_flow_seconds", "saved", "saved_sym", "chosen", "chosen_sym", "forward",
                 "backward", "forward_outputs", "backward_outputs", "backward_inputs", "solves", "knapsack"}


def record(step, **settings):
    """[(graph, decisions)] of one step."""
    from oracle.capture import Model, capture
    found = []
    _, error = capture(Model("tiny", step, **settings), 4000, lambda graph, decisions: found.append((graph, decisions)))
    if error is not None:
        raise error
    return found


def mlp_with_dropout(compiled):
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5), torch.nn.GELU(), torch.nn.Linear(16, 4))
    compiled(lambda x: net(x).sum())(torch.randn(6, 8)).backward()


def read_nodes(argument):
    """Names of all nodes inside an argument value."""
    if isinstance(argument, dict):
        return [argument["node"]] if "node" in argument else [n for v in argument.values() for n in read_nodes(v)]
    return [n for v in argument for n in read_nodes(v)] if isinstance(argument, list) else []


def node_inputs(node):
    return list(dict.fromkeys(read_nodes(node["args"]) + read_nodes(list(node["kwargs"].values()))))


@unittest.skipUnless(HAS_TORCH, "torch cannot be imported by this Python")
class Graph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (cls.graph, cls.decisions), = record(mlp_with_dropout)
        cls.nodes = {node["name"]: node for node in cls.graph["nodes"]}

    def targets(self, target):
        return [node for node in self.graph["nodes"] if node["target"] == target]

    def test_top_level(self):
        self.assertEqual(list(self.graph), ["format", "name", "producer", "num_fwd_outputs", "static_lifetime_input_indices", "symbols",
                                            "ops", "nodes", "subgraphs", "attributes"])
        self.assertEqual((self.graph["format"], self.graph["num_fwd_outputs"], self.graph["symbols"]), ("sapwood.graph/1", 1, {}))

    def test_parameters_are_static_and_the_batch_is_not(self):
        primals = [n for n in self.graph["nodes"] if n["op"] == "placeholder" and n["name"].startswith("primals")]
        static = [primals[i]["val"]["tensor"]["shape"] for i in self.graph["static_lifetime_input_indices"]]
        self.assertCountEqual(static, [[16, 8], [16], [4, 16], [4]])
        self.assertEqual(len(primals), 5)

    def test_nodes_read_only_earlier_ones_and_the_output_is_last(self):
        seen = set()
        for node in self.graph["nodes"]:
            self.assertLessEqual(set(node_inputs(node)), seen, node["name"])
            self.assertNotIn(node["name"], seen)
            seen.add(node["name"])
        last = self.graph["nodes"][-1]
        self.assertEqual((last["op"], len(last["args"]), "val" in last), ("output", 1, False))
        self.assertEqual(len(last["args"][0]), len(last["meta"]["desc"]))

    def test_each_operator_is_in_the_table_once(self):
        used = [n["target"] for n in self.graph["nodes"] if n["target"].startswith("aten.")]
        self.assertEqual(list(self.graph["ops"]), list(dict.fromkeys(used)))
        self.assertIn("nondeterministic_seeded", self.graph["ops"]["aten.native_dropout.default"]["tags"])
        self.assertEqual([self.graph["ops"]["aten.t.default"][k] for k in ("is_view", "is_mutable")], [True, False])

    def test_tensors_and_storages(self):
        for node in self.graph["nodes"]:
            if "tensor" in (node.get("val") or {}):
                self.assertEqual(list(node["val"]["tensor"]), TENSOR_KEYS, node["name"])
        view = self.targets("aten.t.default")[0]
        base = self.nodes[view["args"][0]["node"]]
        self.assertEqual(view["val"]["tensor"]["storage"], base["val"]["tensor"]["storage"])
        self.assertNotEqual(view["val"]["tensor"]["stride"], base["val"]["tensor"]["stride"])
        fresh = [n["val"]["tensor"]["storage"] for n in self.graph["nodes"] if n["op"] == "placeholder"]
        self.assertEqual(fresh, list(range(len(fresh))))

    def test_operations_are_counted_only_where_there_is_a_formula(self):
        self.assertEqual([n["meta"]["flops"] for n in self.targets("aten.addmm.default")], [2 * 6 * 8 * 16, 2 * 6 * 16 * 4])
        counted = {n["target"] for n in self.graph["nodes"] if "flops" in n["meta"]}
        self.assertEqual(counted, {"aten.addmm.default", "aten.mm.default"})

    def test_metadata(self):
        dropout, = self.targets("aten.native_dropout.default")
        self.assertNotIn("impure", dropout["meta"])
        self.assertEqual(dropout["meta"]["partitioner_tag"], "is_forward")
        self.assertEqual(dropout["meta"]["original_aten"], "aten.native_dropout.default")
        self.assertEqual(dropout["meta"]["nn_module"], "net.1")
        self.assertRegex(dropout["meta"]["stack_trace"], r"^parity_live_test\.py:\d+, in <lambda>, ")
        self.assertEqual(list(dropout["val"]), ["tuple"])
        self.assertTrue(all(n["meta"]["autograd_backward"] for n in self.graph["nodes"] if n["target"].endswith("_backward.default")))

    def test_users_are_left_out_in_graph_order(self):
        self.assertEqual([n["name"] for n in self.graph["nodes"] if "users" in n], [])


@unittest.skipUnless(HAS_TORCH, "torch cannot be imported by this Python")
class Decisions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (cls.graph, cls.decisions), = record(mlp_with_dropout)
        cls.joint = {node["name"]: node for node in cls.graph["nodes"]}

    def good(self):
        found = [d for d in self.decisions if d["ok"]]
        self.assertGreaterEqual(len(found), len(self.decisions) - 1)  # the solver "ilp" may lack its package
        return found

    def test_one_for_each_configuration(self):
        from oracle.decide import configurations
        self.assertEqual([d["config"] for d in self.decisions], configurations())
        self.assertEqual(len(self.decisions), 22)

    def test_what_is_saved_leaves_the_forward_and_enters_the_backward(self):
        for d in self.good():
            kept = d["saved"] + d["saved_sym"]
            self.assertEqual(d["forward_outputs"][self.graph["num_fwd_outputs"]:], kept)
            self.assertEqual(d["backward_inputs"], d["saved_sym"] + d["saved"] + ["tangents_1"])
            self.assertLessEqual(set(d["saved"]), set(d["chosen"]))

    def test_keys(self):
        for d in self.good():
            plain = d["config"] == {"partitioner": "min_cut", "functorch": {}, "compiler": "inductor"}
            self.assertEqual(set(d), DECISION_KEYS | ({"bans", "weights"} if plain else set()))

    def test_inputs_are_given_only_where_they_differ(self):
        for d in self.good():
            for node in d["forward"] + d["backward"]:
                if "inputs" in node:
                    self.assertNotEqual(node["inputs"], node_inputs(self.joint[node["name"]]), node)

    def test_no_copy_saw_what_another_did(self):
        default, plain = self.decisions[0], self.decisions[1]
        self.assertEqual(default["solves"], [])
        again = record(mlp_with_dropout)[0][1]
        self.assertEqual([again[0]["saved"], again[1]["saved"]], [default["saved"], plain["saved"]])
        self.assertEqual(plain["saved"], self.decisions[-1]["saved"])  # the compiler's name changes nothing

    def test_the_cut_is_as_heavy_as_what_it_saves(self):
        plain = self.decisions[1]
        solve, = plain["solves"]
        self.assertEqual(solve["cut_value"], sum(plain["weights"][name] for name in solve["saved"]))
        self.assertEqual({name for name, _ in plain["bans"]}, set(solve["banned"]))

    def test_knapsack_candidates_are_kept_or_dropped(self):
        solved = [d["knapsack"] for d in self.good() if d["knapsack"]]
        for knapsack in solved:
            self.assertCountEqual(knapsack["save"] + knapsack["recompute"], range(len(knapsack["candidates"])))
        self.assertTrue(all(len(d["solves"]) == 4 for d in self.good() if d["knapsack"]))


@unittest.skipUnless(HAS_TORCH, "torch cannot be imported by this Python")
class Symbols(unittest.TestCase):
    def test_sizes_are_written_with_their_hints(self):
        import torch

        def step(compiled):
            x = torch.randn(6, 8, requires_grad=True)
            compiled(lambda x: x.exp().sum(0) * x.shape[0])(x).sum().backward()
        (graph, decisions), = record(step, options={"dynamic"})
        rows = graph["nodes"][0]["val"]
        self.assertEqual((rows["hint"], graph["symbols"][rows["symint"]]["unbacked"]), (6, False))
        tensors = [n["val"]["tensor"] for n in graph["nodes"] if "tensor" in (n.get("val") or {})]
        self.assertIn(48, [t.get("numel_hint") for t in tensors])
        self.assertTrue(all("numel_hint" in t for t in tensors if any(isinstance(s, dict) for s in t["shape"])))
        self.assertTrue(decisions[1]["saved_sym"])

    def test_unknown_sizes_have_a_fallback(self):
        import torch

        def step(compiled):
            x = torch.randn(6, 8, requires_grad=True)
            compiled(lambda x, m: x.exp()[m].sin())(x, torch.arange(6) > 2).sum().backward()
        (graph, _), = record(step, dynamo={"capture_dynamic_output_shape_ops": True})
        unknown = [s for s, about in graph["symbols"].items() if about["unbacked"]]
        self.assertTrue(unknown and all(graph["symbols"][s]["hint"] is None for s in unknown))
        sizes = [n["val"]["tensor"]["shape"][0] for n in graph["nodes"] if n["target"] == "aten.index.Tensor"]
        self.assertTrue(sizes)
        for size in sizes:  # at most as many rows as there are, far fewer than the partitioner's 4096
            self.assertEqual((size["hint"], size["fallback_hint"]), (None, graph["symbols"][size["sym"]]["upper"]))
        self.assertTrue(any("unbacked_bindings" in n["meta"] for n in graph["nodes"]))


class CommandLine(unittest.TestCase):
    def run_tool(self, *arguments):
        command = [sys.executable, str(ROOT / "tools" / "parity_live.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    @unittest.skipUnless(HAS_TORCH, "torch cannot be imported by this Python")
    def test_an_unknown_model_is_named(self):
        ended = self.run_tool("--out", os.devnull, "no_such_model")
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, r'parity_live: unknown model "no_such_model"')

    @unittest.skipIf(HAS_TORCH, "torch is there")
    def test_missing_packages_are_named_with_a_remedy(self):
        ended = self.run_tool("--out", os.devnull, "gpt2")
        self.assertEqual(ended.returncode, 1)
        self.assertTrue(re.match(r"parity_live: torch.* cannot be imported; install with: pip install torch", ended.stderr))


def with_torch():
    """The project's own Python where this one has no torch; None if that isn't there."""
    own = ROOT / ".venv" / "bin" / "python"
    return own if not HAS_TORCH and own.exists() and pathlib.Path(sys.executable) != own else None


if __name__ == "__main__":
    if with_torch():
        os.execv(with_torch(), [str(with_torch()), *sys.argv])
    unittest.main()
