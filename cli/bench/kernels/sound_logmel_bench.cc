// SPDX-License-Identifier: Apache-2.0
// Log-mel spectra of clips in memory.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/bench/benches.h"
#include "cli/bench/kernels/kernel_bench.h"
#include "headpond/base/random.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"
#include "headpond/dataset/ops.h"

namespace headpond::cli {
namespace {

constexpr int64_t kRate = 16000, kSeconds = 10, kFrames = kRate * kSeconds, kMostClips = 64, kClipBatch = 8;
constexpr int64_t kMels = 80;

struct SpectrumWork {
  const char* name;
  SpectrumOptions options;
};
const SpectrumWork kSpectra[] = {
    {"80 mels, 25 and 10 ms", {.hop = kRate / 100, .mels = kMels}},
    {"whisper, 80 mels", {.preset = SpectrumPreset::whisper}},
    {"kaldi, 80 mels", {.preset = SpectrumPreset::kaldi}},
};

// A tone that rises, and noise.
Tensor noisy_clips(int64_t count) {
  Tensor made = Tensor::empty(DType::f32, {count, kFrames});
  Random random(11);
  float phase = 0;
  int64_t at = 0;
  for (float& value : made.mutable_as<float>()) {
    phase += 0.02F + 0.3F * static_cast<float>(at++ % kFrames) / static_cast<float>(kFrames);
    phase -= phase > 1 ? 2.0F : 0.0F;
    value = 0.5F * phase + 0.1F * (random.uniform() - 0.5F);
  }
  return made;
}

KernelWork spectrum_work(const std::shared_ptr<const Tensor>& clips, const SpectrumOptions& options) {
  return {.source = from_tensor_slices(*clips),
          .input = [clips](int64_t i) { return clips->row(i); },
          .items = clips->dim(0),
          .kernels = {log_mel(options)},
          .shape = Spectrum(SpectrumKind::log_mel, options).shape(kFrames),
          .batch = kClipBatch};
}

}  // namespace

Bench sound_logmel_bench(const BenchSetup& bench_setup) {
  const int64_t count = std::clamp<int64_t>(bench_setup.items / 3000, 2, kMostClips);
  TimedBench setup{.name = "sound.logmel", .item = "clip", .cases = {}, .prepare = {}, .rounds = 7};
  for (const SpectrumWork& work : kSpectra) {
    setup.cases.push_back({fmt::format("from_tensor_slices | map(log_mel) | batch({}), {}, clips of {} s at 16 kHz",
                                       kClipBatch, work.name, kSeconds),
                           count, kernel_systems()});
  }
  setup.prepare = [](std::vector<TimedCase>& cases) -> Result<void> {
    const auto clips = std::make_shared<const Tensor>(noisy_clips(cases[0].items));
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::vector<TimedSystem> made = kernel_systems(spectrum_work(clips, kSpectra[i].options));
      for (size_t k = 0; k < made.size(); ++k) cases[i].systems[k].run = made[k].run;
    }
    return {};
  };
  Bench bench = timed_bench(std::move(setup));
  // Row 1 is the CPU time of a clip by the first system.
  bench.targets = {
      {"W9.sound.logmel", "seconds of sound in a second of CPU time: at least 20,000", true, 20'000,
       [](const BenchResult& result) { return static_cast<double>(kSeconds) * 1e6 / result.row(1).median; }},
      {"W9.sound.logmel.loop", "per core at least 0.8 x the same kernel in a loop", true, 0.8,
       [](const BenchResult& result) { return result.ratio(0).median; }}};
  return bench;
}

}  // namespace headpond::cli
