#include "partition/measure.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>

#include "partition/partition.h"

namespace {

/// Bytes alive since counting began, and the most of them. One thread only, as this program has.
struct HeapCount {
  bool on = false;
  int64_t live = 0;
  int64_t peak = 0;
};

HeapCount heap;

void* counted(void* block) {
  if (!block) throw std::bad_alloc();
  if (heap.on) {
    heap.live += static_cast<int64_t>(malloc_usable_size(block));
    heap.peak = std::max(heap.peak, heap.live);
  }
  return block;
}

void release(void* block) {
  if (heap.on && block) heap.live -= static_cast<int64_t>(malloc_usable_size(block));
  std::free(block);
}

/// Counts from its construction on.
class CountedSection {
 public:
  CountedSection() { heap = {true, 0, 0}; }
  CountedSection(const CountedSection&) = delete;
  CountedSection& operator=(const CountedSection&) = delete;
  ~CountedSection() { heap.on = false; }
  int64_t live() const { return heap.live; }
  int64_t peak() const { return heap.peak; }
};

}  // namespace

// The standard's other forms end in these.
void* operator new(size_t size) { return counted(std::malloc(size ? size : 1)); }
void* operator new(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { release(block); }

namespace sapwood::bench {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Overwrites what the caches hold. A graph is partitioned once, not again and again, and a small graph that stays in
/// the caches from call to call would make large ones look worse than they are.
void cool_caches() {
  static std::vector<char> other(size_t{128} << 20);
  for (size_t i = 0; i < other.size(); i += 64) other[i] = static_cast<char>(other[i] + 1);
}

partition::PartitionOptions like_torch() {
  partition::PartitionOptions options;
  options.compatibility = partition::Compatibility::kTorch213;
  return options;
}

}  // namespace

std::vector<Configuration> configurations() {
  std::vector<Configuration> all = {{"default", like_torch()}, {"min_cut", like_torch()}, {"budget", like_torch()}};
  all[0].options.method = partition::Method::kDefault;
  all[2].options.activation_memory_budget = 0.5;
  all[2].options.activation_memory_budget_solver = partition::Solver::kDp;
  return all;
}

Seconds time_partition(const graph::Graph& joint, const Configuration& configuration) {
  graph::Graph copy = joint;
  cool_caches();
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  const partition::Plan plan = partition::partition(copy, configuration.options);
  const partition::ForwardBackward parts = partition::extract(copy, plan);
  Seconds seconds;
  seconds.cpu = cpu_seconds() - cpu;
  seconds.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return seconds;
}

PeakBytes measure_peaks(const graph::Graph& joint, const Configuration& configuration) {
  PeakBytes bytes;
  graph::Graph copy;
  {
    const CountedSection section;
    copy = joint;
    bytes.graph = section.live();
  }
  const CountedSection section;
  const partition::Plan plan = partition::partition(copy, configuration.options);
  bytes.decision = section.peak();
  const partition::ForwardBackward parts = partition::extract(copy, plan);
  bytes.all = section.peak();
  return bytes;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace sapwood::bench
