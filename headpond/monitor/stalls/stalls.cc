// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/stalls/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/monitor/stalls/cold_files_internal.h"

namespace headpond {
namespace {

enum class Way : uint8_t { ready, memory, warm, cold };
constexpr std::array kWays = {Way::ready, Way::memory, Way::warm, Way::cold};
using Samples = std::array<std::vector<double>, kWays.size()>;

void check(const StallsOptions& options) {
  if (options.batches >= 1 && options.rounds >= 1 && options.step.count() >= 0) return;
  throw Exception(
      Error(ErrorKind::InvalidArgument,
            fmt::format("measure_stalls: batches={}, rounds={}, step={} ns: there must be a batch, a round, "
                        "and a step that is not negative",
                        options.batches, options.rounds, options.step.count())));
}

void step(const StallsOptions& options) {
  if (options.step.count() > 0) std::this_thread::sleep_for(options.step);
}

double ms_since(int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) * 1e-6; }

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

Result<void> check_stop(const StallsOptions& options) {
  if (!options.stop.stop_requested()) return {};
  return fail(ErrorKind::Cancelled, "measure_stalls: it was stopped");
}

// The uppermost caches whose elements have an end, each once; those below them are filled with them.
void add_caches(const Node::Ref& node, std::set<Node::Ref>& caches) {
  if (node->facts().role == Role::store && Dataset(node).cardinality() != kEndless) {
    caches.insert(node);
    return;
  }
  for (const Node::Ref& input : node->facts().inputs) add_caches(input, caches);
}

// Each cache by itself, as an epoch of the pipeline may have no end. Loaders of a dataset share what its caches keep.
Result<void> fill_caches(const Dataset& dataset, const StallsOptions& options) {
  std::set<Node::Ref> caches;
  add_caches(dataset.node(), caches);
  for (const Node::Ref& cache : caches) {
    Loader loader(Dataset(cache), {.epochs = 1, .seed = options.seed});
    while (true) {
      HEADPOND_TRY(check_stop(options));
      const auto element = loader.next();
      if (at_end(element)) break;
      if (!element) return fail(element.error());
    }
  }
  return {};
}

// Milliseconds a step.
Result<double> measure_loader(const Dataset& dataset, const StallsOptions& options, bool in_memory) {
  if (in_memory) HEADPOND_TRY(fill_caches(dataset, options));
  Loader loader(dataset, {.epochs = 1, .seed = options.seed});
  int64_t taken = 0, begin = 0;
  for (; taken <= options.batches; ++taken) {
    HEADPOND_TRY(check_stop(options));
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error());
    if (taken == 0) begin = now_ns();
    step(options);
  }
  if (taken < 2) return fail(ErrorKind::InvalidArgument, "fewer than two batches: use more records");
  return ms_since(begin) / static_cast<double>(taken);
}

double measure_ready(const StallsOptions& options) {
  const int64_t begin = now_ns();
  for (int64_t i = 0; i < options.batches; ++i) step(options);
  return ms_since(begin) / static_cast<double>(options.batches);
}

Stalls stalls_of(const Samples& samples) {
  std::array<double, kWays.size()> ms = {};
  for (size_t i = 0; i < kWays.size(); ++i) ms[i] = middle(samples[i]);
  const auto [ready, memory, warm, cold] = ms;
  const auto share = [cold = cold](double more) { return cold > 0 ? std::clamp(more / cold, 0.0, 1.0) : 0; };
  return {.ready_ms = ready,
          .memory_ms = memory,
          .warm_ms = warm,
          .cold_ms = cold,
          .preparation = share(memory - ready),
          .fetch_warm = share(warm - memory),
          .fetch_cold = share(cold - memory),
          .most_gain = ready > 0 ? std::max(cold / ready, 1.0) : 1};
}

}  // namespace

Result<Stalls> measure_stalls(const StallsPipeline& pipeline, const StallsOptions& options) {
  check(options);
  const std::set<std::string> files = internal::files_of(pipeline(false));
  Samples samples;
  for (int64_t round = 0; round < options.rounds; ++round) {
    for (const Way way : kWays) {
      HEADPOND_TRY(check_stop(options));
      if (way == Way::cold) internal::make_cold(files);
      const bool in_memory = way == Way::memory;
      const auto ms = way == Way::ready ? Result<double>(measure_ready(options))
                                        : measure_loader(pipeline(in_memory), options, in_memory);
      if (!ms) return fail(ms.error());
      samples[static_cast<size_t>(way)].push_back(*ms);
    }
  }
  return stalls_of(samples);
}

Result<Stalls> measure_stalls(const std::function<Dataset()>& records, const Step& preparation,
                              const StallsOptions& options, int64_t most_records) {
  return measure_stalls(
      [&](bool in_memory) {
        const Dataset some = records() | take(most_records);
        return preparation(in_memory ? some | cache() : some);
      },
      options);
}

}  // namespace headpond
