#!/usr/bin/env python3
"""Checks every #include of the library and the command line against the layer table of docs/architecture.md.

The table's header row is "folder | what it does | may include". A folder may include its own files, the standard library,
third-party headers, and what its last column names: other folders by their last component, "libtorch", "public headers" or
one of them ("sapwood/error.h"), "all", or "-" for nothing.
"""

import re
import sys

import project

DOCUMENT = "docs/architecture.md"
HEADER = ["folder", "what it does", "may include"]
LIBTORCH = ("torch/", "ATen/", "c10/", "caffe2/")
PUBLIC = "include/sapwood"
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table_rows(text):
    """(line number, cells) of the rows of every table with the header of the layer table."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("|") and cells(line) == HEADER]
    if len(starts) != 1:
        sys.exit(f"{DOCUMENT}:1: expected one layer table ({' | '.join(HEADER)}), found {len(starts)}")
    rows = []
    for i in range(starts[0] + 2, len(lines)):
        if not lines[i].startswith("|"):
            break
        rows.append((i + 1, cells(lines[i])))
    return rows


def read_table(text):
    """{folder: set of what it may include}; folders as paths, e.g. "src/runtime/exec"."""
    rows = [(number, row[0].strip("`").rstrip("/"), row[2]) for number, row in table_rows(text)]
    by_name = {folder.split("/")[-1]: folder for _, folder, _ in rows}
    layers = {}
    for number, folder, allowed in rows:
        layers[folder] = set()
        for word in (w.strip().strip("`") for w in allowed.split(",")):
            if word in ("all", "libtorch", "public headers") or word.startswith("sapwood/"):
                layers[folder].add(word)
            elif word in by_name:
                layers[folder].add(by_name[word])
            elif word != "-":
                sys.exit(f"{DOCUMENT}:{number}: '{word}' is neither a folder of the table nor libtorch, public headers, all or -")
    return layers


def layer_of(path, layers):
    """The longest folder of the table that holds `path`, or None."""
    holding = [folder for folder in layers if path.startswith(folder + "/")]
    return max(holding, key=len, default=None)


def target_layer(included, layers):
    """What an include reaches: a folder of the table, "libtorch", "public headers", or None (standard or third party)."""
    if included.startswith(LIBTORCH):
        return "libtorch"
    if included.startswith("sapwood/"):
        return "public headers"
    return layer_of("src/" + included, layers)


def check_file(path, layers):
    own = layer_of(path, layers)
    if own is None:
        return [f"{path}:1: this folder isn't in the layer table of {DOCUMENT}"]
    findings = []
    if "all" in layers[own]:
        return findings
    for number, line in enumerate((project.ROOT / path).read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        target = target_layer(match.group(2), layers) if match else None
        if target is None or target == own or {target, match.group(2)} & layers[own]:
            continue
        if own == PUBLIC and target == "public headers":
            continue
        findings.append(f"{path}:{number}: {own} may not include {target} ({match.group(2)})")
    return findings


def main():
    layers = read_table((project.ROOT / DOCUMENT).read_text())
    findings = []
    for path in project.cpp_files():
        if path.startswith(("src/", "include/", "cli/")):
            findings += check_file(path, layers)
    return project.finish("layers", findings)


if __name__ == "__main__":
    sys.exit(main())
