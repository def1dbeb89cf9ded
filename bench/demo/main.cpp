// Trains a character-level GPT twice, once by plain LibTorch and once by Sapwood, and shows what differs: time, memory,
// and not the loss.

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <thread>

#include "demo/summary.h"
#include "demo/training.h"

namespace {

using namespace sapwood::bench;

struct Arguments {
  DemoOptions demo;
  std::vector<std::string> text;
  std::string out = "build/demo";
};

void print(const DemoResult& result, const std::filesystem::path& html, const std::filesystem::path& json) {
  Table table({"", "eager", "sapwood", ""});
  for (const SummaryLine& line : summary(result)) table.add({line.what, line.eager, line.sapwood, line.note});
  std::cout << '\n';
  table.print(std::cout);
  std::cout << "\nThe trained model writes:\n\n"
            << result.sample << "\n\n"
            << "report: " << html.string() << "\nrows:   " << json.string() << '\n';
}

void run(const Arguments& arguments) {
  std::vector<std::filesystem::path> files(arguments.text.begin(), arguments.text.end());
  if (files.empty()) files = licence_texts();
  const TextDataset text(files);
  const bool terminal = isatty(STDERR_FILENO) != 0;
  Progress progress(std::cerr, terminal);
  progress.note(std::to_string(text.size()) + " characters from " + std::to_string(text.files()) + " texts, " +
                std::to_string(text.vocabulary()) + " different ones");
  const DemoResult result = run_demo(text, arguments.demo, progress);
  const std::filesystem::path folder = arguments.out;
  write_html(folder / "report.html", result);
  write_rows(folder / "result.json", result_rows(result));
  print(result, folder / "report.html", folder / "result.json");
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.demo.threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 2);
  CLI::App app("Trains a small character GPT with LibTorch eager and with Sapwood and compares them.");
  app.add_option("--text", arguments.text, "Text files to learn (default: the licence texts of the system)");
  app.add_option("--steps", arguments.demo.steps, "Training steps per system")
      ->check(CLI::Range(20, 1000000))
      ->capture_default_str();
  app.add_option("--batch", arguments.demo.batch, "Windows of text per step")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--threads", arguments.demo.threads, "Intra-op threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--out", arguments.out, "Folder of report.html and result.json")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "demo: " << error.what() << '\n';
    return 1;
  }
}
