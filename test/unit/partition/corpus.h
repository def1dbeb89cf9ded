#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::test {

/// Names of all models of the corpus, in name order.
std::vector<std::string> corpus_models();

/// Models with a recorded flow network.
std::vector<std::string> small_corpus_models();

/// A joint graph of the corpus, read afresh.
graph::Graph corpus_graph(const std::string& model);

/// The graph file itself as JSON, for what the reader drops.
nlohmann::json corpus_graph_json(const std::string& model);

/// What PyTorch's partitioner decided, one entry per configuration.
nlohmann::json corpus_decisions(const std::string& model);

/// [[from, to, capacity or null], ...]
nlohmann::json corpus_network(const std::string& model);

std::vector<std::string> names_of(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes);

}  // namespace sapwood::test
