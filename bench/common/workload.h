#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model.h"

namespace sapwood::bench {

struct Batch {
  at::Tensor x, y;
};

/// One training problem, ready to run: a seeded model, its optimizer and four batches that are used in turn.
struct Workload {
  std::string id;    ///< "W3"
  std::string name;  ///< "chargpt-small"
  std::shared_ptr<Model> model;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::vector<Batch> batches;

  const Batch& batch(int64_t step) const { return batches[static_cast<size_t>(step) % batches.size()]; }
};

struct WorkloadOptions {
  /// Folder with `<id>.npz` (weights under their state-dict names, x0..x3, y0..y3) to use instead of generated values.
  std::optional<std::filesystem::path> data;
  /// Items of a batch; 0: as the workload defines it. Not used with `data`.
  int64_t batch = 0;
};

/// Identifiers of all workloads in order, "W0" to "W8".
std::vector<std::string> workload_ids();

/// Builds a workload. Equal arguments give bit-equal weights and batches, in every process; the default generator is
/// left as it was. Errors: std::invalid_argument for an unknown id, naming those that exist; std::runtime_error for an
/// unusable file.
Workload make_workload(std::string_view id, const WorkloadOptions& options = {});

/// Normal initialisation of GPT-2: 0.02, the projections into the residual stream scaled by depth. Uses the default
/// generator.
void initialise_gpt(Model& model, int64_t layers);

/// Reseeds the default CPU generator and gives it its former state back at the end of the scope.
class SeedScope {
 public:
  explicit SeedScope(uint64_t seed);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;

 private:
  at::Tensor state_;
};

}  // namespace sapwood::bench
