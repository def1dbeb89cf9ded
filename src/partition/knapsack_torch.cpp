// PyTorch 2.13's two dynamic programs, with their rounding. They differ from the best choice where float32 runs out of
// digits, where a value is smaller than half a step, and (Hirschberg) by a step per split.

#include <algorithm>
#include <cmath>

#include "partition/knapsack.h"

namespace sapwood::partition {
namespace {

constexpr double kSteps = 10000;

/// Halves go to the even neighbour, as Python rounds.
int64_t quantized(double memory) { return static_cast<int64_t>(std::nearbyint(memory * kSteps)); }

/// A row of best runtimes by memory step, and the row before the last item.
struct Rows {
  explicit Rows(int64_t cells) : now(static_cast<size_t>(cells), 0), before(now) {}

  void add(int64_t weight, float runtime) {
    before = now;
    if (weight == 0) {
      for (float& best : now) best += runtime;
      return;
    }
    const auto shift = static_cast<size_t>(weight);
    for (size_t j = shift; j < now.size(); ++j) now[j] = std::max(before[j], before[j - shift] + runtime);
  }

  std::vector<float> now;
  std::vector<float> before;
};

/// Which cells of the table differ from the row above.
class Table {
 public:
  explicit Table(const KnapsackProblem& problem) : width_(quantized(problem.max_memory) + 1) {
    Rows rows(width_);
    for (size_t i = 0; i < problem.size(); ++i) {
      weights_.push_back(quantized(problem.memory[i]));
      rows.add(weights_.back(), static_cast<float>(problem.runtime[i]));
      std::vector<uint8_t> differs(rows.now.size());
      for (size_t j = 0; j < differs.size(); ++j) differs[j] = rows.now[j] != rows.before[j];
      changed_.push_back(std::move(differs));
    }
    best_ = std::move(rows.now);
  }

  KnapsackChoice backtrack(double limit) const {
    KnapsackChoice choice;
    int64_t j = quantized(limit);
    choice.runtime = best_[static_cast<size_t>(j)];
    for (size_t i = weights_.size(); i-- > 0;) {
      if (!changed_[i][static_cast<size_t>(j)]) {
        choice.dropped.push_back(static_cast<int32_t>(i));
        continue;
      }
      choice.saved.push_back(static_cast<int32_t>(i));
      j -= weights_[i];
    }
    std::ranges::reverse(choice.saved);
    return choice;
  }

 private:
  int64_t width_;
  std::vector<int64_t> weights_;
  std::vector<std::vector<uint8_t>> changed_;
  std::vector<float> best_;
};

struct Segment {
  size_t begin;
  size_t end;
  int64_t capacity;
};

class SlidingHirschberg {
 public:
  explicit SlidingHirschberg(const KnapsackProblem& problem)
      : problem_(problem), capacity_(quantized(problem.max_memory)) {
    for (const double memory : problem.memory) weights_.push_back(quantized(memory));
  }

  KnapsackChoice run() {
    if (weights_.empty()) return {};
    std::vector<Segment> stack{{0, weights_.size(), capacity_}};
    while (!stack.empty()) {
      const Segment segment = stack.back();
      stack.pop_back();
      if (segment.end - segment.begin == 1) {
        decide(segment);
        continue;
      }
      split(segment, stack);
    }
    finish();
    return std::move(choice_);
  }

 private:
  void decide(const Segment& leaf) {
    const bool fits = weights_[leaf.begin] <= leaf.capacity && problem_.runtime[leaf.begin] > 0;
    (fits ? choice_.saved : choice_.dropped).push_back(static_cast<int32_t>(leaf.begin));
  }

  std::vector<float> profile(size_t begin, size_t end, int64_t cells) const {
    Rows rows(cells);
    for (size_t i = begin; i < end; ++i)
      if (weights_[i] < cells) rows.add(weights_[i], static_cast<float>(problem_.runtime[i]));
    return std::move(rows.now);
  }

  void split(const Segment& segment, std::vector<Segment>& stack) const {
    const size_t middle = segment.begin + (segment.end - segment.begin) / 2;
    const int64_t cells = segment.capacity + 1;
    std::vector<float> left = profile(middle, segment.end, cells);
    const std::vector<float> right = profile(segment.begin, middle, cells);
    for (size_t j = 0; j < left.size(); ++j) left[j] += right[left.size() - 1 - j];
    const auto best = static_cast<int64_t>(std::ranges::max_element(left) - left.begin());
    // One step too much on the right, as upstream gives it.
    stack.push_back({segment.begin, middle, std::clamp<int64_t>(cells - best, 0, capacity_)});
    stack.push_back({middle, segment.end, std::clamp<int64_t>(best, 0, capacity_)});
  }

  void finish() {
    std::ranges::sort(choice_.saved);
    std::ranges::sort(choice_.dropped, std::greater<>());
    for (const int32_t item : choice_.saved) choice_.runtime += problem_.runtime[static_cast<size_t>(item)];
  }

  const KnapsackProblem& problem_;
  int64_t capacity_;
  std::vector<int64_t> weights_;
  KnapsackChoice choice_;
};

}  // namespace

KnapsackChoice torch_dp_knapsack(const KnapsackProblem& problem) {
  return Table(problem).backtrack(problem.max_memory);
}

std::vector<KnapsackChoice> torch_dp_knapsacks(const KnapsackProblem& problem, const std::vector<double>& limits) {
  const Table table(problem);
  std::vector<KnapsackChoice> choices;
  for (const double limit : limits) choices.push_back(table.backtrack(limit));
  return choices;
}

KnapsackChoice torch_hirschberg_knapsack(const KnapsackProblem& problem) { return SlidingHirschberg(problem).run(); }

}  // namespace sapwood::partition
