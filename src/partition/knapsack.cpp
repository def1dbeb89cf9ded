#include "partition/knapsack.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace sapwood::partition {
namespace {

/// Sums of memory are compared with this much slack, relative to the limit: what rounding makes of equal sums.
constexpr double kSlack = 1e-9;

double per_memory(const KnapsackProblem& problem, int32_t item) {
  const auto at = static_cast<size_t>(item);
  if (problem.memory[at] > 0) return problem.runtime[at] / problem.memory[at];
  return std::numeric_limits<double>::infinity();
}

/// Items by runtime per memory, best first; of equals the lower index first.
std::vector<int32_t> by_worth(const KnapsackProblem& problem) {
  std::vector<int32_t> items(problem.size());
  std::iota(items.begin(), items.end(), 0);
  std::ranges::stable_sort(items,
                           [&](int32_t a, int32_t b) { return per_memory(problem, a) > per_memory(problem, b); });
  return items;
}

/// A set of items: its sums, and the set that it extends by `item`.
struct Sum {
  double memory = 0;
  double runtime = 0;
  int32_t parent = -1;
  int32_t item = -1;
  int32_t last = -1;  ///< highest index in the set: of equal sums the one with the lowest stays
};

/// Dynamic programming over undominated sums.
class UndominatedSums {
 public:
  explicit UndominatedSums(const KnapsackProblem& problem) : problem_(problem), order_(by_worth(problem)) {
    limit_ = problem.max_memory * (1 + kSlack);
    best_runtime_ = greedy_knapsack(problem).runtime;
    for (const int32_t item : order_) {
      memory_up_to_.push_back(memory_up_to_.back() + problem.memory[static_cast<size_t>(item)]);
      runtime_up_to_.push_back(runtime_up_to_.back() + problem.runtime[static_cast<size_t>(item)]);
    }
    sums_.push_back({});
    front_.push_back(0);
  }

  KnapsackChoice run() {
    for (place_ = 0; place_ < order_.size(); ++place_) extend(order_[place_]);
    return trace(front_.back());  // runtime grows along the front
  }

 private:
  const Sum& sum(int32_t index) const { return sums_[static_cast<size_t>(index)]; }

  /// The most runtime that a sum can still reach: what follows, the last piece cut to fit.
  double bound(const Sum& from) const {
    const size_t next = place_ + 1;
    const double room = limit_ - from.memory + memory_up_to_[next];
    const auto begin = memory_up_to_.begin() + static_cast<std::ptrdiff_t>(next);
    const auto fits =
        static_cast<size_t>(std::upper_bound(begin, memory_up_to_.end(), room) - memory_up_to_.begin()) - 1;
    const double runtime = from.runtime + runtime_up_to_[fits] - runtime_up_to_[next];
    if (fits == order_.size()) return runtime;
    const auto cut = static_cast<size_t>(order_[fits]);
    return runtime + problem_.runtime[cut] * ((room - memory_up_to_[fits]) / problem_.memory[cut]);
  }

  void extend(int32_t item) {
    const auto at = static_cast<size_t>(item);
    std::vector<Sum> merged;
    merged.reserve(front_.size() * 2);
    for (const int32_t index : front_)
      merged.push_back({sum(index).memory, sum(index).runtime, index, -1, sum(index).last});
    const auto middle = static_cast<std::ptrdiff_t>(merged.size());
    for (const int32_t index : front_) {
      const double memory = sum(index).memory + problem_.memory[at];
      if (memory > limit_) break;
      merged.push_back(
          {memory, sum(index).runtime + problem_.runtime[at], index, item, std::max(sum(index).last, item)});
    }
    // Of equals the one without the item comes first, and stays.
    std::inplace_merge(merged.begin(), merged.begin() + middle, merged.end(), [](const Sum& a, const Sum& b) {
      if (a.memory != b.memory) return a.memory < b.memory;
      return a.runtime != b.runtime ? a.runtime > b.runtime : a.last < b.last;
    });
    keep_undominated(merged);
    if (front_.size() > kMaxKnapsackSums) thin_out();
  }

  void keep_undominated(const std::vector<Sum>& merged) {
    front_.clear();
    double highest = -1;
    for (const Sum& candidate : merged) {
      if (candidate.runtime <= highest) continue;
      highest = candidate.runtime;
      if (bound(candidate) < best_runtime_ * (1 - kSlack)) continue;
      // A sum without the item is an old one.
      if (candidate.item < 0) {
        front_.push_back(candidate.parent);
        continue;
      }
      front_.push_back(static_cast<int32_t>(sums_.size()));
      sums_.push_back(candidate);
    }
  }

  /// Keeps every second sum, the dearer one of each pair: it stands for a cheaper one of less runtime.
  void thin_out() {
    std::vector<int32_t> kept;
    for (size_t i = 0; i < front_.size(); ++i) {
      const bool last = i + 1 == front_.size();
      if (i % 2 == 0 || last) {
        kept.push_back(front_[i]);
        continue;
      }
      gap_ = std::max(gap_, sum(front_[i]).runtime - sum(front_[i - 1]).runtime);
    }
    front_ = std::move(kept);
  }

  KnapsackChoice trace(int32_t index) const {
    std::vector<uint8_t> kept(problem_.size(), 0);
    for (; index >= 0; index = sum(index).parent)
      if (sum(index).item >= 0) kept[static_cast<size_t>(sum(index).item)] = 1;
    KnapsackChoice choice;
    choice.gap = gap_;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) choice.runtime += problem_.runtime[i];
      (kept[i] ? choice.saved : choice.dropped).push_back(static_cast<int32_t>(i));
    }
    return choice;
  }

  const KnapsackProblem& problem_;
  std::vector<int32_t> order_;
  std::vector<double> memory_up_to_ = {0};  // of the first items in that order
  std::vector<double> runtime_up_to_ = {0};
  size_t place_ = 0;
  double limit_ = 0;
  double best_runtime_ = 0;
  double gap_ = 0;
  std::vector<Sum> sums_;
  std::vector<int32_t> front_;  // indices of `sums_`, by memory and runtime ascending
};

}  // namespace

KnapsackChoice greedy_knapsack(const KnapsackProblem& problem) {
  KnapsackChoice choice;
  double memory = 0;
  for (const int32_t item : by_worth(problem)) {
    const auto at = static_cast<size_t>(item);
    if (memory + problem.memory[at] > problem.max_memory) {
      choice.dropped.push_back(item);
      continue;
    }
    memory += problem.memory[at];
    choice.runtime += problem.runtime[at];
    choice.saved.push_back(item);
  }
  return choice;
}

KnapsackChoice exact_knapsack(const KnapsackProblem& problem) { return UndominatedSums(problem).run(); }

void check_choice(const KnapsackProblem& problem, const KnapsackChoice& choice, const std::string& who) {
  std::vector<int> times(problem.size(), 0);
  for (const auto* list : {&choice.saved, &choice.dropped}) {
    for (const int32_t item : *list) {
      if (item < 0 || static_cast<size_t>(item) >= times.size()) {
        throw_user("partition", who + " names value " + std::to_string(item) + ", but there are values 0 to " +
                                    std::to_string(times.size()) + " (exclusive)");
      }
      ++times[static_cast<size_t>(item)];
    }
  }
  const auto wrong = std::ranges::find_if(times, [](int n) { return n != 1; });
  if (wrong == times.end()) return;
  throw_user("partition", who + " must put every value into exactly one of saved and dropped, but value " +
                              std::to_string(wrong - times.begin()) + " is in " +
                              (*wrong == 0 ? "neither" : "more than one place"));
}

}  // namespace sapwood::partition
