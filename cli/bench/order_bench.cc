// SPDX-License-Identifier: Apache-2.0
// What an order costs: permuted positions, a state and a restore, and to wait for the one that is next.
#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "cli/bench/consume.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kOrderSizes[] = {1'280'000, 1'000'000'000};
constexpr int64_t kAsked = 1'000'000, kBlock = 1024;

std::string name_of(int64_t size) { return fmt::format("n={}", size); }

double seconds(int64_t since_ns) { return 1e-9 * static_cast<double>(now_ns() - since_ns); }

// Without memory that is cached for later allocations.
double pss_kib() {
  malloc_trim(0);
  return static_cast<double>(memory_info().pss) / 1024;
}

struct ShuffleFigures {
  double ns = 0;         // For one position.
  double grown_kib = 0;  // What the process has more when all is asked for.
};

// Positions of a shuffled range, in columns: kAsked of them from the middle.
ShuffleFigures shuffle_figures(int64_t size, uint64_t seed, uint64_t& all) {
  const double before_kib = pss_kib();
  const Dataset dataset = range(size) | shuffle();
  const auto view = dataset.node()->bind({seed, 0});
  Context context;
  std::array<int64_t, kBlock> positions{}, values{};
  const OutputSlot column{reinterpret_cast<std::byte*>(values.data()), &dataset.spec()[0]};
  const int64_t began = now_ns();
  for (int64_t first = 0; first < kAsked; first += kBlock) {
    std::iota(positions.begin(), positions.end(), (size / 2 + first) % (size - kBlock));
    if (!view->fill(positions, context, {&column, 1}, nullptr)) return {};
    all ^= xor_of(std::as_bytes(std::span(values)));
  }
  const double ns = 1e9 * seconds(began) / static_cast<double>(kAsked);
  return {ns, std::max(0.0, pss_kib() - before_kib)};
}

// The control: an order that is stored.
double stored_kib(int64_t size) {
  const double before = pss_kib();
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  const double grown = pss_kib() - before;
  return order.back() == size - 1 ? grown : 0;
}

struct StateFigures {
  double bytes = 0, save_us = 0, restore_ms = 0;
};

Result<StateFigures> state_figures(int64_t size, uint64_t seed) {
  const Dataset dataset = range(size) | shuffle() | map([](int64_t x) { return x + 1; }) | batch(64);
  const LoaderOptions options{.epochs = 2, .seed = seed};
  Loader loader(dataset, options);
  for (int i = 0; i < 1000; ++i) {
    if (const auto batch = loader.next(); !batch) return fail(batch.error());
  }
  StateFigures figures;
  std::string state;
  const int64_t began = now_ns();
  for (int i = 0; i < 1000; ++i) state = loader.state();
  figures.save_us = 1e3 * seconds(began);
  figures.bytes = static_cast<double>(state.size());
  const int64_t restoring = now_ns();
  auto restored = Loader::restored(dataset, options, state);
  if (!restored) return fail(restored.error());
  const auto next = restored->next();
  figures.restore_ms = 1e3 * seconds(restoring);
  const auto wanted = loader.next();
  if (!next || !wanted) return fail(ErrorKind::Unknown, "no batch after the state");
  if (xor_of(next->element()) != xor_of(wanted->element())) {
    return fail(ErrorKind::DataLoss, "the restored run gives another batch");
  }
  return figures;
}

// Elements a second and processor, where each costs the same.
Result<double> rate(bool deterministic) {
  constexpr int64_t kElements = 6000;
  const Dataset dataset = range(kElements) | map([](int64_t x) {
                            compute_us(100);
                            return x;
                          }) |
                          batch(32);
  Loader loader(dataset, {.deterministic = deterministic});
  const int64_t began = now_ns();
  while (true) {
    const auto batch = loader.next();
    if (at_end(batch)) return static_cast<double>(kElements) / seconds(began);
    if (!batch) return fail(batch.error());
  }
}

BenchRow row(const std::string& name, const std::string& system, const std::string& metric, const std::string& unit) {
  return {.name = name, .system = system, .system_version = HEADPOND_VERSION, .metric = metric, .unit = unit};
}

std::function<double(const BenchResult&)> of_row(size_t i) {
  return [i](const BenchResult& result) { return result.row(i).median; };
}

}  // namespace

Bench order_shuffle_bench(const BenchSetup& setup) {
  Bench bench{.name = "order.shuffle", .consume = kXorName};
  for (const int64_t size : kOrderSizes) {
    bench.targets.push_back({"order.shuffle." + name_of(size), name_of(size) + ": at most 15 ns an element", false, 15,
                             of_row(bench.rows.size())});
    bench.rows.push_back(row(name_of(size), "headpond", "ns_per_element", "ns"));
  }
  const size_t grown = bench.rows.size();
  bench.rows.push_back(row(name_of(kOrderSizes[1]), "headpond", "grown_kib", "KiB"));
  bench.rows.push_back(row(name_of(kOrderSizes[0]), "stored order", "grown_kib", "KiB"));
  bench.targets.push_back({"order.shuffle.memory",
                           name_of(kOrderSizes[1]) + ": at most 1 MB more while a million is asked for", false, 1000,
                           of_row(grown)});
  bench.targets.push_back(
      {"order.shuffle.memory.control", "a stored order is seen to take more", true, 1000, of_row(grown + 1)});
  const auto all = std::make_shared<uint64_t>();
  bench.cycle = [all, seed = setup.seed](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    ShuffleFigures figures;
    for (const int64_t size : kOrderSizes) {
      samples.push_back(with_cpu_time([&] {
        figures = shuffle_figures(size, seed, *all);
        return figures.ns;
      }));
      if (figures.ns <= 0) return fail(ErrorKind::Unknown, "shuffle gives no columns");
    }
    samples.push_back({figures.grown_kib});
    samples.push_back({stored_kib(kOrderSizes[0])});
    return samples;
  };
  return bench;
}

Bench order_state_bench(const BenchSetup& setup) {
  Bench bench{.name = "order.state", .consume = kXorName};
  const std::string name = "range | shuffle | map | batch, " + name_of(kOrderSizes[1]);
  bench.rows = {row(name, "headpond", "state_bytes", "bytes"), row(name, "headpond", "save_us", "us"),
                row(name, "headpond", "restore_and_first_batch_ms", "ms")};
  bench.targets = {{"order.state.bytes", "at most 1 KB", false, 1024, of_row(0)},
                   {"order.state.save", "save at most 50 us", false, 50, of_row(1)},
                   {"order.state.restore", "restore at most 5 ms", false, 5, of_row(2)}};
  bench.cycle = [seed = setup.seed](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    const auto figures = state_figures(kOrderSizes[1], seed);
    if (!figures) return fail(figures.error());
    return std::vector<BenchSample>{{figures->bytes}, {figures->save_us}, {figures->restore_ms}};
  };
  return bench;
}

Bench order_cost_bench(const BenchSetup&) {
  Bench bench{.name = "order.cost"};
  for (const char* system : {"in order", "first ready"}) {
    bench.rows.push_back(row("100 us an element, batches of 32", system, "elements_per_s", "1/s"));
    bench.rows.back().lower_is_better = false;
  }
  bench.ratios = {{0, 1}};
  bench.targets.push_back({"order.cost", "in order at most 2 % slower than first ready", true, 0.98,
                           [](const BenchResult& result) { return result.ratio(0).median; }});
  bench.cycle = [](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    Error problem;
    for (const bool deterministic : {true, false}) {
      samples.push_back(with_cpu_time([&] {
        const auto measured = rate(deterministic);
        if (!measured) problem = measured.error();
        return measured ? *measured : 0;
      }));
    }
    if (problem) return fail(problem);
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
