#include "partition/torch_worker.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <sstream>

extern char** environ;

namespace sapwood::bench {
namespace {

/// A line without its end; empty at the end of the stream.
std::string read_line(std::FILE* stream) {
  std::string line;
  for (int c = std::fgetc(stream); c != EOF && c != '\n'; c = std::fgetc(stream)) line += static_cast<char>(c);
  return line;
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  bool open() { return pipe2(ends.data(), O_CLOEXEC) == 0; }
};

/// Starts a program whose input and output are the pipes; 0, or the system's error number.
int spawn(const std::string& program, const std::string& script, const Pipe& in, const Pipe& out, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  std::string first = program;
  std::string second = script;
  const std::array<char*, 3> arguments = {first.data(), second.data(), nullptr};
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

TorchWorker::TorchWorker(const std::filesystem::path& python, const std::filesystem::path& script) {
  Pipe in;
  Pipe out;
  if (!std::filesystem::exists(python) || !in.open() || !out.open()) {
    why_not_ = "There is no Python at " + python.string() + ".";
    return;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a worker that is gone is an answer, not the end
  const int error = spawn(python.string(), script.string(), in, out, child_);
  close(in.ends[0]);
  close(out.ends[1]);
  to_ = fdopen(in.ends[1], "w");
  from_ = fdopen(out.ends[0], "r");
  if (error != 0) {
    child_ = -1;
    why_not_ = python.string() + " can't be started: " + std::strerror(error) + ".";
    return;
  }
  ask("hello");
}

TorchWorker::~TorchWorker() {
  if (to_) std::fclose(to_);
  if (from_) std::fclose(from_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

bool TorchWorker::load(const std::filesystem::path& graph) {
  ask("load " + graph.string());
  return runs();
}

Seconds TorchWorker::time_partition(const std::string& configuration) {
  std::istringstream answer(ask("run " + configuration));
  Seconds seconds;
  answer >> seconds.wall >> seconds.cpu;
  return seconds;
}

std::string TorchWorker::ask(const std::string& line) {
  if (!runs()) return "";
  const bool sent = std::fputs((line + "\n").c_str(), to_) >= 0 && std::fflush(to_) == 0;
  const std::string answer = sent ? read_line(from_) : "";
  if (answer.rfind("ok", 0) == 0) return answer.substr(2);
  why_not_ = answer.empty() ? "PyTorch's side ended before it answered '" + line + "'." : answer;
  return "";
}

}  // namespace sapwood::bench
