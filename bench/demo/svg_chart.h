#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sapwood::bench {

struct Series {
  std::string name;
  std::string css;  ///< class that gives the colour
  std::vector<std::pair<double, double>> points;
};

struct Chart {
  std::string title;  ///< read by screen readers
  std::string x_label, y_label;
  std::vector<Series> series{};  ///< later ones are drawn over earlier ones
  bool stairs = false;           ///< hold a value until the next point
  bool from_zero = true;         ///< the vertical axis begins at zero
  double y_limit = 0;            ///< values above are cut off; 0: the largest value
};

/// A line chart as one <svg> element without outside references. Long series are thinned to the smallest and largest
/// value of each pixel column.
std::string svg_chart(const Chart& chart);

/// `text` with the characters that HTML gives a meaning replaced.
std::string escape_html(const std::string& text);

}  // namespace sapwood::bench
