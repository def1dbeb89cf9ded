#!/usr/bin/env python3
"""Checks the house numbers: source under 500 lines, header under 200, function under 60 lines, nesting under 4, at most 5
parameters. Exceptions, each with its reason, are in tools/house_exceptions.txt."""

import ast
import sys

import cpp_functions
import project

SOURCE_LINES, HEADER_LINES, FUNCTION_LINES, NESTING, PARAMETERS = 500, 200, 60, 4, 5
EXCEPTIONS = "tools/house_exceptions.txt"


def check_length(path, text):
    limit = HEADER_LINES if path.endswith(".h") else SOURCE_LINES
    lines = text.count("\n")
    return [f"{path}:{lines}: the file has {lines} lines, it must have fewer than {limit}"] if lines >= limit else []


def check_cpp(path, text):
    findings = check_length(path, text)
    for function in cpp_functions.functions(text):
        where = f"{path}:{function.line}: {function.name}"
        if function.lines >= FUNCTION_LINES:
            findings.append(f"{where} has {function.lines} lines, it must have fewer than {FUNCTION_LINES}")
        if function.nesting >= NESTING:
            findings.append(f"{where} nests {function.nesting} control statements, it must nest fewer than {NESTING}")
        if function.parameters > PARAMETERS:
            findings.append(f"{where} has {function.parameters} parameters, at most {PARAMETERS} are allowed")
    return findings


def check_python(path, text):
    findings = check_length(path, text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno + 1 >= FUNCTION_LINES:
            findings.append(f"{path}:{node.lineno}: {node.name} has {node.end_lineno - node.lineno + 1} lines, "
                            f"it must have fewer than {FUNCTION_LINES}")
    return findings


def read_exceptions():
    """{path: line number of its entry}."""
    entries = {}
    for number, line in enumerate((project.ROOT / EXCEPTIONS).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        path, separator, reason = line.partition(":")
        if not separator or not reason.strip():
            sys.exit(f"{EXCEPTIONS}:{number}: expected 'path: reason'")
        entries[path.strip()] = number
    return entries


def main():
    exceptions, findings, used = read_exceptions(), [], set()
    checks = [(path, check_cpp) for path in project.cpp_files()] + [(path, check_python) for path in project.files((".py",))]
    for path, check in checks:
        found = check(path, (project.ROOT / path).read_text())
        if found and path in exceptions:
            used.add(path)
        else:
            findings += found
    findings += [f"{EXCEPTIONS}:{number}: {path} breaks no house number; remove the entry"
                 for path, number in exceptions.items() if path not in used]
    return project.finish("house numbers", findings)


if __name__ == "__main__":
    sys.exit(main())
