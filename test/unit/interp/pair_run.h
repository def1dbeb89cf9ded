#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interp/interpreter.h"
#include "partition/partition.h"

namespace sapwood::interp {

using Values = std::vector<c10::IValue>;
using ByName = std::map<std::string, c10::IValue>;

/// A step as the reference interpreter runs it.
struct StepRun {
  Values outputs;  ///< of the joint graph, in its order
  Values inputs;   ///< as they are afterwards
};

/// Copies of the tensors, with their strides and offsets; generators in their present state.
Values copies(const Values& values);

/// The joint graph's inputs by their names.
ByName named_inputs(const graph::Graph& joint, const Values& inputs);

/// Adds what the forward returns, by name; states of generators by the names that the backward has for them.
void hand_over(const graph::Graph& forward, const Values& outputs, ByName& by_name);

/// The inputs of a part. Generators that nothing is handed over for are made from the seed. Errors: std::runtime_error
/// naming an input that is missing.
Values gather(const graph::Graph& part, const ByName& by_name, uint64_t seed);

/// The same graph, on an accelerator; a `ReferenceDevice` runs it.
graph::Graph on_accelerator(graph::Graph graph);

/// Runs a joint graph on copies of `inputs`, from the random seed.
StepRun run_joint(const graph::Graph& joint, const Values& inputs, uint64_t seed, const RunOptions& options = {});

/// Runs the forward on copies of `inputs`, which are the joint graph's, and the backward on what it hands over. Values
/// are handed over by name; states of generators in their order. Generators that the pair asks for start from `seed`.
StepRun run_pair(const graph::Graph& joint, const partition::ForwardBackward& pair, const Values& inputs, uint64_t seed,
                 const RunOptions& options = {});

/// Fails the test for everything that the pair is proven to do otherwise than the joint graph.
void expect_acquitted(const graph::Graph& joint, const partition::ForwardBackward& pair);

/// Whether two values are equal to the bit, and of one type and size. NaNs are equal if their bits are.
bool same_bits(const c10::IValue& a, const c10::IValue& b);

/// "output 3 (add_7)" or "input 2 (primals_3) after the step": the first of `joint` that `differs` in `pair`. None if
/// there is none.
std::optional<std::string> first_difference(const graph::Graph& joint, const StepRun& whole, const StepRun& pair);

}  // namespace sapwood::interp
