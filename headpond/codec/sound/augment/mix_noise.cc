// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/augment/mix_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "headpond/base/math/portable.h"

namespace headpond {
namespace {

[[noreturn]] void refuse_noise(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "mix_noise: " + what));
}

bool is_sound(DType dtype, const Shape& shape) {
  return dtype == DType::f32 && (shape.rank() == 1 || shape.rank() == 2);
}

std::string refusal_of_sound(const char* what, DType dtype, const Shape& shape) {
  return fmt::format("{}float32[frames] or [frames,channels], not {}{}", what, name(dtype), shape.to_string());
}

int64_t channels_of(const Tensor& sound) { return sound.rank() == 2 ? sound.dim(1) : 1; }

// Uniform in [0, choices), always by two words; too little biased to be seen.
int64_t chosen(uint64_t number, int64_t choices) {
  const auto high = (number >> 32) * static_cast<uint64_t>(choices);
  const auto low = (number & 0xffffffffU) * static_cast<uint64_t>(choices);
  return static_cast<int64_t>((high + (low >> 32)) >> 32);
}

/// What a sample draws.
struct NoiseDraw {
  bool applies;
  double snr_db;
  uint64_t clip, first;
};

NoiseDraw draw_noise(Random random, const MixNoiseOptions& options) {
  NoiseDraw draw = {};
  draw.applies = static_cast<double>(random.uniform()) < options.p;
  const double part = static_cast<double>(random.uniform());
  draw.snr_db = options.low_snr_db + part * (options.high_snr_db - options.low_snr_db);
  draw.clip = random.u64();
  draw.first = random.u64();
  return draw;
}

/// The noise of a sound's frames.
struct NoiseAt {
  const float* values;
  int64_t frames, channels, first;

  float at(int64_t frame, int64_t channel) const {
    return values[(first + frame) % frames * channels + (channels == 1 ? 0 : channel)];
  }
};

void mix(const Tensor& in, const NoiseAt& noise, double snr_db, std::span<float> out) {
  const auto sound = in.as<float>();
  const int64_t frames = in.dim(0), channels = channels_of(in);
  double energy = 0, noise_energy = 0;
  for (int64_t i = 0; i < frames * channels; ++i) {
    const auto a = static_cast<double>(sound[static_cast<size_t>(i)]);
    const auto b = static_cast<double>(noise.at(i / channels, i % channels));
    energy += a * a;
    noise_energy += b * b;
  }
  const double scale = std::sqrt(energy / (noise_energy * portable::pow(10, snr_db / 10)));
  const bool usable = energy > 0 && noise_energy > 0 && std::isfinite(scale);
  const float factor = usable ? static_cast<float>(scale) : 0;
  for (int64_t i = 0; i < frames * channels; ++i) {
    const auto at = static_cast<size_t>(i);
    out[at] = usable ? sound[at] + factor * noise.at(i / channels, i % channels) : sound[at];
  }
}

class MixNoise final : public Kernel {
 public:
  MixNoise(NoiseClips noise, const MixNoiseOptions& options)
      : Kernel(
            {.title = title_of(noise, options), .draws = "mix_noise", .result = check, .opaque = noise.name.empty()}),
        noise_(std::move(noise)),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& in = call.in();
    if (!is_sound(in.dtype(), in.shape())) {
      return fail(ErrorKind::InvalidArgument, refusal_of_sound("mix_noise: takes ", in.dtype(), in.shape()));
    }
    const NoiseDraw draw = draw_noise(call.random(), options_);
    if (!draw.applies || in.size() == 0) return {};
    const auto clip = noise_.read(chosen(draw.clip, noise_.count));
    if (!clip) return fail(clip.error());
    if (!is_sound(clip->dtype(), clip->shape())) {
      return fail(ErrorKind::InvalidArgument, refusal_of_sound("mix_noise: noise is ", clip->dtype(), clip->shape()));
    }
    const int64_t channels = channels_of(*clip);
    if (channels != 1 && channels != channels_of(in)) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("mix_noise: noise of {} channels for {}", channels, channels_of(in)));
    }
    if (clip->size() == 0) return {};
    const int64_t spare = clip->dim(0) - in.dim(0);
    const int64_t first = chosen(draw.first, spare >= 0 ? spare + 1 : clip->dim(0));
    const NoiseAt noise = {
        .values = clip->as<float>().data(), .frames = clip->dim(0), .channels = channels, .first = first};
    mix(in, noise, draw.snr_db, call.make<float>(0, in.shape()));
    return {};
  }

 private:
  static Spec check(const Spec& spec) {
    if (!is_sound(spec[0].dtype, spec[0].shape)) {
      refuse_noise(refusal_of_sound("takes ", spec[0].dtype, spec[0].shape));
    }
    return spec;
  }

  static std::string title_of(const NoiseClips& noise, const MixNoiseOptions& options) {
    std::string title = fmt::format("mix_noise({} clips", noise.count);
    if (!noise.name.empty()) title += fmt::format(" of {}", noise.name);
    title += fmt::format(", snr_db=[{}, {}]", options.low_snr_db, options.high_snr_db);
    return title + (options.p == 1 ? ")" : fmt::format(", p={})", options.p));
  }

  const NoiseClips noise_;
  const MixNoiseOptions options_;
};

}  // namespace

NoiseClips noise_clips(std::vector<Tensor> clips, const std::string& name) {
  const auto count = static_cast<int64_t>(clips.size());
  const auto shared = std::make_shared<const std::vector<Tensor>>(std::move(clips));
  return {.count = count,
          .read = [shared](int64_t i) -> Result<Tensor> { return (*shared)[static_cast<size_t>(i)]; },
          .name = name};
}

KernelRef mix_noise(const NoiseClips& noise, const MixNoiseOptions& options) {
  if (noise.count < 1 || !noise.read) refuse_noise("there are no clips of noise");
  const bool fits =
      options.low_snr_db >= -200 && options.low_snr_db <= options.high_snr_db && options.high_snr_db <= 200;
  if (!fits) refuse_noise("-200 <= low_snr_db <= high_snr_db <= 200 must hold");
  if (!(options.p >= 0 && options.p <= 1)) refuse_noise("p must be 0 to 1");
  return std::make_shared<MixNoise>(noise, options);
}

}  // namespace headpond
