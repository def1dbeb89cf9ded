#include <algorithm>
#include <cmath>
#include <cstdio>

#include "partition/pareto.h"

namespace sapwood::partition {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 460;
constexpr double kLeft = 90;
constexpr double kRight = 30;
constexpr double kTop = 50;
constexpr double kBottom = 60;
constexpr double kLabelGap = 46;  // labels closer than this would lie on each other
constexpr int kTicks = 5;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  const int size = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern, values...);
  text.pop_back();
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string in_units(double value) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return format(value < 10 && prefix > 0 ? "%.1f%s" : "%.0f%s", value, kPrefixes[prefix]);
}

const char* unit_of(Estimator estimator) {
  switch (estimator) {
    case Estimator::kFlops:
      return "floating point operations";
    case Estimator::kProfile:
      return "milliseconds";
    case Estimator::kTesting:
      return "calls";
    case Estimator::kCustom:
      return "the estimator's unit";
  }
  return "";
}

/// Places values in the picture.
struct Scale {
  double most_bytes = 1;
  double most_runtime = 1;
  double x(double bytes) const { return kLeft + bytes / most_bytes * (kWidth - kLeft - kRight); }
  double y(double runtime) const { return kHeight - kBottom - runtime / most_runtime * (kHeight - kTop - kBottom); }
};

std::string axes(const Scale& scale, Estimator estimator) {
  std::string out;
  for (int i = 0; i <= kTicks; ++i) {
    const double part = static_cast<double>(i) / kTicks;
    const double x = scale.x(part * scale.most_bytes);
    const double y = scale.y(part * scale.most_runtime);
    out += format("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#e4e4e4'/>", x, kTop, x, kHeight - kBottom);
    out += format("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#e4e4e4'/>", kLeft, y, kWidth - kRight, y);
    out += format("<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>", x, kHeight - kBottom + 18,
                  in_units(part * scale.most_bytes).c_str());
    out += format("<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>", kLeft - 8, y + 4,
                  in_units(part * scale.most_runtime).c_str());
  }
  out += format("<text x='%.1f' y='%.1f' text-anchor='middle'>saved bytes (inputs apart)</text>", kWidth / 2,
                kHeight - 18);
  out += format("<text transform='translate(20 %.1f) rotate(-90)' text-anchor='middle'>recomputed, in %s</text>",
                kHeight / 2, unit_of(estimator));
  return out;
}

std::string curve(const std::vector<ParetoPoint>& points, const Scale& scale) {
  std::string line;
  std::string dots;
  double last_x = -kLabelGap;
  double last_y = -kLabelGap;
  for (const ParetoPoint& point : points) {
    const double x = scale.x(static_cast<double>(point.saved_bytes));
    const double y = scale.y(point.recompute_runtime);
    line += format("%.1f,%.1f ", x, y);
    dots += format(
        "<circle cx='%.1f' cy='%.1f' r='4' fill='#1f6f3f'><title>budget %.4f: %lld bytes saved, peak %lld "
        "bytes, %lld calls repeated</title></circle>",
        x, y, point.budget, static_cast<long long>(point.saved_bytes), static_cast<long long>(point.peak_bytes),
        static_cast<long long>(point.recomputed));
    if (std::hypot(x - last_x, y - last_y) < kLabelGap) continue;
    dots += format("<text x='%.1f' y='%.1f'>%.3f</text>", x + 7, y - 7, point.budget);
    last_x = x;
    last_y = y;
  }
  return "<polyline fill='none' stroke='#1f6f3f' stroke-width='1.5' points='" + line + "'/>" + dots;
}

}  // namespace

std::string pareto_svg(const std::vector<ParetoPoint>& points, const std::string& title, Estimator estimator) {
  Scale scale;
  for (const ParetoPoint& point : points) {
    scale.most_bytes = std::max(scale.most_bytes, static_cast<double>(point.saved_bytes));
    scale.most_runtime = std::max(scale.most_runtime, point.recompute_runtime);
  }
  std::string out = format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f' "
      "font-family='sans-serif' font-size='12' fill='#333'>",
      kWidth, kHeight, kWidth, kHeight);
  out += "<rect width='100%' height='100%' fill='white'/>";
  out +=
      format("<text x='%.1f' y='28' font-size='16'>", kLeft) + escaped(title) + ": what a memory budget costs</text>";
  return out + axes(scale, estimator) + curve(points, scale) + "</svg>\n";
}

}  // namespace sapwood::partition
