#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sapwood {

/// XXH3 of the bytes: the same in every process and on every little-endian machine. Not cryptographic.
uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0);

/// Mixes one more word into a running hash. Order matters: mix(mix(h, a), b) != mix(mix(h, b), a).
constexpr uint64_t hash_mix(uint64_t hash, uint64_t word) {
  uint64_t x = hash * 0x9e3779b97f4a7c15ULL + word + 0x632be59bd9b4e019ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A 128-bit digest, wide enough to name content.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  /// 32 lower-case hexadecimal digits, high word first.
  std::string hex() const;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// XXH3-128 of the bytes, for content addresses. Not cryptographic: no defence against a forger.
Hash128 hash128_bytes(std::string_view bytes);

}  // namespace sapwood
