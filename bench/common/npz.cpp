#include "common/npz.h"

#include <torch/torch.h>

#include <cctype>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace sapwood::bench {

namespace {

constexpr size_t kZipHeaderBytes = 30;  // local file header up to the member's name
constexpr size_t kNpyPreludeBytes = 8;  // magic and version

class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path) : path_(path.string()), in_(path, std::ios::binary) {
    if (!in_) fail("can't be opened");
  }

  /// Reads the next member; false at the central directory that ends the members.
  bool next(std::string& name, at::Tensor& value) {
    std::vector<unsigned char> head(kZipHeaderBytes);
    if (!in_.read(reinterpret_cast<char*>(head.data()), kZipHeaderBytes)) return false;
    if (head[0] != 'P' || head[1] != 'K') fail("isn't a zip file");
    if (head[2] != 3 || head[3] != 4) return false;
    if (little(head, 8) != 0) fail("has compressed members; write it with numpy.savez");
    name.resize(little(head, 26));
    in_.read(name.data(), static_cast<std::streamsize>(name.size()));
    in_.seekg(static_cast<std::streamoff>(little(head, 28)), std::ios::cur);
    value = read_array(name);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    return true;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(path_ + " " + what); }

  static size_t little(const std::vector<unsigned char>& bytes, size_t at) {
    return static_cast<size_t>(bytes[at]) | static_cast<size_t>(bytes[at + 1]) << 8;
  }

  at::Tensor read_array(const std::string& name) {
    std::vector<unsigned char> prelude(kNpyPreludeBytes + 2);
    in_.read(reinterpret_cast<char*>(prelude.data()), static_cast<std::streamsize>(prelude.size()));
    if (!in_ || std::memcmp(prelude.data(), "\x93NUMPY", 6) != 0 || prelude[6] != 1) fail(name + ": no .npy version 1");
    std::string header(little(prelude, kNpyPreludeBytes), ' ');
    in_.read(header.data(), static_cast<std::streamsize>(header.size()));
    if (header.find("'fortran_order': False") == std::string::npos) fail(name + ": not in C order");
    at::Tensor value = at::empty(shape_of(header), dtype_of(header, name));
    in_.read(static_cast<char*>(value.data_ptr()), static_cast<std::streamsize>(value.nbytes()));
    if (!in_) fail(name + ": ends too early");
    return value;
  }

  at::ScalarType dtype_of(const std::string& header, const std::string& name) const {
    if (header.find("'<f4'") != std::string::npos) return at::kFloat;
    if (header.find("'<i8'") != std::string::npos) return at::kLong;
    fail(name + ": neither float32 nor int64");
  }

  static std::vector<int64_t> shape_of(const std::string& header) {
    std::vector<int64_t> shape;
    const size_t end = header.find(')');
    size_t at = header.find('(');
    while (at < end) {
      if (!std::isdigit(static_cast<unsigned char>(header[at]))) {
        ++at;
        continue;
      }
      size_t digits = 0;
      shape.push_back(std::stoll(header.substr(at), &digits));
      at += digits;
    }
    return shape;
  }

  std::string path_;
  std::ifstream in_;
};

}  // namespace

std::map<std::string, at::Tensor> read_npz(const std::filesystem::path& path) {
  NpzReader reader(path);
  std::map<std::string, at::Tensor> arrays;
  std::string name;
  for (at::Tensor value; reader.next(name, value);) arrays[name] = value;
  return arrays;
}

}  // namespace sapwood::bench
