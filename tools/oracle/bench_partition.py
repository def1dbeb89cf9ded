#!/usr/bin/env python3
"""PyTorch's half of bench/partition: reads lines, holds one joint graph in memory, times PyTorch's partitioner on it.

    load PATH           ok, or a sentence
    run CONFIGURATION   ok WALL CPU (seconds of the partitioner alone, on a fresh copy of the graph), or a sentence
    hello               ok, or a sentence that says what is missing"""

import contextlib
import gc
import importlib.util
import logging
import os
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
BUDGET = {"activation_memory_budget": 0.5, "activation_memory_budget_solver": "dp",
          "activation_memory_budget_runtime_estimator": "flops"}
CONFIGURATIONS = {"default": {"partitioner": "default", "functorch": {}, "compiler": None},
                  "min_cut": {"partitioner": "min_cut", "functorch": {}, "compiler": "inductor"},
                  "budget": {"partitioner": "min_cut", "functorch": BUDGET, "compiler": "inductor"}}


class Worker:
    def __init__(self):
        self.joint = None

    def hello(self, _):
        missing = [name for name in ("torch", "networkx") if importlib.util.find_spec(name) is None]
        if missing:
            raise RuntimeError(f"{sys.executable} has no {' and no '.join(missing)}.")
        import torch
        torch.set_num_threads(1)
        return torch.__version__

    def load(self, path):
        from oracle.load_graph import load
        first = self.joint is None
        self.joint = load(path)
        if first:  # what is imported and cached on the first call belongs to no graph
            for name in CONFIGURATIONS:
                self.run(name)
        return ""

    def run(self, name):
        from torch._functorch import config as functorch_config
        from oracle.decide import copy_module, own_folder
        config = CONFIGURATIONS[name]
        module = copy_module(self.joint.module)
        gc.collect()
        with functorch_config.patch(**config["functorch"]), own_folder():
            wall, cpu = time.perf_counter(), time.process_time()
            self.joint.call(config, module)
            return f"{time.perf_counter() - wall:.6f} {time.process_time() - cpu:.6f}"


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    answers = os.fdopen(os.dup(1), "w")
    worker = Worker()
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        try:
            with contextlib.redirect_stdout(sys.stderr):
                answer = "ok " + {"hello": worker.hello, "load": worker.load, "run": worker.run}[command](argument)
        except Exception as error:
            answer = f"PyTorch's side failed at '{line.strip()}': {type(error).__name__}: {error}".replace("\n", " ")
        answers.write(answer + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
