#include "demo/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>

namespace sapwood::bench {

namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr double kWidth = 760, kHeight = 320;
constexpr double kLeft = 62, kRight = 14, kTop = 34, kBottom = 48;
constexpr size_t kColumns = 340;  // about two pixels each

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

/// A round distance between ticks that gives about `count` of them.
double tick_distance(double span, int count) {
  const double rough = span / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", std::fabs(v) < 1e-12 ? 0.0 : v);
  return text.data();
}

std::string coordinate(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", v);
  return text.data();
}

/// Smallest and largest value of each column, in the order in which they occur.
Points thinned(const Points& points) {
  if (points.size() <= 2 * kColumns) return points;
  Points out;
  const size_t n = points.size();
  for (size_t column = 0; column < kColumns; ++column) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(column * n / kColumns);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>((column + 1) * n / kColumns);
    auto [low, high] =
        std::minmax_element(begin, end, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (high != low) out.push_back(*high);
  }
  return out;
}

class Plot {
 public:
  explicit Plot(const Chart& chart) : chart_(chart) {
    for (const Series& series : chart.series) {
      for (const auto& [x, y] : series.points) {
        x_.include(x);
        if (std::isfinite(y)) y_.include(y);
      }
    }
    if (chart.y_limit > 0) y_.high = chart.y_limit;
    if (chart.from_zero) y_.include(0);
    if (!(y_.high > y_.low)) y_ = {std::isfinite(y_.low) ? y_.low - 1 : 0, std::isfinite(y_.low) ? y_.low + 1 : 1};
    if (!(x_.high > x_.low)) x_ = {0, 1};
    const double distance = tick_distance(y_.high - y_.low, 5);
    y_ = {std::floor(y_.low / distance) * distance, std::ceil(y_.high / distance - 1e-9) * distance};
  }

  std::string draw() {
    out_ << "<svg viewBox=\"0 0 " << kWidth << ' ' << kHeight << "\" role=\"img\" aria-label=\""
         << escape_html(chart_.title) << "\">\n";
    draw_axes();
    for (const Series& series : chart_.series) draw_series(series);
    draw_legend();
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  double px(double x) const { return kLeft + (x - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight); }
  double py(double y) const {
    const double inside = std::clamp(y, y_.low, y_.high);
    return kHeight - kBottom - (inside - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom);
  }

  void text(double x, double y, const std::string& anchor, const std::string& content) {
    out_ << "<text x=\"" << coordinate(x) << "\" y=\"" << coordinate(y) << "\" text-anchor=\"" << anchor << "\">"
         << escape_html(content) << "</text>\n";
  }
  void line(const char* css, double x1, double y1, double x2, double y2) {
    out_ << "<line class=\"" << css << "\" x1=\"" << coordinate(x1) << "\" y1=\"" << coordinate(y1) << "\" x2=\""
         << coordinate(x2) << "\" y2=\"" << coordinate(y2) << "\"/>\n";
  }

  void draw_axes() {
    const double bottom = kHeight - kBottom, right = kWidth - kRight;
    const double dy = tick_distance(y_.high - y_.low, 5);
    for (double y = std::ceil(y_.low / dy - 1e-9) * dy; y <= y_.high + 1e-9 * dy; y += dy) {
      line("grid", kLeft, py(y), right, py(y));
      text(kLeft - 8, py(y) + 4, "end", number(y));
    }
    const double dx = tick_distance(x_.high - x_.low, 8);
    for (double x = std::ceil(x_.low / dx - 1e-9) * dx; x <= x_.high + 1e-9 * dx; x += dx) {
      line("axis", px(x), bottom, px(x), bottom + 4);
      text(px(x), bottom + 18, "middle", number(x));
    }
    line("axis", kLeft, bottom, right, bottom);
    text((kLeft + right) / 2, kHeight - 8, "middle", chart_.x_label);
    const double middle = (kTop + bottom) / 2;
    out_ << "<text transform=\"rotate(-90)\" x=\"" << coordinate(-middle) << "\" y=\"15\" text-anchor=\"middle\">"
         << escape_html(chart_.y_label) << "</text>\n";
  }

  void draw_series(const Series& series) {
    out_ << "<polyline class=\"line " << series.css << "\" points=\"";
    double former = 0;
    bool first = true;
    for (const auto& [x, y] : thinned(series.points)) {
      if (!std::isfinite(y)) continue;
      if (chart_.stairs && !first) out_ << coordinate(px(x)) << ',' << coordinate(former) << ' ';
      former = py(y);
      out_ << coordinate(px(x)) << ',' << coordinate(former) << ' ';
      first = false;
    }
    out_ << "\"/>\n";
  }

  void draw_legend() {
    double x = kLeft;
    for (const Series& series : chart_.series) {
      out_ << "<line class=\"line " << series.css << "\" x1=\"" << coordinate(x) << "\" y1=\"14\" x2=\""
           << coordinate(x + 26) << "\" y2=\"14\"/>\n";
      text(x + 33, 18, "start", series.name);
      x += 60 + 7.2 * static_cast<double>(series.name.size());
    }
  }

  const Chart& chart_;
  Range x_, y_;
  std::ostringstream out_;
};

}  // namespace

std::string svg_chart(const Chart& chart) { return Plot(chart).draw(); }

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace sapwood::bench
