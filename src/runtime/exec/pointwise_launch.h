#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/StorageImpl.h>

#include <span>
#include <vector>

#include "runtime/exec/pointwise_op.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Where an operand or result of an instruction is.
struct PointwisePlace {
  enum class Kind : uint8_t { kNone, kMemory, kTemporary, kNumber };
  Kind kind = Kind::kNone;
  int32_t index = 0;
};

struct PointwiseInstruction {
  PointwiseOp op = PointwiseOp::kCopy;
  PointwisePlace out, a, b, c;
  int32_t s = -1, t = -1, u = -1, w = -1;  ///< numbers
};

/// A chain of elementary operators in executable form, over one set of equally laid out tensors.
struct PointwiseProgram {
  c10::ScalarType type = c10::kFloat;
  int64_t size = 0;  ///< elements
  std::vector<PointwiseInstruction> code;
  std::vector<ValueId> memory;  ///< tensors that are read or written
  std::vector<PointwiseNumber> numbers;
  int32_t temporaries = 0;
};

inline constexpr int64_t kPointwiseBlock =
    512;  ///< elements; every temporary of a block stays in the first-level cache
inline constexpr int32_t kMaxPointwiseTemporaries = 16;

/// Translates the operators of a kPointwise call, given in order. `stored`: the values that must end up in memory; all
/// others live in temporaries. A result that overwrites an operand still needed is kept aside until the end of the
/// block. None if it needs more temporaries than there are.
std::optional<PointwiseProgram> compile_pointwise(const Program& program, const std::vector<ElementaryOp>& ops,
                                                  const std::vector<ValueId>& stored);

/// Several programs, run block by block in one parallel region. Not re-entrant: keeps the addresses of the present run.
class PointwiseLaunch {
 public:
  /// The storages of `program` must outlive the launch.
  PointwiseLaunch(const Program& program, std::vector<PointwiseProgram> parts);
  /// `inputs` are the step's, for run-time numbers.
  void run(std::span<const c10::IValue> inputs);

 private:
  struct Address {
    const c10::StorageImpl* storage = nullptr;
    int64_t offset = 0;  ///< bytes
  };
  struct Part {
    PointwiseProgram program;
    std::vector<Address> memory;
    std::vector<Address> number_tensors;  ///< one per number
    std::vector<char*> pointers;          ///< of this run, one per `memory`
    std::vector<double> numbers;          ///< of this run, as the program's type
    int64_t first_block = 0;
  };
  void prepare(Part& part, std::span<const c10::IValue> inputs);
  void run_blocks(int64_t begin, int64_t end) const;

  std::vector<Part> parts_;
  int64_t blocks_ = 0;
};

}  // namespace sapwood::exec
