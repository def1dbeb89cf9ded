#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sapwood::test {

/// What a process of this test binary that plays a rank has to know.
struct RankRole {
  std::string scenario;
  int rank = 0;
  int size = 0;
  std::string folder;  ///< shared by the ranks of one run

  std::filesystem::path answer_file() const { return std::filesystem::path(folder) / ("rank" + std::to_string(rank)); }

  std::string encode() const {
    return scenario + " " + std::to_string(rank) + " " + std::to_string(size) + " " + folder;
  }
  static RankRole decode(const std::string& text) {
    RankRole role;
    std::istringstream(text) >> role.scenario >> role.rank >> role.size >> role.folder;
    return role;
  }
};

inline constexpr const char* kRankVariable = "SAPWOOD_TEST_RANK";

/// Starts this binary once per rank, running only the test `program`, and returns what each rank wrote into its answer
/// file. Errors: a rank that fails or takes longer than a minute; all are ended then.
class RankProcesses {
 public:
  explicit RankProcesses(std::string program) : program_(std::move(program)) {}

  std::vector<std::string> run(const std::string& scenario, int size) {
    char pattern[] = "sapwood_ranks_XXXXXX";
    const std::string templ = (std::filesystem::temp_directory_path() / pattern).string();
    std::vector<char> folder(templ.begin(), templ.end());
    folder.push_back('\0');
    if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary folder");
    std::vector<pid_t> pids;
    std::vector<RankRole> roles;
    for (int rank = 0; rank < size; ++rank) {
      roles.push_back({scenario, rank, size, folder.data()});
      pids.push_back(start(roles.back()));
    }
    const std::string failure = wait_for(pids);
    std::vector<std::string> answers;
    for (const RankRole& role : roles) {
      std::ifstream file(role.answer_file());
      answers.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::filesystem::remove_all(folder.data());
    if (!failure.empty()) throw std::runtime_error(failure);
    return answers;
  }

 private:
  pid_t start(const RankRole& role) const {
    std::vector<std::string> variables{std::string(kRankVariable) + "=" + role.encode(), "OMP_NUM_THREADS=1"};
    for (char** variable = environ; *variable; ++variable) {
      const std::string text = *variable;
      if (!text.starts_with("OMP_NUM_THREADS=") && !text.starts_with("GTEST_")) variables.push_back(text);
    }
    std::vector<std::string> words{"rank", "--gtest_filter=" + program_, "--gtest_also_run_disabled_tests",
                                   "--gtest_brief=1"};
    const auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> list;
      for (std::string& text : texts) list.push_back(text.data());
      list.push_back(nullptr);
      return list;
    };
    const std::string log = role.answer_file().string() + ".log";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t pid = 0;
    const int failed =
        posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw std::runtime_error("can't start a rank");
    return pid;
  }

  /// What went wrong; empty if every rank ended well.
  static std::string wait_for(std::vector<pid_t> pids) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::string failure;
    while (!pids.empty()) {
      const bool late = std::chrono::steady_clock::now() > deadline;
      std::erase_if(pids, [&](pid_t pid) {
        int status = 0;
        if (late) kill(pid, SIGKILL);
        if (waitpid(pid, &status, late ? 0 : WNOHANG) == 0) return false;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) failure = late ? "a rank hangs" : "a rank failed";
        return true;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return failure;
  }

  std::string program_;
};

}  // namespace sapwood::test
