// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/base/clock.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/io/file/file.h"

namespace headpond::cli {
namespace {

// A training lists its files once and reads them in each epoch.
constexpr int64_t kEpochs = 4;
constexpr int64_t kFiles = 2000, kSamples = 16000, kRate = 16000, kSoundBatch = 64;
constexpr size_t kWavHeader = 44;

// WAV files of a second, in a folder of this run.
class SoundFiles {
 public:
  SoundFiles() = default;
  ~SoundFiles() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  SoundFiles(const SoundFiles&) = delete;
  SoundFiles& operator=(const SoundFiles&) = delete;

  bool is_made() const { return !paths_.empty(); }
  Result<void> make() {
    std::string name = (std::filesystem::temp_directory_path() / "headpond-sound-slot-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return fail(ErrorKind::FailedPrecondition, "cannot make " + name);
    folder_ = name;
    std::filesystem::create_directory(folder_ + "/sound");
    std::vector<float> values(kSamples);
    for (int64_t i = 0; i < kFiles; ++i) {
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<float>((k * 7919 + static_cast<size_t>(i) * 104729) % 65536) / 32768.0F - 1;
      }
      const auto file = encode_wav(Tensor::from(values, {kSamples, 1}), kRate);
      if (!file) return fail(file.error());
      paths_.push_back(fmt::format("{}/sound/{:05}.wav", folder_, i));
      HEADPOND_TRY(write_file_atomically(paths_.back(), {*file}));
    }
    return {};
  }
  const std::string& folder() const { return folder_; }
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::string folder_;
  std::vector<std::string> paths_;
};

Result<uint64_t> sounds_by_loader(const std::string& path, int threads, int64_t epochs) {
  const Dataset dataset = folder(path, {.extensions = {"wav"}}) |
                          map("file", decode_wav({.desired_channels = 1, .desired_samples = kSamples})) |
                          batch(kSoundBatch);
  Loader loader(dataset, {.epochs = epochs, .threads = threads});
  uint64_t all = 0;
  int64_t files = 0;
  while (true) {
    const auto next = loader.next();
    if (at_end(next) && files == epochs * kFiles) return all;
    if (at_end(next)) {
      return fail(ErrorKind::DataLoss, fmt::format("{} of {} files were delivered", files, epochs * kFiles));
    }
    if (!next) return fail(next.error());
    const Tensor& rows = next->element()[1];
    files += rows.dim(0);
    all = std::rotl(all, 1) ^ xor_of({rows.data(), rows.byte_size()});
  }
}

// Open, read, convert into the row of a batch; nothing is checked.
Result<uint64_t> sounds_by_hand(const std::vector<std::string>& paths, int64_t epochs) {
  std::vector<std::byte> file(kWavHeader + 2 * kSamples);
  std::vector<float> rows(static_cast<size_t>(kSoundBatch * kSamples));
  uint64_t all = 0;
  for (size_t at = 0; at < static_cast<size_t>(epochs) * paths.size(); ++at) {
    const size_t i = at % paths.size();
    const int opened = ::open(paths[i].c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return fail(ErrorKind::NotFound, paths[i]);
    const ssize_t got = ::read(opened, file.data(), file.size());
    ::close(opened);
    if (got != static_cast<ssize_t>(file.size())) return fail(ErrorKind::DataLoss, paths[i]);
    const size_t slot = i % kSoundBatch;
    float* const row = &rows[slot * kSamples];
    for (size_t k = 0; k < kSamples; ++k) {
      int16_t value = 0;
      std::memcpy(&value, &file[kWavHeader + 2 * k], sizeof value);
      row[k] = static_cast<float>(value) * (1.0F / 32768);
    }
    if (slot + 1 < kSoundBatch && i + 1 < paths.size()) continue;
    all = std::rotl(all, 1) ^ xor_of(std::as_bytes(std::span(rows).first((slot + 1) * kSamples)));
  }
  return all;
}

struct MeasuredSounds {
  SoundFiles files;
  bool agree = true;
};

Result<std::vector<BenchSample>> sound_cycle(MeasuredSounds& measured) {
  if (!measured.files.is_made()) HEADPOND_TRY(measured.files.make());
  std::vector<BenchSample> samples;
  std::vector<uint64_t> read;
  Result<void> done = {};
  const auto timed = [&](int64_t epochs, auto run) {
    const auto files = static_cast<double>(epochs * kFiles);
    const BenchSample wall = with_cpu_time([&] {
      const int64_t begin = now_ns();
      const Result<uint64_t> all = run(epochs);
      if (!all && done) done = fail(all.error());
      read.push_back(all ? *all : 0);
      return static_cast<double>(now_ns() - begin) / 1e3 / files;
    });
    samples.push_back(wall);
    samples.push_back({1e6 * wall.cpu_s / files, wall.cpu_s});
  };
  const auto by_loader = [&](int threads) {
    return [&measured, threads](int64_t epochs) { return sounds_by_loader(measured.files.folder(), threads, epochs); };
  };
  const auto by_hand = [&](int64_t epochs) { return sounds_by_hand(measured.files.paths(), epochs); };
  timed(kEpochs, by_loader(-1));
  timed(kEpochs, by_hand);
  timed(kEpochs, by_loader(0));
  timed(1, by_loader(0));
  if (!done) return fail(done.error());
  measured.agree = measured.agree && read[0] == read[1] && read[2] == read[1] && read[3] == by_hand(1).value_or(0);
  return samples;
}

}  // namespace

Bench sound_slot_bench(const BenchSetup&) {
  const auto measured = std::make_shared<MeasuredSounds>();
  Bench bench{.name = "sound.slot", .consume = kXorName, .rounds = 7};
  struct System {
    const char* name;
    const char* version;
    int64_t epochs = kEpochs;
  };
  constexpr System kSystems[] = {{"headpond", HEADPOND_VERSION},
                                 {"bare loop", HEADPOND_COMPILER},
                                 {"headpond threads=0", HEADPOND_VERSION},
                                 {"headpond threads=0, its first epoch", HEADPOND_VERSION, 1}};
  for (const System& system : kSystems) {
    for (const char* const metric : {"us_per_file", "cpu_us_per_file"}) {
      bench.rows.push_back({.name = "folder | map(decode_wav) | batch(64), WAV files of 1 s, 16 kHz, 16 bits, to float",
                            .params = {{"files", kFiles}, {"batch", kSoundBatch}, {"epochs", system.epochs}},
                            .system = system.name,
                            .system_version = system.version,
                            .metric = metric,
                            .unit = "us"});
    }
  }
  bench.ratios = {{0, 2}, {5, 3}, {7, 3}};
  bench.targets = {{"W9.sound.slot", "per core at least 0.8 x open, read and convert, over four epochs", true, 0.8,
                    [](const BenchResult& result) { return result.ratio(1).median; }}};
  bench.cycle = [measured](const std::stop_token&) { return sound_cycle(*measured); };
  bench.digest_equal = [measured] { return measured->agree; };
  return bench;
}

}  // namespace headpond::cli
