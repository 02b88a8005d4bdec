// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/measure.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <utility>

#include "examples/preprocess_once/operators.h"
#include "examples/preprocess_once/records.h"
#include "examples/preprocess_once/straightforward.h"

namespace preprocess_once {
namespace {

constexpr int64_t kDrawn = 20;

// A new folder that goes away with its content.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("headpond_preprocess_once_" + std::to_string(hp::entropy()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

double seconds_since(int64_t start_ns) { return static_cast<double>(hp::now_ns() - start_ns) * 1e-9; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::vector<double> ratios(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> result(of.size());
  std::transform(of.begin(), of.end(), to.begin(), result.begin(), std::divides<>());
  return result;
}

enum Way : uint8_t { kStraightforward, kOperators, kOneThread, kRecords, kWays };

using Digests = std::vector<uint32_t>;

// One run of a way: how fast, and what came.
struct Run {
  double rate = 0;
  Digests digests = {};
  double wait_share = 0;
};

hp::Result<Run> run_straightforwardly(const std::vector<Picture>& pictures, uint64_t seed) {
  Run run;
  const int64_t start = hp::now_ns();
  for (size_t i = 0; i < pictures.size(); ++i) {
    const auto sample = prepare_straightforwardly(pictures[i], seed, static_cast<int64_t>(i));
    if (!sample) return hp::fail(sample.error());
    run.digests.push_back(digest(sample->input, sample->nuclei));
  }
  run.rate = static_cast<double>(pictures.size()) / seconds_since(start);
  return run;
}

hp::Result<Run> run_loader(const hp::Dataset& samples, const hp::LoaderOptions& options) {
  Run run;
  const int64_t start = hp::now_ns();
  hp::Loader loader(samples, options);
  while (true) {
    const auto sample = loader.next();
    if (!sample) return hp::fail(sample.error());
    if (!*sample) break;
    run.digests.push_back(digest((**sample)["input"], (**sample)["nuclei"]));
  }
  const double wall_s = seconds_since(start);
  run.rate = static_cast<double>(run.digests.size()) / wall_s;
  run.wait_share = static_cast<double>(loader.stats().wait_ns) * 1e-9 / wall_s;
  return run;
}

// Whether `digests` are those of `one` epoch, again and again.
bool repeats(const Digests& digests, const Digests& one) {
  if (one.empty() || digests.size() % one.size() != 0) return false;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (digests[i] != one[i % one.size()]) return false;
  }
  return true;
}

class Trial {
 public:
  explicit Trial(const MeasureOptions& options) : options_(options) {}

  hp::Result<Measured> all() {
    HEADPOND_TRY(find());
    HEADPOND_TRY(write());
    for (int64_t i = 0; i < std::max<int64_t>(options_.rounds, 1); ++i) {
      say("round " + std::to_string(i + 1) + " of " + std::to_string(options_.rounds));
      HEADPOND_TRY(round());
      measured_.rss_mib.push_back(static_cast<double>(hp::memory_info().rss) / (1 << 20));
    }
    HEADPOND_TRY(distances());
    HEADPOND_TRY(from_memory());
    measured_.straightforward = median(rates_[kStraightforward]);
    measured_.operators = median(rates_[kOperators]);
    measured_.one_thread = median(rates_[kOneThread]);
    measured_.records = median(rates_[kRecords]);
    measured_.operators_gain = median(ratios(rates_[kOperators], rates_[kStraightforward]));
    measured_.records_gain = median(ratios(rates_[kRecords], rates_[kStraightforward]));
    measured_.records_wait = median(waits_);
    return measured_;
  }

 private:
  void say(std::string_view line) const {
    if (options_.say) options_.say(line);
  }
  std::string record_path() const { return folder_.file("prepared.tfrecord"); }

  // Where the pictures are; draws them if there are none.
  hp::Result<void> find() {
    std::optional<std::string> data = options_.data.empty() ? find_data() : options_.data;
    if (!data) {
      const int64_t count = options_.images < 0 ? kDrawn : options_.images;
      say("draws " + std::to_string(count) + " pictures, because there are no real ones");
      data = folder_.file("drawn");
      HEADPOND_TRY(draw_pictures(*data, count, options_.seed));
      measured_.is_drawn = true;
    }
    auto found = find_pictures(*data);
    if (!found) return hp::fail(found.error());
    pictures_ = std::move(*found);
    if (options_.images >= 0 && static_cast<size_t>(options_.images) < pictures_.size()) {
      pictures_.resize(static_cast<size_t>(options_.images));
    }
    if (pictures_.empty()) return hp::fail(hp::ErrorKind::InvalidArgument, "no images are asked for");
    measured_.images = static_cast<int64_t>(pictures_.size());
    for (const Picture& picture : pictures_) measured_.masks += static_cast<int64_t>(picture.masks.size());
    return {};
  }

  hp::Result<void> write() {
    say("prepares " + std::to_string(measured_.images) + " images once");
    const int64_t start = hp::now_ns();
    const auto bytes = write_prepared(prepared(pictures_, options_.seed), record_path());
    if (!bytes) return hp::fail(bytes.error());
    measured_.write_s = seconds_since(start);
    measured_.record_bytes = *bytes;
    return {};
  }

  // Takes the rate of `way`, and holds what came to what came first.
  hp::Result<void> take(Way way, const hp::Result<Run>& run) {
    if (!run) return hp::fail(run.error());
    if (options_.stop.stop_requested()) return hp::fail(hp::ErrorKind::Cancelled, "stopped");
    if (expected_.empty()) expected_ = run->digests;
    measured_.bytes_equal = measured_.bytes_equal && repeats(run->digests, expected_);
    rates_[way].push_back(run->rate);
    if (way == kRecords) waits_.push_back(run->wait_share);
    return {};
  }

  hp::Result<void> round() {
    const hp::Dataset made = prepared(pictures_, options_.seed);
    HEADPOND_TRY(take(kStraightforward, run_straightforwardly(pictures_, options_.seed)));
    HEADPOND_TRY(take(kOperators, run_loader(made, {})));
    HEADPOND_TRY(take(kOneThread, run_loader(made, {.threads = 1, .consumer_helps = false})));
    return take(kRecords, run_loader(read_prepared(record_path()), {.epochs = options_.record_epochs}));
  }

  // Both ways to make the distance channels, image by image in turn.
  hp::Result<void> distances() {
    int64_t brute_ns = 0, linear_ns = 0;
    hp::Loader loader(read_prepared(record_path()), {.threads = 0});
    for (int64_t number = 0; number < measured_.images; ++number) {
      const auto sample = loader.next();
      if (!sample) return hp::fail(sample.error());
      const hp::Tensor& nuclei = (**sample)["nuclei"];
      const Clicks clicks = draw_clicks(nuclei.as<uint8_t>(), nuclei.dim(1), options_.seed, number);
      hp::Tensor input = hp::Tensor::empty(hp::u8, {nuclei.dim(0), nuclei.dim(1), kChannels});
      std::fill_n(input.mutable_data(), input.byte_size(), std::byte{0});
      const int64_t start = hp::now_ns();
      measure_distances(clicks, input);
      const int64_t between = hp::now_ns();
      HEADPOND_TRY(write_distances(clicks, input));
      brute_ns += between - start;
      linear_ns += hp::now_ns() - between;
    }
    const double images = static_cast<double>(measured_.images) * 1e6;
    measured_.brute_force_ms = static_cast<double>(brute_ns) / images;
    measured_.linear_ms = static_cast<double>(linear_ns) / images;
    measured_.distances_gain = measured_.brute_force_ms / measured_.linear_ms;
    return {};
  }

  // The loop alone: all samples lie in memory.
  hp::Result<void> from_memory() {
    hp::Loader loader(read_prepared(record_path()));
    std::vector<hp::Batch> samples;
    for (const hp::Batch& sample : loader.batches()) samples.push_back(sample);
    const int64_t start = hp::now_ns();
    Run run;
    for (int64_t epoch = 0; epoch < options_.record_epochs; ++epoch) {
      for (const hp::Batch& sample : samples) run.digests.push_back(digest(sample["input"], sample["nuclei"]));
    }
    measured_.in_memory = static_cast<double>(run.digests.size()) / seconds_since(start);
    measured_.bytes_equal = measured_.bytes_equal && repeats(run.digests, expected_);
    return {};
  }

  const MeasureOptions& options_;
  const Folder folder_;
  std::vector<Picture> pictures_;
  Measured measured_;
  Digests expected_;
  std::array<std::vector<double>, kWays> rates_;
  std::vector<double> waits_;
};

}  // namespace

std::optional<std::string> find_data() {
  const char* const given = std::getenv("HEADPOND_DATA");
  const std::filesystem::path data(given != nullptr ? given : "../shared/data");
  const auto folder = data / "dsb2018-nuclei" / "stage1_train";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder.string();
}

hp::Result<Measured> measure(const MeasureOptions& options) try { return Trial(options).all(); } catch (...) {
  return hp::fail(hp::current_exception_error());
}

}  // namespace preprocess_once
