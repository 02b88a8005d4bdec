// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/sound_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headpond/codec/sound/level/crop_internal.h"
#include "headpond/codec/sound/sample_rate_internal.h"
#include "headpond/codec/sound/sound_file_internal.h"
#include "headpond/codec/sound/sound_kernel_internal.h"
#include "headpond/tensor/head_kernel.h"

namespace headpond {
namespace {

using sound_internal::Bytes;
using sound_internal::Decoded;
using sound_internal::MakeSamples;
using sound_internal::Resampler;
using sound_internal::SoundCrop;

constexpr std::string_view kWavOnly = "decode_wav";
constexpr const char* kFrames = "sound_frames";

void refuse_unless(bool good, const std::string& name, const std::string& what) {
  if (!good) throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", name, what)));
}

// The options that are not the default.
std::string title_of_decoder(const std::string& name, const SoundOptions& options) {
  const SoundOptions usual;
  std::vector<std::string> parts;
  const auto add = [&](std::string_view option, auto value, auto fallback) {
    if (value != fallback) parts.push_back(fmt::format("{}={}", option, value));
  };
  add("desired_channels", options.desired_channels, usual.desired_channels);
  add("desired_samples", options.desired_samples, usual.desired_samples);
  add("first_sample", options.first_sample, usual.first_sample);
  add("lenient", options.lenient, usual.lenient);
  add("max_channels", options.max_channels, usual.max_channels);
  if (options.mix == SoundMix::mean) parts.emplace_back("mix=mean");
  if (options.non_finite == NonFinite::reject) parts.emplace_back("non_finite=reject");
  if (options.non_finite == NonFinite::zero) parts.emplace_back("non_finite=zero");
  add("rate", options.rate, usual.rate);
  add("sample_rate", options.sample_rate, usual.sample_rate);
  add("max_values", options.max_values, usual.max_values);
  return parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", "));
}

Spec decoded_spec(Spec spec, const std::string& decoder, const SoundOptions& options) {
  refuse_unless(spec[0].dtype == DType::bytes && spec[0].shape.rank() == 0, decoder,
                fmt::format("takes bytes[], not {}{}", name(spec[0].dtype), spec[0].shape.to_string()));
  const int64_t own = options.mix == SoundMix::mean ? 1 : kUnknown;
  spec[0].dtype = DType::f32;
  spec[0].shape = {options.desired_samples < 0 ? kUnknown : options.desired_samples,
                   options.desired_channels < 0 ? own : options.desired_channels};
  return spec;
}

Bytes file_of(const KernelCall& call) {
  const std::string_view text = call.in().bytes_at(0);
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Result<Decoded> decode_by(const std::string& decoder, KernelCall& call, const SoundOptions& options,
                          const MakeSamples& make) {
  const Bytes file = file_of(call);
  auto& resampler = call.scratch<Resampler>();
  if (decoder == kWavOnly) {
    return sound_internal::decode_wav_to(file, sound_internal::wav_options(options), {}, "wav", resampler, make);
  }
  return sound_internal::decode_sound_to(file, options, "sound", resampler, make);
}

// What lenient decoding passed over.
void note(KernelCall& call, const Decoded& decoded) {
  if (decoded.is_truncated) call.note({1, "frames are missing at the end, or damaged"});
}

// Decodes a random crop. If its begin does not follow from the file's head, it decodes all and crops then.
class DecodeCrop final : public Kernel {
 public:
  DecodeCrop(const std::string& decoder, const SoundOptions& options, const KernelRef& crop)
      : Kernel({.title = "region of the sound",
                .draws = crop->facts().draws,
                .result = [decoder, options,
                           crop](const Spec& in) { return crop->facts().result(decoded_spec(in, decoder, options)); }}),
        decoder_(decoder),
        options_(options),
        crop_(std::static_pointer_cast<const SoundCrop>(crop)) {}

  Result<void> run(KernelCall& call) const override {
    const auto frames = stated_frames(file_of(call));
    if (!frames) return fail(frames.error());
    if (*frames < options_.first_sample) return decode_all(call);
    SoundOptions part = options_;
    const int64_t left = *frames - options_.first_sample;
    part.first_sample += crop_->first(left, call.random(1));
    part.desired_samples = crop_->samples_of(left);
    const auto decoded = decode_by(decoder_, call, part, [&](int64_t rows, int64_t channels) {
      return call.make<float>(0, {rows, channels}).data();
    });
    if (!decoded) return fail(decoded.error());
    note(call, *decoded);
    return {};
  }

 private:
  // Of the result, at its rate. -1: decoding tells.
  Result<int64_t> stated_frames(Bytes file) const {
    if (decoder_ == kWavOnly) {
      const auto wav = wav_info(file, file.size(), sound_internal::wav_options(options_));
      if (!wav) return fail(wav.error());
      return sound_internal::frames_at_rate(wav->frames, wav->rate, options_.sample_rate, "wav");
    }
    const auto format = sound_internal::format_of(file, file.size(), "sound");
    if (!format) return fail(format.error());
    const bool is_stated = *format == SoundFormat::wav || (!options_.lenient && *format == SoundFormat::flac) ||
                           (!options_.lenient && *format == SoundFormat::aiff);
    if (!is_stated) return -1;
    const auto info = sound_info(file, file.size(), options_);
    if (!info) return fail(info.error());
    if (info->frames < 0) return -1;
    return sound_internal::frames_at_rate(info->frames, info->rate, options_.sample_rate, "sound");
  }

  Result<void> decode_all(KernelCall& call) const {
    Tensor whole;
    const auto decoded = decode_by(decoder_, call, options_, [&](int64_t rows, int64_t channels) {
      whole = Tensor::empty(f32, {rows, channels});
      return whole.mutable_as<float>().data();
    });
    if (!decoded) return fail(decoded.error());
    note(call, *decoded);
    crop_->crop(call, whole, call.random(1));
    return {};
  }

  const std::string decoder_;
  const SoundOptions options_;
  const std::shared_ptr<const SoundCrop> crop_;
};

class DecodeSound final : public Kernel {
 public:
  DecodeSound(const std::string& decoder, const SoundOptions& options)
      : Kernel({.title = title_of_decoder(decoder, options),
                .result = [decoder, options](const Spec& in) { return decoded_spec(in, decoder, options); }}),
        decoder_(decoder),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const auto decoded = decode_by(decoder_, call, options_, [&](int64_t frames, int64_t channels) {
      return call.make<float>(0, {frames, channels}).data();
    });
    if (!decoded) return fail(decoded.error());
    note(call, *decoded);
    return {};
  }

  KernelRef with(const KernelRef& next) const override {
    if (dynamic_cast<const SoundCrop*>(next.get()) == nullptr || !why_not(next).empty()) return nullptr;
    return std::make_shared<DecodeCrop>(decoder_, options_, next);
  }
  std::string why_not(const KernelRef& next) const override {
    if (dynamic_cast<const SoundCrop*>(next.get()) == nullptr) return "";
    if (options_.desired_samples >= 0) return "desired_samples is set";
    return options_.non_finite == NonFinite::reject ? "all values are looked at" : "";
  }

 private:
  const std::string decoder_;
  const SoundOptions options_;
};

class SoundFrames final : public HeadKernel {
 public:
  explicit SoundFrames(const SoundOptions& options)
      : HeadKernel(title_of_decoder(kFrames, options), kFrames), options_(options) {}

  Result<int64_t> from_head(std::span<const std::byte> head, uint64_t file_bytes) const override {
    const auto info = sound_info(head, file_bytes, options_);
    if (!info) return fail(info.error());
    if (info->frames < 0) return fail(ErrorKind::InvalidArgument, "the file does not state how many frames it has");
    auto frames = sound_internal::frames_at_rate(info->frames, info->rate, options_.sample_rate, "sound");
    if (!frames) return frames;
    if (options_.first_sample > *frames) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("first_sample {} of {} frames", options_.first_sample, *frames));
    }
    return options_.desired_samples >= 0 ? options_.desired_samples : *frames - options_.first_sample;
  }

 private:
  const SoundOptions options_;
};

void check_options(const std::string& name, const SoundOptions& options) {
  refuse_unless(options.desired_channels >= -1 && options.desired_channels != 0, name,
                "desired_channels must be -1 or at least 1");
  refuse_unless(options.desired_samples >= -1, name, "desired_samples must be -1 or at least 0");
  refuse_unless(options.first_sample >= 0, name, "first_sample must be at least 0");
  refuse_unless(options.max_channels >= 1, name, "max_channels must be at least 1");
  refuse_unless(options.rate >= 0, name, "rate must be at least 0");
  refuse_unless(options.sample_rate >= 0 && options.sample_rate <= sound_internal::kMaxResampledRate, name,
                fmt::format("sample_rate must be 0, or 1 to {}", sound_internal::kMaxResampledRate));
  refuse_unless(options.max_values >= 1, name, "max_values must be at least 1");
  refuse_unless(options.mix == SoundMix::first || options.desired_channels <= 1, name,
                "the mean is one channel: desired_channels must be -1 or 1");
}

}  // namespace

KernelRef sound_internal::decoder_kernel(const std::string& name, const SoundOptions& options) {
  check_options(name, options);
  return std::make_shared<DecodeSound>(name, options);
}

KernelRef sound_frames(const SoundOptions& options) {
  check_options(kFrames, options);
  return std::make_shared<SoundFrames>(options);
}

KernelRef decode_sound(const SoundOptions& options) { return sound_internal::decoder_kernel("decode_sound", options); }

}  // namespace headpond
