#!/usr/bin/env python3
"""Tests of the checks in tools/: each must find what it is for, and nothing in sound input."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))

import check_house  # noqa: E402
import check_layers  # noqa: E402
import check_paths  # noqa: E402
import check_snippets  # noqa: E402
import cpp_functions  # noqa: E402
import project  # noqa: E402
import run_tests  # noqa: E402

TABLE = """
| folder | what it does | may include |
| --- | --- | --- |
| `include/sapwood/` | API | libtorch |
| `src/base/` | helpers | - |
| `src/graph/` | IR | base |
| `src/runtime/exec/` | executor | base, graph, libtorch |
| `src/driver/` | all | all |
| `cli/` | command line | public headers, graph |
"""


class InTree(unittest.TestCase):
    """A test that sees a project of its own in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, project, "ROOT", project.ROOT)
        project.ROOT = pathlib.Path(folder.name)

    def write(self, path, text):
        file = project.ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Functions(unittest.TestCase):
    def one(self, text):
        found = cpp_functions.functions(text)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def names(self, text):
        return [function.name for function in cpp_functions.functions(text)]

    def test_counts_lines_from_the_head_to_the_closing_brace(self):
        self.assertEqual(self.one("namespace a {\nint f(int x,\n      int y) {\n  return x;\n}\n}\n").lines, 4)

    def test_counts_parameters_not_template_commas(self):
        self.assertEqual(self.one("int f(std::map<int, int> a, int (*g)(int, int), int c = h(1, 2)) { return 0; }").parameters, 3)
        self.assertEqual(self.one("int f() { return 0; }").parameters, 0)

    def test_counts_nested_control_statements(self):
        self.assertEqual(self.one("void f() { for (;;) { if (a) { while (b) { g(); } } else { h(); } } }").nesting, 3)
        self.assertEqual(self.one("void f() { if (a) { g(); } else if (b) { h(); } else { i(); } }").nesting, 1)

    def test_member_initialisers_are_no_bodies(self):
        self.assertEqual(self.names("A::A(int x) : a_{x}, b_(x), c_{1, 2} { run(); }\nint g() { return 1; }"), ["A", "g"])

    def test_initialisers_types_and_enums_are_no_functions(self):
        text = "const auto f = [](int x) { return x; };\nconstexpr int kTable[] = {1, 2};\nenum class E : int { a, b };\n"
        self.assertEqual(self.names(text + "struct S { int x = g(); int y{2}; };"), [])

    def test_methods_operators_and_templates_are_functions(self):
        text = ("class C final : public B<int> {\n public:\n  bool operator==(const C&) const { return true; }\n"
                "  int operator()(int a) { return a; }\n  auto m() const -> std::vector<int> { return {}; }\n};\n"
                "template <typename T, int N = 3>\nT t(T x) { return x; }\n")
        self.assertEqual(self.names(text), ["operator==", "operator()", "m", "t"])

    def test_strings_comments_and_macros_hide_braces(self):
        text = '#define M(x) { \\\n x\nint f() { return g("}{", \'{\', R"(}})"); /* { */ }  // {\nint h() { return 1; }\n'
        self.assertEqual(self.names(text), ["f", "h"])


class House(InTree):
    def test_finds_each_broken_number(self):
        body = "  g();\n" * 58
        text = f"void f(int a, int b, int c, int d, int e, int h) {{\n{body}}}\n"
        findings = check_house.check_cpp("a.cpp", text + "void d() { if (1) { if (2) { if (3) { if (4) { } } } } }\n")
        self.assertEqual(len(findings), 3, findings)
        self.assertTrue(findings[0].startswith("a.cpp:1: f has 60 lines"))

    def test_lengths_of_files(self):
        self.assertEqual(check_house.check_length("a.h", "\n" * 199), [])
        self.assertEqual(len(check_house.check_length("a.h", "\n" * 200)), 1)
        self.assertEqual(check_house.check_length("a.cpp", "\n" * 499), [])
        self.assertEqual(len(check_house.check_length("a.cpp", "\n" * 500)), 1)

    def test_an_exception_needs_a_reason(self):
        self.write(check_house.EXCEPTIONS, "a.cpp:\n")
        with self.assertRaises(SystemExit):
            check_house.read_exceptions()


class Layers(InTree):
    def findings(self, path, include):
        self.write(path, f"#include {include}\n")
        return check_layers.check_file(path, check_layers.read_table(TABLE))

    def test_allowed_includes(self):
        self.assertEqual(self.findings("src/graph/a.cpp", '"graph/b.h"'), [])
        self.assertEqual(self.findings("src/graph/a.cpp", '"base/b.h"'), [])
        self.assertEqual(self.findings("src/graph/a.cpp", "<vector>"), [])
        self.assertEqual(self.findings("src/runtime/exec/a.cpp", "<ATen/core/Tensor.h>"), [])
        self.assertEqual(self.findings("src/driver/a.cpp", '"runtime/exec/b.h"'), [])
        self.assertEqual(self.findings("include/sapwood/a.h", '"sapwood/b.h"'), [])
        self.assertEqual(self.findings("cli/a.cpp", '"sapwood/b.h"'), [])

    def test_breaking_includes(self):
        for path, include in [("src/base/a.h", '"graph/b.h"'), ("src/graph/a.cpp", '"runtime/exec/b.h"'),
                              ("src/graph/a.cpp", "<torch/torch.h>"), ("src/base/a.h", '"sapwood/b.h"'),
                              ("cli/a.cpp", '"base/b.h"'), ("src/new/a.h", "<vector>")]:
            found = self.findings(path, include)
            self.assertEqual(len(found), 1, (path, include))
            self.assertTrue(found[0].startswith(f"{path}:1: "))

    def test_a_table_with_an_unknown_name_is_refused(self):
        with self.assertRaises(SystemExit):
            check_layers.read_table(TABLE + "| `src/x/` | x | bass |\n")


class Paths(InTree):
    def test_finds_machine_paths_and_package_indexes(self):
        self.write("a.md", "ok /usr/include build/home/x ${dir}/tmp/x\nbad " + "/home" + "/me\npip " + "--index" + "-url x\n")
        found = check_paths.check_file("a.md")
        self.assertEqual([f.split(": ")[0] for f in found], ["a.md:2", "a.md:3"])


class Snippets(InTree):
    def check(self, fix=False):
        return check_snippets.check_document("a.md", fix)

    def test_differences_are_found_and_fixed(self):
        self.write("p.cpp", "// [x]\nint a;\n// [/x]\n")
        self.write("a.md", "<!-- snippet: p.cpp x -->\n```cpp\nint b;\n```\ntext\n")
        self.assertEqual(len(self.check()), 1)
        self.check(fix=True)
        self.assertEqual(self.check(), [])
        self.assertIn("int a;\n```\ntext", (project.ROOT / "a.md").read_text())

    def test_missing_markers_are_found(self):
        self.write("p.cpp", "int a;\n")
        self.write("a.md", "<!-- snippet: p.cpp x -->\n```cpp\nint a;\n```\n<!-- snippet: p.cpp -->\nno block\n")
        self.assertEqual(len(self.check()), 2)


class Tally(InTree):
    def line(self, statuses):
        return run_tests.count(statuses, project.ROOT).line()

    def test_counts_cases_and_tests(self):
        cases = [{"result": "COMPLETED"}, {"result": "SKIPPED"}, {"result": "COMPLETED", "failures": [{}]}]
        self.write("unit.json", __import__("json").dumps({"testsuites": [{"testsuite": cases}]}))
        self.assertEqual(self.line({"unit": "fail", "tool": "run"}), "2 passed, 1 failed, 1 skipped")

    def test_a_crash_counts_as_failure(self):
        self.assertEqual(self.line({"unit": "fail"}), "0 passed, 1 failed")

    def test_a_failure_after_the_last_case_counts(self):
        self.write("unit.json", '{"testsuites": [{"testsuite": [{"result": "COMPLETED"}]}]}')
        self.assertEqual(self.line({"unit": "fail"}), "1 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()
