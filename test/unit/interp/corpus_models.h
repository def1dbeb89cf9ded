#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "graph/text.h"

namespace sapwood::interp {

/// Joint graphs of the corpus that run on one process; tensor_parallel_mlp needs a process group.
inline std::vector<std::string> runnable_models() {
  return {"bert",
          "chargpt",
          "chargpt_checkpoint",
          "chargpt_selective",
          "conv_bn_mutation",
          "convnext",
          "distilbert",
          "dlrm",
          "gcn",
          "gpt2",
          "gpt2_checkpoint",
          "gpt2_deep",
          "gru_seq2seq",
          "indexing_ops",
          "llama",
          "lstm_cells",
          "mistral",
          "mlp",
          "mlp_dynamic",
          "mobilenet_v2",
          "phi",
          "resnet18",
          "resnet50",
          "roberta",
          "t5",
          "unet2d",
          "vae",
          "vit",
          "whisper",
          "x_transformer"};
}

/// Every joint graph of the corpus; tensor_parallel_mlp runs as in a world of one rank.
inline std::vector<std::string> all_models() {
  std::vector<std::string> models = runnable_models();
  models.emplace_back("tensor_parallel_mlp");
  return models;
}

inline graph::Graph load_model(const std::string& model) {
  return graph::parse_any(read_file(std::string(SAPWOOD_TEST_DATA) + "/corpus/" + model + "/graph.json.zst"));
}

}  // namespace sapwood::interp
