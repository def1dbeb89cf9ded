#pragma once

#include <cstdint>

namespace sapwood::passes {

/// `hash(value)` of CPython on 64-bit machines, for an int that fits in 64 bits. hash(-1) == hash(-2) == -2, and
/// integers that are equal modulo 2^61 - 1 collide as well: hash(9223372036854775807) == hash(3).
int64_t python_hash(int64_t value);

/// `hash(value)` of CPython for a float; 0 for NaN, whose hash in Python is its address.
int64_t python_hash(double value);

}  // namespace sapwood::passes
