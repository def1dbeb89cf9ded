#pragma once

#include "graph/node.h"

namespace sapwood::partition {

/// Replaces every node that `argument` mentions by `renumber(node)`.
template <typename Renumber>
void remap_nodes(graph::Argument& argument, const Renumber& renumber) {
  const auto each = [&](graph::ArgumentList& items) {
    for (graph::Argument& item : items) remap_nodes(item, renumber);
  };
  if (auto* node = argument.as<graph::NodeArg>()) node->id = renumber(node->id);
  if (auto* list = argument.as<graph::ListArg>()) each(list->items);
  if (auto* tuple = argument.as<graph::TupleArg>()) each(tuple->items);
  if (auto* slice = argument.as<graph::SliceArg>()) each(slice->bounds);
  if (auto* dict = argument.as<graph::DictArg>())
    for (auto& [key, item] : dict->items) remap_nodes(item, renumber);
}

/// The same for all arguments of a node.
template <typename Renumber>
void remap_nodes(graph::Node& node, const Renumber& renumber) {
  for (graph::Argument& argument : node.args) remap_nodes(argument, renumber);
  for (auto& [key, argument] : node.kwargs) remap_nodes(argument, renumber);
}

}  // namespace sapwood::partition
