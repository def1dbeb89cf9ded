"""Writes the joint graphs of the scenarios: DIR/<name>.json.zst."""

import contextlib
import io
import json
import logging
import os
import pathlib
import subprocess
import sys
import warnings

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config as functorch_config
from torch._functorch import partitioners

from . import all_scenarios
from ..capture import Capture, Compiler, boxed_nop
from ..decide import own_folder
from ..graph_json import joint_graph_json

DROPPED = ("stack_trace", "nn_module", "desc", "original_aten", "seq_nr")  # facts that no test asks for


class Recorder(Capture):
    """Catches the joint graphs of one scenario."""

    def __init__(self, model):
        super().__init__(model, 4000, None)
        self.found = {}

    def backend(self):
        decompositions = None
        if self.model.options & {"decomposed", "joint"}:
            from torch._inductor.decomposition import select_decomp_table
            decompositions = select_decomp_table()
        return aot_autograd(fw_compiler=boxed_nop, bw_compiler=boxed_nop, partition_fn=self.partition,
                            decompositions=decompositions, keep_inference_input_mutations=True, **self.model.aot)

    def partition(self, module, joint_inputs, *, num_fwd_outputs, static_lifetime_input_indices=None):
        if "joint" in self.model.options:
            from torch._inductor.fx_passes.joint_graph import joint_graph_passes
            module = joint_graph_passes(module)
        if self.model.edit is not None:
            self.model.edit(module)
        name = self.next_name(joint_inputs)
        self.graphs.append(name)
        known = {"num_fwd_outputs": num_fwd_outputs, "static_lifetime_input_indices": static_lifetime_input_indices}
        self.found[name] = joint_graph_json(name, module, **known)
        with own_folder():
            return partitioners.min_cut_rematerialization_partition(module, joint_inputs, **known)


def record(model):
    torch._dynamo.reset()
    torch.manual_seed(0)
    recorder = Recorder(model)
    with dynamo_config.patch(**model.dynamo), functorch_config.patch(**model.functorch), contextlib.redirect_stdout(io.StringIO()):
        try:
            model.step(Compiler(recorder))
        except Exception as error:  # after its graph was caught a step may fail
            if not recorder.found:
                raise
            print(f"  {model.name}: after its graph was caught: {type(error).__name__}", file=sys.stderr)
    return recorder.found


def slim(value):
    """Nothing that tests don't read."""
    if isinstance(value, dict):
        return {key: slim(item) for key, item in value.items() if key not in DROPPED}
    return [slim(item) for item in value] if isinstance(value, list) else value


def main():
    if len(sys.argv) < 2:
        sys.exit("python -m oracle.scenarios DIR [NAME...]")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    known = all_scenarios()
    failed = 0
    for name in sys.argv[2:] or known:
        try:
            graphs = record(known[name])
        except Exception as error:  # any failure of tracing is a result
            failed += 1
            print(f"{name}: FAILED: {type(error).__name__}: {str(error).strip().splitlines()[0][:300]}", file=sys.stderr)
            continue
        for graph_name, graph in graphs.items():
            text = json.dumps(slim(graph), separators=(",", ":"), allow_nan=False).encode()
            path = out / (graph_name + ".json.zst")
            subprocess.run(["zstd", "-19", "-q", "-f", "-o", str(path), f"--stream-size={len(text)}"], input=text, check=True)
            print(f"{graph_name}: {len(graph['nodes'])} nodes, {path.stat().st_size} bytes", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
