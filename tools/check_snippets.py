#!/usr/bin/env python3
"""Checks that the programs shown in the documentation equal the files they come from, which are compiled and run as tests.

In a document, "<!-- snippet: path -->" or "<!-- snippet: path name -->" stands directly before a code block. Without a name the
block is the whole file; with a name it is what stands between the lines "// [name]" and "// [/name]" of the file ("# [name]"
in CMake and Python). `--fix` rewrites the blocks.
"""

import re
import sys
import textwrap

import project

BLOCK = re.compile(r"(<!-- snippet: (?P<path>\S+)(?: (?P<name>\S+))? -->\n```[^\n]*\n)(?P<code>.*?)(?=^```$)", re.DOTALL | re.MULTILINE)


def snippet(path, name):
    """The text that belongs into the document, or None if the file or the marker is missing."""
    file = project.ROOT / path
    if not file.is_file():
        return None
    text = file.read_text()
    if name is None:
        return text
    match = re.search(rf"^\s*(?://|#) \[{re.escape(name)}\]\n(.*?)^\s*(?://|#) \[/{re.escape(name)}\]$", text, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(match.group(1)) if match else None


def check_document(path, fix):
    findings = []
    text = (project.ROOT / path).read_text()

    def replace(match):
        line = text.count("\n", 0, match.start()) + 1
        wanted = snippet(match["path"], match["name"])
        if wanted is None:
            findings.append(f"{path}:{line}: {match['path']} has no snippet '{match['name'] or 'whole file'}'")
            return match.group()
        if wanted != match["code"] and not fix:
            findings.append(f"{path}:{line}: differs from {match['path']}; tools/check_snippets.py --fix copies it")
        return match.group(1) + wanted

    updated, count = BLOCK.subn(replace, text)
    if fix and updated != text:
        (project.ROOT / path).write_text(updated)
    if text.count("<!-- snippet:") != count:
        findings.append(f"{path}:1: {text.count('<!-- snippet:')} snippet markers, but {count} of them stand before a code block")
    return findings


def main():
    fix = "--fix" in sys.argv[1:]
    return project.finish("snippets", [f for path in project.files((".md",)) for f in check_document(path, fix)])


if __name__ == "__main__":
    sys.exit(main())
