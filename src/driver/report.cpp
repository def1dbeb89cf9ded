#include "sapwood/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace sapwood {
namespace {

std::string bytes_text(int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string saved_text(const SignatureReport& s) {
  std::string text =
      fmt::format("  saved for the backward: {} tensors, {}\n", s.saved.size(), bytes_text(s.saved_bytes));
  auto saved = s.saved;
  std::stable_sort(saved.begin(), saved.end(),
                   [](const SavedTensor& a, const SavedTensor& b) { return a.bytes > b.bytes; });
  for (const SavedTensor& t : saved) {
    text += fmt::format("    {:>10}  %{} : {}{}\n", bytes_text(t.bytes), t.name, t.shape,
                        t.source.empty() ? "" : "  (" + t.source + ")");
    text += fmt::format("                {}\n", t.reason);
  }
  if (!s.recomputed.empty()) text += fmt::format("  recomputed in the backward: {}\n", fmt::join(s.recomputed, ", "));
  return text;
}

std::string signature_text(const SignatureReport& s) {
  std::string text = fmt::format("step ({})\n", s.signature);
  if (!s.compiled) return text + fmt::format("  runs eagerly: {}\n", s.fallback);
  text += fmt::format("  captured in {:.1f} ms, compiled in {:.1f} ms\n", s.capture_ms, s.compile_ms);
  text += fmt::format("  nodes: {} ({} forward, {} backward, {} optimizer); launches: {}; {} nodes run fused\n",
                      s.nodes, s.forward_nodes, s.backward_nodes, s.optimizer_nodes, s.launches, s.fused_nodes);
  std::string ops;
  for (size_t i = 0; i < std::min<size_t>(s.ops.size(), 12); ++i)
    ops += fmt::format("{}{} x{}", i == 0 ? "" : ", ", s.ops[i].first, s.ops[i].second);
  text +=
      fmt::format("  operators: {}{}\n", ops, s.ops.size() > 12 ? fmt::format(", and {} more", s.ops.size() - 12) : "");
  text += saved_text(s);
  text += fmt::format("  memory: peak of live values {}, arena {}\n", bytes_text(s.peak_live_bytes),
                      bytes_text(s.arena_bytes));
  text += fmt::format("  replays: {}, mean {:.3f} ms; {} checked against eager, largest difference {:g}\n", s.replays,
                      s.mean_replay_ms, s.checks, s.largest_difference);
  return text;
}

nlohmann::ordered_json signature_json(const SignatureReport& s) {
  nlohmann::ordered_json json = {{"signature", s.signature},
                                 {"compiled", s.compiled},
                                 {"fallback", s.fallback},
                                 {"nodes", s.nodes},
                                 {"forward_nodes", s.forward_nodes},
                                 {"backward_nodes", s.backward_nodes},
                                 {"optimizer_nodes", s.optimizer_nodes},
                                 {"launches", s.launches},
                                 {"fused_nodes", s.fused_nodes},
                                 {"saved_bytes", s.saved_bytes},
                                 {"peak_live_bytes", s.peak_live_bytes},
                                 {"arena_bytes", s.arena_bytes},
                                 {"capture_ms", s.capture_ms},
                                 {"compile_ms", s.compile_ms},
                                 {"replays", s.replays},
                                 {"mean_replay_ms", s.mean_replay_ms},
                                 {"checks", s.checks},
                                 {"largest_difference", s.largest_difference},
                                 {"recomputed", s.recomputed},
                                 {"live_bytes", s.live_bytes}};
  json["ops"] = nlohmann::ordered_json::object();
  for (const auto& [op, count] : s.ops) json["ops"][op] = count;
  json["saved"] = nlohmann::ordered_json::array();
  for (const SavedTensor& t : s.saved)
    json["saved"].push_back(
        {{"name", t.name}, {"shape", t.shape}, {"bytes", t.bytes}, {"reason", t.reason}, {"source", t.source}});
  return json;
}

}  // namespace

std::string Report::text() const {
  std::string text =
      fmt::format("Sapwood: {} steps replayed, {} captured, {} eager\n", replayed_steps, captured_steps, eager_steps);
  for (const SignatureReport& s : signatures) text += signature_text(s);
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string Report::json() const {
  nlohmann::ordered_json json = {{"eager_steps", eager_steps},
                                 {"captured_steps", captured_steps},
                                 {"replayed_steps", replayed_steps},
                                 {"warnings", warnings}};
  json["signatures"] = nlohmann::ordered_json::array();
  for (const SignatureReport& s : signatures) json["signatures"].push_back(signature_json(s));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::ostream& operator<<(std::ostream& out, const Report& report) { return out << report.text(); }

}  // namespace sapwood
