// SPDX-License-Identifier: Apache-2.0
// Scenario 3: how soon a shuffle gives its first batch, whether it stalls later, what it takes, how well it mixes.
#include <sys/resource.h>

#include <cmath>
#include <optional>

#include "headpond/base/random.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kRecords = 1'000'000, kRecordBytes = 32, kLabels = 8000, kClasses = 10;

// A million records of 32 bytes, each with its number in front.
Dataset records() {
  Tensor all = Tensor::empty(u8, {kRecords, kRecordBytes});
  for (int64_t i = 0; i < kRecords; ++i) {
    std::byte* record = all.mutable_data() + i * kRecordBytes;
    std::memcpy(record, &i, sizeof(i));
    std::memset(record + sizeof(i), static_cast<int>(i % 251), kRecordBytes - sizeof(i));
  }
  return from_tensor_slices(all);
}

int64_t class_size(int64_t c) { return 350 + 100 * c; }

// Labels of classes of uneven size, sorted.
Dataset labels() {
  std::vector<int64_t> all;
  for (int64_t c = 0; c < kClasses; ++c) all.insert(all.end(), static_cast<size_t>(class_size(c)), c);
  return from_tensor_slices(Tensor::from(std::span<const int64_t>(all), {kLabels}));
}

Dataset stream(int64_t count) {
  const auto make = [count](uint64_t) -> Generator {
    return [next = int64_t{0}, count]() mutable -> Result<std::optional<Element>> {
      if (next == count) return std::nullopt;
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", i64, {}}}, {.name = "counting"});
}

// Class counts of each batch of 64 of an epoch.
void classes(const Step& order, uint64_t seed, JsonWriter& figures) {
  Loader loader(labels() | order | batch(64), {.seed = seed});
  figures.key("classes").begin_array();
  for (const Batch& labels_of : loader) {
    std::vector<int64_t> counts(kClasses);
    for (const int64_t label : labels_of[0].as<int64_t>()) ++counts[static_cast<size_t>(label)];
    figures.begin_array();
    for (const int64_t count : counts) figures.value(count);
    figures.end_array();
  }
  figures.end_array();
  figures.key("class_sizes").begin_array();
  for (int64_t c = 0; c < kClasses; ++c) figures.value(class_size(c));
  figures.end_array();
}

void first_batches(const Dataset& all, JsonWriter& figures) {
  const std::vector<std::pair<const char*, Step>> orders = {
      {"first_100_ms", shuffle(100)}, {"first_100000_ms", shuffle(100'000)}, {"first_all_ms", shuffle()}};
  std::vector<std::vector<double>> times(orders.size());
  for (int round = -1; round < 15; ++round) {
    for (size_t i = 0; i < orders.size(); ++i) {
      const int64_t began = now_ns();
      Loader loader(all | orders[i].second | batch(1000), {.seed = static_cast<uint64_t>(round + 1)});
      must_next(loader);
      if (round >= 0) times[i].push_back(static_cast<double>(now_ns() - began) / 1e6);
    }
  }
  for (size_t i = 0; i < orders.size(); ++i) member(figures, orders[i].first, times[i]);
}

double longest_over_median(std::vector<double> steps, std::ptrdiff_t first) {
  const double longest = *std::max_element(steps.begin() + first, steps.end());
  std::sort(steps.begin(), steps.end());
  return longest / steps[steps.size() / 2];
}

// Of five epochs with a device step of 10 ms: the longest step of epochs 1 to 4 over the median of all; beside it the
// same of as many steps of the device alone.
void gaps(const Dataset& all, bool full, JsonWriter& figures) {
  constexpr int kSteps = kRecords / 20'000;
  std::vector<double> ratios, alone;
  for (int round = 0; round < (full ? 5 : 3); ++round) {
    Loader loader(all | shuffle(100'000) | batch(20'000), {.epochs = 5, .seed = 3});
    ratios.push_back(longest_over_median(step_ms(loader, 5 * kSteps, 10'000), kSteps));
    alone.push_back(longest_over_median(device_ms(4 * kSteps, 10'000), 0));
  }
  member(figures, "gap_over_median", ratios);
  member(figures, "device_gap_over_median", alone);
}

// Mean distance between an element's place and its number, and whether each came once.
void displacement(const Dataset& numbers, int64_t count, const char* name, JsonWriter& figures) {
  Loader loader(numbers | batch(1000), {.seed = 5});
  std::vector<bool> seen(static_cast<size_t>(count));
  double sum = 0;
  int64_t most = 0, place = 0, once = 0;
  for (const Batch& taken : loader) {
    for (const int64_t x : taken[0].as<int64_t>()) {
      const int64_t moved = std::abs(x - place++);
      sum += static_cast<double>(moved);
      most = std::max(most, moved);
      once += seen[static_cast<size_t>(x)] ? 0 : 1;
      seen[static_cast<size_t>(x)] = true;
    }
  }
  figures.key(name).begin_object();
  figures.member("mean", sum / static_cast<double>(count)).member("most", most);
  figures.member("exactly_once", once == count && place == count).end_object();
}

// The peak of a process of its own: with a whole shuffle, and without.
void memory(const Run& run, JsonWriter& figures) {
  const Dataset all = records();
  Loader loader((run.mode == "memory_shuffled" ? all | shuffle() : all) | batch(1000));
  uint64_t sum = 0;
  for (const Batch& taken : loader) sum = digest(sum, taken.element());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  figures.member("peak_kib", int64_t{usage.ru_maxrss}).member("digest", hex(sum));
}

}  // namespace

void shuffle_quality(const Run& run, JsonWriter& figures) {
  if (run.mode.starts_with("memory")) return memory(run, figures);
  if (run.control()) return classes(shuffle(100), 9, figures);
  classes(shuffle(), 9, figures);
  const Dataset all = records();
  first_batches(all, figures);
  gaps(all, run.full, figures);
  displacement(range(kRecords) | shuffle(100), kRecords, "moved_100", figures);
  displacement(range(kRecords) | shuffle(100'000), kRecords, "moved_100000", figures);
  displacement(range(kRecords) | shuffle(), kRecords, "moved_all", figures);
  displacement(stream(200'000) | shuffle(5000), 200'000, "moved_stream_5000", figures);
}

}  // namespace headpond::scenarios
