#include "partition/prefetch.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "unit/partition/pair_text.h"

namespace sapwood::partition {
namespace {

using test::Lines;

/// Three products, of which the last two read tensors that come from the host.
graph::Graph backward() {
  return graph::parse_any(R"(graph b {
    %host_1 : float32[512, 512] = placeholder
    %host_2 : float32[512, 512] = placeholder
    %tangents_1 : float32[512, 512]<device=cuda:0> = placeholder
    %mm : float32[512, 512]<device=cuda:0> = aten.mm.default(%tangents_1, %tangents_1)
    %mm_1 : float32[512, 512]<device=cuda:0> = aten.mm.default(%mm, %tangents_1)
    %copy_1 : float32[512, 512]<device=cuda:0> = ao.reload.default(%host_1, device("cuda:0"))
    %wait_1 : float32[512, 512]<alias=%copy_1, device=cuda:0> = ao.wait_tensor.default(%copy_1, %host_1)
    %mm_2 : float32[512, 512]<device=cuda:0> = aten.mm.default(%mm_1, %wait_1)
    %copy_2 : float32[512, 512]<device=cuda:0> = ao.reload.default(%host_2, device("cuda:0"))
    %wait_2 : float32[512, 512]<alias=%copy_2, device=cuda:0> = ao.wait_tensor.default(%copy_2, %host_2)
    %mm_3 : float32[512, 512]<device=cuda:0> = aten.mm.default(%mm_2, %wait_2)
    return (%mm_3)
  })");
}

/// Node names behind the placeholders after prefetching with this many milliseconds per product.
Lines prefetched(double per_product, double bandwidth) {
  graph::Graph graph = backward();
  prefetch_reloads(graph, {bandwidth, [&](const graph::Graph& g, graph::NodeId id) {
                             return g[id].is_call("aten.mm.default") ? per_product : 0.0;
                           }});
  test::expect_sound(graph);
  const Lines names = test::node_names(graph);
  return {names.begin() + 3, names.end() - 1};
}

TEST(Prefetch, TransferTimeFollowsFromTheBandwidth) {
  EXPECT_DOUBLE_EQ(transfer_milliseconds(int64_t{1} << 30, 50), 20);
  EXPECT_DOUBLE_EQ(transfer_milliseconds(int64_t{1} << 30, 25), 40);
  EXPECT_DOUBLE_EQ(transfer_milliseconds(0, 25), 0);
}

TEST(Prefetch, CopiesStartEarlyEnoughToBeHidden) {
  // 1 MiB at 10 GB/s takes 0.0977 ms.
  EXPECT_EQ(prefetched(0.1, 10), (Lines{"mm", "copy_1", "mm_1", "wait_1", "copy_2", "mm_2", "wait_2", "mm_3"}));
  EXPECT_EQ(prefetched(0.09, 10), (Lines{"copy_1", "mm", "copy_2", "mm_1", "wait_1", "mm_2", "wait_2", "mm_3"}))
      << "the second takes the time of two products, which the first then lacks";
  EXPECT_EQ(prefetched(0.01, 10), (Lines{"copy_1", "copy_2", "mm", "mm_1", "wait_1", "mm_2", "wait_2", "mm_3"}));
}

TEST(Prefetch, QueueIsFirstInFirstOut) {
  // While both are queued, a product counts for the one that is needed last, which was queued first.
  EXPECT_EQ(prefetched(0.05, 10), (Lines{"copy_1", "mm", "copy_2", "mm_1", "wait_1", "mm_2", "wait_2", "mm_3"}));
}

TEST(Prefetch, BrokenStreamGroupsAreRefused) {
  const auto message = [](const std::string& body, auto&& change) -> std::string {
    graph::Graph graph = graph::parse_any(body);
    try {
      change(graph);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.message();
    }
    return "no error";
  };
  const std::string reload = R"(graph b {
    %cpu_offload_x : float32[4] = placeholder
    %gpu_reload_x : float32[4]<device=cuda:0> = prims.device_put.default(%cpu_offload_x, device("cuda:0"))
    return (%gpu_reload_x)
  })";
  EXPECT_NE(message(reload, [](graph::Graph& g) { prefetch_reloads(g, {}); })
                .find("expected streams.fork.default 2 nodes before the copy 'gpu_reload_x'"),
            std::string::npos);
  const std::string offload = R"(graph f {
    %x : float32[4]<device=cuda:0> = placeholder
    %cpu_offload_x : float32[4] = prims.device_put.default(%x, device("cpu"))
    return (%cpu_offload_x)
  })";
  EXPECT_NE(message(offload, [](graph::Graph& g) { sink_offload_waits(g); })
                .find("expected streams.wait_event.default 3 nodes behind the copy 'cpu_offload_x'"),
            std::string::npos);
}

TEST(Prefetch, WaitWithoutATransferIsAnError) {
  graph::Graph graph = graph::parse_any(R"(graph f {
    %x : float32[4] = placeholder
    %wait : float32[4]<alias=%x> = ao.wait_tensor.default(%x)
    return (%wait)
  })");
  try {
    check_transfers(graph);
    FAIL() << "nothing is on its way";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_NE(error.message().find("no pending transfer for 'x', which 'wait' waits for"), std::string::npos)
        << error.message();
  }
  graph::Graph twice = graph::parse_any(R"(graph f {
    %x : float32[4]<device=cuda:0> = placeholder
    %copy : float32[4] = ao.offload.default(%x)
    %wait : float32[4]<alias=%copy> = ao.wait_tensor.default(%copy, %x)
    %again : float32[4]<alias=%copy> = ao.wait_tensor.default(%copy, %x)
    return (%wait, %again)
  })");
  EXPECT_THROW(check_transfers(twice), Error);
}

}  // namespace
}  // namespace sapwood::partition
