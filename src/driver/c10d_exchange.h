#pragma once

#include <c10/util/intrusive_ptr.h>

#include <memory>

#include "partition/agreement.h"

namespace c10d {
class ProcessGroup;
}

namespace sapwood::driver {

/// The processes of a libtorch process group, for `partition::agree_on_saved_values`. Keeps the group alive.
///
/// Messages go through the group's backend for the CPU (Gloo, in most groups): one all-gather for messages of up to 56
/// bytes, two for longer ones. Call it where no other thread uses the group: as with every collective, all ranks must
/// do the same in the same order. Errors: user error for a group without a backend for the CPU. `all_gather` throws
/// what the backend throws, after the group's timeout at the latest, and a user error on all ranks where one sends more
/// than 64 MiB.
std::unique_ptr<partition::RankExchange> c10d_exchange(c10::intrusive_ptr<c10d::ProcessGroup> group);

}  // namespace sapwood::driver
