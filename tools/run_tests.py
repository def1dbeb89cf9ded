#!/usr/bin/env python3
"""Runs the tests of a build tree with ctest and ends with one line: "N passed, N failed".

Every case of a GoogleTest binary counts; any other test of ctest counts as one. A binary that ends without its report
(a crash, a time-out) counts as one failure. The exit status is 0 only if something ran and nothing failed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add_case(self, case):
        if case.get("failures"):
            self.failed += 1
        elif case.get("result") == "SKIPPED":
            self.skipped += 1
        elif case.get("result") == "COMPLETED":
            self.passed += 1

    def line(self):
        tail = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{tail}"


def run_ctest(build, jobs, select, folder):
    """Runs ctest; returns its status per test: {name: "run" | "fail" | "notrun" | ...}."""
    junit = folder / "ctest.xml"
    command = ["ctest", "--test-dir", str(build), "-j", str(jobs), "--output-on-failure", "--no-tests=error",
               "--output-junit", str(junit)]
    if select:
        command += ["-R", select]
    environment = dict(os.environ, GTEST_OUTPUT=f"json:{folder}/", GTEST_COLOR="no")
    environment.setdefault("GTEST_BRIEF", "1")
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)
    if not junit.exists():
        return {}
    return {case.get("name"): case.get("status") for case in xml.etree.ElementTree.parse(junit).iter("testcase")}


def count(statuses, folder):
    tally = Tally()
    for name, status in statuses.items():
        report = folder / f"{name}.json"
        failed_before = tally.failed
        if report.exists():
            for suite in json.loads(report.read_text())["testsuites"]:
                for case in suite["testsuite"]:
                    tally.add_case(case)
            if status == "fail" and tally.failed == failed_before:
                tally.failed += 1  # all cases passed and the process failed afterwards
        elif status == "run":
            tally.passed += 1
        elif status == "disabled":
            tally.skipped += 1
        else:
            tally.failed += 1
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--select", help="only tests of ctest whose name matches this expression")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tally = count(run_ctest(args.build, args.jobs, args.select, folder), folder)
    print(tally.line(), flush=True)
    return 0 if tally.passed and not tally.failed else 1


if __name__ == "__main__":
    sys.exit(main())
