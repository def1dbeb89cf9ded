#include "common/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace sapwood::bench {

void write_rows(const std::filesystem::path& file, const std::vector<Row>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    all.push_back({{"bench", row.bench},
                   {"case", row.name},
                   {"system", row.system},
                   {"threads", row.threads},
                   {"metric", row.metric},
                   {"value", row.value},
                   {"unit", row.unit},
                   {"better", row.better}});
  }
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file);
  out << all.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("can't write " + file.string());
}

void Table::print(std::ostream& out) const {
  std::vector<size_t> widths(lines_.front().size());
  for (const auto& line : lines_) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (size_t row = 0; row < lines_.size(); ++row) {
    for (size_t i = 0; i < lines_[row].size(); ++i) {
      out << (i > 0 ? "  " : "") << (i > 0 ? std::right : std::left) << std::setw(static_cast<int>(widths[i]))
          << lines_[row][i];
    }
    out << '\n';
    if (row > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) out << (i > 0 ? "  " : "") << std::string(widths[i], '-');
    out << '\n';
  }
}

std::string format_number(double value) {
  if (value == 0) return "0";
  if (std::isnan(value)) return "-";
  const double magnitude = std::fabs(value);
  std::array<char, 32> text{};
  if (magnitude < 1e-3) {
    std::snprintf(text.data(), text.size(), "%.1e", value);
  } else {
    const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(magnitude))), 0, 3);
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  }
  return text.data();
}

std::string format_bytes(double bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return format_number(bytes) + " " + kUnits[unit];
}

}  // namespace sapwood::bench
