#include "partition/conflict.h"

#include <algorithm>

namespace sapwood::partition {
namespace {

constexpr int kBoxWidth = 560;
constexpr int kLineHeight = 18;
constexpr int kPadding = 10;
constexpr int kGap = 34;
constexpr int kMargin = 20;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string number(int value) { return std::to_string(value); }

std::string text_at(int x, int y, const std::string& style, const std::string& text) {
  return "<text x='" + number(x) + "' y='" + number(y) + "' " + style + ">" + escaped(text) + "</text>";
}

std::string box(int y, int height, bool is_end) {
  return "<rect x='" + number(kMargin) + "' y='" + number(y) + "' width='" + number(kBoxWidth) + "' height='" +
         number(height) + "' rx='6' fill='" + (is_end ? "#fde8e6" : "#f4f4f4") + "' stroke='" +
         (is_end ? "#b3261e" : "#999") + "'/>";
}

std::string arrow(int from, int to) {
  const int x = kMargin + kBoxWidth / 2;
  return "<path d='M" + number(x) + " " + number(from) + " V" + number(to - 6) +
         " m-4 0 l4 6 l4 -6 z' stroke='#b3261e' " + "fill='#b3261e'/>";
}

}  // namespace

std::string Conflict::text() const {
  std::string out = "a value is needed by the backward but may neither be saved nor recomputed:";
  for (const ConflictStep& step : steps) {
    out += " '" + step.node + "'";
    for (size_t i = 0; i < step.rules.size(); ++i) out += (i ? ", " : " ") + step.rules[i];
    out += ";";
  }
  out.back() = '.';
  return out + " Path: " + path +
         ". Take back one of these marks or rules: mark what is not to be recomputed to be saved as a whole, or let "
         "the "
         "first value be recomputed (an option that starts with ban_), or save a value earlier on the path";
}

std::string Conflict::svg() const {
  std::string body;
  int y = kMargin + kLineHeight + kPadding;
  for (size_t i = 0; i < steps.size(); ++i) {
    const int height = 2 * kPadding + kLineHeight * static_cast<int>(1 + steps[i].rules.size());
    body += box(y, height, i == 0 || i + 1 == steps.size());
    body += text_at(kMargin + kPadding, y + kPadding + 12, "font-weight='bold'", steps[i].node);
    for (size_t line = 0; line < steps[i].rules.size(); ++line)
      body += text_at(kMargin + kPadding, y + kPadding + 12 + kLineHeight * static_cast<int>(line + 1), "",
                      steps[i].rules[line]);
    y += height;
    if (i + 1 < steps.size()) body += arrow(y, y + kGap);
    y += kGap;
  }
  const std::string width = number(kBoxWidth + 2 * kMargin);
  return "<svg xmlns='http://www.w3.org/2000/svg' width='" + width + "' height='" + number(y) + "' viewBox='0 0 " +
         width + " " + number(y) +
         "' font-family='sans-serif' font-size='13' fill='#222'><rect width='100%' height='100%' " + "fill='white'/>" +
         text_at(kMargin, kMargin + 8, "font-size='15'", "Neither to be saved nor to be recomputed") + body +
         "</svg>\n";
}

}  // namespace sapwood::partition
