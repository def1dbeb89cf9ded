#include "runtime/exec/in_place.h"

#include <algorithm>

#include "runtime/exec/slots.h"

namespace sapwood::exec {
namespace {

using graph::OutputRole;

class InPlace {
 public:
  InPlace(Program& program, CallGraph& order) : program_(program), order_(order) {
    readers_.resize(program.regions.size());
    writers_.resize(program.regions.size());
    outputs_.assign(program.regions.size(), 0);
    for (size_t c = 0; c < program.calls.size(); ++c) {
      const Call& call = program.calls[c];
      for (const ValueId value : call.reads) add(readers_, value, c);
      for (const ValueId value : call.results)
        if (value != kNoValue) add(writers_, value, c);
      for (const ValueId value : call.mutated) add(writers_, value, c);
    }
    for (const OutputBinding& output : program.outputs)
      if (output.value != kNoValue) ++outputs_[static_cast<size_t>(program.region_of(output.value))];
  }

  void run() {
    for (const OutputBinding& output : program_.outputs)
      if (output.role == OutputRole::kWriteBack && output.value != kNoValue) try_output(output);
  }

 private:
  using Table = std::vector<std::vector<CallId>>;

  void add(Table& table, ValueId value, size_t call) {
    std::vector<CallId>& calls = table[static_cast<size_t>(program_.region_of(value))];
    if (calls.empty() || calls.back() != static_cast<CallId>(call)) calls.push_back(static_cast<CallId>(call));
  }
  const std::vector<CallId>& of(const Table& table, ValueId value) const {
    return table[static_cast<size_t>(program_.region_of(value))];
  }

  void try_output(const OutputBinding& output) {
    const InputBinding& input = program_.inputs[static_cast<size_t>(output.target)];
    if (input.value == kNoValue || input.shares_memory || !fits(output.value, input.value)) return;
    const CallId producer = of(writers_, output.value).front();
    if (!producer_can_overwrite(program_.calls[static_cast<size_t>(producer)], input.value)) return;
    for (const CallId reader : of(readers_, input.value))
      if (reader != producer && order_.reaches(producer, reader)) return;
    for (const CallId reader : of(readers_, input.value))
      if (reader != producer) order_.add_edge(reader, producer);
    Region& region = program_.region(output.value);
    const at::Tensor& tensor = program_.tensor(output.value);
    region.placement = Placement::kInput;
    region.input = output.target;
    region.input_offset = tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize());
  }

  /// Whether the new value can live in the placeholder's memory: it alone, the whole of it, written once, and not
  /// handed to the caller as well.
  bool fits(ValueId value, ValueId input) const {
    const Region& region = program_.region(value);
    const at::Tensor& tensor = program_.tensor(value);
    if (region.placement != Placement::kOwned || program_.values[static_cast<size_t>(value)].view) return false;
    if (!same_layout(tensor, program_.tensor(input)) || !tensor.is_non_overlapping_and_dense()) return false;
    if (outputs_[static_cast<size_t>(program_.region_of(value))] != 1 || !of(writers_, input).empty()) return false;
    return of(writers_, value).size() == 1;
  }

  bool producer_can_overwrite(const Call& producer, ValueId input) const {
    if (producer.kind != CallKind::kOut && producer.kind != CallKind::kPointwise) return false;
    const RegionId region = program_.region_of(input);
    for (const ValueId value : producer.reads) {
      if (program_.region_of(value) != region) continue;
      if (!producer.elementwise || value != input) return false;
    }
    return true;
  }

  Program& program_;
  CallGraph& order_;
  Table readers_, writers_;
  std::vector<int32_t> outputs_;
};

}  // namespace

void write_back_in_place(Program& program, CallGraph& order) { InPlace(program, order).run(); }

}  // namespace sapwood::exec
