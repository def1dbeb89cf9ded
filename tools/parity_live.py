#!/usr/bin/env python3
"""Writes what the installed PyTorch's own partitioner decides, for models of transformers and diffusers and for small steps
that exercise single features: OUT/<model>/graph.json and OUT/<model>/decisions.json, the form that tests and `sapwood` read.

Needs torch; models of the table also need transformers, diffusers and scipy. Nothing is downloaded: weights are random."""

import argparse
import contextlib
import importlib.util
import io
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import time
import warnings


def missing_packages(names):
    return [name for name in names if importlib.util.find_spec(name) is None]


def require(names):
    missing = missing_packages(names)
    if missing:
        sys.exit(f"parity_live: {', '.join(missing)} cannot be imported; install with: pip install {' '.join(missing)} "
                 "(into the project's .venv)")


def write_json(folder, name, value, compress):
    """Writes one JSON file, packed by the zstd program if asked for."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    path = folder / (name + ".json")
    if not compress:
        path.write_text(text)
        return
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", str(path) + ".zst", "--stream-size", str(len(text.encode()))],
                   input=text.encode(), check=True)


def say(text):
    print(text, file=sys.stderr, flush=True)


class Run:
    """One run of the tool: what was written and what failed."""

    def __init__(self, out, compress, max_nodes):
        self.out, self.compress, self.max_nodes = out, compress, max_nodes
        self.written, self.failed = [], []

    def report(self, graph, decisions):
        folder = self.out / graph["name"]
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder, "graph", graph, self.compress)
        write_json(folder, "decisions", decisions, self.compress)
        good = sum(d["ok"] for d in decisions)
        self.written.append(graph["name"])
        say(f"  {graph['name']}: {len(graph['nodes'])} nodes, {good} of {len(decisions)} decisions")

    def model(self, model):
        from oracle.capture import capture
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            graphs, error = capture(model, self.max_nodes, self.report)
        if error is not None and graphs:
            say(f"  {model.name}: after its graph was written: {reason_of(error)}")
        elif error is not None or not graphs:
            reason = reason_of(error) if error else "no joint graph: nothing in it wants a gradient"
            self.failed.append(f"{model.name}: {reason}")
            say(f"  {model.name}: FAILED: {reason}")
        say(f"  {model.name}: {time.perf_counter() - start:.1f} s")

    def summary(self):
        say(f"{len(self.written)} graphs written to {self.out}, {len(self.failed)} models failed")
        for line in self.failed:
            say("  " + line)
        return 1 if self.failed else 0


def reason_of(error):
    """What went wrong, without the frames around it."""
    inner = getattr(error, "inner_exception", None) or error
    lines = [line.strip() for line in str(inner).splitlines() if line.strip()] or [""]
    return f"{type(inner).__name__}: {lines[0][:300]}"


def quiet():
    """Only this tool's own lines on stderr."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)


def wanted_models(arguments):
    """The models named on the command line; a wrong name ends the program."""
    models = []
    if arguments.features:
        from oracle.features import all_features
        features = all_features()
        models += list(features.values())
    if arguments.models:
        from oracle import zoo
        from oracle.features import all_features
        try:
            require(sorted({zoo.library_of(name) for name in arguments.models if name not in all_features()}))
            models += [all_features().get(name) or zoo.model(name) for name in arguments.models]
        except zoo.UnknownModel as error:
            sys.exit(f"parity_live: {error}")
    return models


def list_models():
    from oracle import zoo
    from oracle.capture import OPTIONS
    from oracle.features import all_features
    print("models:", " ".join(zoo.names()))
    print("suffixes:", ", ".join(f"+{option} ({what})" for option, what in OPTIONS.items()))
    print("features:", " ".join(all_features()))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a model, with suffixes: gpt2, llama+dynamic+decomposed; or a feature")
    parser.add_argument("--out", type=pathlib.Path, help="folder to write to")
    parser.add_argument("--features", action="store_true", help="all the small steps")
    parser.add_argument("--list", action="store_true", help="print the names of models, suffixes and features")
    parser.add_argument("--plain", action="store_true", help="write .json even where the zstd program is there to pack it")
    parser.add_argument("--max-nodes", type=int, default=4000, help="a larger joint graph counts as failed (default 4000)")
    arguments = parser.parse_args()
    require(("torch", "networkx"))
    quiet()
    if arguments.list:
        return list_models()
    if not arguments.out or not (arguments.models or arguments.features):
        parser.error("give --out DIR and models or --features (or --list)")
    models = wanted_models(arguments)
    if missing_packages(("scipy",)):
        say("parity_live: scipy cannot be imported, so decisions of the solver \"ilp\" are recorded as errors; pip install scipy")
    run = Run(arguments.out.resolve(), not arguments.plain and shutil.which("zstd") is not None, arguments.max_nodes)
    for index, model in enumerate(models, 1):
        say(f"[{index}/{len(models)}] {model.name}")
        run.model(model)
    return run.summary()


if __name__ == "__main__":
    sys.exit(main())
