// SPDX-License-Identifier: Apache-2.0
// Scenario 4: one budget holds for all that a pipeline has in memory.
#include <sys/resource.h>

#include <deque>

#include "headpond/base/random.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kBlobs = 600, kLeast = 100'000, kMost = 8'000'000;
constexpr int64_t kBudget = int64_t{1} << 30;
constexpr int64_t kPausedEpoch = 2;  // The third.
constexpr int64_t kStepUs = 2000;    // Of a device, so that an epoch has more than one sample.

int64_t bytes_of(int64_t blob) {
  return kLeast + static_cast<int64_t>(mix(7, static_cast<uint64_t>(blob)) % (kMost - kLeast + 1));
}

Tensor filled(int64_t bytes, int64_t value) {
  Tensor values = Tensor::empty(u8, {bytes});
  std::memset(values.mutable_data(), static_cast<int>(value % 256), values.byte_size());
  return values;
}

Dataset blobs() {
  const Spec output = {{"", u8, {kUnknown}}};
  const auto more = [](const Tensor& blob) {
    return filled(static_cast<int64_t>(blob.byte_size()), blob.as<uint8_t>()[0] + 1);
  };
  return range(kBlobs) | map([](int64_t blob) { return filled(bytes_of(blob), blob); }, {.output = output}) | cache() |
         shuffle() | map(more, {.output = output}) | prefetch(16);
}

void pause_for(double seconds, MemoryOverTime& memory) {
  memory.begin("first second of the pause");
  sleep_us(1'000'000);
  memory.begin("pause");
  sleep_us(static_cast<int64_t>(1e6 * (seconds - 1)));
}

void write(JsonWriter& figures, const std::map<std::string, std::vector<double>>& mib) {
  figures.key("mib").begin_object();
  for (const auto& [phase, values] : mib) member(figures, phase, values);
  figures.end_object();
}

// The control has a queue that nobody counts, in which the newest blobs stay.
void take_all(Loader& loader, const Run& run, MemoryOverTime& memory, JsonWriter& figures) {
  constexpr size_t kKept = 256;
  std::deque<std::vector<std::byte>> kept;
  std::vector<int64_t> blobs_of_epoch;
  for (int64_t taken = 0;; ++taken) {
    const int64_t epoch = taken / kBlobs;
    if (taken % kBlobs == 0) memory.begin("epoch " + std::to_string(epoch));
    const auto batch = loader.next();
    if (!batch) break;
    if (taken % kBlobs == 0) blobs_of_epoch.push_back(0);
    ++blobs_of_epoch.back();
    const auto bytes = (*batch)[0].as<uint8_t>();
    if (run.control()) kept.emplace_back(std::as_bytes(bytes).begin(), std::as_bytes(bytes).end());
    if (kept.size() > kKept) kept.pop_front();
    sleep_us(kStepUs);
    if (taken != kPausedEpoch * kBlobs + kBlobs / 2) continue;
    pause_for(run.full ? 20 : 4, memory);
    memory.begin("epoch " + std::to_string(epoch));
  }
  member(figures, "blobs_of_epoch", blobs_of_epoch);
}

void within_a_budget(const Run& run, JsonWriter& figures) {
  MemoryOverTime memory;
  const int64_t epochs = run.full ? 10 : run.control() ? 1 : 6;
  {
    Loader loader(blobs(), {.epochs = epochs, .memory = kBudget});
    take_all(loader, run, memory, figures);
  }
  memory.begin("end");
  write(figures, memory.end());
  figures.member("budget_mib", kBudget >> 20).member("epochs", epochs);
}

// No setting; the system refuses memory beyond 2 GiB.
void within_a_limit(const Run& run, JsonWriter& figures) {
  const rlimit limit{.rlim_cur = uint64_t{2} << 30, .rlim_max = uint64_t{2} << 30};
  figures.member("is_limited", setrlimit(RLIMIT_DATA, &limit) == 0);
  MemoryOverTime memory;
  Loader loader(blobs(), {.epochs = 2});
  take_all(loader, run, memory, figures);
  write(figures, memory.end());
}

void beyond_a_budget(JsonWriter& figures) {
  const Dataset large = range(8) | map([](int64_t blob) { return filled(kMost, blob); },
                                       {.output = {{"", u8, {kUnknown}}}, .name = "enlarge"});
  Loader loader(large, {.memory = kMost / 2});
  const int64_t began = now_ns();
  const auto batch = loader.next();
  figures.member("large_s", ms_since(began) / 1e3).member("large_error", batch ? "" : batch.error().to_string());
}

}  // namespace

void memory_ceiling(const Run& run, JsonWriter& figures) {
  if (run.mode == "limited") return within_a_limit(run, figures);
  within_a_budget(run, figures);
  if (!run.control()) beyond_a_budget(figures);
}

}  // namespace headpond::scenarios
