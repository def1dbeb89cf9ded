#include "driver/c10d_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "base/error.h"

namespace sapwood::driver {
namespace {

constexpr std::string_view kStage = "partition";
constexpr int64_t kFrameBytes = 64;  // one cache line: the length, then the start of the message
constexpr int64_t kLengthBytes = 8;
constexpr int64_t kInFrame = kFrameBytes - kLengthBytes;
constexpr int64_t kMaxBytes = int64_t{64} << 20;

c10::intrusive_ptr<c10d::Backend> cpu_backend(c10d::ProcessGroup& group) {
  try {
    return group.getBackend(c10::DeviceType::CPU);
  } catch (const c10::Error& error) {
    throw_user(kStage,
               std::string("the process group has no backend for the CPU, through which ranks agree on a plan (") +
                   error.what_without_backtrace() + "); create it with one, as in \"cpu:gloo,cuda:nccl\"");
  }
}

class C10dExchange : public partition::RankExchange {
 public:
  explicit C10dExchange(c10::intrusive_ptr<c10d::ProcessGroup> group)
      : group_(std::move(group)), backend_(cpu_backend(*group_)) {}

  int rank() const override { return group_->getRank(); }
  int size() const override { return group_->getSize(); }

  std::vector<std::string> all_gather(const std::string& bytes) override {
    const auto length = static_cast<int64_t>(bytes.size());
    const bool fits = length <= kMaxBytes;  // too long a message must still be announced: the others wait
    std::string frame(kFrameBytes, '\0');
    std::memcpy(frame.data(), &length, kLengthBytes);
    std::memcpy(frame.data() + kLengthBytes, bytes.data(), static_cast<size_t>(std::min(length, kInFrame)));
    const std::vector<at::Tensor> frames = gather(frame, kFrameBytes);
    const std::vector<int64_t> lengths = read_lengths(frames);

    std::vector<std::string> messages;
    for (size_t i = 0; i < frames.size(); ++i)
      messages.push_back(text(frames[i], kLengthBytes, std::min(lengths[i], kInFrame)));
    const int64_t rest = std::ranges::max(lengths) - kInFrame;
    if (rest <= 0) return messages;
    const std::vector<at::Tensor> rests =
        gather(fits && length > kInFrame ? bytes.substr(static_cast<size_t>(kInFrame)) : std::string(), rest);
    for (size_t i = 0; i < rests.size(); ++i)
      messages[i] += text(rests[i], 0, std::max<int64_t>(lengths[i] - kInFrame, 0));
    return messages;
  }

 private:
  /// Every rank's bytes, padded to `length`. Returns when all are there.
  std::vector<at::Tensor> gather(const std::string& bytes, int64_t length) {
    std::vector<at::Tensor> own{at::zeros({length}, at::kByte)};
    std::memcpy(own[0].data_ptr(), bytes.data(), bytes.size());
    std::vector<std::vector<at::Tensor>> all(1);
    for (int i = 0; i < size(); ++i) all[0].push_back(at::empty({length}, at::kByte));
    backend_->allgather(all, own)->wait();
    return std::move(all[0]);
  }

  static std::vector<int64_t> read_lengths(const std::vector<at::Tensor>& frames) {
    std::vector<int64_t> lengths;
    for (const at::Tensor& frame : frames) {
      lengths.emplace_back();
      std::memcpy(&lengths.back(), frame.data_ptr(), kLengthBytes);
      if (lengths.back() >= 0 && lengths.back() <= kMaxBytes) continue;
      throw_user(kStage, "rank " + std::to_string(lengths.size() - 1) + " announces a message of " +
                             std::to_string(lengths.back()) + " bytes, more than the " + std::to_string(kMaxBytes) +
                             " that ranks exchange; let all ranks use the process group in the same order");
    }
    return lengths;
  }

  static std::string text(const at::Tensor& bytes, int64_t from, int64_t count) {
    return std::string(static_cast<const char*>(bytes.data_ptr()) + from, static_cast<size_t>(count));
  }

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  c10::intrusive_ptr<c10d::Backend> backend_;
};

}  // namespace

std::unique_ptr<partition::RankExchange> c10d_exchange(c10::intrusive_ptr<c10d::ProcessGroup> group) {
  return std::make_unique<C10dExchange>(std::move(group));
}

}  // namespace sapwood::driver
