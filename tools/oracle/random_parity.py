#!/usr/bin/env python3
"""Compares both partitioners on random joint graphs: the tests' generator makes them, PyTorch decides on them under every
configuration, and `parity` compares. Of the first graph that differs, a smaller one with a difference is made.

Needs torch, networkx and scipy; the binaries come from: cmake --build BUILD --target parity random_joint_graphs."""

import argparse
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from oracle.decide import configurations  # noqa: E402
from oracle.load_graph import joint_graph, load, read_json  # noqa: E402
from oracle.read_values import declare  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def write_decisions(folder):
    """Writes what PyTorch decides on the graph of a folder; returns how many decisions were taken."""
    decisions = load(folder / "graph.json").decisions()
    (folder / "decisions.json").write_text(json.dumps(decisions))
    return sum(decision["ok"] for decision in decisions)


def compare(programs, folder, names=(), deep=True):
    """The lines of `parity` on a folder of folders: differences, then the sum."""
    command = [str(programs / "parity"), str(folder), *names, "--quiet"] + ["--deep"] * deep
    return [line for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines() if line.strip()]


class Shrinker:
    """Looks for a smaller graph on which a configuration still differs in the same way."""

    def __init__(self, programs, folder, deep, kind):
        self.programs, self.folder, self.deep, self.kind = programs, folder, deep, kind
        self.tried = 0

    def fails(self, text, config):
        self.tried += 1
        case = self.folder / "case"
        case.mkdir(parents=True, exist_ok=True)
        facts = json.loads(text)
        (case / "graph.json").write_text(text)
        try:
            decision = joint_graph(facts).partition(config)
        except Exception:  # a graph that PyTorch can't hold shows nothing
            return False
        (case / "decisions.json").write_text(json.dumps([decision]))
        return any(kind_of(line) == self.kind for line in compare(self.programs, self.folder, deep=self.deep)[:-1])

    def shrink(self, graph, config, target):
        command = [str(self.programs / "random_joint_graphs"), "shrink", str(graph), str(target)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            for line in program.stdout:
                program.stdin.write("fails\n" if self.fails(line, config) else "works\n")
                program.stdin.flush()
        return len(read_json(target)["nodes"])


def name_of(config):
    """As `parity` names configurations."""
    name = config["partitioner"]
    for key, value in config["functorch"].items():
        name += f" {key}={value if isinstance(value, str) else json.dumps(value)}"
    return name + (f" compiler={config['compiler']}" if config["compiler"] not in (None, "inductor") else "")


def shrink_one(arguments, folder, line):
    """Shrinks the graph of one difference."""
    model, _, rest = line.partition(", ")
    config = next(c for c in configurations() if rest.startswith(name_of(c) + ":"))
    target = arguments.out / f"{model}_small.json"
    shrinker = Shrinker(arguments.programs, folder / "shrink", not arguments.shallow, kind_of(line))
    nodes = shrinker.shrink(folder / "graphs" / model / "graph.json", config, target)
    print(f"{model}, {name_of(config)}: {nodes} nodes are left of it after {shrinker.tried} tries, in {target}")


def kind_of(line):
    """A difference without names, numbers and the graph, to count it."""
    return "".join(c for c in line.partition(": ")[2].split(" at place")[0] if not c.isdigit())[:100]


def run(arguments, folder):
    graphs = folder / "graphs"
    subprocess.run([str(arguments.programs / "random_joint_graphs"), "generate", str(graphs), "--first", str(arguments.seed),
                    "--count", str(arguments.count), "--operators", str(arguments.operators)], check=True)
    start, taken, seen, lines = time.monotonic(), 0, 0, []
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        if time.monotonic() - start > arguments.seconds:
            break
        model = f"random_{seed}"
        taken += write_decisions(graphs / model)
        seen += 1
        lines += compare(arguments.programs, graphs, [model], not arguments.shallow)[:-1]
    for line in lines:
        print(line)
    print(f"{seen} graphs (seeds {arguments.seed} to {arguments.seed + seen - 1}, at most {arguments.operators} operators), "
          f"{taken} decisions of PyTorch in {time.monotonic() - start:.0f} s, {len(lines)} differences", flush=True)
    kinds = {kind_of(line): line for line in reversed(lines)}
    for line in list(kinds.values())[:arguments.shrink]:
        shrink_one(arguments, folder, line)
    return 1 if lines else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("count", type=int, help="how many graphs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first (default 1)")
    parser.add_argument("--operators", type=int, default=12, help="most operators of a forward (default 12)")
    parser.add_argument("--seconds", type=float, default=600, help="no new graph after this time (default 600)")
    parser.add_argument("--shallow", action="store_true", help="compare results only, not each minimum cut on the way")
    parser.add_argument("--shrink", type=int, default=0, metavar="N", help="shrink the first graphs of N kinds of differences")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/core/bin", help="folder of the two programs")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path.cwd(), help="folder for the small graphs")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    declare("sapwood_test", {"schema": "sapwood_test::record(Tensor x) -> Tensor", "tags": []})  # random graphs use it
    with tempfile.TemporaryDirectory() as folder:
        return run(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
