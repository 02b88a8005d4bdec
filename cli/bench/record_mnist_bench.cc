// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/bench_watch.h"
#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "cli/bench/mnist_by_hand.h"
#include "cli/convert/convert_samples.h"
#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/shards.h"
#include "headpond/io/array/idx.h"

namespace headpond::cli {
namespace {

// The digits as `headpond convert --from idx` writes them, in a folder of this run.
class RecordsOfDigits {
 public:
  explicit RecordsOfDigits(const Digits& digits) : digits_(digits) {}
  ~RecordsOfDigits() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  RecordsOfDigits(const RecordsOfDigits&) = delete;
  RecordsOfDigits& operator=(const RecordsOfDigits&) = delete;

  bool is_made() const { return !folder_.empty(); }
  Result<void> make() {
    std::string name = (std::filesystem::temp_directory_path() / "headpond-record-mnist-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return fail(ErrorKind::FailedPrecondition, "cannot make " + name);
    folder_ = name;
    const std::string images = folder_ + "/images", labels = folder_ + "/labels";
    HEADPOND_TRY(write_idx(images, digits_.images));
    const auto numbers = digits_.labels.as<int64_t>();
    const std::vector<uint8_t> small(numbers.begin(), numbers.end());
    HEADPOND_TRY(write_idx(labels, Tensor::from(std::span<const uint8_t>(small), {kExamples})));
    const Dataset samples = convert_samples("idx", {images, labels});
    const auto written = write_shards(as_examples(samples), {.folder = folder_});
    if (!written) return fail(written.error());
    path_ = written->shards[0].path;
    return {};
  }
  const std::string& path() const { return path_; }

 private:
  const Digits& digits_;
  std::string folder_, path_;
};

Result<uint64_t> run_loader(const std::string& path, uint64_t seed, int threads, RunLog* log) {
  const Dataset dataset = tfrecord(path, {.keep_index = false}) | shuffle() |
                          map(parse_example({{"image", u8, {28, 28}}, {"label", i64}})) |
                          map("image", [](uint8_t pixel) { return scaled(pixel); }) | batch(kBatch);
  Loader loader(dataset, {.epochs = kEpochs, .seed = seed, .threads = threads});
  const auto watch = watched(log, loader, threads == 0 ? "headpond threads=0" : "headpond");
  uint64_t all = 0;
  while (true) {
    const auto next = loader.next();
    if (at_end(next)) return all;
    if (!next) return fail(next.error());
    all ^= xor_of(next->element());
  }
}

struct Measured {
  explicit Measured(const BenchSetup& setup) : digits(setup.seed), records(digits), seed(setup.seed), log(setup.log) {}
  Digits digits;
  RecordsOfDigits records;
  const uint64_t seed;
  RunLog* const log;
  bool agree = true;
};

Result<std::vector<BenchSample>> cycle(Measured& measured) {
  if (!measured.records.is_made()) HEADPOND_TRY(measured.records.make());
  std::vector<BenchSample> samples;
  uint64_t by_hand = 0;
  const auto timed = [&](auto run) {
    Result<uint64_t> read = 0;
    samples.push_back(with_cpu_time([&] {
      const int64_t begin = now_ns();
      read = run();
      return static_cast<double>(now_ns() - begin) / static_cast<double>(kEpochs * kExamples);
    }));
    samples.push_back({1e9 * samples.back().cpu_s / static_cast<double>(kEpochs * kExamples), samples.back().cpu_s});
    return read;
  };
  for (const int threads : {-1, 0}) {
    const auto read = timed([&] { return run_loader(measured.records.path(), measured.seed, threads, measured.log); });
    if (!read) return fail(read.error());
    if (threads == 0) {
      measured.agree = measured.agree && *read == by_hand;
      continue;
    }
    by_hand = *timed([&] { return Result<uint64_t>(run_by_hand(measured.digits, measured.seed)); });
    measured.agree = measured.agree && *read == by_hand;
  }
  return samples;
}

}  // namespace

Bench record_mnist_bench(const BenchSetup& setup) {
  const auto measured = std::make_shared<Measured>(setup);
  Bench bench{.name = "record.mnist", .consume = kXorName, .rounds = 7};
  const std::pair<const char*, const char*> systems[] = {{"headpond", HEADPOND_VERSION},
                                                         {"hand loop, from memory", HEADPOND_COMPILER},
                                                         {"headpond threads=0", HEADPOND_VERSION}};
  for (const auto& [system, version] : systems) {
    for (const char* const metric : {"ns_per_example", "cpu_ns_per_example"}) {
      bench.rows.push_back({.name = "tfrecord | shuffle | parse_example | map(u8 to float/255) | batch(32)",
                            .params = {{"examples", kExamples}, {"batch", kBatch}},
                            .system = system,
                            .system_version = version,
                            .metric = metric,
                            .unit = "ns"});
    }
  }
  bench.ratios = {{0, 2}, {1, 3}};
  bench.targets = {
      {"W5.record.mnist",
       "per core at least 0.6 x the hand loop of loader.mnist (TensorFlow 2: 3,400 to 4,500 ns an Example)", true, 0.6,
       [](const BenchResult& result) { return result.ratio(1).median; }}};
  bench.cycle = [measured](const std::stop_token&) { return cycle(*measured); };
  bench.digest_equal = [measured] { return measured->agree; };
  return bench;
}

}  // namespace headpond::cli
