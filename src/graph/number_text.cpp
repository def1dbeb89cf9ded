#include "graph/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace sapwood::graph {

void append_float(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return;
  }
  const double size = std::fabs(value);
  const bool plain = value == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 64> buffer{};
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_int(int64_t value, std::string& out) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

void append_number(const NumberMark& number, std::string& out) {
  number.is_integer ? append_int(static_cast<int64_t>(number.value), out) : append_float(number.value, out);
}

void append_quoted(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kNamed = "\b\f\n\r\t\"\\";
  constexpr std::string_view kLetters = "bfnrt\"\\";
  out += '"';
  size_t copied = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, copied, i - copied);
    copied = i + 1;
    out += '\\';
    if (const size_t named = kNamed.find(text[i]); named != std::string_view::npos) {
      out += kLetters[named];
    } else {
      out += "u00";
      out += kHex[c >> 4U];
      out += kHex[c & 0xFU];
    }
  }
  out.append(text, copied, text.size() - copied);
  out += '"';
}

}  // namespace sapwood::graph
