#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/workload.h"

namespace sapwood::bench {

/// A text as numbers: every byte that occurs in it is a token.
class TextDataset {
 public:
  /// Reads and joins the files; the last tenth is kept for validation.
  /// Errors: std::runtime_error if a file can't be read or if all of them hold less than 64 KiB.
  explicit TextDataset(const std::vector<std::filesystem::path>& files);

  int64_t vocabulary() const { return static_cast<int64_t>(alphabet_.size()); }
  int64_t size() const { return tokens_.size(0); }
  int64_t files() const { return files_; }

  /// `count` batches of `items` random windows of `context` tokens; the target is the window one token later. Drawn
  /// from the default generator.
  std::vector<Batch> training_batches(int64_t count, int64_t items, int64_t context) const;
  std::vector<Batch> validation_batches(int64_t count, int64_t items, int64_t context) const;

  /// Tokens of `text` as int64 `[length]`; characters that the text of the data set lacks are left out.
  at::Tensor encode(const std::string& text) const;
  char character(int64_t token) const { return alphabet_[static_cast<size_t>(token)]; }

 private:
  std::vector<Batch> batches(int64_t count, at::IntArrayRef shape, int64_t begin, int64_t end) const;

  std::string alphabet_;
  at::Tensor tokens_;
  int64_t files_ = 0;
};

/// The licence texts that Debian and its relatives ship, each once.
/// Errors: std::runtime_error that says how to name other files if there are none.
std::vector<std::filesystem::path> licence_texts();

}  // namespace sapwood::bench
