// What a wrong text file gets to hear: line, column, what is wrong, the line with a mark, and what to do.

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "graph/text.h"

namespace sapwood::graph {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_text(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return error.message();
  }
  return "no error";
}

/// The first line of the error for a graph with these lines in it, of which the first is line 2.
std::string in_graph(const std::string& lines) {
  const std::string error = error_of("graph g {\n" + lines + "\n}\n");
  return error.substr(0, error.find('\n'));
}

TEST(TextFileError, ShowsTheLineWithAMark) {
  EXPECT_EQ(error_of("graph g {\n  %x : flaot32[2] = placeholder\n}\n"),
            "2:8: unknown dtype \"flaot32\"; did you mean \"float32\"?\n"
            "    %x : flaot32[2] = placeholder\n"
            "         ^");
}

TEST(TextFileError, LongLinesAreCutAroundTheMark) {
  const std::string error =
      error_of("graph g {\n%x = f(" + std::string(300, ' ') + "%y" + std::string(300, ' ') + ")\n}\n");
  const std::string line = error.substr(error.find('\n') + 1);
  EXPECT_EQ(line, "  ..." + std::string(60, ' ') + "%y" + std::string(48, ' ') + "...\n" + std::string(65, ' ') + "^");
}

TEST(TextFileError, NodesThatAreNotThere) {
  EXPECT_EQ(in_graph("  %a = f(%b)\n  %b : None = g()"),
            "2:10: %b is used before it is defined at line 3; move that line up");
  EXPECT_EQ(in_graph("  %a = f(%a)"), "2:10: %a reads itself; a node reads only earlier nodes");
  EXPECT_EQ(in_graph("  %primals_1 = placeholder\n  %a = f(%primals_l)"),
            "3:10: %primals_l is not defined; did you mean %primals_1?");
  EXPECT_EQ(in_graph("  %primals_1 = placeholder\n  %a = f(%zzz)"),
            "3:10: %zzz is not defined; a node reads only earlier nodes of its own graph");
  EXPECT_EQ(in_graph("  %a = f()\n  %a = f()"),
            "3:3: the name %a is taken by an earlier node; node names must be unique");
  EXPECT_EQ(in_graph("  return ()\n  %a = f()"), "3:3: a node after the return; the return must be the last");
}

TEST(TextFileError, Syntax) {
  EXPECT_EQ(error_of(""), "1:1: expected \"graph <name> {\", got the end of the text\n  \n  ^");
  EXPECT_EQ(in_graph("  %a f()"), "2:6: expected \"=\" before the operator, got \"f\"");
  EXPECT_EQ(in_graph("  %a = f(1 2)"), "2:12: expected \",\" or \")\" after an argument, got \"2\"");
  EXPECT_EQ(in_graph("  %a = f(k=1, 2)"), "2:15: a positional argument after a named one; write it before, or name it");
  EXPECT_EQ(in_graph("  %a = f(k=1, k=2)"), "2:15: the argument \"k\" is given twice; remove one");
  EXPECT_EQ(in_graph("  %a = f((1))"), "2:11: a tuple of one element needs a comma: (x,)");
  EXPECT_EQ(in_graph("  %a = f(\"abc)"),
            "2:10: the string isn't closed on its line; end it with \" (a line end inside is \\n)");
  EXPECT_EQ(in_graph("  %a = f(12x)"), "2:10: malformed number \"12x\"");
  EXPECT_EQ(in_graph("  retrun (%a)"), "2:3: unknown statement \"retrun\"; did you mean \"return\"?");
  EXPECT_EQ(in_graph("  %a = f();"),
            "2:11: unexpected character \";\"; text that isn't a name belongs in double quotes");
  EXPECT_TRUE(error_of("graph g {\n%a = f()\n").starts_with("3:1: expected a node"));
}

TEST(TextFileError, ConstantsThatArePythonOrMistyped) {
  EXPECT_EQ(in_graph("  %a = f(true)"), "2:10: unknown constant \"true\"; write True or False");
  EXPECT_EQ(in_graph("  %a = f(torch.float32)"),
            "2:10: unknown dtype \"torch.float32\"; write float32 (a string is written in double quotes)");
  EXPECT_EQ(in_graph("  %a = f()\n  %b = f(a)"), "3:10: unknown constant \"a\"; a node is written %a");
  EXPECT_EQ(in_graph("  %a = f(slcie(1, 2, 3))"), "2:10: unknown kind of argument \"slcie\"; did you mean \"slice\"?");
  EXPECT_EQ(in_graph("  %a = f(9223372036854775808)"), "2:10: the integer \"9223372036854775808\" doesn't fit 64 bits");
  EXPECT_EQ(in_graph("  %a = f(1e999)"), "2:10: the number \"1e999\" is too large; write inf");
}

TEST(TextFileError, Types) {
  EXPECT_EQ(in_graph("  %a : float32[2, 3]{1} = f()"), "2:8: the shape has 2 dimensions, but there are 1 strides");
  EXPECT_EQ(in_graph("  %a : float32[s7] = f()"),
            "2:16: the symbol \"s7\" is not declared; add \"symbol s7 = <hint>\" above");
  EXPECT_EQ(in_graph("  %a : float32[2]<ofset=1> = f()"),
            "2:19: unknown detail of a tensor \"ofset\"; did you mean \"offset\"?");
  EXPECT_EQ(in_graph("  %a : float32[2]<device=cpu:x> = f()"),
            "2:26: malformed device \"cpu:x\"; write a type with an optional index, like cpu or cuda:0");
  EXPECT_EQ(in_graph("  %a : float32[4611686018427387904, 9] = f()"),
            "2:8: the number of elements doesn't fit 64 bits; correct the shape");
  EXPECT_EQ(in_graph("  %a : float32[4611686018427387904] = f()"),
            "2:8: the bytes of the storage don't follow from this type; add <storage_bytes=...>");
  EXPECT_EQ(in_graph("  %a = f()\n  %b : float32[2]<alias=%a> = f()"),
            "3:25: %a is not a tensor with a storage; write storage=<number>");
}

TEST(TextFileError, Metadata) {
  EXPECT_EQ(in_graph("  %a = f()  # seqnr=3"), "2:15: unknown fact \"seqnr\"; did you mean \"seq_nr\"?");
  EXPECT_EQ(in_graph("  %a = f()  # here we add"), "2:15: unknown fact \"here\"; a comment starts with //");
  EXPECT_EQ(in_graph("  %a = f()  # seq_nr=3 seq_nr=4"), "2:24: seq_nr is given twice; remove one");
  EXPECT_EQ(in_graph("  %a = f()  # partitioner_tag=forward"),
            "2:31: unknown tag \"forward\"; expected one of is_forward, is_backward, must_be_in_forward, "
            "must_be_in_backward, is_optimizer");
  EXPECT_EQ(in_graph("  %a = f()  # users=[%b]"),
            "2:15: unknown node %b among the users; list the nodes that read this one");
}

TEST(TextFileError, HugeAndDeepInputEndsEarly) {
  EXPECT_TRUE(
      error_of(std::string(100'000'000, '(')).starts_with("1:1: expected \"graph <name> {\", got \"(\"\n  ((("));
  EXPECT_NE(in_graph("  %a = f(" + std::string(1000, '[')).find("nested deeper than 600 levels"), std::string::npos);
  EXPECT_NE(in_graph("  %a : " + std::string(1000, '(')).find("nested deeper than 600 levels"), std::string::npos);
}

}  // namespace
}  // namespace sapwood::graph
