// SPDX-License-Identifier: Apache-2.0
// Scenario 3: how soon a shuffle gives its first batch, whether it stalls later, what it takes, how well it mixes.
#include <sys/resource.h>

#include <cmath>
#include <optional>

#include "corpus.h"
#include "headpond/engine/check/check.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kRecords = 1'000'000, kLabels = 8000, kClasses = 10;

// T, a million records of 32 bytes.
Dataset records(const Run& run) { return tfrecord(run.place + "/records-*.tfrecord"); }

Dataset numbers(const Dataset& all) { return all | map(record_number, {.name = "record_number"}); }

// The classes of J, which are sorted.
Dataset labels(const Run& run) {
  const auto label = [](std::string_view record) -> Result<int64_t> {
    const auto image = image_record(record);
    if (!image) return fail(image.error());
    return image->image_class;
  };
  return tfrecord(run.place + "/images-*.tfrecord") | map(label, {.name = "label"});
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
void classes(const Dataset& ordered, uint64_t seed, JsonWriter& figures) {
  Loader loader(ordered | batch(64), {.seed = seed});
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
  for (int64_t c = 0; c < kClasses; ++c) figures.value(class_size(c, kLabels));
  figures.end_array();
}

void first_batches(const Dataset& all, JsonWriter& figures) {
  const std::vector<std::pair<const char*, Step>> orders = {
      {"first_100_ms", shuffle(100)}, {"first_100000_ms", shuffle(100'000)}, {"first_all_ms", shuffle()}};
  std::vector<std::vector<double>> times(orders.size());
  for (int round = -1; round < 61; ++round) {  // Each takes about a millisecond.
    for (size_t i = 0; i < orders.size(); ++i) {
      const int64_t began = now_ns();
      Loader loader(all | orders[i].second | batch(1000), {.seed = static_cast<uint64_t>(round + 1)});
      must_next(loader);
      if (round >= 0) times[i].push_back(static_cast<double>(now_ns() - began) / 1e6);
    }
  }
  for (size_t i = 0; i < orders.size(); ++i) member(figures, orders[i].first, times[i]);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Five epochs of steps, several times: the longest step over the median, where the step at a place of an epoch is the
// median of those of epochs 1 to 4 of all rounds. So a gap counts if it comes again, and what the machine does besides
// does not decide.
double longest_over_median(const std::vector<std::vector<double>>& rounds, size_t steps_of_epoch) {
  std::vector<double> all, places;
  for (size_t place = 0; place < steps_of_epoch; ++place) {
    std::vector<double> here;
    for (const auto& steps : rounds) {
      for (size_t i = steps_of_epoch + place; i < steps.size(); i += steps_of_epoch) here.push_back(steps[i]);
    }
    all.insert(all.end(), here.begin(), here.end());
    places.push_back(median(here));
  }
  return std::ranges::max(places) / median(all);
}

// With a device step of 10 ms, in turn with the same records in order.
void gaps(const Dataset& all, bool full, JsonWriter& figures) {
  constexpr int kRows = 5000, kSteps = kRecords / kRows;
  std::vector<std::vector<double>> shuffled, in_order;
  for (int round = 0; round < (full ? 5 : 3); ++round) {
    for (const bool shuffles : {true, false}) {
      Loader loader((shuffles ? all | shuffle(100'000) : all) | batch(kRows), {.epochs = 5, .seed = 3});
      (shuffles ? shuffled : in_order).push_back(step_ms(loader, 5 * kSteps, 10'000));
    }
  }
  figures.member("gap_over_median", longest_over_median(shuffled, kSteps));
  figures.member("in_order_gap_over_median", longest_over_median(in_order, kSteps));
}

// Mean distance between an element's place and its number, and whether each came once.
void displacement(const Dataset& ordered, int64_t count, const char* name, JsonWriter& figures) {
  Loader loader(ordered | batch(1000), {.seed = 5});
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

// ---- What a check says before the run, and what the run then does.

constexpr int64_t kBytes = 4096, kBatchRows = 500;
const Spec kWorked = {{"number", i64, {}}, {"values", u8, {kBytes}}};

Element worked(int64_t number, int64_t us) {
  burn_us(us);
  Tensor values = Tensor::empty(u8, {kBytes});
  std::memset(values.mutable_data(), static_cast<int>(number % 256), values.byte_size());
  return Element{Tensor::scalar(number), values};
}

Dataset worked_stream() {
  const auto make = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> { return worked(next++, 50); };
  };
  return from_generator(make, kWorked, {.name = "worked"});
}

// Seconds until the root stage has as much ahead as it gets while nobody takes.
double fill_seconds(const Loader& loader) {
  const int64_t began = now_ns();
  int64_t ready = -1, changed = began;
  while (now_ns() - changed < 300'000'000) {
    const int64_t now = loader.stats().stages.front().ready;
    if (std::exchange(ready, now) != now) changed = now_ns();
    sleep_us(500);
  }
  return static_cast<double>(changed - began) / 1e9;
}

struct Forecast {
  std::vector<double> first_s, fill_s, bytes;
};

void write(JsonWriter& figures, const char* name, const Forecast& forecast) {
  figures.key(name).begin_object();
  member(figures, "first_s", forecast.first_s);
  member(figures, "fill_s", forecast.fill_s);
  member(figures, "bytes", forecast.bytes);
  figures.end_object();
}

// Told by a check, then seen in the run: steps of a program that is slower than the pipeline.
void forecast(const Dataset& dataset, const char* name, int rounds, JsonWriter& figures) {
  Forecast told, seen;
  double moved = 0;
  for (int round = 0; round < rounds; ++round) {
    const LoaderOptions options{.seed = 5};
    const CheckReport report = check(dataset, {.loader = options});
    told.first_s.push_back(report.first_batch_s.value());
    told.fill_s.push_back(report.fill_s.value());
    told.bytes.push_back(static_cast<double>(report.memory_bytes()));
    moved = report.orders.at(0).displacement;
    const int64_t began = now_ns();
    Loader loader(dataset, options);
    Batch batch = must_next(loader);
    seen.first_s.push_back(ms_since(began) / 1e3);
    seen.fill_s.push_back(fill_seconds(loader));
    for (int step = 0; step < 12; ++step) {
      batch = must_next(loader);
      sleep_us(100'000);
    }
    seen.bytes.push_back(static_cast<double>(loader.stats().memory_peak));
  }
  figures.key(name).begin_object().member("told_moved", moved);
  write(figures, "told", told);
  write(figures, "seen", seen);
  figures.end_object();
}

void forecasts(const Dataset& all, bool full, JsonWriter& figures) {
  const int rounds = full ? 5 : 3;
  const auto work = map([](int64_t number) { return worked(number, 100); }, {.output = kWorked, .name = "work"});
  const auto of = [&](const Step& order) { return numbers(all | order) | work | batch(kBatchRows); };
  figures.key("forecasts").begin_object();
  forecast(of(shuffle(100)), "100", rounds, figures);
  forecast(of(shuffle(100'000)), "100000", rounds, figures);
  forecast(of(shuffle()), "all", rounds, figures);
  forecast(worked_stream() | shuffle(5000) | batch(kBatchRows), "stream_5000", rounds, figures);
  figures.end_object();
}

// The peak of a process of its own: with a whole shuffle, and without.
void memory(const Run& run, JsonWriter& figures) {
  const Dataset all = records(run);
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
  if (run.mode == "corpus") {
    write_images(run.place, {.count = kLabels});
    return write_records(run.place, kRecords);
  }
  if (run.control()) return classes(labels(run) | shuffle(100), 9, figures);
  classes(labels(run) | shuffle(), 9, figures);
  const Dataset all = records(run);
  first_batches(all, figures);
  gaps(all, run.full, figures);
  displacement(numbers(all | shuffle(100)), kRecords, "moved_100", figures);
  displacement(numbers(all | shuffle(100'000)), kRecords, "moved_100000", figures);
  displacement(numbers(all | shuffle()), kRecords, "moved_all", figures);
  displacement(stream(200'000) | shuffle(5000), 200'000, "moved_stream_5000", figures);
  forecasts(all, run.full, figures);
}

}  // namespace headpond::scenarios
