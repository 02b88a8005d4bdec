// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/kernels/kernel_bench.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/consume.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr uint64_t kSeed = 7;

size_t field_of(const KernelWork& work) {
  return work.field.empty() ? 0 : field_index("bench", work.source.spec(), work.field);
}

Result<uint64_t> by_loader(const KernelWork& work, int threads) {
  Loader loader(work.source | internal::map_kernels_step(work.field, work.kernels) | batch(work.batch),
                {.seed = kSeed, .threads = threads});
  uint64_t all = 0;
  int64_t items = 0;
  while (true) {
    const auto next = loader.next();
    if (at_end(next) && items == work.items) return all;
    if (at_end(next)) return fail(ErrorKind::DataLoss, fmt::format("{} of {} items were delivered", items, work.items));
    if (!next) return fail(next.error());
    const Tensor& rows = next->element()[field_of(work)];
    items += rows.dim(0);
    all ^= xor_of({rows.data(), rows.byte_size()});
  }
}

// The kernels, joined as map joins them, into the rows of one buffer.
Result<uint64_t> by_loop(const KernelWork& work) {
  const KernelChain chain = join_kernels(work.kernels);
  std::vector<RandomKey> keys;
  keys.reserve(work.kernels.size());
  for (const KernelRef& kernel : work.kernels) keys.push_back(random_key(kSeed, kernel->facts().draws, 0, 0));
  const size_t row_bytes = static_cast<size_t>(*work.shape.size()) * item_size(work.dtype);
  Tensor rows = Tensor::empty(work.dtype, work.shape.stacked(work.batch));
  const FieldSpec spec = {"", work.dtype, work.shape};
  KernelScratch scratch;
  uint64_t all = 0;
  for (int64_t i = 0; i < work.items; ++i) {
    std::byte* const row = rows.mutable_data() + static_cast<size_t>(i % work.batch) * row_bytes;
    const OutputSlot slot = {row, &spec};
    Tensor field = work.input(i);
    for (size_t k = 0; k < chain.kernels.size(); ++k) {
      const OutputSlots slots = k + 1 == chain.kernels.size() ? OutputSlots(&slot, 1) : OutputSlots();
      KernelCall call({&field, 1}, std::span(keys).subspan(chain.first[k]), static_cast<uint64_t>(i), slots, scratch);
      HEADPOND_TRY(chain.kernels[k]->run(call));
      call.finish();
    }
    if ((i + 1) % work.batch == 0 || i + 1 == work.items)
      all ^= xor_of({rows.data(), static_cast<size_t>(i % work.batch + 1) * row_bytes});
  }
  return all;
}

struct TimedState {
  TimedBench setup;
  bool is_prepared = false, agree = true;
};

Result<std::vector<BenchSample>> timed_cycle(TimedState& state) {
  if (!state.is_prepared && state.setup.prepare) HEADPOND_TRY(state.setup.prepare(state.setup.cases));
  state.is_prepared = true;
  std::vector<BenchSample> samples;
  for (const TimedCase& timed : state.setup.cases) {
    uint64_t first = 0;
    const auto items = static_cast<double>(timed.items);
    for (const TimedSystem& system : timed.systems) {
      Result<uint64_t> all = 0;
      const BenchSample wall = with_cpu_time([&] {
        const int64_t begin = now_ns();
        all = system.run();
        return static_cast<double>(now_ns() - begin) / 1e3 / items;
      });
      if (!all) return fail(all.error());
      first = first == 0 ? *all : first;
      state.agree = state.agree && (*all == 0 || *all == first);
      samples.push_back(wall);
      samples.push_back({1e6 * wall.cpu_s / items, wall.cpu_s});
    }
  }
  return samples;
}

}  // namespace

std::vector<TimedSystem> kernel_systems() {
  return {{"headpond threads=0", HEADPOND_VERSION, {}},
          {"bare loop", HEADPOND_COMPILER, {}},
          {"headpond", HEADPOND_VERSION, {}}};
}

std::vector<TimedSystem> kernel_systems(const KernelWork& work) {
  const auto kept = std::make_shared<const KernelWork>(work);
  std::vector<TimedSystem> systems = kernel_systems();
  systems[0].run = [kept] { return by_loader(*kept, 0); };
  systems[1].run = [kept] { return by_loop(*kept); };
  systems[2].run = [kept] { return by_loader(*kept, -1); };
  return systems;
}

Bench timed_bench(TimedBench setup) {
  const auto state = std::make_shared<TimedState>(TimedState{.setup = std::move(setup)});
  Bench bench{.name = state->setup.name, .consume = kXorName, .rounds = state->setup.rounds};
  for (const TimedCase& timed : state->setup.cases) {
    const size_t begin = bench.rows.size();
    for (const TimedSystem& system : timed.systems) {
      for (const char* const metric : {"us_per_{}", "cpu_us_per_{}"}) {
        bench.rows.push_back({.name = timed.name,
                              .params = {{"items", timed.items}},
                              .system = system.name,
                              .system_version = system.version,
                              .metric = fmt::format(fmt::runtime(metric), state->setup.item),
                              .unit = "us"});
      }
      if (bench.rows.size() > begin + 2) bench.ratios.push_back({begin + 1, bench.rows.size() - 1});
    }
  }
  bench.cycle = [state](const std::stop_token&) { return timed_cycle(*state); };
  bench.digest_equal = [state] { return state->agree; };
  return bench;
}

}  // namespace headpond::cli
