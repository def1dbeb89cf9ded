#pragma once

#include <string>

#include "check/part_reader.h"

namespace sapwood::check {

/// Says in what a call of a part first differs from a call of the joint graph, for the end of a sentence.
std::string first_difference(const PairContext& context, const PartReader& part, graph::NodeId id, graph::NodeId joint);

}  // namespace sapwood::check
