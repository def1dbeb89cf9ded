#include <limits>

#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

std::optional<int64_t> in_range(bool overflow, int64_t result) {
  if (overflow || result == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return result;
}

}  // namespace

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflow = __builtin_add_overflow(a, b, &result);
  return in_range(overflow, result);
}

std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &result);
  return in_range(overflow, result);
}

std::optional<int64_t> checked_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::optional<int64_t> result = 1;
  for (int64_t i = 0; i < exponent && result; ++i) result = checked_mul(*result, base);  // at most 63 rounds
  return result;
}

std::optional<int64_t> floor_div(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return checked_mul(a, -1);
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::optional<int64_t> floor_mod(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace sapwood::graph
