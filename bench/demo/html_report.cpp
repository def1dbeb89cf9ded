#include <algorithm>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "common/machine.h"
#include "common/timing.h"
#include "demo/summary.h"
#include "demo/svg_chart.h"
#include "sapwood/version.h"

namespace sapwood::bench {

namespace {

constexpr double kMebi = 1024.0 * 1024.0;

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --bg: #fbfaf7; --card: #ffffff; --ink: #22252a; --soft: #646b75; --rule: #e2dfd8;
  --eager: #c2571a; --sapwood: #1f7a4d; }
@media (prefers-color-scheme: dark) { :root { --bg: #15181b; --card: #1e2226; --ink: #e7e6e2; --soft: #9aa2ab; --rule: #343a40;
  --eager: #f0915a; --sapwood: #5cc98f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 900px; margin: 0 auto; padding: 32px 20px 56px; }
h1 { font-size: 30px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 40px 0 8px; }
p { margin: 6px 0 12px; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 24px 0 0; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 14px 16px; }
.card b { display: block; font-size: 26px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 14px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font: 12px system-ui, "DejaVu Sans", sans-serif; }
.axis { stroke: var(--soft); } .grid { stroke: var(--rule); }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.eager { stroke: var(--eager); } .sapwood { stroke: var(--sapwood); }
.wide { stroke-width: 5; opacity: 0.55; } .dashed { stroke-dasharray: 6 5; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px 14px; white-space: pre-wrap; margin: 0; }
.scroll { max-height: 460px; overflow: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 0 14px 4px; }
.scroll th { position: sticky; top: 0; background: var(--card); padding-top: 10px; }
.scroll td.shape { white-space: nowrap; }
)";

std::string bytes(int64_t n) { return format_bytes(static_cast<double>(n)); }

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::ostringstream out;
  out << std::put_time(&utc, "%Y-%m-%d %H:%M UTC");
  return out.str();
}

void write_card(std::ostream& out, const std::string& value, const std::string& what) {
  out << "<div class=\"card\"><b>" << escape_html(value) << "</b><span>" << escape_html(what) << "</span></div>\n";
}

void write_head(std::ostream& out, const DemoResult& r) {
  const GptShape& m = r.options.model;
  out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Sapwood demo: a character "
         "GPT, trained "
         "twice</title>\n<style>"
      << kStyle << "</style>\n</head>\n<body>\n<main>\n"
      << "<h1>One training, two systems</h1>\n<p class=\"soft\">Sapwood " << SAPWOOD_VERSION
      << " against plain LibTorch, " << date_text() << "</p>\n<p>The same character-level GPT (" << m.layers
      << " layers, " << m.heads << " heads, width " << m.width << ", context " << m.context << ", batch "
      << r.options.batch << ", AdamW; " << format_number(static_cast<double>(r.parameters) / 1e6)
      << " million parameters) is trained for " << r.options.steps << " steps on " << r.characters
      << " characters from " << r.files
      << " texts, from equal weights and on equal batches. The systems take turns of a few steps on "
      << r.options.threads << (r.options.threads == 1 ? " thread" : " threads")
      << ", so that whatever else the machine does hits both.</p>\n";
}

void write_cards(std::ostream& out, const DemoResult& r) {
  out << "<div class=\"cards\">\n";
  write_card(out, format_number(r.ratio) + " x", "the speed of eager, per step");
  write_card(out, bytes(r.sapwood.memory.peak_live_bytes),
             "peak of a step; eager " + bytes(r.eager.memory.peak_live_bytes));
  write_card(out, bytes(r.sapwood.memory.saved_bytes),
             "saved for backward; eager " + bytes(r.eager.memory.saved_bytes));
  write_card(out, format_number(r.largest_loss_difference),
             "largest difference of a loss" + std::string(r.largest_loss_difference == 0 ? ": bit for bit equal" : ""));
  out << "</div>\n";
}

void write_summary(std::ostream& out, const DemoResult& r) {
  out << "<h2>Figures</h2>\n<table><tr><th></th><th class=\"n\">LibTorch eager</th><th "
         "class=\"n\">Sapwood</th><th></th></tr>\n";
  for (const SummaryLine& line : summary(r)) {
    out << "<tr><td>" << escape_html(line.what) << "</td><td class=\"n\">" << escape_html(line.eager)
        << "</td><td class=\"n\">" << escape_html(line.sapwood) << "</td><td class=\"soft\">" << escape_html(line.note)
        << "</td></tr>\n";
  }
  out << "</table>\n<p class=\"soft\">Bytes are those of CPU tensors above parameters, optimizer state and batches, "
         "counted by an allocator around "
         "LibTorch's own while one system lives alone in steady state; memory that Sapwood allocates once and keeps "
         "counts in full. Saved, "
         "eager: what is still allocated when the forward has returned, without the loss. Saved, Sapwood: what its "
         "plan keeps. The ratio is the median over "
         "the turns.</p>\n";
}

void write_figure(std::ostream& out, const std::string& title, const std::string& caption, const Chart& chart) {
  out << "<h2>" << escape_html(title) << "</h2>\n<figure>\n"
      << svg_chart(chart) << "</figure>\n<p class=\"soft\">" << escape_html(caption) << "</p>\n";
}

Series per_step(const std::string& name, const std::string& css, const std::vector<double>& values) {
  Series series{name, css, {}};
  for (size_t i = 0; i < values.size(); ++i) series.points.emplace_back(static_cast<double>(i + 1), values[i]);
  return series;
}

void write_loss(std::ostream& out, const DemoResult& r) {
  Chart chart{.title = "Training loss by step", .x_label = "step", .y_label = "cross entropy (nat per character)"};
  chart.series = {per_step("eager", "eager wide", r.eager.losses), per_step("sapwood", "sapwood", r.sapwood.losses)};
  chart.from_zero = false;
  write_figure(out, "Training loss",
               "Every step of both runs; where the thin line lies on the wide one, the losses agree.", chart);
}

void write_times(std::ostream& out, const DemoResult& r) {
  Chart chart{.title = "Time of every step", .x_label = "step", .y_label = "time (ms)"};
  chart.series = {per_step("eager", "eager", r.eager.step_ms), per_step("sapwood", "sapwood", r.sapwood.step_ms)};
  chart.y_limit = 2.2 * std::max(r.eager.median_ms, r.sapwood.median_ms);
  write_figure(out, "Time of every step",
               "The first Sapwood step records, the second is checked against eager. Times beyond the upper edge are "
               "drawn on it.",
               chart);
}

void write_memory(std::ostream& out, const DemoResult& r) {
  Chart chart{
      .title = "Live bytes over one step", .x_label = "progress of the step (%)", .y_label = "live bytes (MiB)"};
  chart.stairs = true;
  Series eager{"eager", "eager", {}};
  const auto& timeline = r.eager.memory.timeline;
  const double last = timeline.empty() ? 1 : std::max(timeline.back().ms, 1e-6);
  for (const LivePoint& p : timeline)
    eager.points.emplace_back(100 * p.ms / last, static_cast<double>(p.bytes) / kMebi);
  Series plan{"sapwood, values", "sapwood", {}}, whole{"sapwood, all it keeps", "sapwood dashed", {}};
  if (!r.report.signatures.empty()) {
    const std::vector<int64_t>& live = r.report.signatures.front().live_bytes;
    for (size_t i = 0; i < live.size(); ++i) {
      plan.points.emplace_back(100.0 * static_cast<double>(i) / static_cast<double>(live.size()),
                               static_cast<double>(live[i]) / kMebi);
    }
  }
  const double peak = static_cast<double>(r.sapwood.memory.peak_live_bytes) / kMebi;
  whole.points = {{0, peak}, {100, peak}};
  chart.series = {eager, whole, plan};
  write_figure(out, "Memory over one step",
               "Eager: every allocation and release, against time; the step begins with the gradients of the step "
               "before. Sapwood: planned values after each "
               "launch, against the launches; dashed, the measured peak, which has the whole preallocated arena in it.",
               chart);
}

void write_saved(std::ostream& out, const Report& report) {
  out << "<h2>What the forward keeps for the backward, and why</h2>\n";
  if (report.signatures.empty() || report.signatures.front().saved.empty()) {
    out << "<p>Nothing is recorded: the step was not compiled.</p>\n";
    return;
  }
  std::vector<SavedTensor> saved = report.signatures.front().saved;
  std::stable_sort(saved.begin(), saved.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  out << "<div class=\"scroll\"><table><tr><th>tensor</th><th "
         "class=\"n\">bytes</th><th>shape</th><th>reason</th></tr>\n";
  for (const SavedTensor& t : saved) {
    out << "<tr><td><code>" << escape_html(t.name) << "</code></td><td class=\"n\">" << bytes(t.bytes)
        << "</td><td class=\"shape\"><code>" << escape_html(t.shape) << "</code></td><td>" << escape_html(t.reason)
        << (t.source.empty() ? "" : " <span class=\"soft\">" + escape_html(t.source) + "</span>") << "</td></tr>\n";
  }
  out << "</table></div>\n<p class=\"soft\">" << saved.size()
      << " tensors; values that are inputs of the step anyway (parameters, batch) are listed, "
         "but cost nothing. "
      << report.signatures.front().recomputed.size() << " values are computed again in the backward instead.</p>\n";
}

void write_compilation(std::ostream& out, const Report& report) {
  out << "<h2>What Sapwood made of the step</h2>\n<table>\n";
  const auto row = [&](const std::string& what, const std::string& value) {
    out << "<tr><td>" << escape_html(what) << "</td><td>" << escape_html(value) << "</td></tr>\n";
  };
  for (const SignatureReport& s : report.signatures) {
    row("signature", s.signature);
    row("compiled", s.compiled ? "yes" : "no: " + s.fallback);
    row("operators captured", std::to_string(s.nodes) + " (forward " + std::to_string(s.forward_nodes) + ", backward " +
                                  std::to_string(s.backward_nodes) + ", optimizer " +
                                  std::to_string(s.optimizer_nodes) + ")");
    row("launches per step",
        std::to_string(s.launches) + ", with " + std::to_string(s.fused_nodes) + " operators fused");
    row("arena", bytes(s.arena_bytes) + ", planned peak " + bytes(s.peak_live_bytes));
    row("capture and compilation", format_number(s.capture_ms) + " ms + " + format_number(s.compile_ms) + " ms, once");
    row("checked against eager",
        std::to_string(s.checks) + " replays, largest difference " + format_number(s.largest_difference));
  }
  row("steps", std::to_string(report.eager_steps) + " eager, " + std::to_string(report.captured_steps) + " captured, " +
                   std::to_string(report.replayed_steps) + " replayed");
  for (const std::string& warning : report.warnings) row("warning", warning);
  out << "</table>\n";
}

void write_tail(std::ostream& out, const DemoResult& r) {
  out << "<h2>Text that the model writes</h2>\n<pre>" << escape_html(r.sample) << "</pre>\n<h2>Machine</h2>\n<table>\n";
  for (const auto& [name, value] : machine_facts()) {
    out << "<tr><td>" << escape_html(name) << "</td><td>" << escape_html(value) << "</td></tr>\n";
  }
  out << "</table>\n</main>\n</body>\n</html>\n";
}

}  // namespace

void write_html(const std::filesystem::path& file, const DemoResult& result) {
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file);
  write_head(out, result);
  write_cards(out, result);
  write_summary(out, result);
  write_loss(out, result);
  write_memory(out, result);
  write_times(out, result);
  write_saved(out, result.report);
  write_compilation(out, result.report);
  write_tail(out, result);
  if (!out.flush()) throw std::runtime_error("can't write " + file.string());
}

}  // namespace sapwood::bench
