// SPDX-License-Identifier: Apache-2.0
// Scenario 14: one sample in a hundred costs a hundred times as much.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

#include "headpond/base/random.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kSamples = 2000, kRows = 32, kFloats = 1024;
constexpr int64_t kAhead = 4;                               // Batches: 128 samples.
constexpr int64_t kBatchBytes = kRows * (4 * kFloats + 8);  // A sample's values and its number.

struct Costs {
  int64_t usual_us, slow_us;
  int64_t of(int64_t sample) const { return is_slow(sample) ? slow_us : usual_us; }
  // Twenty of two thousand, at places without a pattern.
  static bool is_slow(int64_t sample) {
    return sample % 100 == static_cast<int64_t>(mix(77, static_cast<uint64_t>(sample / 100)) % 100);
  }
};

Element make(int64_t sample, const Costs& costs) {
  burn_us(costs.of(sample));
  Tensor values = Tensor::empty(f32, {kFloats});
  for (float& value : values.mutable_as<float>()) value = static_cast<float>(sample);
  return Element{Tensor::scalar(sample), values};
}

Dataset samples(const Costs& costs) {
  const Spec output = {{"sample", i64, {}}, {"values", f32, {kFloats}}};
  return range(kSamples) | map([costs](int64_t sample) { return make(sample, costs); }, {.output = output}) |
         batch(kRows);
}

struct Outcome {
  double seconds = 0;
  uint64_t sum = 0;  // In order.
  uint64_t unordered = 0;
  int64_t peak = 0;
};

Outcome load(const Costs& costs, const LoaderOptions& options, bool one_by_one) {
  Outcome outcome;
  const int64_t began = now_ns();
  Loader loader(samples(costs), options);
  for (const Batch& taken : loader) {
    if (one_by_one) outcome.sum = digest(outcome.sum, taken.element());
    for (const int64_t sample : taken["sample"].as<int64_t>())
      outcome.unordered += mix(3, static_cast<uint64_t>(sample));
  }
  outcome.seconds = static_cast<double>(now_ns() - began) / 1e9;
  outcome.peak = loader.stats().memory_peak;
  return outcome;
}

// The control: two workers, each with every second batch, at most two batches ahead each; taken in turn.
double fixed_workers_seconds(const Costs& costs) {
  std::mutex mu;
  std::condition_variable changed;
  int64_t done[2] = {0, 0}, taken[2] = {0, 0};
  constexpr int64_t kBatches = (kSamples + kRows - 1) / kRows;
  const auto work = [&](int64_t worker) {
    for (int64_t b = worker; b < kBatches; b += 2) {
      {
        std::unique_lock lock(mu);
        changed.wait(lock, [&] { return done[worker] - taken[worker] < kAhead / 2; });
      }
      for (int64_t i = b * kRows; i < std::min(kSamples, (b + 1) * kRows); ++i) make(i, costs);
      const std::lock_guard lock(mu);
      ++done[worker];
      changed.notify_all();
    }
  };
  const int64_t began = now_ns();
  std::jthread first(work, 0), second(work, 1);
  for (int64_t b = 0; b < kBatches; ++b) {
    std::unique_lock lock(mu);
    changed.wait(lock, [&] { return done[b % 2] > taken[b % 2]; });
    ++taken[b % 2];
    changed.notify_all();
  }
  return static_cast<double>(now_ns() - began) / 1e9;
}

// The total of the work over two cores: the slow ones first, so that both end together.
double ideal_seconds(const Costs& costs) {
  std::vector<int64_t> order(kSamples);
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(), Costs::is_slow);
  return bare_seconds(kSamples, [&](int64_t i) { make(order[static_cast<size_t>(i)], costs); });
}

uint64_t serial_digest() {
  Sequence sequence(samples({0, 0}));
  uint64_t sum = 0;
  for (auto batch = sequence.next(); batch; batch = sequence.next()) sum = digest(sum, *batch);
  return sum;
}

}  // namespace

void slow_sample(const Run& run, JsonWriter& figures) {
  const Costs costs = run.full ? Costs{2000, 200'000} : Costs{1000, 100'000};
  const int64_t memory = (kAhead + 3) * kBatchBytes;  // One at the program, one that it waits for, one being closed.
  std::vector<double> ideal, ordered, unordered;
  std::vector<std::string> digests;
  bool same_samples = true;
  int64_t peak = 0;
  for (int round = 0; round < (run.full ? 5 : 3); ++round) {
    ideal.push_back(ideal_seconds(costs));
    if (run.control()) {
      ordered.push_back(fixed_workers_seconds(costs));
      continue;
    }
    const Outcome one = load(costs, {.threads = 2, .memory = memory, .run_ahead = kAhead}, true);
    const Outcome any = load(costs, {.threads = 2, .deterministic = false}, false);
    ordered.push_back(one.seconds);
    unordered.push_back(any.seconds);
    digests.push_back(hex(one.sum));
    same_samples = same_samples && one.unordered == any.unordered;
    peak = std::max(peak, one.peak);
  }
  member(figures, "ideal_s", ideal);
  member(figures, "ordered_s", ordered);
  if (run.control()) return;
  member(figures, "unordered_s", unordered);
  member(figures, "digests", digests);
  figures.member("serial_digest", hex(serial_digest())).member("same_samples", same_samples);
  figures.member("peak_bytes", peak).member("declared_bytes", memory);
}

}  // namespace headpond::scenarios
