#pragma once

#include <vector>

#include "runtime/exec/executable.h"
#include "runtime/exec/lifetimes.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// When every region is in use. The life of a region whose memory others take over covers theirs.
using Lives = std::vector<Lifetime>;

/// Whether a region is used at all, in memory that isn't another's.
bool has_own_memory(const Program& program, const Lives& lives, size_t region);

/// Regions whose memory comes with a kernel's result.
std::vector<bool> allocated_by_kernel(const Program& program);

/// Decides what lies in the arena: everything but numbers, what leaves the step, what a kernel allocates itself, and
/// what would make the whole larger there. The arena is as large as its own peak throughout the step, so if memory of
/// kernels peaks at another time, the sum exceeds what is alive together; blocks of the arena's peak then go to the
/// heap. Results of elementwise calls take over the memory of operands that die there (Region::owner).
Lives place_values(Program& program);

/// Fills in all but the size of the arena.
void report_memory(const Program& program, const Lives& lives, MemoryReport& report);

}  // namespace sapwood::exec
