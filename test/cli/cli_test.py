#!/usr/bin/env python3
"""Tests of the command line: output, exit status and messages of the built program, and the golden texts.

    cli_test.py PROGRAM [unittest arguments]      SAPWOOD_UPDATE_GOLDEN=1 writes the golden texts anew
"""

import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "test" / "data" / "corpus"
GOLDEN = ROOT / "test" / "golden"
PROGRAM = None

HAND = """graph hand {
  %a : float32[2, 3] = placeholder
  %s = aten.sin.default(%a)
  return (%s)
}
"""
UNSOUND = """graph unsound {
  %s = aten.sin.default()
  %a : float32[2, 3] = placeholder
  return (%s)
}
"""
RUNNABLE = """graph runnable {
  %a : float32[2, 3] = placeholder
  %s : float32[2, 3] = aten.sin.default(%a)
  return (%s, None)
}
"""


def sapwood(*arguments, text=""):
    """(exit status, standard output, standard error) of one run."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def corpus(model):
    return CORPUS / model / "graph.json.zst"


class Program(unittest.TestCase):
    def test_version_and_help(self):
        status, out, _ = sapwood("--version")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^sapwood \d+\.\d+\.\d+\n$")
        commands = ("print", "verify", "partition", "explain", "pareto", "plan", "draw", "stats", "check-plan", "run")
        for arguments in [["--help"], ["plan", "diff", "--help"]] + [[command, "--help"] for command in commands]:
            status, out, _ = sapwood(*arguments)
            self.assertEqual(status, 0)
            self.assertIn("Usage", out)

    def test_wrong_usage_is_status_2(self):
        for arguments in ([], ["pritn"], ["print", "--jsno"], ["print", "--json", "--dot"], ["partition", "--method", "best"],
                          ["run", "--seed", "many"], ["run", "--seed", "-1"], ["run", "--seed", "1" + 30 * "0"]):
            status, out, err = sapwood(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertEqual(out, "")
            self.assertIn("--help", err)

    def test_wrong_words_are_named(self):
        self.assertIn("'pritn'", sapwood("pritn")[2])
        err = sapwood("partition", "--method", "best")[2]
        self.assertIn("best", err)
        self.assertIn("default, min_cut", err)

    def test_help_that_cannot_be_written_is_status_1(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.DEVNULL).returncode, 1)

    def test_a_missing_file_is_status_1_and_named(self):
        status, out, err = sapwood("print", "/nowhere/graph.json")
        self.assertEqual((status, out), (1, ""))
        self.assertTrue(err.startswith("sapwood: "), err)
        self.assertIn("/nowhere/graph.json", err)
        self.assertEqual(err.count("\n"), 1)

    def test_a_wrong_graph_is_status_1_with_place_and_remedy(self):
        status, _, err = sapwood("print", "-", text="graph g {\n  %a : flaot32[2] = placeholder\n}\n")
        self.assertEqual(status, 1)
        self.assertEqual(err, 'sapwood: standard input: 2:8: unknown dtype "flaot32"; did you mean "float32"?\n'
                              "    %a : flaot32[2] = placeholder\n         ^\n")
        status, _, err = sapwood("print", "-", text='{"format":"sapwood.graph/9"}')
        self.assertEqual(status, 1)
        self.assertEqual(err, 'sapwood: standard input: format: expected "sapwood.graph/1", got "sapwood.graph/9"; '
                              "write the graph again in this format\n")


class Print(unittest.TestCase):
    def test_text_to_json_and_back(self):
        status, text, _ = sapwood("print", corpus("gcn"))
        self.assertEqual(status, 0)
        status, form, _ = sapwood("print", "--json", "-", text=text)
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(form)["format"], "sapwood.graph/1")
        self.assertEqual(sapwood("print", "-", text=form), (0, text, ""))

    def test_output_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out.txt"
            self.assertEqual(sapwood("print", "-", "-o", path, text=HAND), (0, "", ""))
            self.assertEqual(path.read_text(), HAND)
            status, _, err = sapwood("print", "-", "-o", pathlib.Path(folder) / "no" / "out.txt", text=HAND)
            self.assertEqual(status, 1)
            self.assertIn("out.txt", err)

    def test_diagram(self):
        status, out, _ = sapwood("print", "--dot", "-", text=HAND)
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith('digraph "hand" {\n'))
        self.assertIn('n1 [label="s\\naten.sin.default"', out)
        self.assertIn("  n0 -> n1;\n", out)
        self.assertIn("  n1 -> n2;\n", out)


class Verify(unittest.TestCase):
    def test_a_sound_graph(self):
        self.assertEqual(sapwood("verify", corpus("mlp")), (0, "mlp: sound, 48 nodes\n", ""))
        self.assertEqual(sapwood("verify", "--json", corpus("mlp")), (0, "[]\n", ""))

    def test_an_unsound_graph_is_status_1(self):
        status, out, _ = sapwood("verify", "-", text=UNSOUND)
        self.assertEqual(status, 1)
        self.assertIn("placeholder", out)
        self.assertRegex(out, r"unsound: \d+ violations?\n$")
        status, out, _ = sapwood("verify", "--json", "-", text=UNSOUND)
        self.assertEqual(status, 1)
        violations = json.loads(out)
        self.assertIn("a", [v["node"] for v in violations])
        self.assertTrue(all(v["rule"] and v["message"] for v in violations))


    def test_calls_are_checked_against_their_schemas(self):
        status, out, _ = sapwood("verify", "-", text=RUNNABLE.replace("(%a)", "(%a, 3)"))
        self.assertEqual(status, 1)
        self.assertIn("call-arguments: node 's' (aten.sin.default): has 2 positional arguments, but the operator takes 1", out)

    def test_only_sound_graphs_are_worked_with(self):
        for text in (UNSOUND, RUNNABLE.replace("(%a)", "()"), RUNNABLE.replace("{\n", "{\n  num_forward_outputs 1000000000000000000\n", 1)):
            self.assertEqual(sapwood("verify", "-", text=text)[0], 1)
            self.assertEqual(sapwood("print", "-", text=text)[0], 0)
            for command in ("run", "partition"):
                status, out, err = sapwood(command, "-", text=text)
                self.assertEqual((status, out), (1, ""))
                self.assertRegex(err, r"^sapwood: standard input: graph '\w+' isn't sound, it breaks ")


class Partition(unittest.TestCase):
    def test_default_saves_more_than_the_minimum_cut(self):
        saved = {}
        for method in ("default", "min-cut"):
            status, out, err = sapwood("partition", "--json", "--method", method, corpus("mlp"))
            self.assertEqual((status, err), (0, ""))
            plan = json.loads(out)
            self.assertEqual(plan["method"], method.replace("-", "_"))
            self.assertEqual(plan["forward"]["format"], "sapwood.graph/1")
            self.assertTrue(all(v["reason"] for v in plan["saved"]))
            saved[method] = plan["saved_bytes"]
        self.assertGreater(saved["default"], 0)
        self.assertLessEqual(saved["min-cut"], saved["default"])

    def test_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            status, out, _ = sapwood("partition", corpus("mlp"), "-o", pathlib.Path(folder) / "new")
            self.assertEqual(status, 0)
            self.assertIn("saved", out)
            self.assertIn("why", out)
            files = sorted(p.name for p in (pathlib.Path(folder) / "new").iterdir())
            self.assertEqual(files, ["backward.txt", "forward.txt", "plan.txt"])
            for name in ("forward.txt", "backward.txt"):
                self.assertEqual(sapwood("verify", pathlib.Path(folder) / "new" / name)[0], 0)

    def test_switches_change_the_decision(self):
        base = sapwood("partition", corpus("mlp"))[1]
        changed = [sapwood("partition", corpus("mlp"), flag) for flag in ("--aggressive", "--recompute-views", "--no-ban-reductions", "--only-free")]
        self.assertTrue(all(status == 0 for status, _, _ in changed))
        self.assertTrue(any(out != base for _, out, _ in changed))


CONFLICT = """graph conflict {
  num_forward_outputs 1
  %primals_1 : float32[4, 4] = placeholder
  %tangents_1 : float32[4, 4] = placeholder
  %sorted : (float32[4, 4], int64[4, 4]) = aten.sort.default(%primals_1)
  %first : float32[4, 4] = operator.getitem(%sorted, 0)
  %second : int64[4, 4] = operator.getitem(%sorted, 1)  # recompute=MUST_RECOMPUTE
  %grad : float32[4, 4] = aten.mul.Tensor(%tangents_1, %second)
  return (%first, %grad)
}
"""


class Plans(unittest.TestCase):
    def test_every_option_has_a_line_of_help(self):
        out = sapwood("partition", "--help")[1]
        for flag in ("--budget", "--budget-bytes", "--budget-peak", "--solver", "--estimator", "--compatibility", "--offload-names"):
            self.assertIn(flag, out)
        self.assertIn("greedy|ilp|dp|dp_knapsack_sliding_hirschberg|dynamic_memory_budget_dp", out)

    def test_wrong_values_say_what_is_allowed(self):
        for value in ("-1", "1.5", "nan"):
            status, _, err = sapwood("partition", corpus("mlp"), "--budget", value)
            self.assertEqual(status, 1, value)
            self.assertIn("it is a fraction from 0", err)
        status, _, err = sapwood("partition", corpus("mlp"), "--solver", "dq")
        self.assertEqual(status, 2)
        self.assertIn('did you mean "dp"?', err)

    def test_a_plan_is_pinned_used_again_and_refused_by_another_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "plan.json"
            made = sapwood("partition", corpus("gpt2"), "--budget", "0.3", "--json", "--save-plan", plan)
            self.assertEqual(made[0], 0, made[2])
            again = sapwood("partition", corpus("gpt2"), "--json", "--plan", plan)
            self.assertEqual(again[0], 0, again[2])
            first, second = json.loads(made[1]), json.loads(again[1])
            self.assertEqual(first, second)
            for change, complaint in ((lambda saved: saved[0].update(bytes=-1), "has -1 bytes; the graph says"),
                                      (lambda saved: saved.append(saved[0]), "twice; remove one")):
                edited = json.loads(plan.read_text())
                change(edited["saved"])
                wrong = pathlib.Path(folder) / "wrong.json"
                wrong.write_text(json.dumps(edited))
                status, _, err = sapwood("partition", corpus("gpt2"), "--plan", wrong)
                self.assertEqual(status, 1)
                self.assertIn(complaint, err)
            status, _, err = sapwood("partition", corpus("mlp"), "--plan", plan)
            self.assertEqual(status, 1)
            self.assertIn("isn't the one that the plan was made for", err)
            for option in (["--budget", "0.5"], ["--no-cse"], ["--method", "default"], ["--trace", "trace.json"]):
                status, _, err = sapwood("partition", corpus("gpt2"), "--plan", plan, *option)
                self.assertEqual(status, 2, option)
                self.assertIn("--plan excludes", err)
            plan.write_text("{}")
            status, _, err = sapwood("partition", corpus("gpt2"), "--plan", plan)
            self.assertEqual(status, 1)
            self.assertIn(str(plan), err)

    def test_a_plan_is_refused_once_the_marks_have_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            graph, plan = pathlib.Path(folder) / "graph.json", pathlib.Path(folder) / "plan.json"
            text = subprocess.run(["zstd", "-dc", corpus("mlp")], capture_output=True, check=True).stdout
            graph.write_bytes(text)
            self.assertEqual(sapwood("partition", graph, "--save-plan", plan)[0], 0)
            self.assertEqual(sapwood("partition", graph, "--plan", plan)[0], 0)
            marked = json.loads(text)
            next(node for node in marked["nodes"] if node["name"] == "relu")["meta"]["recompute"] = "MUST_RECOMPUTE"
            graph.write_text(json.dumps(marked))
            status, _, err = sapwood("partition", graph, "--plan", plan)
            self.assertEqual(status, 1)
            self.assertIn("isn't the one that the plan was made for", err)

    def test_plans_are_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for budget in ("1", "0.3"):
                paths.append(pathlib.Path(folder) / budget)
                self.assertEqual(sapwood("partition", corpus("gpt2"), "--budget", budget, "--save-plan", paths[-1])[0], 0)
            status, out, _ = sapwood("plan", "diff", *paths)
            self.assertEqual(status, 0)
            self.assertIn("no longer saved", out)
            self.assertEqual(sapwood("plan", "diff", "--exit-code", *paths)[0], 1)
            self.assertEqual(sapwood("plan", "diff", paths[0], paths[0])[1], "the plans are equal\n")

    def test_pairs_and_plans_are_proven_and_wrong_ones_convicted(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            sapwood("partition", corpus("mlp"), "-o", folder, "--json", "--save-plan", folder / "pinned")
            pair = [folder / "forward.json", folder / "backward.json"]
            self.assertEqual(sapwood("check-plan", corpus("mlp"), *pair)[0], 0)
            self.assertEqual(sapwood("check-plan", corpus("mlp"), "--plan", folder / "pinned")[0], 0)
            graph = json.loads(pair[1].read_text())
            outputs = graph["nodes"][-1]["args"][0]
            outputs[0], outputs[2] = outputs[2], outputs[0]
            pair[1].write_text(json.dumps(graph))
            status, out, _ = sapwood("check-plan", corpus("mlp"), *pair)
            self.assertEqual(status, 1)
            self.assertIn("outputs-equal", out)
            self.assertEqual(sapwood("check-plan", corpus("mlp"))[0], 2)

    def test_a_value_is_explained(self):
        status, out, _ = sapwood("explain", corpus("mlp"))
        self.assertEqual(status, 0)
        self.assertIn("price", out)
        name = out.split()[0]
        self.assertIn("would be saved instead of", sapwood("explain", corpus("mlp"), name)[1])
        self.assertTrue(json.loads(sapwood("explain", corpus("mlp"), "--json")[1]))
        for node, text in (("tangents_1", "comes into the backward"), ("mm_1", "is computed in the backward")):
            self.assertIn(text, sapwood("explain", corpus("mlp"), node)[1])
        self.assertEqual(sapwood("explain", corpus("mlp"), "nobody")[0], 1)

    def test_the_curve_of_budgets(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / "curve.svg"
            status, out, _ = sapwood("pareto", corpus("chargpt"), "--json", "--svg", picture)
            self.assertEqual(status, 0)
            points = json.loads(out)
            budgets = [point["budget"] for point in points]
            self.assertEqual(budgets, sorted(set(budgets)))
            self.assertEqual((budgets[0], budgets[-1]), (0, 1))
            self.assertTrue(picture.read_text().startswith("<svg"))

    def test_a_conflict_is_named_and_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, err = sapwood("partition", "-", "-o", folder, text=CONFLICT)
            self.assertEqual(status, 1)
            self.assertIn("'sorted' cannot recompute", err)
            self.assertIn("source -> sorted_in -> sorted_out -> second_in -> sink", err)
            self.assertIn("sorted", (pathlib.Path(folder) / "conflict.svg").read_text())

    def test_statistics_trace_and_log(self):
        stats = json.loads(sapwood("stats", corpus("mlp"), "--json")[1])
        self.assertEqual(stats["nodes"], 48)
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace"
            self.assertEqual(sapwood("partition", corpus("gpt2"), "--budget", "0.3", "--trace", trace)[0], 0)
            self.assertEqual(json.loads(trace.read_text())["Memory Budget"], 0.3)
        done = subprocess.run([PROGRAM, "partition", str(corpus("mlp"))], env={**os.environ, "SAPWOOD_LOG": "partition=debug"},
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"cut 1 \(.*\): value \d+, saves")

    def test_drawing(self):
        self.assertIn("digraph", sapwood("draw", corpus("mlp"))[1])


class Run(unittest.TestCase):
    def test_random_inputs_are_those_of_the_seed(self):
        status, first, err = sapwood("run", "--seed", 7, "--json", "-", text=RUNNABLE)
        self.assertEqual((status, err), (0, ""))
        outputs = json.loads(first)
        self.assertEqual(outputs[0]["name"], "s")
        self.assertEqual((outputs[0]["dtype"], outputs[0]["shape"]), ("float32", [2, 3]))
        self.assertLessEqual(outputs[0]["min"], outputs[0]["mean"])
        self.assertLessEqual(outputs[0]["mean"], outputs[0]["max"])
        self.assertIsNone(outputs[1]["value"])
        self.assertEqual(sapwood("run", "--seed", 7, "--json", "-", text=RUNNABLE)[1], first)
        self.assertNotEqual(sapwood("run", "--seed", 8, "--json", "-", text=RUNNABLE)[1], first)

    def test_outputs_of_one_run_are_inputs_of_another(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "values.pt"
            text = RUNNABLE.replace("(%s, None)", "(%s)")
            self.assertEqual(sapwood("run", "--outputs", path, "-", text=text)[0], 0)
            status, out, err = sapwood("run", "--inputs", path, "-", text=text)
            self.assertEqual((status, err), (0, ""))
            self.assertRegex(out, r"^s: float32\[2, 3\]  mean \S+  min \S+  max \S+  hash [0-9a-f]{16}\n$")

    def test_wrong_inputs_are_status_1(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "values.pt"
            path.write_bytes(pickle.dumps(["not", "tensors"])[:10])
            status, _, err = sapwood("run", "--inputs", path, "-", text=RUNNABLE)
            self.assertEqual(status, 1)
            self.assertIn("values.pt: not a file that torch.save wrote", err)


class Golden(unittest.TestCase):
    """Each file: a line "// arguments", then what the program prints for them. "corpus/<model>" is a graph of the corpus."""

    def test_golden(self):
        files = sorted(GOLDEN.glob("print/*.txt"))
        self.assertGreaterEqual(len(files), 4)
        for path in files:
            header, _, expected = path.read_text().partition("\n")
            words = header.removeprefix("// ").split()
            arguments = [corpus(w.removeprefix("corpus/")) if w.startswith("corpus/") else w for w in words]
            with self.subTest(path.name):
                status, out, err = sapwood(*arguments)
                self.assertEqual((status, err), (0, ""))
                if os.environ.get("SAPWOOD_UPDATE_GOLDEN"):
                    path.write_text(header + "\n" + out)
                else:
                    self.assertEqual(out, expected)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
