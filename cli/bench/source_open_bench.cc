// SPDX-License-Identifier: Apache-2.0
// Sources of one file and of many: the time to the first batch of a shuffled pipeline, with and without the offsets
// that are kept on disk, and a shuffled epoch of the same records in more or fewer files. benchmarks/peers measures
// other libraries with the parameters of the last row.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::cli {
namespace {

constexpr int64_t kShardBytes = 10'000'000, kShards = 1024, kManyShards = 20'000, kFewShards = 1000;
constexpr int64_t kPayload = 4096, kEpochRecords = 100'000;
constexpr int64_t kBatch = 256;
constexpr int64_t kTinyShards = 1000, kTinyRecords = 10, kTinyPayload = 96, kTinyBatch = 100;
constexpr int64_t kSettledMs = 2100;  // A file that changed less than 2 s ago is looked at again.

// Folders of shards. A large set is one shard under many names: what differs with the number of files is what it costs
// to find, check and open them.
class Shards {
 public:
  Shards() = default;
  ~Shards() {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    if (cache_before_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", cache_before_.c_str(), 1);
    }
  }
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  Result<void> make(uint64_t seed) {
    if (!folder_.empty()) return {};
    std::string folder = (std::filesystem::temp_directory_path() / "headpond-shards-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return fail(ErrorKind::FailedPrecondition, "source.open: no folder");
    folder_ = folder;
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    cache_before_ = cache == nullptr ? "" : cache;
    setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
    payload_.resize(kPayload);
    Random random(seed);
    for (std::byte& byte : payload_) byte = static_cast<std::byte>(random.below(256));
    HEADPOND_TRY(make_linked("1", 1));
    HEADPOND_TRY(make_linked("1024", kShards));
    HEADPOND_TRY(make_linked("20000", kManyShards));
    HEADPOND_TRY(make_epoch("few", kFewShards, kEpochRecords / kFewShards));
    HEADPOND_TRY(make_epoch("many", kManyShards, kEpochRecords / kManyShards));
    payload_.resize(kTinyPayload);
    HEADPOND_TRY(make_epoch("tiny", kTinyShards, kTinyRecords));
    std::this_thread::sleep_for(std::chrono::milliseconds(kSettledMs));
    return {};
  }
  std::string pattern(const std::string& set) const { return folder_ + "/" + set + "/*.tfrecord"; }
  void forget_offsets() const {
    std::error_code ignored;
    std::filesystem::remove_all(folder_ + "/cache", ignored);
  }

 private:
  static std::string name(int64_t n) { return fmt::format("/{:05}.tfrecord", n); }

  Result<void> write(const std::string& path, int64_t first, int64_t records) {
    auto writer = RecordWriter::open(path);
    if (!writer) return fail(writer.error());
    for (int64_t i = 0; i < records; ++i) {
      const int64_t number = first + i;
      std::memcpy(payload_.data(), &number, sizeof(number));
      HEADPOND_TRY((*writer)->append(payload_));
    }
    return (*writer)->close();
  }
  Result<void> make_linked(const std::string& set, int64_t files) {
    const std::string folder = folder_ + "/" + set;
    std::filesystem::create_directories(folder);
    HEADPOND_TRY(write(folder + name(0), 0, kShardBytes / kPayload));
    for (int64_t n = 1; n < files; ++n) std::filesystem::create_hard_link(folder + name(0), folder + name(n));
    return {};
  }
  Result<void> make_epoch(const std::string& set, int64_t files, int64_t records) {
    const std::string folder = folder_ + "/" + set;
    std::filesystem::create_directories(folder);
    for (int64_t n = 0; n < files; ++n) HEADPOND_TRY(write(folder + name(n), n * records, records));
    return {};
  }

  std::string folder_, cache_before_;
  std::vector<std::byte> payload_;
};

Dataset pipeline(const std::string& pattern) { return tfrecord(pattern) | shuffle() | batch(kBatch); }

// Milliseconds from a pattern to the first batch.
Result<double> first_batch_ms(const std::string& pattern, uint64_t seed, uint64_t& all) {
  const int64_t began = now_ns();
  Loader loader(pipeline(pattern), {.seed = seed, .run_ahead = 1});
  const auto batch = loader.next();
  const double ms = 1e-6 * static_cast<double>(now_ns() - began);
  if (!batch) return fail(batch.error());
  all ^= xor_of(batch->element());
  return ms;
}

// Nanoseconds of an epoch, its opening included.
Result<double> epoch_ns(const Dataset& dataset, uint64_t seed, uint64_t& all) {
  const int64_t began = now_ns();
  Loader loader(dataset, {.seed = seed});
  while (true) {
    const auto batch = loader.next();
    if (at_end(batch)) return static_cast<double>(now_ns() - began);
    if (!batch) return fail(batch.error());
    all ^= xor_of(batch->element());
  }
}

BenchRow row(const std::string& name, int64_t files, const char* offsets, const char* metric, const char* unit) {
  return {.name = name,
          .params = {{"files", files}, {"offsets", offsets}},
          .system = fmt::format("{} files, {} offsets", files, offsets),
          .system_version = HEADPOND_VERSION,
          .metric = metric,
          .unit = unit,
          .lower_is_better = std::string_view(unit) == "ms"};
}

struct Open {
  Shards shards;
  uint64_t seed = 0, all = 0, few = 0, many = 0;
};

Result<std::vector<BenchSample>> cycle(Open& open, const std::stop_token& stop) {
  HEADPOND_TRY(open.shards.make(open.seed));
  std::vector<BenchSample> samples;
  Error problem;
  const auto timed = [&](const auto& measure) {
    if (problem || stop.stop_requested()) return;
    samples.push_back(with_cpu_time([&] {
      const Result<double> value = measure();
      if (!value) problem = value.error();
      return value.value_or(0);
    }));
  };
  for (const char* const set : {"1", "1024", "20000"}) {
    const std::string pattern = open.shards.pattern(set);
    open.shards.forget_offsets();
    timed([&] { return first_batch_ms(pattern, open.seed, open.all); });
    timed([&] { return first_batch_ms(pattern, open.seed, open.all); });
  }
  for (const bool is_many : {false, true}) {
    const std::string pattern = open.shards.pattern(is_many ? "many" : "few");
    const auto made = check(tfrecord(pattern));
    if (!made) return fail(made.error());
    uint64_t& all = is_many ? open.many : open.few;
    all = 0;
    timed([&]() -> Result<double> {
      const auto ns = epoch_ns(pipeline(pattern), open.seed, all);
      return ns ? Result<double>(1e9 * static_cast<double>(kEpochRecords) / *ns) : fail(ns.error());
    });
  }
  timed([&]() -> Result<double> {
    const auto ns = epoch_ns(tfrecord(open.shards.pattern("tiny")) | batch(kTinyBatch), open.seed, open.all);
    return ns ? Result<double>(*ns / static_cast<double>(kTinyShards * kTinyRecords)) : fail(ns.error());
  });
  if (problem) return fail(problem);
  if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
  return samples;
}

}  // namespace

Bench source_open_bench(const BenchSetup& setup) {
  const auto open = std::make_shared<Open>();
  open->seed = setup.seed;
  Bench bench{.name = "source.open", .consume = kXorName, .rounds = 3};
  const std::string first = "first batch of 256 shuffled records of 4 KiB, shards of 10 MB";
  for (const int64_t files : {int64_t{1}, kShards, kManyShards}) {
    for (const char* const offsets : {"no", "kept"}) {
      bench.rows.push_back(row(first, files, offsets, "first_batch_ms", "ms"));
    }
  }
  const std::string epoch = "shuffled epoch of 410 MB, opening included";
  bench.rows.push_back(row(epoch, kFewShards, "kept", "records_per_s", "1/s"));
  bench.rows.push_back(row(epoch, kManyShards, "kept", "records_per_s", "1/s"));
  bench.rows.push_back({.name = "1000 files of 10 records",
                        .params = {{"files", kTinyShards},
                                   {"records_each", kTinyRecords},
                                   {"record_bytes", kTinyPayload},
                                   {"batch", kTinyBatch}},
                        .system = "headpond",
                        .system_version = HEADPOND_VERSION,
                        .metric = "ns_per_element",
                        .unit = "ns"});
  // How many times better: the time of one file over that of many, the rate of many over that of few.
  bench.ratios = {{3, 1}, {7, 6}};
  const auto ratio = [](size_t i) { return [i](const BenchResult& result) { return result.ratio(i).median; }; };
  bench.targets = {
      {"source.open.first", "1,024 shards: the first batch at most 1.3 x as late as of one", true, 1 / 1.3, ratio(0)},
      {"source.open.epoch", "20,000 shards: a shuffled epoch at least 0.7 x as fast as of 1,000", true, 0.7, ratio(1)}};
  bench.cycle = [open](const std::stop_token& stop) { return cycle(*open, stop); };
  bench.digest_equal = [open] { return open->few == open->many; };
  return bench;
}

}  // namespace headpond::cli
