// SPDX-License-Identifier: Apache-2.0
// Scenario 1: what is made overlaps with what the device does, without a setting.
#include "corpus.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/file/file.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kBatch = 128, kFrames = 4000;

// What an element costs beside reading and decoding, half of it before the shuffle and half after it.
struct Cost {
  int64_t cpu_us = 0;
  int64_t wait_us = 0;
};

void pay(const Cost& cost) {
  if (cost.cpu_us > 0) burn_us(cost.cpu_us / 2);
  sleep_us(cost.wait_us / 2);
}

Result<Tensor> clip(std::string_view path, const Cost& cost) {
  pay(cost);
  auto file = read_file(std::string(path));
  if (!file) return fail(file.error());
  auto wav = decode_wav(*file, {.desired_samples = kFrames}, path);
  if (!wav) return fail(wav.error());
  return wav->samples;
}

Tensor quieter(const Tensor& samples, const Cost& cost) {
  pay(cost);
  Tensor half = Tensor::empty(f32, {kFrames, 1});
  const auto from = samples.as<float>();
  const auto to = half.mutable_as<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] / 2;
  return half;
}

struct Clips {
  std::string folder;
  int64_t count;
};

Dataset all_of(const Clips& clips, const Cost& cost) {
  const Spec output = {{"clip", f32, {kFrames, 1}}};
  return list_files(clips.folder + "/*.wav", {.shuffle = false}) |
         map([cost](std::string_view path) { return clip(path, cost); }, {.output = output}) | shuffle() |
         map([cost](const Tensor& samples) { return quieter(samples, cost); }, {.output = output}) | batch(kBatch);
}

// The same for one clip without a Loader.
void by_hand(const Clips& clips, int64_t number, const Cost& cost) {
  quieter(value_or_throw(clip(clip_path(clips.folder, number % clips.count), cost)), cost);
}

// One thread, the program's own, and nothing ahead.
LoaderOptions options_of(const Run& run) {
  LoaderOptions options{.epochs = -1, .seed = 7};
  if (run.control()) {
    options.threads = 0;
    options.run_ahead = 0;
  }
  return options;
}

void balanced(const Run& run, const Clips& files, JsonWriter& figures) {
  constexpr int64_t kDeviceUs = 100'000;
  const Cost cost{.cpu_us = 100'000 / kBatch};
  Loader loader(all_of(files, cost), options_of(run));
  step_ms(loader, 5, kDeviceUs);
  member(figures, "a_step_ms", step_ms(loader, run.full ? 200 : run.control() ? 20 : 60, kDeviceUs));
  member(figures, "a_device_ms", device_ms(20, kDeviceUs));
  const auto element = [&](int64_t i) { by_hand(files, i, cost); };
  figures.member("a_bare_ms", bare_seconds(10 * kBatch, element) * 1e3 / 10);
}

// What two threads make of the same work without an engine is the bound; both are measured in turn.
void starved(const Run& run, const Clips& files, JsonWriter& figures) {
  const Cost cost{.cpu_us = 400'000 / kBatch};
  const int steps = run.full ? 60 : 12;
  std::vector<double> bare, step;
  for (int round = 0; round < (run.full ? 5 : 3); ++round) {
    bare.push_back(bare_seconds(steps * kBatch, [&](int64_t i) { by_hand(files, i, cost); }) * 1e3 / steps);
    Loader loader(all_of(files, cost), options_of(run));
    step_ms(loader, 3, 100'000);
    const int64_t began = now_ns();
    step_ms(loader, steps, 100'000);
    step.push_back(static_cast<double>(now_ns() - began) / 1e6 / steps);
  }
  member(figures, "b_bare_ms", bare);
  member(figures, "b_step_ms", step);
}

void waiting(const Run& run, const Clips& files, JsonWriter& figures) {
  const Cost cost{.wait_us = 50'000 / kBatch};
  Loader loader(all_of(files, cost), options_of(run));
  const int64_t warm = now_ns();
  while (now_ns() - warm < (run.full ? 10'000'000'000 : 3'000'000'000)) must_next(loader);
  const int steps = run.control() ? 20 : 100;
  std::vector<double> serial, step;
  for (int round = 0; round < 3; ++round) {
    const int64_t began = now_ns();
    for (int64_t i = 0; i < 10 * kBatch; ++i) by_hand(files, i, cost);
    serial.push_back(static_cast<double>(now_ns() - began) / 1e6 / 10);
    step_ms(loader, 20, 0);  // What was made in the meantime.
    const int64_t again = now_ns();
    step_ms(loader, steps, 0);
    step.push_back(static_cast<double>(now_ns() - again) / 1e6 / steps);
  }
  member(figures, "c_serial_ms", serial);
  member(figures, "c_step_ms", step);
}

}  // namespace

void overlap(const Run& run, JsonWriter& figures) {
  const Clips files = {run.place + "/clips", run.full ? 3000 : 600};
  if (run.mode == "corpus") return write_clips(files.folder, files.count);
  balanced(run, files, figures);
  if (!run.control()) starved(run, files, figures);
  waiting(run, files, figures);
}

}  // namespace headpond::scenarios
