#!/usr/bin/env python3
"""Runs clang-tidy on the changed source files that a build tree compiles. Argument: the build tree."""

import json
import pathlib
import re
import subprocess
import sys

import project

CLANG_TIDY = "clang-tidy-19"
FINDING = re.compile(r"^(/.+?):(\d+):\d+: (?:warning|error): (.*)$", re.MULTILINE)


def tidy(build, path):
    # g++'s precompiled headers mean nothing to clang: the flags that name them go.
    command = [CLANG_TIDY, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", path]
    result = subprocess.run(command, cwd=project.ROOT, capture_output=True, text=True, check=False)
    found = []
    for match in FINDING.finditer(result.stdout):
        where = pathlib.Path(match[1])
        if where.is_relative_to(project.ROOT):
            found.append(f"{where.relative_to(project.ROOT)}:{match[2]}: {match[3]}")
    if result.returncode and not found:
        found.append(f"{path}:1: clang-tidy ended with status {result.returncode}: {result.stderr.strip()}")
    return found


def database_without_pch(build):
    """A copy of the compile commands that clang can read; returns its folder."""
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        entry["command"] = re.sub(r" -Winvalid-pch| -include \S+cmake_pch\.hxx", "", entry["command"])
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    return folder, {str(pathlib.Path(entry["file"]).resolve()) for entry in commands}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_tidy.py BUILD")
    folder, compiled = database_without_pch(pathlib.Path(sys.argv[1]))
    paths = [path for path in project.changed_cpp_files() if str(project.ROOT / path) in compiled]
    return project.finish("clang-tidy", sorted({f for path in paths for f in tidy(folder, path)}))


if __name__ == "__main__":
    sys.exit(main())
