#!/usr/bin/env python3
"""Checks the formatting of changed C++ files with clang-format. `--all`: of every file. `--fix`: formats them."""

import re
import subprocess
import sys

import project

CLANG_FORMAT = "clang-format-19"


def main():
    paths = project.cpp_files() if "--all" in sys.argv[1:] else project.changed_cpp_files()
    if not paths:
        return project.finish("format", [])
    if "--fix" in sys.argv[1:]:
        return subprocess.run([CLANG_FORMAT, "-i", *paths], cwd=project.ROOT, check=False).returncode
    result = subprocess.run([CLANG_FORMAT, "--dry-run", *paths], cwd=project.ROOT, capture_output=True, text=True, check=False)
    findings = {}
    for match in re.finditer(r"^(.+?):(\d+):\d+: .*(?:\[-Wclang-format-violations\])", result.stderr, re.MULTILINE):
        findings.setdefault(match[1], f"{match[1]}:{match[2]}: not formatted; `make format` does it")
    if result.returncode and not findings:
        findings[""] = result.stderr.strip()
    return project.finish("format", list(findings.values()))


if __name__ == "__main__":
    sys.exit(main())
