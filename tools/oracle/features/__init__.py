"""Small steps that show the partitioner what ordinary models seldom do. Each is independent of the others.

A step takes the compiling function (`compiled(function) -> function`) and runs what it compiled forward and backward."""

import importlib

import torch
from torch.utils import _pytree as pytree

from ..capture import Model

MODULES = ("checkpointing", "operators", "effects", "sizes", "budgets", "mutation", "kinds", "control", "distributed", "shapes",
           "random_numbers", "autograd")
FEATURES = {}


def feature(**settings):
    """Adds the decorated step under its own name; settings are fields of Model."""
    def add(step):
        FEATURES[step.__name__] = Model(step.__name__, step, **settings)
        return step
    return add


def all_features():
    for module in MODULES:
        importlib.import_module("." + module, __name__)
    return FEATURES


def leaf(*shape, **kwargs):
    """A random input that wants a gradient."""
    return torch.randn(shape, requires_grad=True, **kwargs)


def train(function, *inputs):
    """Runs a step: the function, the sum of its outputs that have a gradient, and the backward."""
    outputs = [o for o in pytree.tree_leaves(function(*inputs)) if isinstance(o, torch.Tensor) and o.requires_grad]
    sum((o.abs() if o.is_complex() else o).sum().float() for o in outputs).backward()
