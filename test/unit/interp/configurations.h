#pragma once

#include <string>
#include <vector>

#include "partition/partition.h"

namespace sapwood::interp {

/// A way to partition, in the words of the option table.
struct Configuration {
  std::string text;  ///< "budget=0.5 solver=ilp"
  partition::PartitionOptions options;
};

/// Every knob that changes what is saved: methods, bans, views, common subexpressions, parameters, budgets with every
/// solver, a budget in bytes; each with PyTorch's answers and with ours.
std::vector<Configuration> configurations();

}  // namespace sapwood::interp
