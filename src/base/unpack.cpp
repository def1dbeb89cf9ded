#include "base/unpack.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace sapwood {
namespace {

constexpr std::string_view kStage = "parse";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr size_t kMaxUnpacked = size_t{1} << 30;
constexpr size_t kChunk = size_t{1} << 20;
constexpr int kMaxWindowLog = 27;  // 128 MiB: what the decoder may hold besides its output

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

}  // namespace

bool is_packed(std::string_view bytes) { return bytes.starts_with(kZstdMagic); }

std::string unpack(std::string_view bytes) {
  if (!is_packed(bytes)) return std::string(bytes);
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  if (!stream) throw Error(ErrorKind::kRuntime, kStage, "no memory for the zstd decoder");
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  std::string out;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t pending = 1;
  while (in.pos < in.size || pending != 0) {
    const size_t begin = out.size();
    if (begin >= kMaxUnpacked)
      throw_user(kStage, "the zstd data unpacks to more than the 1 GiB that is accepted; split the graph");
    out.resize(std::min(begin + std::max(begin, kChunk), kMaxUnpacked));
    ZSTD_outBuffer to{out.data() + begin, out.size() - begin, 0};
    const size_t before = in.pos;
    pending = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(pending) != 0) {
      throw_user(kStage, std::string("the zstd data is damaged (") + ZSTD_getErrorName(pending) +
                             "); copy or compress the file again");
    }
    out.resize(begin + to.pos);
    if (pending != 0 && to.pos == 0 && in.pos == before)
      throw_user(kStage, "the zstd data ends early; the file is truncated, copy it again");
  }
  return out;
}

}  // namespace sapwood
