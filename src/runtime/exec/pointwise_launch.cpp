#include "runtime/exec/pointwise_launch.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "runtime/exec/pointwise_exact.h"

namespace sapwood::exec {
namespace {

/// ATen splits elementwise work at this many elements.
constexpr int64_t kGrain = 32768;

template <typename T>
T load_number(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// Runs the code of a part on blocks [begin, end).
template <typename T>
void run_part(const PointwiseProgram& program, const std::vector<char*>& pointers,
              const std::vector<double>& stored_numbers, std::pair<int64_t, int64_t> range) {
  alignas(64) T temporaries[kMaxPointwiseTemporaries][kPointwiseBlock];
  constexpr size_t kMaxNumbers = 64;
  T numbers[kMaxNumbers];
  for (size_t i = 0; i < stored_numbers.size(); ++i) numbers[i] = static_cast<T>(stored_numbers[i]);
  const PointwiseKernels<T>& kernels = exact_kernels<T>();
  for (int64_t block = range.first; block < range.second; ++block) {
    const int64_t begin = block * kPointwiseBlock;
    const auto place = [&](const PointwisePlace& p) -> T* {
      switch (p.kind) {
        case PointwisePlace::Kind::kMemory:
          return reinterpret_cast<T*>(pointers[static_cast<size_t>(p.index)]) + begin;
        case PointwisePlace::Kind::kTemporary:
          return temporaries[p.index];
        case PointwisePlace::Kind::kNumber:
          return &numbers[p.index];
        default:
          return nullptr;
      }
    };
    PointwiseBlock<T> args;
    args.size = std::min(kPointwiseBlock, program.size - begin);
    for (const PointwiseInstruction& instruction : program.code) {
      args.out = place(instruction.out);
      args.a = place(instruction.a);
      args.b = place(instruction.b);
      args.c = place(instruction.c);
      args.a_number = instruction.a.kind == PointwisePlace::Kind::kNumber;
      args.b_number = instruction.b.kind == PointwisePlace::Kind::kNumber;
      args.c_number = instruction.c.kind == PointwisePlace::Kind::kNumber;
      if (instruction.s >= 0) args.s = numbers[instruction.s];
      if (instruction.t >= 0) args.t = numbers[instruction.t];
      if (instruction.u >= 0) args.u = numbers[instruction.u];
      if (instruction.w >= 0) args.w = numbers[instruction.w];
      kernels.run[static_cast<size_t>(instruction.op)](args);
    }
  }
}

int64_t block_count(int64_t size) { return (size + kPointwiseBlock - 1) / kPointwiseBlock; }

}  // namespace

PointwiseLaunch::PointwiseLaunch(const Program& program, std::vector<PointwiseProgram> parts) {
  const auto address = [&](ValueId value) {
    const at::Tensor& tensor = program.tensor(value);
    return Address{tensor.storage().unsafeGetStorageImpl(),
                   tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize())};
  };
  for (PointwiseProgram& compiled : parts) {
    Part part;
    for (const ValueId value : compiled.memory) part.memory.push_back(address(value));
    for (const PointwiseNumber& number : compiled.numbers)
      part.number_tensors.push_back(number.kind == PointwiseNumber::Kind::kTensor ? address(number.tensor) : Address{});
    part.pointers.resize(part.memory.size());
    part.numbers.resize(compiled.numbers.size());
    part.first_block = blocks_;
    blocks_ += block_count(compiled.size);
    part.program = std::move(compiled);
    parts_.push_back(std::move(part));
  }
}

void PointwiseLaunch::prepare(Part& part, std::span<const c10::IValue> inputs) {
  const auto pointer = [](const Address& a) {
    return static_cast<char*>(const_cast<void*>(a.storage->data())) + a.offset;
  };
  for (size_t i = 0; i < part.memory.size(); ++i) part.pointers[i] = pointer(part.memory[i]);
  for (size_t i = 0; i < part.numbers.size(); ++i) {
    const PointwiseNumber& number = part.program.numbers[i];
    double value = number.value;
    if (number.kind == PointwiseNumber::Kind::kInput) {
      value = inputs[static_cast<size_t>(number.input)].toScalar().toDouble();
    } else if (number.kind == PointwiseNumber::Kind::kTensor) {
      const char* data = pointer(part.number_tensors[i]);
      value =
          part.program.type == c10::kFloat ? static_cast<double>(load_number<float>(data)) : load_number<double>(data);
    }
    part.numbers[i] = number.negated ? -value : value;
  }
}

void PointwiseLaunch::run(std::span<const c10::IValue> inputs) {
  for (Part& part : parts_) prepare(part, inputs);
  constexpr int64_t kGrainBlocks = kGrain / kPointwiseBlock;
  if (blocks_ <= kGrainBlocks) return run_blocks(0, blocks_);
  at::parallel_for(0, blocks_, kGrainBlocks, [this](int64_t begin, int64_t end) { run_blocks(begin, end); });
}

void PointwiseLaunch::run_blocks(int64_t begin, int64_t end) const {
  for (const Part& part : parts_) {
    const int64_t count = block_count(part.program.size);
    const int64_t from = std::max<int64_t>(begin - part.first_block, 0);
    const int64_t to = std::min(end - part.first_block, count);
    if (from >= to) continue;
    if (part.program.type == c10::kFloat)
      run_part<float>(part.program, part.pointers, part.numbers, {from, to});
    else
      run_part<double>(part.program, part.pointers, part.numbers, {from, to});
  }
}

}  // namespace sapwood::exec
