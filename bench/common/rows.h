#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace sapwood::bench {

/// One measured value, the only format in which results leave a benchmark.
struct Row {
  std::string bench;   ///< program: "training_step"
  std::string name;    ///< key "case" in the file: "W3"
  std::string system;  ///< "eager", "sapwood"
  int64_t threads = 1;
  std::string metric;  ///< "ms_per_step"
  double value = 0;
  std::string unit;    ///< "ms", "bytes", "1"
  std::string better;  ///< "lower" or "higher"
};

/// Writes `rows` as a JSON array; folders are made. Errors: std::runtime_error naming the file.
void write_rows(const std::filesystem::path& file, const std::vector<Row>& rows);

/// A table for people: first column to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : lines_{std::move(header)} {}
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> lines_;
};

/// `value` with three significant digits: "0.374", "12.4", "484".
std::string format_number(double value);
/// Bytes with a unit: "512 B", "14.2 MiB".
std::string format_bytes(double bytes);

}  // namespace sapwood::bench
