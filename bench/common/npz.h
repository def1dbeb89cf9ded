#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace sapwood::bench {

/// Reads the arrays of an uncompressed .npz file (as numpy.savez writes it) of float32 and int64, C order, by name.
/// Errors: std::runtime_error naming the file and what is wrong with it.
std::map<std::string, at::Tensor> read_npz(const std::filesystem::path& path);

}  // namespace sapwood::bench
