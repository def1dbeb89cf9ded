#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "partition/measure.h"

namespace sapwood::bench {

/// PyTorch's partitioner in a child process that holds one graph at a time and answers with times.
class TorchWorker {
 public:
  /// Starts `python script`. Afterwards `why_not` says whether that worked.
  TorchWorker(const std::filesystem::path& python, const std::filesystem::path& script);
  TorchWorker(const TorchWorker&) = delete;
  TorchWorker& operator=(const TorchWorker&) = delete;
  ~TorchWorker();

  /// Empty while the worker runs; otherwise a sentence.
  const std::string& why_not() const { return why_not_; }
  bool runs() const { return why_not_.empty(); }

  /// The graph of the next calls. False, with `why_not` set, if the worker is gone or can't read it.
  bool load(const std::filesystem::path& graph);
  /// One call on a fresh copy of the graph. Zeros, with `why_not` set, if it failed.
  Seconds time_partition(const std::string& configuration);

 private:
  /// Sends a line and returns the answer without "ok"; sets `why_not_` if the answer isn't "ok ...".
  std::string ask(const std::string& line);

  pid_t child_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string why_not_;
};

}  // namespace sapwood::bench
