// SPDX-License-Identifier: Apache-2.0
// Kernels and samples that follow from a list of numbers: any kernel with any options, images, sounds, files of both,
// and batches, with masks, boxes, labels and points beside an image. For the fuzz target kernels, and for tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/color/mixup.h"
#include "headpond/codec/image/color/random_erasing.h"
#include "headpond/codec/image/distance_map_kernel.h"
#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_kernel.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/image/png_kernel.h"
#include "headpond/codec/image/policy/policies.h"
#include "headpond/codec/sound/augment/mask.h"
#include "headpond/codec/sound/augment/mix_noise.h"
#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/sound_kernel.h"
#include "headpond/codec/sound/spectrum/delta.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/tensor/random_choice.h"

namespace headpond::fuzz {

inline constexpr size_t kMostKernels = 5;
inline constexpr int64_t kMostValues = 1 << 16;  // Of a field, where its size is known ahead.

class Numbers {
 public:
  Numbers(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return at_ >= size_; }
  int64_t next() { return is_empty() ? 1 : data_[at_++]; }
  int64_t below(int64_t n) { return next() % n; }
  int small(int64_t n) { return static_cast<int>(below(n)); }
  bool flag() { return below(2) == 0; }
  template <class Enum>
  Enum one_of(int64_t count) {
    return static_cast<Enum>(below(count));
  }
  // From low to high; a few numbers make it one that most options refuse.
  double real(double low, double high) {
    constexpr std::array kOdd = {
        -1.0, 0.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    constexpr int64_t kUsual = 256 - static_cast<int64_t>(kOdd.size());
    const int64_t n = next();
    return n < kUsual ? low + (high - low) * static_cast<double>(n) / (kUsual - 1)
                      : kOdd[static_cast<size_t>(n - kUsual)];
  }
  XY position() {
    const double x = real(-8, 72);
    return {x, real(-8, 72)};
  }
  Corners corners() {
    Corners all;
    for (XY& corner : all) corner = position();
    return all;
  }
  ImageSize image_size() {
    if (below(3) == 0) return below(65);
    const int64_t height = below(65);
    return {height, below(65)};
  }
  std::vector<double> values() {
    std::vector<double> all(static_cast<size_t>(1 + below(4)));
    for (double& value : all) value = real(0, 255);
    return all;
  }

 private:
  const uint8_t* const data_;
  const size_t size_;
  size_t at_ = 0;
};

inline SpectrumOptions spectrum_options(Numbers& n) {
  SpectrumOptions options = {.preset = n.one_of<SpectrumPreset>(4), .fft = 1 + n.below(128), .hop = n.below(64)};
  if (n.flag()) options.window_length = n.below(129);
  if (n.flag()) options.window = n.one_of<SpectrumWindow>(4);
  if (n.flag()) options.edges = n.one_of<SpectrumEdges>(3);
  if (n.flag()) options.log = n.one_of<SpectrumLog>(4);
  if (n.flag()) options.top_db = n.real(0, 100);
  options.mels = n.below(20);
  options.coefficients = n.below(20);
  options.mels_first = n.flag();
  return options;
}

inline MaskOptions mask_options(Numbers& n) {
  return {.width = n.below(64),
          .count = n.below(4),
          .p = n.real(0, 1),
          .fill = n.one_of<MaskFill>(2),
          .mels_first = n.flag()};
}

inline WavOptions wav_options(Numbers& n) {
  constexpr std::array<int32_t, 4> kRates = {0, 8000, 11025, 16000};
  return {.desired_channels = n.below(5) - 1,
          .desired_samples = n.flag() ? -1 : n.next(),
          .first_sample = n.flag() ? 0 : n.next(),
          .mix = n.one_of<SoundMix>(2),
          .non_finite = n.one_of<NonFinite>(3),
          .sample_rate = kRates[static_cast<size_t>(n.below(4))]};
}

inline KernelRef sound_decoder(Numbers& n, KernelRef (*make)(const SoundOptions&)) {
  const WavOptions options = wav_options(n);
  return make({.desired_channels = options.desired_channels,
               .desired_samples = options.desired_samples,
               .first_sample = options.first_sample,
               .mix = options.mix,
               .non_finite = options.non_finite,
               .sample_rate = options.sample_rate,
               .max_values = kMostValues});
}

inline ImageOptions image_options(Numbers& n) { return {.channels = n.small(6), .dtype = n.below(4) == 0 ? u16 : u8}; }

// Noise with one channel, and none at all.
inline const NoiseClips& noise() {
  static const NoiseClips clips = noise_clips(
      {Tensor::from(std::vector<float>{0.5F, -0.25F, 0.125F}, {3}), Tensor::from(std::vector<float>(), {0, 1})});
  return clips;
}

using Factory = KernelRef (*)(Numbers&);

inline constexpr Factory kImageKernels[] = {
    // Decoders.
    [](Numbers& n) {
      return decode_jpeg({.channels = n.small(4),
                          .ratio = 1 << n.below(4),
                          .fancy_upscaling = n.flag(),
                          .check = n.one_of<JpegCheck>(2)});
    },
    [](Numbers& n) { return decode_png(image_options(n)); },
    [](Numbers& n) { return decode_image(image_options(n)); },
    // A part, or more than all.
    [](Numbers& n) { return crop(n.next() - 128, n.next() - 128, n.image_size()); },
    [](Numbers& n) { return crop(n.below(32), n.below(32), n.image_size(), {.min_area = n.real(0, 64)}); },
    [](Numbers& n) { return center_crop(n.image_size()); },
    [](Numbers& n) {
      return random_crop(
          n.image_size(),
          {.padding = {n.below(40)}, .pad_if_needed = n.flag(), .fill = n.values(), .mode = n.one_of<PadMode>(4)});
    },
    [](Numbers& n) {
      return pad({n.below(40), n.below(40)}, {.fill = n.values(), .mode = n.one_of<PadMode>(4)});
    },
    [](Numbers& n) {
      return pad({n.below(40), n.below(40), n.below(40), n.below(40)}, {.mode = n.one_of<PadMode>(4)});
    },
    // Another size.
    [](Numbers& n) {
      return resize(
          n.image_size(),
          {.filter = n.one_of<ResizeFilter>(6), .antialias = n.flag(), .max_size = n.below(4) == 0 ? n.below(65) : 0});
    },
    [](Numbers& n) {
      return resize({.filter = n.one_of<ResizeFilter>(6), .antialias = n.flag(), .max_size = n.below(65)});
    },
    [](Numbers& n) {
      return random_resized_crop(n.image_size(), {.scale = {n.real(0, 1), n.real(0, 2)},
                                                  .ratio = {n.real(0, 2), n.real(0, 4)},
                                                  .filter = n.one_of<ResizeFilter>(6),
                                                  .antialias = n.flag()});
    },
    [](Numbers& n) {
      return random_resized_crop(n.image_size(), {.filter = n.one_of<ResizeFilter>(6), .antialias = n.flag()});
    },
    // Other places.
    [](Numbers& n) { return random_horizontal_flip(n.real(0, 1)); },
    [](Numbers& n) { return random_vertical_flip(n.real(0, 1)); },
    [](Numbers& n) {
      return affine({.angle = n.real(-360, 360),
                     .translate = n.position(),
                     .scale = n.real(0.01, 4),
                     .shear = {n.real(-90, 90), n.real(-90, 90)},
                     .interpolation = n.one_of<Interpolation>(2),
                     .fill = n.values(),
                     .mask_fill = n.real(0, 255)});
    },
    [](Numbers& n) {
      return rotate(n.real(-360, 360), {.interpolation = n.one_of<Interpolation>(2), .expand = n.flag()});
    },
    [](Numbers& n) {
      return rotate(n.real(-360, 360), {.center = n.position(), .fill = n.values(), .mask_fill = n.real(0, 255)});
    },
    [](Numbers& n) {
      const Corners from = n.corners();
      return perspective(from, n.corners(), {.interpolation = n.one_of<Interpolation>(2), .fill = n.values()});
    },
    [](Numbers& n) {
      return random_affine({.degrees = {n.real(-360, 0), n.real(0, 360)},
                            .translate = XY{n.real(0, 1), n.real(0, 1)},
                            .scale = std::array{n.real(0, 1), n.real(0, 4)},
                            .shear = ShearRange(n.real(-90, 0), n.real(0, 90), n.real(-90, 0), n.real(0, 90)),
                            .interpolation = n.one_of<Interpolation>(2),
                            .fill = n.values()});
    },
    [](Numbers& n) {
      return random_rotation({n.real(-360, 0), n.real(0, 360)},
                             {.interpolation = n.one_of<Interpolation>(2), .expand = n.flag()});
    },
    [](Numbers& n) {
      return random_perspective({.distortion_scale = n.real(0, 1),
                                 .p = n.real(0, 1),
                                 .interpolation = n.one_of<Interpolation>(2),
                                 .fill = n.values()});
    },
    // Colours.
    [](Numbers& n) { return adjust_brightness(n.real(0, 4)); },
    [](Numbers& n) { return adjust_contrast(n.real(0, 4)); },
    [](Numbers& n) { return adjust_saturation(n.real(0, 4)); },
    [](Numbers& n) { return adjust_hue(n.real(-0.5, 0.5)); },
    [](Numbers& n) { return adjust_gamma(n.real(0, 4), n.real(0, 2)); },
    [](Numbers& n) { return adjust_sharpness(n.real(0, 4)); },
    [](Numbers& n) { return random_adjust_sharpness(n.real(0, 4), n.real(0, 1)); },
    [](Numbers& n) { return grayscale(n.small(5)); },
    [](Numbers& n) { return to_grayscale(n.small(5)); },
    [](Numbers& n) { return random_grayscale(n.real(0, 1)); },
    [](Numbers&) { return invert(); },
    [](Numbers& n) { return random_invert(n.real(0, 1)); },
    [](Numbers& n) { return solarize(n.real(0, 255)); },
    [](Numbers& n) { return random_solarize(n.real(0, 1), n.real(0, 1)); },
    [](Numbers& n) { return posterize(n.small(10)); },
    [](Numbers& n) { return random_posterize(n.small(10), n.real(0, 1)); },
    [](Numbers&) { return equalize(); },
    [](Numbers& n) { return random_equalize(n.real(0, 1)); },
    [](Numbers&) { return autocontrast(); },
    [](Numbers& n) { return random_autocontrast(n.real(0, 1)); },
    [](Numbers& n) {
      return gaussian_blur(n.below(32), {n.real(0, 4), n.real(0, 8)});
    },
    [](Numbers& n) {
      return gaussian_blur(std::array{n.below(32), n.below(32)}, n.real(0, 4));
    },
    [](Numbers& n) {
      return color_jitter({.brightness = n.real(0, 2),
                           .contrast = JitterRange(n.real(0, 1), n.real(0, 4)),
                           .saturation = n.real(0, 2),
                           .hue = n.real(0, 0.5)});
    },
    // Policies, and what stands at a chain's end.
    [](Numbers& n) {
      return rand_augment({.num_ops = n.small(6),
                           .magnitude = n.small(32),
                           .interpolation = n.one_of<Interpolation>(2),
                           .fill = n.values(),
                           .mask_fill = n.real(0, 255)});
    },
    [](Numbers& n) { return trivial_augment_wide(n.small(64), {.interpolation = n.one_of<Interpolation>(2)}); },
    [](Numbers& n) {
      constexpr std::array kNames = {"imagenet", "cifar10", "svhn", "none"};
      return auto_augment(kNames[static_cast<size_t>(n.below(4))], {.fill = n.values()});
    },
    [](Numbers& n) {
      return random_erasing({.p = n.real(0, 1),
                             .scale = {n.real(0, 1), n.real(0, 1)},
                             .ratio = {n.real(0, 2), n.real(0, 4)},
                             .value = n.real(0, 255),
                             .random_value = n.flag(),
                             .layout = n.one_of<ImageLayout>(2)});
    },
    [](Numbers& n) {
      return distance_map(
          {.limit = static_cast<float>(n.real(0, 4096)), .groups = n.small(5), .layout = n.one_of<ImageLayout>(2)});
    },
    [](Numbers& n) {
      constexpr std::array kTypes = {f32, f16, bf16, u8};
      return normalize({.mean = n.values(),
                        .std = n.values(),
                        .layout = n.one_of<ImageLayout>(2),
                        .dtype = kTypes[static_cast<size_t>(n.below(4))]});
    },
    [](Numbers& n) { return normalize({.mean = {0.5}, .std = {0.25}, .layout = n.one_of<ImageLayout>(2)}); },
};

inline constexpr Factory kSoundKernels[] = {
    [](Numbers& n) { return decode_wav(wav_options(n)); },
    [](Numbers& n) { return sound_decoder(n, decode_sound); },
    [](Numbers& n) { return sound_decoder(n, sound_frames); },
    [](Numbers&) { return mono(); },
    [](Numbers& n) { return pad_or_trim(n.next()); },
    [](Numbers& n) { return random_sound_crop(n.next(), {.pad = n.flag()}); },
    [](Numbers& n) { return gain_db(n.real(-200, 200)); },
    [](Numbers& n) { return gain_db({.lo = n.real(-200, 0), .hi = n.real(-10, 200)}); },
    [](Numbers& n) { return peak_normalize(n.real(0, 2)); },
    [](Numbers& n) { return speed(n.real(0.5, 2)); },
    [](Numbers& n) { return speed({.lo = n.real(0.9, 1), .hi = n.real(0.9, 1.1)}); },
    [](Numbers& n) {
      ResampleOptions options = {
          .from = 1000 * n.below(16), .to = 1000 * n.below(16), .method = n.one_of<ResampleMethod>(3)};
      if (options.method == ResampleMethod::soxr_hq) return resample(options);  // It takes no others.
      options.width = n.below(10);
      options.rolloff = n.real(0, 1);
      options.beta = n.real(0, 100);
      return resample(options);
    },
    [](Numbers& n) {
      return mix_noise(noise(), {.low_snr_db = n.real(-200, 10), .high_snr_db = n.real(0, 200), .p = n.real(0, 1)});
    },
    [](Numbers& n) { return stft(spectrum_options(n)); },
    [](Numbers& n) { return spectrogram(spectrum_options(n)); },
    [](Numbers& n) { return mel_spectrogram(spectrum_options(n)); },
    [](Numbers& n) { return log_mel(spectrum_options(n)); },
    [](Numbers& n) { return mfcc(spectrum_options(n)); },
    [](Numbers& n) { return delta({.width = n.below(16), .mels_first = n.flag(), .append = n.flag()}); },
    [](Numbers& n) { return time_mask(mask_options(n)); },
    [](Numbers& n) { return frequency_mask(mask_options(n)); },
    [](Numbers& n) {
      return spec_augment({.frequency_width = n.below(32),
                           .frequency_masks = n.below(3),
                           .time_width = n.below(32),
                           .time_masks = n.below(3),
                           .p = n.real(0, 1),
                           .fill = n.one_of<MaskFill>(2),
                           .mels_first = n.flag()});
    },
};

inline constexpr Factory kBatchKernels[] = {
    [](Numbers& n) { return mixup(n.below(8), n.real(0, 4)); },
    [](Numbers& n) { return cutmix(n.below(8), n.real(0, 4), n.one_of<ImageLayout>(2)); },
};

using Factories = std::span<const Factory>;
inline const std::array<Factories, 3> kAll = {Factories(kImageKernels), Factories(kSoundKernels),
                                              Factories(kBatchKernels)};

// Mostly one of the kernels for such fields; a map refuses the others.
inline KernelRef plain_kernel(Numbers& n, size_t kind) {
  const Factories factories = kAll[n.below(16) == 0 ? static_cast<size_t>(n.below(3)) : kind];
  return factories[static_cast<size_t>(n.next()) % factories.size()](n);
}

inline KernelRef kernel_of(Numbers& n, size_t kind) {
  const int64_t how = n.below(16);
  if (how == 0) return random_apply({plain_kernel(n, kind)}, n.real(0, 1));
  const KernelRef kernel = plain_kernel(n, kind);
  return how == 2 ? random_choice({kernel, plain_kernel(n, kind)}) : kernel;
}

// The fields of one sample, and what a map knows of them.
struct Sample {
  size_t kind = 0;  // Of the kernels: the index in kAll.
  std::vector<Tensor> fields = {};
  std::vector<FieldRole> roles = {};
  Spec spec = {};

  void add(FieldRole role, Tensor field) {
    spec.push_back({.name = std::string(name(role)), .dtype = field.dtype(), .shape = field.shape()});
    roles.push_back(role);
    fields.push_back(std::move(field));
  }
};

inline Tensor pixels_of(Numbers& n, DType dtype, const Shape& shape) {
  Tensor pixels = Tensor::empty(dtype, shape);
  const auto scale = static_cast<float>(n.below(8) == 0 ? n.real(-1e6, 1e6) : 1.0 / 255);
  const auto put = [](auto values, float factor) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<float>(static_cast<uint8_t>(i * i + i / 7)) * factor;
      values[i] = static_cast<std::remove_reference_t<decltype(values[0])>>(value);
    }
  };
  if (dtype == u8) put(pixels.mutable_as<uint8_t>(), 1);
  if (dtype == f32) put(pixels.mutable_as<float>(), scale);
  return pixels;
}

inline Tensor file_of(std::span<const std::byte> bytes) {
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// The pixels as a file of one of three formats, or as they are where the format doesn't hold them.
inline Tensor image_file(Numbers& n, Tensor pixels) {
  const int64_t format = n.below(3);
  if (format == 0) {
    const auto file = encode_png(pixels);
    return file ? file_of(*file) : pixels;
  }
  if (format == 1) {
    const auto file = encode_jpeg(
        pixels,
        {.quality = 1 + n.small(100), .chroma_downsampling = n.flag(), .progressive = n.flag(), .optimize = n.flag()});
    return file ? file_of(*file) : pixels;
  }
  std::string file = pixels.dim(2) == 1 ? "P5 " : "P6 ";
  file += std::to_string(pixels.dim(1)) + " " + std::to_string(pixels.dim(0)) + " 255\n";
  file.append(reinterpret_cast<const char*>(pixels.data()), pixels.byte_size());
  return Tensor::scalar(std::string_view(file));
}

inline Tensor positions(Numbers& n, int64_t columns) {
  const int64_t rows = n.below(5);
  std::vector<float> values;
  for (int64_t i = 0; i < rows * columns; ++i) values.push_back(static_cast<float>(n.real(-8, 72)));
  return Tensor::from(values, {rows, columns});
}

inline void add_roles(Numbers& n, int64_t height, int64_t width, Sample& sample) {
  if (n.flag()) {
    std::vector<int32_t> mask;
    for (int64_t i = 0; i < height * width; ++i) mask.push_back(static_cast<int32_t>(i / 5 % 7));
    sample.add(FieldRole::mask, Tensor::from(mask, n.flag() ? Shape{height, width} : Shape{height, width, 1}));
  }
  if (n.flag()) sample.add(FieldRole::mask, pixels_of(n, u8, {height, width}));
  if (n.flag()) {
    sample.add(FieldRole::boxes, positions(n, 4));
    std::vector<int64_t> labels(static_cast<size_t>(sample.fields.back().dim(0)), 3);
    if (n.flag()) sample.add(FieldRole::labels, Tensor::from(labels, {static_cast<int64_t>(labels.size())}));
  }
  if (n.flag()) sample.add(FieldRole::points, positions(n, 2));
}

inline Sample image_sample(Numbers& n) {
  Sample sample;
  const bool is_file = n.flag();
  const int64_t height = n.below(64), width = n.below(64), channels = 1 + n.below(4);
  Tensor pixels = pixels_of(n, is_file || n.flag() ? u8 : f32, {height, width, channels});
  sample.add(FieldRole::image, is_file ? image_file(n, std::move(pixels)) : pixels);
  if (n.flag()) add_roles(n, height, width, sample);
  return sample;
}

inline Sample sound_sample(Numbers& n) {
  Sample sample = {.kind = 1};
  const int64_t frames = n.below(32) * n.below(32), channels = n.below(4);
  Tensor samples = pixels_of(n, f32, channels == 0 ? Shape{frames} : Shape{frames, channels});
  constexpr std::array<int32_t, 4> kRates = {8000, 11025, 16000, 48000};
  const auto file = n.flag() && channels > 0 ? encode_wav(samples, kRates[static_cast<size_t>(n.below(4))])
                                             : fail(ErrorKind::InvalidArgument, "samples");
  sample.add(FieldRole::image, file ? file_of(*file) : samples);
  return sample;
}

inline Sample batch_sample(Numbers& n) {
  Sample sample = {.kind = 2};
  const int64_t rows = n.below(5);
  Tensor images = pixels_of(n, n.flag() ? u8 : f32, {rows, 1 + n.below(4), n.below(16), 1 + n.below(4)});
  sample.add(FieldRole::image, std::move(images));
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < rows; ++i) labels.push_back(n.below(8));
  sample.add(FieldRole::labels, Tensor::from(labels, {rows}));
  return sample;
}

// What is known ahead of the results; empty: too large for this test.
inline Spec result_of(const Kernel& kernel, const Spec& in) {
  Spec result = kernel.facts().result ? kernel.facts().result(in) : in;
  for (const FieldSpec& field : result) {
    if (field.shape.size().value_or(0) > kMostValues) return {};
  }
  return result;
}

// The kernels that a map over the sample's fields takes; sample.spec becomes that of the results.
inline std::vector<KernelRef> chain_of(Numbers& n, Sample& sample) {
  std::vector<KernelRef> chain;
  while (!n.is_empty() && chain.size() < kMostKernels) {
    try {
      const KernelRef kernel = kernel_of(n, sample.kind);
      Spec result = result_of(*kernel, sample.spec);
      if (result.empty()) continue;
      chain.push_back(kernel);
      sample.spec = std::move(result);
    } catch (const Exception&) {  // An option out of range, or other fields: the case goes on without this kernel.
    }
  }
  return chain;
}

inline bool same_field(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.byte_size() == 0 || std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

}  // namespace headpond::fuzz
