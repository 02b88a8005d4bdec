// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "cli/bench/benches.h"
#include "cli/bench/handoff.h"
#include "headpond/queue/queue.h"

namespace headpond::cli {
namespace {

constexpr int64_t kRows = 32;  // In a tensor.
constexpr int64_t kCapacities[] = {64, 1024};

Tensor rows_of(int64_t first) {
  Tensor rows = Tensor::empty(DType::i64, {kRows});
  const auto values = rows.mutable_as<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int64_t>(i);
  return rows;
}

// The first number iff all follow it.
int64_t first_of(const Tensor& rows) {
  const auto values = rows.as<int64_t>();
  int64_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) wrong |= values[i] ^ (values[0] + static_cast<int64_t>(i));
  return wrong == 0 ? values[0] / kRows : -1;
}

HandoffTime run_queue(const HandoffRun& asked) {
  const FIFOQueue queue({.capacity = asked.capacity, .dtypes = {DType::i64}, .shapes = {Shape{}}});
  return hand_off(
      asked, true, [&](int, int64_t i) { (void)queue.enqueue_many(Element{rows_of(i * kRows)}); },
      [&](int) {
        const auto rows = queue.dequeue_many(kRows);
        return rows ? first_of((*rows)[size_t{0}]) : int64_t{-1};
      });
}

// What one thread needs to make the tensors, copy each to another, and look at that.
HandoffTime run_copy(const HandoffRun& asked) {
  int64_t wrong = 0;
  const int64_t begin = now_ns();
  for (int64_t i = 0; i < asked.items; ++i) {
    const Tensor from = rows_of(i * kRows);
    Tensor to = Tensor::empty(DType::i64, {kRows});
    std::memcpy(to.mutable_data(), from.data(), from.byte_size());
    wrong |= first_of(to) ^ i;
  }
  return {static_cast<double>(now_ns() - begin) / static_cast<double>(asked.items), wrong == 0};
}

}  // namespace

Bench queue_many_bench(const BenchSetup& setup) {
  Bench bench{.name = "queue.many", .consume = "each number compared with its place", .round_s = 2};
  for (const int64_t capacity : kCapacities) {
    for (const char* system : {"headpond", "memcpy"}) {
      bench.rows.push_back({.name = fmt::format("int64 x {} cap={}", kRows, capacity),
                            .params = {{"capacity", capacity}, {"rows", kRows}},
                            .system = system,
                            .system_version = HEADPOND_VERSION,
                            .metric = "ns_per_row",
                            .unit = "ns"});
    }
    const size_t row = bench.rows.size() - 2;
    bench.ratios.push_back({row, row + 1});
    bench.targets.push_back({fmt::format("W1.many.{}", capacity), "at most 10 ns a row", false, 10,
                             [row](const BenchResult& result) { return result.row(row).median; }});
  }
  const auto in_order = std::make_shared<bool>(true);
  bench.cycle = [setup, in_order](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    for (const int64_t capacity : kCapacities) {
      const HandoffRun run{.capacity = capacity,
                           .items = std::max(setup.items / 4, int64_t{1}),
                           .producer_cpu = setup.cpus.front(),
                           .consumer_cpu = setup.cpus.at(setup.cpus.size() > 1 ? 1 : 0)};
      for (auto* const system : {run_queue, run_copy}) {
        samples.push_back(with_cpu_time([&] {
          const HandoffTime time = system(run);
          *in_order = *in_order && time.in_order;
          return time.ns_per_item / static_cast<double>(kRows);
        }));
      }
    }
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    return samples;
  };
  bench.digest_equal = [in_order] { return *in_order; };
  return bench;
}

}  // namespace headpond::cli
