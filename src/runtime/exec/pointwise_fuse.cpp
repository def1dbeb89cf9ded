#include "runtime/exec/pointwise_fuse.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/exec/lifetimes.h"
#include "runtime/exec/pointwise_exact.h"
#include "runtime/exec/pointwise_launch.h"

namespace sapwood::exec {
namespace {

using Members = std::vector<CallId>;  // ascending

/// Up to this size a single operator is faster as a program of its own than through libtorch's dispatcher.
constexpr int64_t kMostElementsAlone = 16384;

bool has_exact_kernel(const ElementaryOp& op, c10::ScalarType type) {
  const auto index = static_cast<size_t>(op.op);
  return type == c10::kFloat ? exact_kernels<float>().run[index] != nullptr
                             : exact_kernels<double>().run[index] != nullptr;
}

/// The last call that a cluster beginning at or before a call contains: a tree of maxima over prefixes (Fenwick 1994).
class Reach {
 public:
  explicit Reach(size_t calls) : most_(calls + 1, -1) {}
  void raise(CallId first, CallId last) {
    for (size_t i = static_cast<size_t>(first) + 1; i < most_.size(); i += i & (~i + 1))
      most_[i] = std::max(most_[i], last);
  }
  CallId up_to(CallId call) const {
    CallId most = -1;
    for (size_t i = static_cast<size_t>(call) + 1; i > 0; i -= i & (~i + 1)) most = std::max(most, most_[i]);
    return most;
  }

 private:
  std::vector<CallId> most_;
};

class Fuser {
 public:
  explicit Fuser(Program& program)
      : program_(program),
        order_(find_order(program)),
        cluster_of_(program.calls.size(), -1),
        last_reader_(last_readers(program)),
        reach_(program.calls.size()) {}

  CallGraph run(int64_t& fused) {
    for (size_t c = 0; c < program_.calls.size(); ++c)
      if (is_candidate(program_.calls[c])) join(static_cast<CallId>(c));
    drop_small_clusters();
    find_needed_regions();
    for (Members& members : clusters_)
      if (!members.empty() && !compiles(members)) dissolve(members);
    find_needed_regions();
    return rebuild(fused);
  }

 private:
  const Call& call(CallId id) const { return program_.calls[static_cast<size_t>(id)]; }
  const at::Tensor& result(CallId id) const { return program_.tensor(call(id).results.front()); }

  bool is_candidate(const Call& c) const {
    return c.elementary.size() == 1 && !c.ordered &&
           has_exact_kernel(c.elementary.front(), program_.tensor(c.results.front()).scalar_type());
  }

  /// Whether two calls run over the same elements.
  bool same_space(CallId a, CallId b) const {
    const at::Tensor& x = result(a);
    const at::Tensor& y = result(b);
    if (x.scalar_type() != y.scalar_type() || x.sizes() != y.sizes() || call(a).part != call(b).part) return false;
    for (int64_t d = 0; d < x.dim(); ++d)
      if (x.size(d) != 1 && x.stride(d) != y.stride(d)) return false;
    return true;
  }

  /// Puts `id` into the clusters of its producers, one after the other, where that makes no cycle.
  void join(CallId id) {
    int32_t mine = static_cast<int32_t>(clusters_.size());
    clusters_.push_back({id});
    cluster_of_[static_cast<size_t>(id)] = mine;
    for (const ValueId value : call(id).reads) {
      const CallId producer = producer_of(value, id);
      if (producer < 0 || cluster_of_[static_cast<size_t>(producer)] < 0 || !same_space(producer, id)) continue;
      const int32_t other = cluster_of_[static_cast<size_t>(producer)];
      if (other == mine || keeps_more_alive(other, mine) || !can_merge(mine, other)) continue;
      merge(other, mine);
      mine = other;
    }
  }

  CallId producer_of(ValueId value, CallId reader) const {
    for (const CallId before : order_.before[static_cast<size_t>(reader)]) {
      const std::vector<ValueId>& results = call(before).results;
      if (std::find(results.begin(), results.end(), value) != results.end()) return before;
    }
    return -1;
  }

  /// Whether `early` would wait for `late` with operands that are larger than what it makes of them.
  bool keeps_more_alive(int32_t early, int32_t late) const {
    const Members& members = clusters_[static_cast<size_t>(early)];
    const CallId last = members.back();
    if (clusters_[static_cast<size_t>(late)].front() == last + 1) return false;
    int64_t dying = 0, made = 0;
    std::vector<RegionId> counted;
    for (const CallId id : members) {
      for (const ValueId value : call(id).reads) {
        const RegionId region = program_.region_of(value);
        if (made_by(members, value) || last_reader_[static_cast<size_t>(region)] > last ||
            std::find(counted.begin(), counted.end(), region) != counted.end())
          continue;
        counted.push_back(region);
        dying += program_.region(value).bytes;
      }
      const Region& result = program_.region(call(id).results.front());
      if (last_reader_[static_cast<size_t>(program_.region_of(call(id).results.front()))] > last) made += result.bytes;
    }
    return dying > made;
  }

  /// Whether no call outside both clusters needs one of them and is needed by one of them.
  bool can_merge(int32_t a, int32_t b) {
    visited_.clear();
    lowest_ = std::min(clusters_[static_cast<size_t>(a)].front(), clusters_[static_cast<size_t>(b)].front());
    Members stack;
    const auto inside = [&](CallId id) {
      return cluster_of_[static_cast<size_t>(id)] == a || cluster_of_[static_cast<size_t>(id)] == b;
    };
    const auto visit_needs = [&](CallId id) {
      for (const CallId before : order_.before[static_cast<size_t>(id)])
        if (!inside(before)) push_unit(before, stack);
    };
    for (const int32_t cluster : {a, b})
      for (const CallId id : clusters_[static_cast<size_t>(cluster)]) visit_needs(id);
    while (!stack.empty()) {
      const CallId id = stack.back();
      stack.pop_back();
      for (const CallId before : order_.before[static_cast<size_t>(id)]) {
        if (inside(before)) return false;
        push_unit(before, stack);
      }
    }
    return true;
  }

  /// Pushes a call and, as they run together, everything in its cluster; not if neither that nor anything that it needs
  /// reaches up to the clusters that are to be merged.
  void push_unit(CallId id, Members& stack) {
    const int32_t cluster = cluster_of_[static_cast<size_t>(id)];
    const CallId last = cluster < 0 ? id : clusters_[static_cast<size_t>(cluster)].back();
    if (std::max(last, reach_.up_to(last)) < lowest_) return;
    if (cluster < 0) {
      if (visited_.insert(id).second) stack.push_back(id);
      return;
    }
    const Members& members = clusters_[static_cast<size_t>(cluster)];
    for (const CallId member : members)
      if (visited_.insert(member).second) stack.push_back(member);
  }

  void merge(int32_t into, int32_t from) {
    Members& target = clusters_[static_cast<size_t>(into)];
    for (const CallId id : clusters_[static_cast<size_t>(from)]) cluster_of_[static_cast<size_t>(id)] = into;
    target.insert(target.end(), clusters_[static_cast<size_t>(from)].begin(),
                  clusters_[static_cast<size_t>(from)].end());
    std::sort(target.begin(), target.end());
    reach_.raise(target.front(), target.back());
    clusters_[static_cast<size_t>(from)].clear();
  }

  void drop_small_clusters() {
    for (Members& members : clusters_)
      if (members.size() == 1 && call(members.front()).part != StepPart::kOptimizer &&
          result(members.front()).numel() > kMostElementsAlone)
        dissolve(members);
  }

  void dissolve(Members& members) {
    for (const CallId id : members) cluster_of_[static_cast<size_t>(id)] = -1;
    members.clear();
  }

  /// A value inside a cluster must be stored if anything outside reads it or a view of it.
  void find_needed_regions() {
    reader_clusters_.assign(program_.regions.size(), {});
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      for (const ValueId value : reads(static_cast<CallId>(c))) add_reader(value, cluster_of_[c]);
      for (const ValueId value : program_.calls[c].mutated) add_reader(value, cluster_of_[c]);
    }
    for (const OutputBinding& output : program_.outputs)
      if (output.value != kNoValue) add_reader(output.value, -1);
  }

  /// What a call reads: inside a cluster tensors that a constant fills are numbers.
  std::vector<ValueId> reads(CallId id) const {
    if (cluster_of_[static_cast<size_t>(id)] < 0) return call(id).reads;
    const ElementaryOp& op = call(id).elementary.front();
    std::vector<ValueId> values;
    for (const ElementaryOp::Operand* operand : {&op.a, &op.b, &op.c}) {
      if (operand->value != kNoValue) values.push_back(operand->value);
      if (operand->number && operand->number->tensor != kNoValue) values.push_back(operand->number->tensor);
    }
    return values;
  }

  /// A factory whose result nothing reads any more.
  bool is_unread_factory(CallId id) const {
    const Call& c = call(id);
    if (c.kind == CallKind::kMutate || c.ordered || !c.reads.empty()) return false;
    return std::all_of(c.results.begin(), c.results.end(), [this](ValueId value) {
      return value == kNoValue || reader_clusters_[static_cast<size_t>(program_.region_of(value))].empty();
    });
  }

  void add_reader(ValueId value, int32_t cluster) {
    std::vector<int32_t>& readers = reader_clusters_[static_cast<size_t>(program_.region_of(value))];
    if (std::find(readers.begin(), readers.end(), cluster) == readers.end()) readers.push_back(cluster);
  }

  bool is_needed_outside(CallId id) const {
    const ValueId value = call(id).results.front();
    const std::vector<int32_t>& readers = reader_clusters_[static_cast<size_t>(program_.region_of(value))];
    const int32_t mine = cluster_of_[static_cast<size_t>(id)];
    return readers.empty() ||
           std::any_of(readers.begin(), readers.end(), [mine](int32_t cluster) { return cluster != mine; });
  }

  Call fused_call(const Members& members) const {
    Call fused;
    fused.kind = CallKind::kPointwise;
    fused.part = call(members.front()).part;
    fused.elementwise = true;
    for (const CallId id : members) {
      fused.node = call(id).node;
      fused.elementary.push_back(call(id).elementary.front());
      if (is_needed_outside(id)) fused.results.push_back(call(id).results.front());
    }
    for (const CallId id : members)
      for (const ValueId value : reads(id))
        if (!made_by(members, value) && std::find(fused.reads.begin(), fused.reads.end(), value) == fused.reads.end())
          fused.reads.push_back(value);
    return fused;
  }

  bool made_by(const Members& members, ValueId value) const {
    return std::any_of(members.begin(), members.end(), [&](CallId id) { return call(id).results.front() == value; });
  }

  /// The new calls, each at the place of its cluster's last member, and their constraints.
  CallGraph rebuild(int64_t& fused) {
    std::vector<Call> calls;
    std::vector<CallId> new_id(program_.calls.size(), -1);
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      const int32_t cluster = cluster_of_[c];
      if (cluster >= 0 && clusters_[static_cast<size_t>(cluster)].back() != static_cast<CallId>(c)) continue;
      if (cluster < 0 && is_unread_factory(static_cast<CallId>(c))) continue;
      const auto id = static_cast<CallId>(calls.size());
      if (cluster < 0) {
        new_id[c] = id;
        continue_call(calls, c);
        continue;
      }
      const Members& members = clusters_[static_cast<size_t>(cluster)];
      for (const CallId member : members) new_id[static_cast<size_t>(member)] = id;
      fused += static_cast<int64_t>(members.size());
      calls.push_back(fused_call(members));
    }
    program_.calls = std::move(calls);
    return contract(new_id);
  }

  /// Copies rather than moves: fused calls that come later still look at their members.
  void continue_call(std::vector<Call>& calls, size_t c) { calls.push_back(program_.calls[c]); }

  bool compiles(const Members& members) const {
    const Call fused = fused_call(members);
    const std::optional<PointwiseProgram> compiled = compile_pointwise(program_, fused.elementary, fused.results);
    // Each result may have to be kept aside once it is known what it overwrites.
    return compiled && compiled->temporaries + static_cast<int32_t>(fused.results.size()) <= kMaxPointwiseTemporaries;
  }

  CallGraph contract(const std::vector<CallId>& new_id) const {
    CallGraph graph;
    graph.before.resize(program_.calls.size());
    graph.after.resize(program_.calls.size());
    for (size_t c = 0; c < new_id.size(); ++c)
      for (const CallId before : order_.before[c])
        if (new_id[static_cast<size_t>(before)] != new_id[c] && new_id[static_cast<size_t>(before)] >= 0)
          graph.add_edge(new_id[static_cast<size_t>(before)], new_id[c]);
    return graph;
  }

  Program& program_;
  CallGraph order_;
  std::vector<int32_t> cluster_of_;  ///< per call; -1: none
  std::vector<Members> clusters_;
  std::vector<std::vector<int32_t>> reader_clusters_;  ///< per region
  std::vector<CallId> last_reader_;                    ///< per region; past the last call if it leaves the step
  Reach reach_;
  std::unordered_set<CallId> visited_;
  CallId lowest_ = 0;
};

}  // namespace

CallGraph fuse_pointwise(Program& program, int64_t& fused) { return Fuser(program).run(fused); }

}  // namespace sapwood::exec
