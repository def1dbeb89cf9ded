#include "base/hash.h"

#include <xxhash.h>

namespace sapwood {
namespace {

void append_hex(std::string& out, uint64_t word) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(word >> shift) & 15U];
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string Hash128::hex() const {
  std::string out;
  out.reserve(32);
  append_hex(out, high);
  append_hex(out, low);
  return out;
}

Hash128 hash128_bytes(std::string_view bytes) {
  const XXH128_hash_t digest = XXH3_128bits(bytes.data(), bytes.size());
  return {digest.high64, digest.low64};
}

}  // namespace sapwood
