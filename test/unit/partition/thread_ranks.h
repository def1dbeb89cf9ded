#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "partition/agreement.h"

namespace sapwood::test {

/// Ranks that are threads of this process.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : mailbox_(static_cast<size_t>(size)) {}

  /// Runs `body(exchange)` once per rank and waits for all. A rank that waits too long for the others throws.
  void run(const std::function<void(partition::RankExchange&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank) {
      threads.emplace_back([this, rank, &body] {
        Member member(*this, rank);
        body(member);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// Replaces what a rank says in a round: (round, rank, bytes).
  std::function<std::string(int, int, std::string)> tamper = [](int, int, std::string bytes) { return bytes; };

 private:
  class Member : public partition::RankExchange {
   public:
    Member(ThreadRanks& ranks, int rank) : ranks_(ranks), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return ranks_.size(); }
    std::vector<std::string> all_gather(const std::string& bytes) override {
      return ranks_.meet(rank_, ranks_.tamper(round_++, rank_, bytes));
    }

   private:
    ThreadRanks& ranks_;
    int rank_;
    int round_ = 0;
  };

  int size() const { return static_cast<int>(mailbox_.size()); }

  std::vector<std::string> meet(int rank, std::string bytes) {
    std::unique_lock lock(mutex_);
    const int64_t round = round_;
    mailbox_[static_cast<size_t>(rank)] = std::move(bytes);
    if (++arrived_ == size()) {
      delivered_ = mailbox_;
      arrived_ = 0;
      ++round_;
      all_there_.notify_all();
      return delivered_;
    }
    if (!all_there_.wait_for(lock, std::chrono::seconds(20), [&] { return round_ != round; }))
      throw std::runtime_error("rank " + std::to_string(rank) + " waits for the others in vain");
    return delivered_;  // the next round can't end before this rank takes part in it
  }

  std::mutex mutex_;
  std::condition_variable all_there_;
  std::vector<std::string> mailbox_;
  std::vector<std::string> delivered_;
  int arrived_ = 0;
  int64_t round_ = 0;
};

}  // namespace sapwood::test
