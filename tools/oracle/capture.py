"""Catches the joint graphs that AOTAutograd hands to the partitioner while a step is compiled."""

import dataclasses

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._functorch.aot_autograd import aot_function

from .decide import JointGraph, own_folder
from .graph_json import joint_graph_json


def boxed_nop(module, _):
    from functorch.compile import make_boxed_func
    return make_boxed_func(module.forward)


OPTIONS = {"dynamic": "sizes are symbols", "decomposed": "with inductor's decompositions",
           "joint": "decomposed, and after inductor's passes on joint graphs", "checkpoint": "with gradient checkpointing",
           "eval": "without dropout", "eager": "attention spelled out instead of the fused operator"}


def run_joint_passes(module):
    """Inductor's passes on joint graphs, which look for the fake mode of the trace where inductor keeps it."""
    from torch._guards import detect_fake_mode
    from torch._inductor.fx_passes.joint_graph import joint_graph_passes
    from torch._inductor.virtualized import V
    values = [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")]
    with V.set_fake_mode(detect_fake_mode(values)):
        return joint_graph_passes(module)


class TooLarge(Exception):
    """The joint graph has more nodes than asked for."""


class Capture:
    """A backend for torch.compile. `graphs` holds (graph, decisions) of each joint graph, in order of partitioning."""

    def __init__(self, model, max_nodes, report):
        self.model, self.max_nodes, self.report = model, max_nodes, report
        self.graphs, self.bodies = [], 0

    def backend(self):
        decompositions = None
        if self.model.options & {"decomposed", "joint"}:
            from torch._inductor.decomposition import select_decomp_table
            decompositions = select_decomp_table()
        return aot_autograd(fw_compiler=boxed_nop, bw_compiler=boxed_nop, partition_fn=self.partition,
                            decompositions=decompositions, keep_inference_input_mutations=True)

    def next_name(self, joint_inputs):
        """The body of a call (which has no inputs of its own) is `name.body1`; a second joint graph is `name.1`."""
        if not joint_inputs:
            self.bodies += 1
            return f"{self.model.name}.body{self.bodies}"
        outer = len(self.graphs) - self.bodies
        return f"{self.model.name}.{outer}" if outer else self.model.name

    def partition(self, module, joint_inputs, *, num_fwd_outputs, static_lifetime_input_indices=None):
        if "joint" in self.model.options:
            module = run_joint_passes(module)
        count = len(module.graph.nodes)
        if count > self.max_nodes:
            raise TooLarge(f"the joint graph has {count} nodes, more than {self.max_nodes}")
        if self.model.edit is not None:
            self.model.edit(module)
        name = self.next_name(joint_inputs)
        known = {"num_fwd_outputs": num_fwd_outputs, "static_lifetime_input_indices": static_lifetime_input_indices}
        graph = joint_graph_json(name, module, **known)
        joint = JointGraph(module, joint_inputs, **known)
        self.graphs.append(name)
        self.report(graph, joint.decisions())
        with own_folder():
            return partitioners.min_cut_rematerialization_partition(module, joint_inputs, **known)


@dataclasses.dataclass
class Model:
    """A step to compile. `step` takes the compiling function, builds what it needs, runs it forward and backward."""

    name: str
    step: callable
    options: set = dataclasses.field(default_factory=set)  # of OPTIONS
    dynamo: dict = dataclasses.field(default_factory=dict)  # settings of torch._dynamo.config
    functorch: dict = dataclasses.field(default_factory=dict)  # settings of torch._functorch.config
    edit: callable = None  # changes the joint graph before it is recorded: marks that no public function sets


class Compiler:
    """What a step is given: three ways to a joint graph."""

    def __init__(self, catcher):
        self.catcher = catcher

    def __call__(self, function, fullgraph=True):
        """The function compiled by torch.compile."""
        dynamic = "dynamic" in self.catcher.model.options
        return torch.compile(function, backend=self.catcher.backend(), dynamic=dynamic, fullgraph=fullgraph)

    def direct(self, function):
        """The function traced by AOTAutograd alone, without Dynamo before it."""
        return aot_function(function, boxed_nop, boxed_nop, self.catcher.partition, dynamic="dynamic" in self.catcher.model.options)

    def record(self, module, joint_inputs, num_fwd_outputs):
        """A joint graph made by hand."""
        self.catcher.partition(module, joint_inputs, num_fwd_outputs=num_fwd_outputs)


def capture(model, max_nodes, report):
    """Compiles and runs a model; `report(graph, decisions)` is called for each joint graph.

    Returns the names of the graphs, and the exception that ended the run, if one did: a graph caught before it stays good."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    catcher = Capture(model, max_nodes, report)
    with dynamo_config.patch(**model.dynamo), functorch_config.patch(**model.functorch):
        try:
            model.step(Compiler(catcher))
            return catcher.graphs, None
        except Exception as error:  # any failure of tracing is a result
            return catcher.graphs, error
