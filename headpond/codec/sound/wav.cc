// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/wav.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/sound/sample_rate_internal.h"
#include "headpond/codec/sound/wav_internal.h"

namespace headpond {
namespace {

using codec_internal::fail_caught;
using wav_internal::find_form;
using wav_internal::Form;
using wav_internal::kFloat;
using wav_internal::kPcm;
using wav_internal::ToFloat;

constexpr float kFullScale = 32768.0F;
constexpr size_t kHeaderBytes = 44;

tl::unexpected<Error> invalid(std::string_view name, std::string_view what) {
  return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}", name, what));
}

// The requested frames of a file.
struct Cut {
  int64_t channels;  // Channels of the output.
  int64_t frames;
  size_t target_bytes;
  std::span<const std::byte> bytes;  // Bytes of those frames that the file has.
};

Result<Cut> cut_of(std::span<const std::byte> file, const WavInfo& info, const WavOptions& options,
                   std::string_view name) {
  if (options.desired_channels < -1 || options.desired_channels == 0 || options.desired_samples < -1) {
    return invalid(name, fmt::format("desired_channels {}, desired_samples {}: -1 or a number are expected",
                                     options.desired_channels, options.desired_samples));
  }
  if (options.mix == SoundMix::mean && options.desired_channels > 1) {
    return invalid(name, fmt::format("the mean is one channel, desired_channels is {}", options.desired_channels));
  }
  if (options.first_sample < 0 || options.first_sample > info.frames) {
    return invalid(name, fmt::format("first_sample {} of {} frames", options.first_sample, info.frames));
  }
  const int64_t left = info.frames - options.first_sample;
  const int64_t channels = options.mix == SoundMix::mean ? 1 : info.channels;
  Cut cut = {options.desired_channels == -1 ? channels : options.desired_channels,
             options.desired_samples == -1 ? left : options.desired_samples,
             0,
             {}};
  if (__builtin_mul_overflow(static_cast<size_t>(cut.channels), static_cast<size_t>(cut.frames), &cut.target_bytes) ||
      __builtin_mul_overflow(cut.target_bytes, sizeof(float), &cut.target_bytes)) {
    return invalid(name, fmt::format("{} frames of {} channels are too many", cut.frames, cut.channels));
  }
  const auto frame_bytes = static_cast<size_t>(info.frame_bytes);
  cut.bytes = file.subspan(info.data_offset + static_cast<size_t>(options.first_sample) * frame_bytes,
                           static_cast<size_t>(std::min(left, cut.frames)) * frame_bytes);
  return cut;
}

bool is_aligned(std::span<std::byte> target) {
  return reinterpret_cast<uintptr_t>(target.data()) % alignof(float) == 0;
}

ToFloat converter_of(const WavInfo& info) {
  const Form& form = *find_form(info.code, info.bits);
  return info.is_big_endian ? form.big_endian : form.little_endian;
}

bool is_packed(const WavInfo& info) {
  return info.frame_bytes == info.channels * find_form(info.code, info.bits)->value_bytes;
}

// Frames of another width than in the file are converted one by one.
void convert_each(const WavInfo& info, std::span<const std::byte> frames, size_t channels, float* to) {
  const ToFloat to_float = converter_of(info);
  const auto frame_bytes = static_cast<size_t>(info.frame_bytes);
  const size_t given = std::min(channels, static_cast<size_t>(info.channels));
  for (size_t at = 0; at < frames.size(); at += frame_bytes, to += channels) {
    to_float(&frames[at], given, to);
    std::fill(to + given, to + channels, to[given - 1]);
  }
}

// The frames' values, each frame of `channels`. REQUIRES: `to` has room for them, `frames` are whole.
void convert_all(const WavInfo& info, std::span<const std::byte> frames, int64_t channels, float* to) {
  if (frames.empty()) return;
  if (channels != info.channels || !is_packed(info)) {
    return convert_each(info, frames, static_cast<size_t>(channels), to);
  }
  const size_t count = frames.size() / static_cast<size_t>(info.frame_bytes);
  converter_of(info)(frames.data(), count * static_cast<size_t>(channels), to);
}

// What is not finite among values in frames of `channels`, the first of which is frame `first`.
Result<void> settle(std::span<float> values, size_t channels, size_t first, NonFinite non_finite,
                    std::string_view name) {
  if (non_finite == NonFinite::keep) return {};
  const size_t found = find_non_finite(values, non_finite == NonFinite::zero);
  if (found == values.size()) return {};
  return invalid(name,
                 fmt::format("{} in frame {}, channel {}", values[found], first + found / channels, found % channels));
}

// The means of the frames' channels, some frames at once. REQUIRES: as convert_all().
Result<void> convert_means(const WavInfo& info, std::span<const std::byte> frames, size_t first, NonFinite non_finite,
                           std::string_view name, float* to) {
  constexpr size_t kValues = 1024;
  const auto channels = static_cast<size_t>(info.channels), frame_bytes = static_cast<size_t>(info.frame_bytes);
  const size_t most = std::max<size_t>(1, kValues / channels);
  std::vector<float> values(most * channels);
  while (!frames.empty()) {
    const size_t count = std::min(most, frames.size() / frame_bytes);
    const std::span<float> all(values.data(), count * channels);
    convert_all(info, frames.first(count * frame_bytes), info.channels, all.data());
    HEADPOND_TRY(settle(all, channels, first, non_finite, name));
    mean_of_channels(all, channels, {to, count});
    frames = frames.subspan(count * frame_bytes);
    first += count;
    to += count;
  }
  return {};
}

// REQUIRES: `target` has room for the frames, and is aligned for float.
Result<void> convert(const WavInfo& info, const Cut& cut, std::span<std::byte> target, const WavOptions& options,
                     std::string_view name) {
  if (target.empty()) return {};
  auto* const to = reinterpret_cast<float*>(target.data());
  const auto first = static_cast<size_t>(options.first_sample), channels = static_cast<size_t>(cut.channels);
  const std::span<float> values(to, cut.bytes.size() / static_cast<size_t>(info.frame_bytes) * channels);
  if (options.mix == SoundMix::mean && info.channels > 1) {
    HEADPOND_TRY(convert_means(info, cut.bytes, first, options.non_finite, name, to));
  } else {
    convert_all(info, cut.bytes, cut.channels, to);
    const bool has_floats = info.code == kFloat;
    HEADPOND_TRY(settle(values, channels, first, has_floats ? options.non_finite : NonFinite::keep, name));
  }
  std::fill(values.data() + values.size(), to + target.size() / sizeof(float), 0.0F);
  return {};
}

// decode_wav() with sample_rate.
Result<Wav> decode_at_other_rate(std::span<const std::byte> file, const WavOptions& options, std::string_view name) {
  Tensor samples;
  sound_internal::Resampler resampler;
  const auto make = [&](int64_t frames, int64_t channels) {
    samples = Tensor::empty(f32, {frames, channels});
    return samples.mutable_as<float>().data();
  };
  const auto decoded = sound_internal::decode_wav_to(file, options, {}, name, resampler, make);
  if (!decoded) return fail(decoded.error());
  return Wav{std::move(samples), decoded->rate, decoded->is_truncated};
}

Result<void> check_target(int64_t frames, int64_t channels, size_t bytes, std::span<std::byte> target,
                          std::string_view name) {
  if (target.size() == bytes && is_aligned(target)) return {};
  return invalid(name, fmt::format("{} frames of {} channels need {} bytes, aligned for float; the target has {}",
                                   frames, channels, bytes, target.size()));
}

// check_target() before anything is decoded, where sample_rate is given. An option out of range is an error later.
Result<void> check_fixed_target(const WavInfo& info, const WavOptions& options, std::span<std::byte> target,
                                std::string_view name) {
  const int64_t frames = options.desired_samples, channels = sound_internal::result_channels(options, info.channels);
  if (frames < 0 || channels < 1) return {};
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(frames), static_cast<size_t>(channels), &bytes) ||
      __builtin_mul_overflow(bytes, sizeof(float), &bytes)) {
    return invalid(name, fmt::format("{} frames of {} channels are too many", frames, channels));
  }
  return check_target(frames, channels, bytes, target, name);
}

template <class T>
void put(std::byte*& to, T value) {
  std::memcpy(to, &value, sizeof value);
  to += sizeof value;
}
void put_text(std::byte*& to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  to += text.size();
}

void put_header(std::byte* to, uint32_t data_bytes, uint16_t channels, uint32_t rate) {
  const auto frame_bytes = static_cast<uint16_t>(2 * channels);
  put_text(to, "RIFF");
  put(to, static_cast<uint32_t>(kHeaderBytes - 8 + data_bytes));
  put_text(to, "WAVEfmt ");
  put(to, uint32_t{16});
  put(to, kPcm);
  put(to, channels);
  put(to, rate);
  put(to, rate * frame_bytes);
  put(to, frame_bytes);
  put(to, uint16_t{16});
  put_text(to, "data");
  put(to, data_bytes);
}

Result<void> check_audio(const Tensor& audio, int32_t rate) {
  if (audio.dtype() != f32 || audio.rank() != 2) {
    return invalid("encode_wav", fmt::format("float32 [frames, channels] is expected, {} {} was given",
                                             name(audio.dtype()), audio.shape().to_string()));
  }
  if (audio.dim(1) < 1 || audio.dim(1) > INT16_MAX) {
    return invalid("encode_wav", fmt::format("{} channels, 1 to {} are expected", audio.dim(1), INT16_MAX));
  }
  if (rate < 1 || int64_t{rate} * audio.dim(1) * 2 > int64_t{UINT32_MAX}) {
    return invalid("encode_wav", fmt::format("a rate of {} with {} channels", rate, audio.dim(1)));
  }
  if (audio.size() > (int64_t{UINT32_MAX} - static_cast<int64_t>(kHeaderBytes)) / 2) {
    return invalid("encode_wav", fmt::format("{} values are more than a WAV file holds", audio.size()));
  }
  return {};
}

}  // namespace

Result<Wav> decode_wav(std::span<const std::byte> file, const WavOptions& options, std::string_view name) try {
  if (options.sample_rate != 0) return decode_at_other_rate(file, options, name);
  const auto info = wav_info(file, file.size(), options, name);
  if (!info) return fail(info.error());
  const auto cut = cut_of(file, *info, options, name);
  if (!cut) return fail(cut.error());
  Tensor samples = Tensor::empty(f32, {cut->frames, cut->channels});
  HEADPOND_TRY(convert(*info, *cut, {samples.mutable_data(), cut->target_bytes}, options, name));
  return Wav{std::move(samples), info->rate, info->is_truncated};
} catch (const std::exception&) {
  return fail_caught(name);
}

Result<WavInfo> decode_wav_into(std::span<const std::byte> file, std::span<std::byte> target, const WavOptions& options,
                                std::string_view name) try {
  auto info = wav_info(file, file.size(), options, name);
  if (!info) return info;
  if (options.sample_rate != 0) {
    HEADPOND_TRY(check_fixed_target(*info, options, target, name));
    const auto wav = decode_at_other_rate(file, options, name);
    if (!wav) return fail(wav.error());
    const Tensor& samples = wav->samples;
    HEADPOND_TRY(check_target(samples.dim(0), samples.dim(1), samples.byte_size(), target, name));
    std::copy_n(samples.data(), target.size(), target.data());
    return info;
  }
  const auto cut = cut_of(file, *info, options, name);
  if (!cut) return fail(cut.error());
  HEADPOND_TRY(check_target(cut->frames, cut->channels, cut->target_bytes, target, name));
  HEADPOND_TRY(convert(*info, *cut, target, options, name));
  return info;
} catch (const std::exception&) {
  return fail_caught(name);
}

Result<void> decode_wav_frames(const WavInfo& info, std::span<const std::byte> frames, int64_t channels,
                               std::span<std::byte> target) try {
  const Form* const form = find_form(info.code, info.bits);
  const auto frame_bytes = static_cast<size_t>(info.frame_bytes);
  const size_t target_frame = static_cast<size_t>(channels) * sizeof(float);
  const bool is_info = form != nullptr && info.channels >= 1 && info.channels <= info.frame_bytes / form->value_bytes;
  if (!is_info || channels < 1 || channels > INT32_MAX || frames.size() % frame_bytes != 0 ||
      target.size() % target_frame != 0 || !is_aligned(target)) {
    return invalid(
        "decode_wav_frames",
        fmt::format("{} bytes in frames of {} ({} channels of {} bits), to {} bytes in frames of {} channels",
                    frames.size(), info.frame_bytes, info.channels, info.bits, target.size(), channels));
  }
  const size_t count = std::min(frames.size() / frame_bytes, target.size() / target_frame);
  return convert(info, {channels, 0, 0, frames.first(count * frame_bytes)}, target, {}, "decode_wav_frames");
} catch (const std::exception&) {
  return fail_caught("decode_wav_frames");
}

Result<std::vector<std::byte>> encode_wav(const Tensor& audio, int32_t rate) try {
  HEADPOND_TRY(check_audio(audio, rate));
  const auto values = audio.as<float>();
  std::vector<std::byte> file(kHeaderBytes + 2 * values.size());
  put_header(file.data(), static_cast<uint32_t>(2 * values.size()), static_cast<uint16_t>(audio.dim(1)),
             static_cast<uint32_t>(rate));
  std::byte* to = file.data() + kHeaderBytes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      const auto channels = static_cast<size_t>(audio.dim(1));
      return invalid("encode_wav", fmt::format("NaN in frame {}, channel {}", i / channels, i % channels));
    }
    const float scaled = std::clamp(std::round(values[i] * kFullScale), -kFullScale, kFullScale - 1);
    put(to, static_cast<int16_t>(scaled));
  }
  return file;
} catch (const std::exception&) {
  return fail_caught("encode_wav");
}

}  // namespace headpond
