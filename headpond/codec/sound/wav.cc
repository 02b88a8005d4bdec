// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/wav.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/sound/wav_internal.h"

namespace headpond {
namespace {

using codec_internal::fail_caught;
using wav_internal::find_form;
using wav_internal::Form;
using wav_internal::kPcm;

static_assert(std::endian::native == std::endian::little);
constexpr float kFullScale = 32768.0F;
constexpr size_t kHeaderBytes = 44;
// Compilers vectorise loops of a constant length at every level of optimisation; they unroll shorter ones instead.
constexpr size_t kBlock = 32;

void pcm16_to_float(const std::byte* from, size_t count, float* to) {
  std::array<int16_t, kBlock> block;
  for (; count >= kBlock; count -= kBlock, from += sizeof block, to += kBlock) {
    std::memcpy(block.data(), from, sizeof block);
    for (size_t i = 0; i < kBlock; ++i) to[i] = static_cast<float>(block[i]) * (1.0F / kFullScale);
  }
  std::memcpy(block.data(), from, 2 * count);
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(block[i]) * (1.0F / kFullScale);
}

constexpr std::array kForms = {Form{kPcm, 16, 2, pcm16_to_float}};

tl::unexpected<Error> invalid(std::string_view name, std::string_view what) {
  return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}", name, what));
}

// The requested frames of a file.
struct Cut {
  int64_t channels;  // Of the output.
  int64_t frames;
  size_t target_bytes;
  std::span<const std::byte> bytes;  // Of those frames that the file has.
};

Result<Cut> cut_of(std::span<const std::byte> file, const WavInfo& info, const WavOptions& options,
                   std::string_view name) {
  if (options.desired_channels < -1 || options.desired_channels == 0 || options.desired_samples < -1) {
    return invalid(name, fmt::format("desired_channels {}, desired_samples {}: -1 or a number are expected",
                                     options.desired_channels, options.desired_samples));
  }
  if (options.first_sample < 0 || options.first_sample > info.frames) {
    return invalid(name, fmt::format("first_sample {} of {} frames", options.first_sample, info.frames));
  }
  const int64_t left = info.frames - options.first_sample;
  Cut cut = {options.desired_channels == -1 ? info.channels : options.desired_channels,
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

// Frames of another width than in the file are converted one by one.
void convert_each(const WavInfo& info, const Form& form, std::span<const std::byte> frames, size_t channels,
                  float* to) {
  const auto frame_bytes = static_cast<size_t>(info.frame_bytes);
  const size_t given = std::min(channels, static_cast<size_t>(info.channels));
  for (size_t at = 0; at < frames.size(); at += frame_bytes, to += channels) {
    form.to_float(&frames[at], given, to);
    std::fill(to + given, to + channels, to[given - 1]);
  }
}

// REQUIRES: `target` has room for the frames.
void convert(const WavInfo& info, const Form& form, std::span<const std::byte> frames, int64_t channels,
             std::span<std::byte> target) {
  if (target.empty()) return;
  auto* const to = reinterpret_cast<float*>(target.data());
  const size_t count = frames.size() / static_cast<size_t>(info.frame_bytes);
  const size_t values = count * static_cast<size_t>(channels);
  if (channels == info.channels && info.frame_bytes == info.channels * form.value_bytes) {
    if (count > 0) form.to_float(frames.data(), values, to);
  } else {
    convert_each(info, form, frames, static_cast<size_t>(channels), to);
  }
  std::fill(to + values, to + target.size() / sizeof(float), 0.0F);
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

const Form* wav_internal::find_form(uint16_t code, uint16_t bits) {
  const auto* const found = std::find_if(kForms.begin(), kForms.end(),
                                         [&](const Form& form) { return form.code == code && form.bits == bits; });
  return found == kForms.end() ? nullptr : found;
}

Result<Wav> decode_wav(std::span<const std::byte> file, const WavOptions& options, std::string_view name) try {
  const auto info = wav_info(file, file.size(), options, name);
  if (!info) return fail(info.error());
  const auto cut = cut_of(file, *info, options, name);
  if (!cut) return fail(cut.error());
  Tensor samples = Tensor::empty(f32, {cut->frames, cut->channels});
  convert(*info, *find_form(info->code, info->bits), cut->bytes, cut->channels,
          {samples.mutable_data(), cut->target_bytes});
  return Wav{std::move(samples), info->rate, info->is_truncated};
} catch (const std::exception&) {
  return fail_caught(name);
}

Result<WavInfo> decode_wav_into(std::span<const std::byte> file, std::span<std::byte> target, const WavOptions& options,
                                std::string_view name) try {
  auto info = wav_info(file, file.size(), options, name);
  if (!info) return info;
  const auto cut = cut_of(file, *info, options, name);
  if (!cut) return fail(cut.error());
  if (target.size() != cut->target_bytes || !is_aligned(target)) {
    return invalid(name, fmt::format("{} frames of {} channels need {} bytes, aligned for float; the target has {}",
                                     cut->frames, cut->channels, cut->target_bytes, target.size()));
  }
  convert(*info, *find_form(info->code, info->bits), cut->bytes, cut->channels, target);
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
  convert(info, *form, frames.first(count * frame_bytes), channels, target);
  return {};
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
