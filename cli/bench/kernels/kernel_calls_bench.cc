// SPDX-License-Identifier: Apache-2.0
// Each kernel alone, called in a loop: what benchmarks/peers/kernels.py compares with other libraries by the names
// here.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/bench/benches.h"
#include "cli/bench/kernels/kernel_bench.h"
#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/sound/augment/mask.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"

namespace headpond::cli {
namespace {

constexpr int64_t kSide = 256, kSmallSide = 224, kFrames = 160'000, kMostCalls = 100;

struct Call {
  std::string name;
  KernelRef kernel;
  Tensor input;
};

// Noise: bytes as u8, or 0 to 1 as f32.
Tensor noisy(DType dtype, const Shape& shape) {
  Tensor made = Tensor::empty(dtype, shape);
  Random random(1);
  if (dtype == DType::u8) {
    for (uint8_t& value : made.mutable_as<uint8_t>()) value = static_cast<uint8_t>(random.u32());
  } else {
    for (float& value : made.mutable_as<float>()) value = random.uniform();
  }
  return made;
}

using NamedKernels = std::vector<std::pair<std::string, KernelRef>>;

// Of u8 and of f32.
NamedKernels image_kernels() {
  const ImageSize small = {kSmallSide, kSmallSide};
  const Corners corners = {XY{0, 0}, {255, 0}, {255, 255}, {0, 255}},
                moved = {XY{10, 20}, {240, 5}, {250, 230}, {3, 250}};
  return {{"resize bilinear", resize(small)},
          {"resize bicubic", resize(small, {.filter = ResizeFilter::bicubic})},
          {"resize nearest", resize(small, {.filter = ResizeFilter::nearest})},
          {"resize bilinear, not antialiased", resize(small, {.antialias = false})},
          {"resize area", resize(small, {.filter = ResizeFilter::area})},
          {"center_crop", center_crop(small)},
          {"pad reflect", pad({16}, {.mode = PadMode::reflect})},
          {"horizontal flip", random_horizontal_flip(1)},
          {"vertical flip", random_vertical_flip(1)},
          {"rotate nearest", rotate(10)},
          {"rotate bilinear", rotate(10, {.interpolation = Interpolation::bilinear})},
          {"affine nearest", affine({.angle = 10, .translate = {3, -2}, .scale = 1.2, .shear = 5})},
          {"perspective nearest", perspective(corners, moved)},
          {"brightness", adjust_brightness(1.4)},
          {"contrast", adjust_contrast(0.6)},
          {"saturation", adjust_saturation(1.7)},
          {"hue", adjust_hue(0.13)},
          {"grayscale", grayscale(3)},
          {"gaussian_blur", gaussian_blur(9, 1.7)},
          {"sharpness", adjust_sharpness(2.5)},
          {"invert", invert()},
          {"autocontrast", autocontrast()},
          {"normalize", normalize()}};
}

NamedKernels byte_kernels() {
  return {{"solarize", solarize(100)}, {"posterize", posterize(3)}, {"equalize", equalize()}};
}

NamedKernels sound_kernels() {
  const SpectrumOptions fft = {.window_length = 400, .hop = 160, .mels = 80};
  return {{"resample 16000 to 8000", resample({.from = 16000, .to = 8000})},
          {"resample 44100 to 16000", resample({.from = 44100, .to = 16000})},
          {"spectrogram", spectrogram(fft)},
          {"mel_spectrogram", mel_spectrogram(fft)},
          {"mfcc", mfcc(fft)},
          {"kaldi fbank", log_mel({.preset = SpectrumPreset::kaldi})}};
}

std::vector<Call> all_calls() {
  std::vector<Call> calls;
  const auto add = [&calls](const NamedKernels& kernels, const std::string& input, const Tensor& tensor) {
    for (const auto& [name, kernel] : kernels) calls.push_back({fmt::format("{}, {}", name, input), kernel, tensor});
  };
  const Tensor bytes = noisy(DType::u8, {kSide, kSide, 3}), floats = noisy(DType::f32, {kSide, kSide, 3});
  add(image_kernels(), "u8", bytes);
  add(byte_kernels(), "u8", bytes);
  add(image_kernels(), "f32", floats);
  add(sound_kernels(), "10 s", noisy(DType::f32, {kFrames}));
  return calls;
}

Result<uint64_t> call_again(const Call& call, int64_t times) {
  const RandomKey key = random_key(7, call.kernel->facts().draws, 0, 0);
  KernelScratch scratch;
  for (int64_t i = 0; i < times; ++i) {
    Tensor field = call.input;
    KernelCall one({&field, 1}, {&key, 1}, static_cast<uint64_t>(i), {}, scratch);
    HEADPOND_TRY(call.kernel->run(one));
    one.finish();
  }
  return 0;
}

}  // namespace

Bench kernels_calls_bench(const BenchSetup& bench_setup) {
  const int64_t times = std::clamp<int64_t>(bench_setup.items / 2000, 2, kMostCalls);
  TimedBench setup{.name = "kernels.calls", .item = "call", .cases = {}, .prepare = {}, .rounds = 5};
  for (Call& one : all_calls()) {
    const auto call = std::make_shared<const Call>(std::move(one));
    setup.cases.push_back(
        {call->name, times, {{"headpond", HEADPOND_VERSION, [call, times] { return call_again(*call, times); }}}});
  }
  return timed_bench(std::move(setup));
}

}  // namespace headpond::cli
