#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "interp/interpreter.h"

namespace sapwood::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string input = "-";
  std::string inputs;
  std::string outputs;
  uint64_t seed = 0;
  bool json = false;
};

/// The values in a file written by torch.save or torch::pickle_save: a list or tuple, or one value.
std::vector<c10::IValue> load_values(const std::string& path) {
  const std::string bytes = read_file(path);
  c10::IValue loaded;
  try {
    loaded = torch::jit::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
  } catch (const std::exception&) {
    throw_user("cli",
               path + ": not a file that torch.save wrote; save a list of the inputs, one per placeholder, in order");
  }
  if (loaded.isTuple()) return loaded.toTupleRef().elements().vec();
  if (loaded.isList()) return loaded.toListRef().vec();
  return {loaded};
}

void save_values(const std::string& path, const std::vector<c10::IValue>& values) {
  const std::vector<char> bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(values));
  write_file_atomically(path, std::string_view(bytes.data(), bytes.size()));
}

std::string hex(uint64_t value) {
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; value >>= 4U) out[i] = "0123456789abcdef"[value & 0xFU];
  return out;
}

std::string dtype_text(const at::Tensor& tensor) {
  for (size_t i = 0; i <= static_cast<size_t>(graph::kLastDType); ++i) {
    const auto dtype = static_cast<graph::DType>(i);
    if (interp::to_torch(dtype) == tensor.scalar_type()) return std::string(graph::dtype_name(dtype));
  }
  return c10::toString(tensor.scalar_type());
}

/// What can be said of one tensor in a line: type, mean, smallest, largest, hash of the elements in row-major order.
void describe_tensor(const at::Tensor& tensor, Json& out) {
  out["dtype"] = dtype_text(tensor);
  out["shape"] = tensor.sizes().vec();
  const at::Tensor dense = tensor.detach().contiguous();
  if (dense.numel() > 0) {
    const at::Tensor real = dense.is_complex() ? dense.abs().to(c10::kDouble) : dense.to(c10::kDouble);
    out["mean"] = real.mean().item<double>();
    out["min"] = real.min().item<double>();
    out["max"] = real.max().item<double>();
  }
  const auto* data = static_cast<const char*>(dense.const_data_ptr());
  out["hash"] = hex(hash_bytes(std::string_view(data, dense.nbytes())));
}

Json describe(const graph::Graph& graph, const std::vector<c10::IValue>& results) {
  const std::vector<graph::NodeId> nodes = graph.output_values();
  Json list = Json::array();
  for (size_t i = 0; i < results.size(); ++i) {
    Json entry;
    entry["name"] = nodes[i] == graph::kNoNode ? "None" : graph[nodes[i]].name;
    if (results[i].isTensor() && results[i].toTensor().defined()) {
      describe_tensor(results[i].toTensor(), entry);
    } else if (results[i].isInt()) {
      entry["value"] = results[i].toInt();
    } else if (results[i].isDouble()) {
      entry["value"] = results[i].toDouble();
    } else {
      entry["value"] = nullptr;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string as_text(const Json& list) {
  std::string out;
  for (const Json& entry : list) {
    out += entry["name"].get<std::string>() + ": ";
    if (!entry.contains("dtype")) {
      out += (entry["value"].is_null() ? "None" : entry["value"].dump()) + "\n";
      continue;
    }
    out += entry["dtype"].get<std::string>() + "[";
    const auto shape = entry["shape"].get<std::vector<int64_t>>();
    for (size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    out += "]";
    for (const char* key : {"mean", "min", "max"}) {
      if (entry.contains(key)) out += std::string("  ") + key + " " + entry[key].dump();
    }
    out += "  hash " + entry["hash"].get<std::string>() + "\n";
  }
  return out;
}

void run(const Options& options) {
  const graph::Graph graph = load_sound_graph(options.input);
  const std::vector<c10::IValue> inputs =
      options.inputs.empty() ? interp::make_random_inputs(graph, options.seed) : load_values(options.inputs);
  const std::vector<c10::IValue> results = interp::run(graph, inputs);
  if (!options.outputs.empty()) save_values(options.outputs, results);
  const Json list = describe(graph, results);
  write_output("-", options.json ? list.dump(2) + "\n" : as_text(list));
}

}  // namespace

void add_run(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "Run a graph operator by operator on libtorch and describe its outputs");
  command->add_option("graph", options->input, "File with the graph, or - for standard input")->capture_default_str();
  auto* inputs = command->add_option("--inputs", options->inputs,
                                     "File from torch.save with a list of the inputs, in placeholder order");
  command->add_option("--seed", options->seed, "Seed of the random inputs")
      ->capture_default_str()
      ->check(whole_number<uint64_t>())
      ->excludes(inputs);
  command->add_option("--outputs", options->outputs, "File for the outputs, to be read with torch.load");
  command->add_flag("--json", options->json, "A list of {name, dtype, shape, mean, min, max, hash}");
  command->callback([options] { run(*options); });
}

}  // namespace sapwood::cli
