// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/measure.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

#include "examples/preprocess_once/operators.h"
#include "examples/preprocess_once/records.h"
#include "examples/preprocess_once/ways.h"

namespace preprocess_once {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDrawn = 20;
constexpr int64_t kLookEvery_ns = 50'000'000;

// A new folder that goes away with its content.
class Folder {
 public:
  static hp::Result<std::unique_ptr<Folder>> make() {
    const char* const given = std::getenv("TMPDIR");
    const auto path = fs::path(given != nullptr && *given != '\0' ? given : "/tmp") /
                      ("headpond_preprocess_once_" + std::to_string(hp::entropy()));
    std::error_code error;
    fs::create_directory(path, error);
    if (error) return hp::fail(hp::ErrorKind::FailedPrecondition, path.string() + ": " + error.message());
    return std::unique_ptr<Folder>(new Folder(path));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  explicit Folder(fs::path path) : path_(std::move(path)) {}
  const fs::path path_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double median_ratio(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios(of.size());
  std::transform(of.begin(), of.end(), to.begin(), ratios.begin(), std::divides<>());
  return median(std::move(ratios));
}

enum Way : uint8_t { kStraightforward, kOperators, kOneThread, kRecords, kInMemory, kWays };
constexpr std::array<const char*, kWays> kNames = {"straightforward", "operators", "one thread", "tfrecord",
                                                   "in memory"};

class Trial {
 public:
  Trial(const MeasureOptions& options, const Folder& folder) : options_(options), folder_(folder) {}

  hp::Result<Measured> all() {
    measured_.rounds = options_.rounds;
    measured_.record_epochs = options_.record_epochs;
    HEADPOND_TRY(find());
    HEADPOND_TRY(write());
    for (int64_t i = 1; i <= options_.rounds; ++i) {
      HEADPOND_TRY(round("round " + std::to_string(i) + " of " + std::to_string(options_.rounds)));
    }
    conclude();
    return measured_;
  }

 private:
  // Tells that `doing` begins. The answer is asked after each of its samples.
  GoOn begin(const char* doing, const std::string& line = "") {
    hp::BufferPool::shared().trim();
    peak_ = looked_ns_ = 0;
    if (options_.progress) options_.progress({line, doing, 0});
    return [this, doing](int64_t done) {
      look();
      if (options_.progress) options_.progress({"", doing, done});
      return !options_.stop.stop_requested();
    };
  }

  void look() {
    const int64_t now = hp::now_ns();
    if (looked_ns_ != 0 && now - looked_ns_ < kLookEvery_ns) return;
    looked_ns_ = now;
    peak_ = std::max(peak_, static_cast<int64_t>(hp::memory_info().rss));
  }

  // Where the pictures are; draws them if there are none.
  hp::Result<void> find() {
    std::optional<std::string> data = options_.data.empty() ? find_data() : options_.data;
    if (!data) {
      const int64_t count = options_.images < 0 ? kDrawn : options_.images;
      data = folder_.file("drawn");
      const std::string line = "draws " + std::to_string(count) + " pictures, because there are no real ones";
      HEADPOND_TRY(draw_pictures(*data, count, options_.seed, begin("draw", line)));
      measured_.is_drawn = true;
    }
    auto found = find_pictures(*data);
    if (!found) return hp::fail(found.error());
    pictures_ = std::move(*found);
    if (options_.images >= 0 && static_cast<size_t>(options_.images) < pictures_.size()) {
      pictures_.resize(static_cast<size_t>(options_.images));
    }
    measured_.images = static_cast<int64_t>(pictures_.size());
    for (const Picture& picture : pictures_) measured_.masks += static_cast<int64_t>(picture.masks.size());
    return {};
  }

  hp::Result<void> write() {
    const GoOn go_on = begin("write", "prepares " + std::to_string(measured_.images) + " images once");
    const int64_t start = hp::now_ns();
    const auto file = write_prepared(prepared(pictures_, options_.seed), folder_.file("records"), go_on);
    if (!file) return hp::fail(file.error());
    measured_.write_s = static_cast<double>(hp::now_ns() - start) * 1e-9;
    measured_.record_bytes = file->bytes;
    path_ = file->path;
    return {};
  }

  // Takes the rate of `way`, and holds what came to what came first.
  hp::Result<void> take(Way way, const hp::Result<Run>& run, int64_t epochs = 1) {
    if (!run) return hp::fail(run.error());
    if (expected_.empty()) expected_ = run->digests;
    measured_.bytes_equal = measured_.bytes_equal && repeats(run->digests, expected_, epochs);
    rates_[way].push_back(run->rate);
    peaks_[way].push_back(static_cast<double>(peak_) / (1 << 20));
    if (way == kRecords) waits_.push_back(run->wait_share);
    return {};
  }

  hp::Result<void> round(const std::string& line) {
    const int64_t epochs = options_.record_epochs;
    const auto make = [&] { return prepared(pictures_, options_.seed); };
    const auto read = [&] { return read_prepared(path_); };
    GoOn go_on = begin(kNames[kStraightforward], line);
    HEADPOND_TRY(take(kStraightforward, run_straightforwardly(pictures_, options_.seed, go_on)));
    go_on = begin(kNames[kOperators]);
    HEADPOND_TRY(take(kOperators, run_loader(make, {}, go_on)));
    go_on = begin(kNames[kOneThread]);
    HEADPOND_TRY(take(kOneThread, run_loader(make, {.threads = 1, .consumer_helps = false}, go_on)));
    go_on = begin(kNames[kRecords]);
    HEADPOND_TRY(take(kRecords, run_loader(read, {.epochs = epochs}, go_on), epochs));
    go_on = begin(kNames[kInMemory]);
    HEADPOND_TRY(take(kInMemory, run_in_memory(path_, epochs, go_on), epochs));
    const auto distances = time_distances(path_, options_.seed, begin("distance maps"));
    if (!distances) return hp::fail(distances.error());
    brute_force_ms_.push_back(distances->brute_force_ms);
    linear_ms_.push_back(distances->linear_ms);
    return {};
  }

  void conclude() {
    Measured& to = measured_;
    to.straightforward = median(rates_[kStraightforward]);
    to.operators = median(rates_[kOperators]);
    to.one_thread = median(rates_[kOneThread]);
    to.records = median(rates_[kRecords]);
    to.in_memory = median(rates_[kInMemory]);
    to.operators_gain = median_ratio(rates_[kOperators], rates_[kStraightforward]);
    to.records_gain = median_ratio(rates_[kRecords], rates_[kStraightforward]);
    to.records_wait = median(waits_);
    to.brute_force_ms = median(brute_force_ms_);
    to.linear_ms = median(linear_ms_);
    to.distances_gain = median_ratio(brute_force_ms_, linear_ms_);
    to.peak_mib = {peaks_[kStraightforward], peaks_[kOperators], peaks_[kRecords]};
  }

  const MeasureOptions& options_;
  const Folder& folder_;
  std::vector<Picture> pictures_;
  std::string path_;  // Of the records.
  Measured measured_;
  Digests expected_;
  std::array<std::vector<double>, kWays> rates_, peaks_;
  std::vector<double> waits_, brute_force_ms_, linear_ms_;
  int64_t peak_ = 0, looked_ns_ = 0;  // Of what is done now.
};

hp::Result<void> check(const MeasureOptions& options) {
  if (options.images != 0 && options.rounds > 0 && options.record_epochs > 0) return {};
  return hp::fail(hp::ErrorKind::InvalidArgument, "images, rounds and epochs must be more than none");
}

}  // namespace

std::optional<std::string> find_data(const std::string& folder) {
  const char* const given = std::getenv("HEADPOND_DATA");
  const fs::path data(given != nullptr ? given : "../shared/data");
  if (!fs::is_directory(data / folder)) return std::nullopt;
  return (data / folder).string();
}

hp::Result<Measured> measure(const MeasureOptions& options) try {
  HEADPOND_TRY(check(options));
  const auto folder = Folder::make();
  if (!folder) return hp::fail(folder.error());
  return Trial(options, **folder).all();
} catch (...) {
  return hp::fail(hp::current_exception_error());
}

}  // namespace preprocess_once
