// What a wrong JSON file gets to hear: where, what was expected, what to do.

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "graph/text.h"

namespace sapwood::graph {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_json(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return error.message();
  }
  return "no error";
}

std::string graph_with(const std::string& nodes,
                       const std::string& symbols = R"("s0":{"hint":4,"lower":2,"upper":null,"unbacked":false})") {
  return R"({"format":"sapwood.graph/1","name":"g","producer":{},"num_fwd_outputs":0,"static_lifetime_input_indices":[],"symbols":{)" +
         symbols + R"(},"ops":{},"nodes":[)" + nodes + R"(],"subgraphs":{},"attributes":{}})";
}

std::string call(const std::string& name, const std::string& args, const std::string& more = "") {
  return R"({"name":")" + name + R"(","op":"call_function","target":"f","args":)" + args + R"(,"kwargs":{},"meta":{})" +
         more + "}";
}

std::string tensor(const std::string& change_from, const std::string& change_to) {
  std::string t =
      R"(,"val":{"tensor":{"dtype":"float32","device":"cpu","shape":[2],"stride":[1],"offset":0,"storage":0,"storage_bytes":8,)"
      R"("requires_grad":false,"layout":"strided"}})";
  const size_t at = t.find(change_from);
  EXPECT_NE(at, std::string::npos) << change_from;
  return t.replace(at, change_from.size(), change_to);
}

TEST(JsonFileError, NotJsonAtAll) {
  EXPECT_EQ(error_of(""), "top level: the JSON text ends early, at byte 0; the file is truncated, write it again");
  EXPECT_EQ(error_of("hello"), "top level: expected a JSON value, got \"hello\" at byte 0");
  EXPECT_EQ(error_of("[]"), "top level: expected an object, got a list");
  EXPECT_EQ(error_of(graph_with("") + "x"),
            "top level: expected the end of the text, got \"x\" at byte " + std::to_string(graph_with("").size()));
}

TEST(JsonFileError, Truncated) {
  const std::string whole =
      graph_with(call("a", R"([1,2.5,"x\n",true,null,{"sym":"s0","hint":4}])", tensor("float32", "float32")));
  EXPECT_NO_THROW(parse_json(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)).find("the file is truncated"), std::string::npos)
        << size << ": " << error_of(whole.substr(0, size));
  }
}

TEST(JsonFileError, WrongFormatVersion) {
  EXPECT_EQ(error_of(R"({"format":"sapwood.graph/2"})"),
            "format: expected \"sapwood.graph/1\", got \"sapwood.graph/2\"; write the graph again in this format");
  EXPECT_EQ(error_of(R"({"format":1})"), "format: expected a string, got a number");
  EXPECT_EQ(error_of("{}"), "top level: the key \"format\" is missing");
}

TEST(JsonFileError, KeysThatAreUnknownMissingOrDouble) {
  EXPECT_EQ(error_of(R"({"fromat":"x"})"), "fromat: unknown key \"fromat\"; did you mean \"format\"?");
  EXPECT_EQ(error_of(R"({"name":"a","name":"b"})"), "name: the key occurs twice; keep one");
  EXPECT_EQ(error_of(graph_with(R"({"name":"a","op":"placeholder","target":"a","args":[],"kwargs":{}})")),
            "nodes[0] (node \"a\"): the key \"meta\" is missing");
}

TEST(JsonFileError, NodesThatReadWhatIsNotThere) {
  EXPECT_EQ(error_of(graph_with(call("a", R"([[{"node":"b"}]])") + "," + call("b", "[]"))),
            "nodes[0].args[0][0].node (node \"a\"): node \"b\" is read before it is defined; order the nodes so that "
            "each reads only earlier ones");
  EXPECT_EQ(error_of(graph_with(call("primals_1", "[]") + "," + call("b", R"([{"node":"primals_l"}])"))),
            "nodes[1].args[0].node (node \"b\"): unknown node \"primals_l\"; did you mean \"primals_1\"?");
  EXPECT_EQ(error_of(graph_with(call("a", "[]") + "," + call("a", "[]"))),
            "nodes[1].name: the name \"a\" is taken by an earlier node; node names must be unique");
}

TEST(JsonFileError, UsersThatDoNotFit) {
  EXPECT_EQ(error_of(graph_with(call("a", "[]", R"(,"users":["c"])") + "," + call("b", R"([{"node":"a"}])"))),
            "nodes: nodes[0].users: unknown node \"c\"; list the nodes that read this one");
  EXPECT_EQ(error_of(graph_with(call("a", "[]", R"(,"users":["b","b"])") + "," + call("b", R"([{"node":"a"}])"))),
            "nodes: nodes[0].users: expected exactly the nodes that read \"a\", each once; remove the key to have them "
            "in graph order");
}

TEST(JsonFileError, WrongTypes) {
  EXPECT_EQ(error_of(graph_with(call("a", "{}"))), "nodes[0].args (node \"a\"): expected a list, got an object");
  EXPECT_EQ(error_of(graph_with(call("a", R"([{"dtype":"flaot32"}])"))),
            "nodes[0].args[0].dtype (node \"a\"): unknown dtype \"flaot32\"; did you mean \"float32\"?");
  EXPECT_EQ(error_of(graph_with(call("a", R"([{"slice":[1]}])"))),
            "nodes[0].args[0].slice (node \"a\"): expected [start, stop, step], got 1 elements");
  EXPECT_EQ(error_of(graph_with(call("a", "[]", tensor("\"shape\":[2]", "\"shape\":[-2]")))),
            "nodes[0].val.tensor.shape[0] (node \"a\"): expected a size of at least 0, got -2");
  EXPECT_EQ(error_of(graph_with(call("a", "[]", tensor("\"shape\":[2]", "\"shape\":[2,2]")))),
            "nodes[0].val.tensor (node \"a\"): shape has 2 dimensions, but stride has 1");
  EXPECT_EQ(error_of(graph_with(call("a", "[]", tensor("\"offset\":0", "\"offset\":null")))),
            "nodes[0].val.tensor (node \"a\"): stride, offset, storage and storage_bytes must be all null (a layout "
            "without storage) or all given");
  EXPECT_EQ(error_of(graph_with(call("a", "[]", tensor("\"storage\":0", "\"storage\":1.5")))),
            "nodes[0].val.tensor.storage (node \"a\"): expected an integer, got a float");
  EXPECT_EQ(error_of(graph_with(call("a", "[]", tensor("cpu", "cpu:x")))),
            "nodes[0].val.tensor.device (node \"a\"): malformed device \"cpu:x\"; expected a type with an optional "
            "index, like cpu or cuda:0");
}

TEST(JsonFileError, Numbers) {
  EXPECT_EQ(error_of(graph_with(call("a", "[NaN]"))),
            "nodes[0].args[0] (node \"a\"): NaN and Infinity are not JSON; write {\"float\": \"nan\"}, {\"float\": "
            "\"inf\"} or {\"float\": \"-inf\"}");
  EXPECT_EQ(error_of(graph_with(call("a", "[9223372036854775808]"))),
            "nodes[0].args[0] (node \"a\"): integer \"9223372036854775808\" doesn't fit 64 bits; write it as a float "
            "(with .0) if it is one");
  EXPECT_EQ(error_of(graph_with(call("a", "[1e999]"))),
            "nodes[0].args[0] (node \"a\"): number \"1e999\" is too large; write {\"float\": \"inf\"}");
  EXPECT_NE(error_of(graph_with(call("a", "[007]"))).find("a leading zero"), std::string::npos);
  EXPECT_NO_THROW(parse_json(graph_with(call("a", "[-9223372036854775808,1e-999]"))));
}

TEST(JsonFileError, Symbols) {
  EXPECT_EQ(
      error_of(graph_with(call("a", R"([{"sym":"2*s1","hint":8}])"))),
      "nodes[0].args[0] (node \"a\"): expression \"2*s1\" uses the symbol \"s1\", which \"symbols\" doesn't declare");
  EXPECT_EQ(error_of(graph_with(call("a", R"([{"sym":"2*s0","hint":9}])"))),
            "nodes[0].args[0] (node \"a\"): hint 9 is recorded for \"2*s0\", but the symbol table gives 8; correct the "
            "hint or the symbols");
  EXPECT_NE(error_of(graph_with(call("a", R"([{"sym":"2*(s0","hint":9}])"))), "no error");
}

TEST(JsonFileError, Strings) {
  EXPECT_NE(error_of(graph_with(call("a\xFF", "[]"))).find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(error_of(graph_with(call("a\\ud800", "[]"))).find("an unpaired surrogate"), std::string::npos);
  EXPECT_NE(error_of(graph_with(call("a\\q", "[]"))).find("unknown escape \\q"), std::string::npos);
  EXPECT_NE(error_of(graph_with(call("a\n", "[]"))).find("control character"), std::string::npos);
}

TEST(JsonFileError, MessagesAreReadableWhateverTheInput) {
  EXPECT_EQ(error_of("{\xFF\x01"), "top level: expected a JSON value, got \"??\" at byte 1");
}

TEST(JsonFileError, HugeAndDeepInputEndsEarly) {
  EXPECT_EQ(error_of(std::string(100'000'000, '[')), "top level: expected an object, got a list");
  const std::string deep(1000, '[');
  EXPECT_NE(error_of(graph_with(call("a", deep))).find("nested deeper than 512 levels"), std::string::npos);
  std::string long_list = "[0";
  for (int i = 0; i < 2'000'000; ++i) long_list += ",0";
  EXPECT_EQ(error_of(graph_with(call("a", long_list + "]"))),
            "nodes[0].args[1048576] (node \"a\"): a list of more than 1048576 elements");
}

TEST(JsonFileError, NothingAfterTheOutput) {
  const std::string output = R"({"name":"output","op":"output","target":"output","args":[[]],"kwargs":{},"meta":{}})";
  EXPECT_EQ(error_of(graph_with(output + "," + call("a", "[]"))),
            "nodes[1]: a node after the output node; the output must be the last");
}

TEST(JsonFileError, DamagedCompression) {
  const auto any_error = [](const std::string& bytes) -> std::string {
    try {
      parse_any(bytes);
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  };
  EXPECT_EQ(any_error("  \n"),
            "the input is empty; expected a graph as JSON (sapwood.graph/1) or as text (graph <name> {...})");
  EXPECT_EQ(any_error("\x28\xB5\x2F\xFD"), "the zstd data ends early; the file is truncated, copy it again");
  const std::string reserved_bit("\x28\xB5\x2F\xFD\x08\0\0\0\0", 9);
  EXPECT_EQ(any_error(reserved_bit),
            "the zstd data is damaged (Unsupported frame parameter); copy or compress the file again");
}

}  // namespace
}  // namespace sapwood::graph
