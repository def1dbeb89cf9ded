#include <coin/Cbc_C_Interface.h>
#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "base/error.h"
#include "partition/knapsack.h"

namespace sapwood::partition {
namespace {

constexpr double kHalf = 0.5;

/// The functions of CBC that are used here. The library is opened at run time and kept to itself: it brings BLAS along,
/// whose symbols must not take the place of libtorch's.
struct Cbc {
  decltype(&Cbc_newModel) new_model = nullptr;
  decltype(&Cbc_deleteModel) delete_model = nullptr;
  decltype(&Cbc_setLogLevel) set_log_level = nullptr;
  decltype(&Cbc_setParameter) set_parameter = nullptr;
  decltype(&Cbc_loadProblem) load_problem = nullptr;
  decltype(&Cbc_setInteger) set_integer = nullptr;
  decltype(&Cbc_setObjSense) set_objective_sense = nullptr;
  decltype(&Cbc_solve) solve = nullptr;
  decltype(&Cbc_isProvenOptimal) is_proven_optimal = nullptr;
  decltype(&Cbc_getColSolution) column_solution = nullptr;
};

constexpr const char* kLibrary = "libCbcSolver.so.3";

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Cbc> open_cbc() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::nullopt;
  Cbc cbc;
  const bool complete =
      find(library, "Cbc_newModel", cbc.new_model) && find(library, "Cbc_deleteModel", cbc.delete_model) &&
      find(library, "Cbc_setLogLevel", cbc.set_log_level) && find(library, "Cbc_setParameter", cbc.set_parameter) &&
      find(library, "Cbc_loadProblem", cbc.load_problem) && find(library, "Cbc_setInteger", cbc.set_integer) &&
      find(library, "Cbc_setObjSense", cbc.set_objective_sense) && find(library, "Cbc_solve", cbc.solve) &&
      find(library, "Cbc_isProvenOptimal", cbc.is_proven_optimal) &&
      find(library, "Cbc_getColSolution", cbc.column_solution);
  if (complete) return cbc;
  dlclose(library);
  return std::nullopt;
}

const Cbc& cbc() {
  static const std::optional<Cbc> library = open_cbc();
  if (!library) {
    throw_unsupported("partition", std::string("the solver 'ilp' needs CBC, whose library ") + kLibrary +
                                       " was not found; install it (Debian: coinor-libcbc3) or take the solver 'dp'");
  }
  return *library;
}

/// One row (the memory) over binary columns (keep the value). Costs are scaled so that the smallest counts 1: CBC's
/// tolerances are absolute, and an operation must count beside 1e12 of them.
void load(Cbc_Model* model, const KnapsackProblem& problem) {
  const auto n = static_cast<int>(problem.size());
  double smallest = std::numeric_limits<double>::infinity();
  for (const double runtime : problem.runtime)
    if (runtime > 0) smallest = std::min(smallest, runtime);
  std::vector<int> starts(problem.size() + 1);
  std::iota(starts.begin(), starts.end(), 0);
  const std::vector<int> rows(problem.size(), 0);
  const std::vector<double> zeros(problem.size(), 0);
  const std::vector<double> ones(problem.size(), 1);
  std::vector<double> cost;
  for (const double runtime : problem.runtime) cost.push_back(runtime > 0 ? -runtime / smallest : 0);
  const double no_lower_bound = -1e300;
  cbc().load_problem(model, n, 1, starts.data(), rows.data(), problem.memory.data(), zeros.data(), ones.data(),
                     cost.data(), &no_lower_bound, &problem.max_memory);
  for (int i = 0; i < n; ++i) cbc().set_integer(model, i);
  cbc().set_objective_sense(model, 1);
}

}  // namespace

KnapsackChoice ilp_knapsack(const KnapsackProblem& problem) {
  if (problem.size() == 0) return {};
  const std::unique_ptr<Cbc_Model, decltype(cbc().delete_model)> model(cbc().new_model(), cbc().delete_model);
  cbc().set_log_level(model.get(), 0);
  for (const auto& [name, value] : {std::pair{"ratioGap", "0"}, std::pair{"allowableGap", "0"}})
    cbc().set_parameter(model.get(), name, value);
  load(model.get(), problem);
  cbc().solve(model.get());
  if (!cbc().is_proven_optimal(model.get()))
    throw_unsupported("partition", "CBC did not solve the memory budget; take the solver 'dp'");
  const double* solution = cbc().column_solution(model.get());
  KnapsackChoice choice;
  for (size_t i = 0; i < problem.size(); ++i) {
    const bool kept = solution[i] > kHalf;  // solvers return 0.9999999 as well
    if (kept) choice.runtime += problem.runtime[i];
    (kept ? choice.saved : choice.dropped).push_back(static_cast<int32_t>(i));
  }
  return choice;
}

}  // namespace sapwood::partition
