#include "passes/python_hash.h"

#include <cmath>

namespace sapwood::passes {
namespace {

constexpr int kBits = 61;
constexpr uint64_t kModulus = (uint64_t{1} << kBits) - 1;
constexpr int kChunk = 28;
constexpr int64_t kInfinityHash = 314159;

/// Python keeps -1 free to report errors.
int64_t avoid_minus_one(int64_t hash) { return hash == -1 ? -2 : hash; }

/// Multiplication by 2^shift modulo 2^61 - 1 is a rotation.
uint64_t rotate(uint64_t value, int shift) {
  if (shift == 0) return value;
  return ((value << shift) & kModulus) | (value >> (kBits - shift));
}

}  // namespace

int64_t python_hash(int64_t value) {
  const uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const auto rest = static_cast<int64_t>(magnitude % kModulus);
  return avoid_minus_one(value < 0 ? -rest : rest);
}

int64_t python_hash(double value) {
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return value > 0 ? kInfinityHash : -kInfinityHash;
  int exponent = 0;
  double mantissa = std::frexp(std::fabs(value), &exponent);
  uint64_t hash = 0;
  while (mantissa != 0.0) {
    hash = rotate(hash, kChunk);
    mantissa = std::ldexp(mantissa, kChunk);
    exponent -= kChunk;
    const auto chunk = static_cast<uint64_t>(mantissa);
    mantissa -= static_cast<double>(chunk);
    hash = (hash + chunk) % kModulus;
  }
  const int shift = ((exponent % kBits) + kBits) % kBits;
  const auto rotated = static_cast<int64_t>(rotate(hash, shift));
  return avoid_minus_one(value < 0 ? -rotated : rotated);
}

}  // namespace sapwood::passes
