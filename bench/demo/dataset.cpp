#include "demo/dataset.h"

#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace sapwood::bench {

namespace {

constexpr size_t kSmallestText = 64 * 1024;
constexpr const char* kLicenceFolder = "/usr/share/common-licenses";

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) throw std::runtime_error("can't read " + file.string() + "; name other text files with --text FILE...");
  return text;
}

}  // namespace

TextDataset::TextDataset(const std::vector<std::filesystem::path>& files) : files_(static_cast<int64_t>(files.size())) {
  std::string text;
  for (const auto& file : files) text += read_text(file);
  if (text.size() < kSmallestText) {
    throw std::runtime_error("the text has only " + std::to_string(text.size()) + " bytes; at least " +
                             std::to_string(kSmallestText) + " are needed, add files with --text FILE...");
  }
  const std::set<char> distinct(text.begin(), text.end());
  alphabet_.assign(distinct.begin(), distinct.end());
  tokens_ = encode(text);
}

at::Tensor TextDataset::encode(const std::string& text) const {
  std::vector<int64_t> tokens;
  for (const char c : text) {
    const auto found = std::lower_bound(alphabet_.begin(), alphabet_.end(), c);
    if (found != alphabet_.end() && *found == c) tokens.push_back(found - alphabet_.begin());
  }
  return torch::tensor(tokens, at::kLong);
}

std::vector<Batch> TextDataset::batches(int64_t count, at::IntArrayRef shape, int64_t begin, int64_t end) const {
  const int64_t items = shape[0], context = shape[1];
  std::vector<Batch> out;
  for (int64_t i = 0; i < count; ++i) {
    const at::Tensor starts = at::randint(begin, end - context - 1, {items}, at::kLong);
    std::vector<at::Tensor> x, y;
    for (int64_t k = 0; k < items; ++k) {
      const int64_t start = starts[k].item<int64_t>();
      x.push_back(tokens_.narrow(0, start, context));
      y.push_back(tokens_.narrow(0, start + 1, context));
    }
    out.push_back({at::stack(x), at::stack(y)});
  }
  return out;
}

std::vector<Batch> TextDataset::training_batches(int64_t count, int64_t items, int64_t context) const {
  return batches(count, {items, context}, 0, size() - size() / 10);
}

std::vector<Batch> TextDataset::validation_batches(int64_t count, int64_t items, int64_t context) const {
  return batches(count, {items, context}, size() - size() / 10, size());
}

std::vector<std::filesystem::path> licence_texts() {
  std::set<std::filesystem::path> files;  // several names of a folder lead to one file
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(kLicenceFolder, missing)) {
    if (entry.is_regular_file()) files.insert(std::filesystem::canonical(entry.path()));
  }
  if (files.empty()) {
    throw std::runtime_error(std::string("there is no text in ") + kLicenceFolder +
                             ", the default; name text files with --text FILE...");
  }
  return {files.begin(), files.end()};
}

}  // namespace sapwood::bench
