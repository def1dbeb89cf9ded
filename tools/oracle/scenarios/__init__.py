"""Steps whose split is known: what the right partition of each saves, repeats and returns is stated by the tests that read
its joint graph from test/data/scenarios. `python -m oracle.scenarios DIR [NAME...]` (from tools/) writes the graphs."""

import dataclasses
import importlib

from ..capture import Model

MODULES = ("aotdispatch", "checkpointing", "traffic", "reports")
SCENARIOS = {}


@dataclasses.dataclass
class Scenario(Model):
    aot: dict = dataclasses.field(default_factory=dict)  # settings of aot_autograd


def scenario(**settings):
    """Adds the decorated step under its own name; settings are fields of Scenario."""
    def add(step):
        SCENARIOS[step.__name__] = Scenario(step.__name__, step, **settings)
        return step
    return add


def all_scenarios():
    for module in MODULES:
        importlib.import_module("." + module, __name__)
    return SCENARIOS


def marked(policy, *operators):
    """An edit of a joint graph: a checkpoint's policy on every forward call of these operators."""
    def edit(module):
        for node in module.graph.nodes:
            if node.op == "call_function" and node.target in operators and node.meta.get("partitioner_tag") != "is_backward":
                node.meta["recompute"] = policy
                node.meta["ac_graph_id"] = 1
    return edit
