// SPDX-License-Identifier: Apache-2.0
// Sources of one file and of many: the time to the first batch of a shuffled pipeline, with and without offsets in the
// cache folder, and a shuffled epoch of the same records in more or fewer files. All files are in memory: in the page
// cache, or in /dev/shm, with the cache folder beside them. benchmarks/peers measures other libraries with the
// parameters of the last row.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "cli/bench/temp_folder.h"
#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::cli {
namespace {

constexpr int64_t kShardBytes = 10'000'000, kShards = 1024, kManyShards = 20'000, kFewShards = 1000;
constexpr int64_t kPayload = 4096, kRecords = 100'000;
constexpr int64_t kLinks = 25;  // Names of each file of an epoch: odd, or XOR would lose what all of them have.
constexpr int64_t kEpochRecords = kRecords * kLinks;
constexpr int64_t kBatch = 256;
constexpr int64_t kTinyShards = 1000, kTinyRecords = 10, kTinyPayload = 96, kTinyBatch = 100;
constexpr int64_t kSettledMs = 2100;  // A file that changed less than 2 s ago is looked at again.

// In memory, if there is room for all of the data and the user has not said where: thousands of files take minutes to
// make and to remove on a busy disk, and none of them is read from it.
std::filesystem::path folder_of_shards() {
  constexpr std::uintmax_t kRoom = 2'000'000'000;
  std::error_code error;
  const auto memory = std::filesystem::space("/dev/shm", error);
  const bool has_room = !error && memory.available != static_cast<std::uintmax_t>(-1) && memory.available >= kRoom;
  return std::getenv("TMPDIR") == nullptr && has_room ? "/dev/shm" : std::filesystem::temp_directory_path();
}

// Folders of shards. A large set is fewer files under many names: what differs with the number of files is what it
// costs to find, check and open them.
class Shards {
 public:
  Shards() = default;
  ~Shards() {
    if (!made_) return;
    if (cache_before_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", cache_before_.c_str(), 1);
    }
  }
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  Result<void> make(uint64_t seed) {
    if (made_) return {};
    made_.emplace("shards", folder_of_shards());
    folder_ = made_->path;
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    cache_before_ = cache == nullptr ? "" : cache;
    HEADPOND_TRY(write_records(seed, kRecords, kPayload));
    HEADPOND_TRY(cut("1", 1, kShardBytes / kPayload));
    HEADPOND_TRY(cut("1024", 1, kShardBytes / kPayload, kShards));
    HEADPOND_TRY(cut("20000", 1, kShardBytes / kPayload, kManyShards));
    HEADPOND_TRY(cut("few", kFewShards / kLinks, kEpochRecords / kFewShards, kLinks));
    HEADPOND_TRY(cut("many", kManyShards / kLinks, kEpochRecords / kManyShards, kLinks));
    HEADPOND_TRY(cut("small", kManyShards, kRecords / kManyShards));
    HEADPOND_TRY(write_records(seed, kTinyShards * kTinyRecords, kTinyPayload));
    HEADPOND_TRY(cut("tiny", kTinyShards, kTinyRecords));
    std::error_code ignored;
    std::filesystem::remove(records(), ignored);
    sync_files();
    std::this_thread::sleep_for(std::chrono::milliseconds(kSettledMs));
    keep_offsets();
    for (const char* const set : {"20000", "few", "many", "small"}) {
      const auto made = check(tfrecord(pattern(set)));
      if (!made) return fail(made.error());
    }
    return {};
  }
  std::string pattern(const std::string& set) const { return folder_ + "/" + set + "/*.tfrecord"; }
  // Offsets of what is read from now on are made anew.
  void forget_offsets() const {
    std::error_code ignored;
    std::filesystem::remove_all(folder_ + "/made", ignored);
    setenv("XDG_CACHE_HOME", (folder_ + "/made").c_str(), 1);
  }
  // Offsets that were made once are used again.
  void keep_offsets() const { setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1); }

 private:
  static std::string name(int64_t n) { return fmt::format("/{:05}.tfrecord", n); }
  std::string records() const { return folder_ + "/records"; }

  static Result<void> no_shard(const std::string& path, const std::error_code& error) {
    return fail(ErrorKind::FailedPrecondition, fmt::format("source.open: cannot make {}: {}", path, error.message()));
  }

  // Or the system would write the files while they are read.
  void sync_files() const {
    const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    (void)::syncfs(folder);
    ::close(folder);
  }
  // The file that all shards are parts of. A RecordWriter for each of them would wait for the disk each time.
  Result<void> write_records(uint64_t seed, int64_t count, int64_t payload_bytes) {
    std::vector<std::byte> payload(static_cast<size_t>(payload_bytes));
    Random random(seed);
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random.below(256));
    auto writer = RecordWriter::open(records());
    if (!writer) return fail(writer.error());
    for (int64_t number = 0; number < count; ++number) {
      std::memcpy(payload.data(), &number, sizeof(number));
      HEADPOND_TRY((*writer)->append(payload));
    }
    HEADPOND_TRY((*writer)->close());
    std::error_code error;
    record_bytes_ = std::filesystem::file_size(records(), error) / static_cast<uint64_t>(count);
    return error ? no_shard(records(), error) : Result<void>();
  }
  // Files of so many records each, of the first ones in that file, and `links` names for each.
  Result<void> cut(const std::string& set, int64_t files, int64_t records_each, int64_t links = 1) {
    const std::string folder = folder_ + "/" + set;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return no_shard(folder, error);
    std::ifstream from(records(), std::ios::binary);
    std::vector<char> shard(record_bytes_ * static_cast<uint64_t>(records_each));
    for (int64_t n = 0; n < files; ++n) {
      from.read(shard.data(), static_cast<std::streamsize>(shard.size()));
      std::ofstream to(folder + name(n), std::ios::binary);
      to.write(shard.data(), static_cast<std::streamsize>(shard.size()));
      to.close();
      if (!from || !to) return fail(ErrorKind::FailedPrecondition, "source.open: cannot write " + folder + name(n));
      for (int64_t link = 1; link < links; ++link) {
        std::filesystem::create_hard_link(folder + name(n), folder + name(n + link * files), error);
        if (error) return no_shard(folder + name(n + link * files), error);
      }
    }
    return {};
  }

  std::optional<TempFolder> made_;
  std::string folder_, cache_before_;
  uint64_t record_bytes_ = 0;
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
  uint64_t seed = 0, all = 0;
  std::map<std::string, uint64_t> epochs;  // What each set gave.
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
  const auto time_first_batch = [&](const char* set) {
    timed([&] { return first_batch_ms(open.shards.pattern(set), open.seed, open.all); });
  };
  for (const char* const set : {"1", "1024"}) {
    open.shards.forget_offsets();
    time_first_batch(set);
    time_first_batch(set);
  }
  open.shards.keep_offsets();
  time_first_batch("20000");
  for (const std::string set : {"few", "many", "small"}) {
    uint64_t& all = open.epochs[set];
    all = 0;
    timed([&]() -> Result<double> {
      const auto ns = epoch_ns(pipeline(open.shards.pattern(set)), open.seed, all);
      const auto records = static_cast<double>(set == "small" ? kRecords : kEpochRecords);
      return ns ? Result<double>(1e9 * records / *ns) : fail(ns.error());
    });
  }
  open.shards.forget_offsets();
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
  for (const int64_t files : {int64_t{1}, kShards}) {
    for (const char* const offsets : {"no", "kept"}) {
      bench.rows.push_back(row(first, files, offsets, "first_batch_ms", "ms"));
    }
  }
  bench.rows.push_back(row(first, kManyShards, "kept", "first_batch_ms",
                           "ms"));  // Without offsets it takes 20 times as long as of 1,024.
  const std::string epoch = "shuffled epoch of 10 GB, opening included";
  bench.rows.push_back(row(epoch, kFewShards, "kept", "records_per_s", "1/s"));
  bench.rows.push_back(row(epoch, kManyShards, "kept", "records_per_s", "1/s"));
  bench.rows.push_back(row("the same of 410 MB, 5 records a file", kManyShards, "kept", "records_per_s", "1/s"));
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
  bench.ratios = {{3, 1}, {6, 5}};
  const auto ratio = [](size_t i) { return [i](const BenchResult& result) { return result.ratio(i).median; }; };
  bench.targets = {
      {"source.open.first", "1,024 shards: the first batch at most 1.3 x as late as of one", true, 1 / 1.3, ratio(0)},
      {"source.open.epoch", "20,000 shards: a shuffled epoch at least 0.7 x as fast as of 1,000", true, 0.7, ratio(1)}};
  bench.cycle = [open](const std::stop_token& stop) { return cycle(*open, stop); };
  bench.digest_equal = [open] { return open->epochs["few"] == open->epochs["many"]; };
  return bench;
}

}  // namespace headpond::cli
