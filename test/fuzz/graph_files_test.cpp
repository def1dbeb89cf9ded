// Random damage to graph files: the readers take it or throw a user error that says something; they never crash, hang
// or throw anything else.

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "graph/text.h"
#include "unit/graph/corpus.h"
#include "unit/graph/full_graph.h"

namespace sapwood::graph {
namespace {

constexpr uint64_t kSeed = 20260730;
constexpr int kRounds = 3000;

/// Pieces of the two grammars, so that damage often stays close to what is valid.
const std::vector<std::string> kPieces = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          "(",
                                          ")",
                                          "<",
                                          ">",
                                          ",",
                                          ":",
                                          "\"",
                                          "\\",
                                          "\\u12",
                                          "-",
                                          "1e999",
                                          "-0",
                                          "null",
                                          "true",
                                          "None",
                                          "%",
                                          "#",
                                          "//",
                                          "\xFF",
                                          "\xC3\xA9",
                                          "{\"node\":",
                                          "{\"sym\":\"",
                                          "\"users\":[",
                                          "s0",
                                          "Max(1, ",
                                          "alias=%",
                                          "users=",
                                          "return",
                                          "\n",
                                          std::string(1, '\0'),
                                          "99999999999999999999",
                                          "float32[",
                                          "storage=-1",
                                          "graph "};

class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  std::string operator()(std::string text) {
    const size_t edits = 1 + below(4);
    for (size_t i = 0; i < edits && !text.empty(); ++i) edit(text);
    return text;
  }

 private:
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }

  void edit(std::string& text) {
    const size_t at = below(text.size());
    const size_t length = 1 + below(12);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        return;
      case 1:
        text.erase(at, length);
        return;
      case 2:
        text.insert(at, kPieces[below(kPieces.size())]);
        return;
      case 3:
        text.insert(at, text.substr(below(text.size()), length));
        return;
      case 4:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        return;
      default:
        text.resize(at);
        return;
    }
  }

  std::mt19937_64 random_;
};

/// Damages `text` many times; what still parses must print and parse again.
void damage(const std::string& text, uint64_t seed, int rounds) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Damage damaged(seed);
  int accepted = 0, rejected = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string input = damaged(text);
    try {
      const Graph graph = parse_any(input);
      ++accepted;
      const std::string printed = print_text(graph);
      ASSERT_EQ(print_text(parse_text(printed)), printed) << "round " << i;
    } catch (const Error& error) {
      ++rejected;
      ASSERT_EQ(error.kind(), ErrorKind::kUser) << "round " << i << ": " << error.what();
      ASSERT_GT(error.message().size(), 10U) << "round " << i;
    }
  }
  EXPECT_GT(accepted, 0) << "the damage is too heavy to test anything";
  EXPECT_GT(rejected, 0) << "the damage is too light to test anything";
}

TEST(GraphFileFuzz, DamagedJson) {
  damage(std::string(testing::kFullGraph), kSeed, kRounds);
  damage(testing::unpacked(testing::corpus_graph("mlp_dynamic")), kSeed + 1, kRounds / 3);
  damage(testing::unpacked(testing::corpus_graph("indexing_ops")), kSeed + 2, kRounds / 3);
}

TEST(GraphFileFuzz, DamagedText) {
  damage(print_text(parse_json(testing::kFullGraph)), kSeed + 3, kRounds);
  damage(print_text(parse_any(read_file(testing::corpus_graph("mlp_dynamic")))), kSeed + 4, kRounds / 3);
  damage(print_text(parse_any(read_file(testing::corpus_graph("indexing_ops")))), kSeed + 5, kRounds / 3);
}

TEST(GraphFileFuzz, DamagedCompression) {
  const std::string packed = read_file(testing::corpus_graph("mlp"));
  Damage damaged(kSeed + 6);
  for (int i = 0; i < kRounds / 3; ++i) {
    try {
      parse_any(damaged(packed));
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kUser) << "seed " << kSeed + 6 << ", round " << i << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace sapwood::graph
