"""Compares the operator table (src/ops) with the installed PyTorch: schemas, random operators, recomputation classes.

Run by hand after a change of the table or of the PyTorch version:  python tools/check_op_table.py
Prints one line per difference; status 1 if there is one, 2 if PyTorch isn't installed.
"""

import pathlib
import re
import sys

ROW = re.compile(
    r'\{"(?P<name>[^"]+)",\s*(?P<schema>(?:"(?:[^"\\]|\\.)*"\s*)+),\s*C::(?P<cls>\w+)'
    r"(?:,\s*R::(?P<remat>\w+))?(?:,\s*(?P<flags>[\w| ]+))?(?:,\s*F::\w+)?\}"
)


def rows():
    folder = pathlib.Path(__file__).resolve().parent.parent / "src" / "ops"
    for path in sorted(folder.glob("*.cpp")):
        for match in ROW.finditer(path.read_text()):
            parts = re.findall(r'"((?:[^"\\]|\\.)*)"', match["schema"])
            schema = "".join(parts).replace('\\"', '"').replace("\\\\", "\\")
            yield match["name"], schema, match["remat"] or "kNever", match["flags"] or ""


def overload(torch, name):
    namespace, operator, variant = name.split(".")
    packet = getattr(getattr(torch.ops, namespace), operator)
    return packet, getattr(packet, variant)


def expected_rating(lists, packet):
    if packet in lists.compute_intensive_ops:
        return "kHeavy"
    if packet in lists.view_ops:
        return "kView"
    if packet in lists.recomputable_ops:
        return "kRecompute"
    return "kRandom" if packet in lists.random_ops else "kNever"


def main():
    try:
        import torch
        import torch._dynamo.variables.streams  # noqa: F401  (registers the stream operators)
        import torch._functorch._activation_offloading.offload_ops  # noqa: F401
        import torch._inductor.compile_fx  # noqa: F401  (registers the prims that decompositions end in)
        import torch.distributed._functional_collectives  # noqa: F401
        from torch._functorch.partitioners import get_default_op_list
    except ImportError as error:
        print(f"PyTorch is needed: {error}")
        return 2
    lists = get_default_op_list()
    checked = 0
    differences = 0
    for name, schema, rating, flags in rows():
        if not schema:
            continue
        packet, operator = overload(torch, name)
        draws = torch.Tag.nondeterministic_seeded in operator.tags
        facts = {
            "schema": (schema, str(operator._schema)),
            "rating": (rating, expected_rating(lists, packet)),
            "draws": ("kDraws" in flags, draws),
        }
        for what, (ours, theirs) in facts.items():
            if ours != theirs:
                print(f"{name}: {what} is {ours!r}, PyTorch has {theirs!r}")
                differences += 1
        checked += 1
    print(f"{checked} rows compared, {differences} differences")
    return 1 if differences or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
