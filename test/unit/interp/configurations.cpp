#include "configurations.h"

#include <sstream>

#include "partition/options.h"

namespace sapwood::interp {
namespace {

using partition::PartitionOptions;

/// "name=value name=value"
PartitionOptions parsed(const std::string& text) {
  PartitionOptions options;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    partition::set_option(options, *partition::find_option(word.substr(0, equals)), word.substr(equals + 1));
  }
  return options;
}

std::vector<std::string> texts() {
  std::vector<std::string> texts{"method=default",      "method=min_cut",
                                 "aggressive=true",     "recompute-views=true",
                                 "cse=false",           "parameters-free=false",
                                 "only-free=true",      "max-dist-from-bw=1",
                                 "graphsafe-rng=false", "aggressive=true cse=false recompute-views=true"};
  const std::vector<std::string> bans{"ban-far-apart", "ban-long-chains", "ban-materialized", "ban-not-in-allowlist",
                                      "ban-reductions"};
  std::string none_banned;
  for (const std::string& ban : bans) {
    texts.push_back(ban + "=false");
    none_banned += ban + "=false ";
  }
  texts.push_back(none_banned);
  for (const char* budget : {"0", "0.1", "0.3", "0.5", "0.7", "0.9", "1"})
    for (const char* solver : {"greedy", "ilp", "dp", "dp_knapsack_sliding_hirschberg", "dynamic_memory_budget_dp"})
      texts.push_back(std::string("budget=") + budget + " solver=" + solver);
  for (const char* bytes : {"0", "4096", "1000000"}) texts.push_back(std::string("budget-bytes=") + bytes);
  return texts;
}

}  // namespace

std::vector<Configuration> configurations() {
  std::vector<Configuration> all;
  for (const std::string& text : texts())
    for (const char* mode : {"repaired", "torch_2_13"}) {
      const std::string whole = text + " compatibility=" + mode;
      all.push_back({whole, parsed(whole)});
    }
  return all;
}

}  // namespace sapwood::interp
