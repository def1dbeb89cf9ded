#!/usr/bin/env python3
"""Checks that no file of the project names a path of somebody's machine, or the address of a package index."""

import re
import sys

import project

MACHINE_PATH = re.compile(r"(?<![\w.\])}>*$-])/(?:home|root|work|Users|opt|mnt|tmp)/[\w.]")
PACKAGE_INDEX = re.compile(r"--(?:extra-)?index-url|--find-links|https?://[^\s\"')]*/(?:simple|whl)\b")


def check_file(path):
    try:
        text = (project.ROOT / path).read_text()
    except UnicodeDecodeError:
        return []  # binary
    findings = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := MACHINE_PATH.search(line):
            findings.append(f"{path}:{number}: names a path of one machine ({match.group()}...)")
        if match := PACKAGE_INDEX.search(line):
            findings.append(f"{path}:{number}: names a package index ({match.group()})")
    return findings


def main():
    own = "tools/check_paths.py"
    return project.finish("paths", [f for path in project.files() if path != own for f in check_file(path)])


if __name__ == "__main__":
    sys.exit(main())
