// SPDX-License-Identifier: Apache-2.0
// Formats by their first bytes, and the heads of FLAC and AIFF.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/signature_internal.h"
#include "headpond/codec/sound/sample_rate_internal.h"
#include "headpond/codec/sound/sound_file_internal.h"
#include "headpond/codec/sound/sound_internal.h"

namespace headpond {
namespace sound_internal {
namespace {

using codec_internal::FileKind;
using codec_internal::Signature;

constexpr uint64_t kMarkBytes = 12;
constexpr int64_t kMostWavValues = int64_t{1} << 28;  // of a result of decode_wav() at another rate

tl::unexpected<Error> failed(ErrorKind kind, std::string_view name, std::string_view what) {
  return fail(kind, fmt::format("{}: {}", name, what));
}

Result<void> need(Bytes head, uint64_t file_bytes, uint64_t end, std::string_view name) {
  if (end <= head.size()) return {};
  if (end > file_bytes) return failed(ErrorKind::DataLoss, name, "the file ends inside its head");
  return failed(ErrorKind::FailedPrecondition, name,
                fmt::format("the first {} of {} bytes do not say what it holds: at least {} are needed", head.size(),
                            file_bytes, end));
}

// What the file is, or its first bytes.
std::string looks_like(Bytes head, const Signature& found) {
  if (!found.what.empty() && found.what != "text") return std::string(found.what);
  std::string shown;
  for (const std::byte byte : head.first(std::min<size_t>(head.size(), 8))) {
    const auto c = static_cast<unsigned char>(byte);
    shown += c >= ' ' && c <= '~' ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  return fmt::format("'{}'", shown);
}

bool is_mpeg(Bytes head, uint64_t at) {
  if (head.size() < at + 2) return false;
  const uint64_t half = big_number(head, at, 2);
  const uint64_t layer = half >> 1 & 3;  // 1 is layer 3, and 2 layer 2.
  return half >> 5 == 0x7ff && (half >> 3 & 3) != 1 && (layer == 1 || layer == 2);
}

// The codec is named by the first packet, after a page's header and its table of segments.
Result<SoundFormat> ogg_format(Bytes head, uint64_t file_bytes, std::string_view name) {
  HEADPOND_TRY(need(head, file_bytes, 27, name));
  const uint64_t packet = 27 + static_cast<uint64_t>(head[26]);
  HEADPOND_TRY(need(head, file_bytes, packet + 8, name));
  if (has_text(head, packet, "\1vorbis")) return SoundFormat::vorbis;
  if (has_text(head, packet, "OpusHead")) return SoundFormat::opus;
  const bool is_flac = has_text(head, packet,
                                "\x7f"
                                "FLAC");
  return failed(ErrorKind::Unimplemented, name,
                fmt::format("Ogg with {}; Vorbis and Opus are supported", is_flac ? "FLAC" : "another codec"));
}

}  // namespace

Result<SoundFormat> format_of(Bytes head, uint64_t file_bytes, std::string_view name) {
  if (file_bytes == 0) return failed(ErrorKind::InvalidArgument, name, "not a sound file: it is empty");
  HEADPOND_TRY(need(head, file_bytes, std::min<uint64_t>(file_bytes, kMarkBytes), name));
  const bool is_riff = has_text(head, 0, "RIFF") || has_text(head, 0, "RIFX") || has_text(head, 0, "RF64");
  if ((is_riff || has_text(head, 0, "BW64")) && has_text(head, 8, "WAVE")) return SoundFormat::wav;
  if (has_text(head, 0, "OggS")) return ogg_format(head, file_bytes, name);
  if (has_text(head, 0, "FORM") && (has_text(head, 8, "AIFF") || has_text(head, 8, "AIFC"))) return SoundFormat::aiff;
  const uint64_t tag = id3_bytes(head);
  if (tag > 0 && tag < file_bytes) HEADPOND_TRY(need(head, file_bytes, std::min(file_bytes, tag + 4), name));
  if (has_text(head, tag, "fLaC")) return SoundFormat::flac;
  if (is_mpeg(head, tag) || (tag > 0 && tag < file_bytes)) return SoundFormat::mp3;
  const Signature found = codec_internal::signature_of(head);
  if (found.kind == FileKind::sound) {
    return failed(ErrorKind::InvalidArgument, name,
                  fmt::format("not a sound file: it begins as {}, but its head is damaged", found.what));
  }
  if (found.kind == FileKind::other_sound) {
    return failed(ErrorKind::Unimplemented, name,
                  fmt::format("{} is not supported; WAV, FLAC, MP3, Vorbis, Opus and AIFF are", found.what));
  }
  return failed(ErrorKind::InvalidArgument, name, fmt::format("not a sound file: found {}", looks_like(head, found)));
}

// A block's header of 4 bytes, and STREAMINFO: sizes (10 bytes), rate (20 bits), channels - 1 (3), bits - 1 (5), frames
// (36).
Result<SoundInfo> flac_info(Bytes head, uint64_t file_bytes, std::string_view name) {
  const uint64_t block = id3_bytes(head) + 4, fields = block + 14;
  HEADPOND_TRY(need(head, file_bytes, block + 38, name));
  if ((big_number(head, block, 4) & 0x7fffffff) != 34) {
    return failed(ErrorKind::InvalidArgument, name, "FLAC that does not begin with a STREAMINFO of 34 bytes");
  }
  const uint64_t word = big_number(head, fields, 8);
  const auto frames = static_cast<int64_t>(word & 0xfffffffff);
  return SoundInfo{SoundFormat::flac, static_cast<int32_t>(word >> 44), static_cast<int32_t>((word >> 41 & 7) + 1),
                   frames == 0 ? -1 : frames};
}

namespace {

// A rate as an 80-bit float: an exponent of 16 bits, a fraction of 64. 0 if it is no rate.
int32_t rate_of(Bytes head, uint64_t at) {
  constexpr uint64_t kExponentOfOne = 0x3fff;
  const uint64_t exponent = big_number(head, at, 2), fraction = big_number(head, at + 2, 8);
  if (exponent < kExponentOfOne || exponent > kExponentOfOne + 30) return 0;
  return static_cast<int32_t>(fraction >> (63 - (exponent - kExponentOfOne)));
}

}  // namespace

// Chunks as in WAV, big-endian; COMM has channels (2), frames (4), bits (2) and the rate (10).
Result<SoundInfo> aiff_info(Bytes head, uint64_t file_bytes, std::string_view name) {
  constexpr int kMaxChunks = 128;
  uint64_t at = 12;
  for (int i = 0; i < kMaxChunks && file_bytes - at >= 8; ++i) {
    HEADPOND_TRY(need(head, file_bytes, at + 8, name));
    const uint64_t size = big_number(head, at + 4, 4);
    if (has_text(head, at, "COMM")) {
      if (size < 18) return failed(ErrorKind::InvalidArgument, name, fmt::format("COMM has {} bytes", size));
      HEADPOND_TRY(need(head, file_bytes, at + 26, name));
      return SoundInfo{SoundFormat::aiff, rate_of(head, at + 16), static_cast<int32_t>(big_number(head, at + 8, 2)),
                       static_cast<int64_t>(big_number(head, at + 10, 4))};
    }
    at += 8 + size + size % 2;
    if (at > file_bytes) return failed(ErrorKind::DataLoss, name, "the file ends before a chunk COMM");
  }
  return failed(ErrorKind::InvalidArgument, name, "no chunk COMM");
}

WavOptions wav_options(const SoundOptions& options) {
  return {.desired_channels = options.desired_channels,
          .desired_samples = options.desired_samples,
          .first_sample = options.first_sample,
          .lenient = options.lenient,
          .max_channels = options.max_channels,
          .mix = options.mix,
          .non_finite = options.non_finite,
          .rate = options.rate,
          .sample_rate = options.sample_rate};
}

Result<void> check_limits(const SoundInfo& info, const SoundOptions& options, std::string_view name) {
  if (info.rate <= 0 || info.channels <= 0) {
    return failed(ErrorKind::InvalidArgument, name,
                  fmt::format("a sample rate of {} Hz, {} channels", info.rate, info.channels));
  }
  if (info.channels > options.max_channels) {
    return failed(ErrorKind::ResourceExhausted, name,
                  fmt::format("{} channels are more than the limit of {}", info.channels, options.max_channels));
  }
  if (options.rate != 0 && info.rate != options.rate) {
    return failed(ErrorKind::InvalidArgument, name, other_rate(info.rate, options.rate, options.sample_rate));
  }
  return {};
}

Result<void> check_values(int64_t frames, int64_t own_channels, int64_t channels, int64_t max_values,
                          std::string_view name) {
  if (frames <= max_values / std::max(own_channels, channels)) return {};
  return failed(
      ErrorKind::ResourceExhausted, name,
      fmt::format("{} frames of {} channels are more than the limit of {} values", frames, own_channels, max_values));
}

namespace {

template <class Options>  // of WAV, or of any sound
Result<void> check_range(const Options& options, std::string_view name) {
  if (options.sample_rate < 0 || options.sample_rate > kMaxResampledRate) {
    return failed(ErrorKind::InvalidArgument, name,
                  fmt::format("sample_rate {}: 0, or 1 to {} are expected", options.sample_rate, kMaxResampledRate));
  }
  if (options.desired_channels >= -1 && options.desired_channels != 0 && options.desired_samples >= -1 &&
      options.first_sample >= 0 && (options.mix == SoundMix::first || options.desired_channels <= 1)) {
    return {};
  }
  return failed(ErrorKind::InvalidArgument, name,
                fmt::format("desired_channels {}, desired_samples {}, first_sample {}{} are out of range",
                            options.desired_channels, options.desired_samples, options.first_sample,
                            options.mix == SoundMix::mean ? ", mix mean" : ""));
}

// At the file's rate.
Result<Decoded> decode_wav_part(Bytes file, const WavInfo& info, const WavOptions& options,
                                std::optional<int64_t> max_values, std::string_view name, const MakeSamples& make) {
  if (options.first_sample > info.frames) {
    return failed(ErrorKind::InvalidArgument, name,
                  fmt::format("first_sample {} of {} frames", options.first_sample, info.frames));
  }
  const int64_t left = info.frames - options.first_sample;
  const int64_t frames = options.desired_samples < 0 ? left : options.desired_samples;
  const int64_t channels = result_channels(options, info.channels);
  if (max_values) HEADPOND_TRY(check_values(std::min(left, frames), info.channels, channels, *max_values, name));
  float* const to = make(frames, channels);
  const size_t bytes = sizeof(float) * static_cast<size_t>(frames) * static_cast<size_t>(channels);
  const auto decoded = decode_wav_into(file, {reinterpret_cast<std::byte*>(to), bytes}, options, name);
  if (!decoded) return fail(decoded.error());
  return Decoded{info.rate, info.is_truncated, std::min(left, frames)};
}

}  // namespace

Result<Decoded> decode_wav_to(Bytes file, const WavOptions& options, std::optional<int64_t> max_values,
                              std::string_view name, Resampler& resampler, const MakeSamples& make) {
  HEADPOND_TRY(check_range(options, name));
  const auto info = wav_info(file, file.size(), options, name);
  if (!info) return fail(info.error());
  WavOptions own = options;
  own.sample_rate = 0;
  if (!is_resampled(info->rate, options.sample_rate)) {
    return decode_wav_part(file, *info, own, max_values, name, make);
  }
  const auto decode = [&](int64_t first, int64_t frames, const MakeSamples& make_part) {
    own.first_sample = first;
    own.desired_samples = frames;
    return decode_wav_part(file, *info, own, max_values, name, make_part);
  };
  return decode_at_rate({SoundFormat::wav, info->rate, info->channels, info->frames},
                        {.first = options.first_sample,
                         .desired = options.desired_samples,
                         .channels = result_channels(options, info->channels),
                         .sample_rate = options.sample_rate,
                         .max_values = max_values.value_or(kMostWavValues)},
                        resampler, name, decode, make);
}

Result<Decoded> decode_sound_to(Bytes file, const SoundOptions& options, std::string_view name, Resampler& resampler,
                                const MakeSamples& make) {
  HEADPOND_TRY(check_range(options, name));
  const auto format = format_of(file, file.size(), name);
  if (!format) return fail(format.error());
  if (*format == SoundFormat::wav) {
    return decode_wav_to(file, wav_options(options), options.max_values, name, resampler, make);
  }
  return library_decode(file, *format, options, name, resampler, make);
}

}  // namespace sound_internal

std::string_view name(SoundFormat format) {
  constexpr std::array<std::string_view, 6> kNames = {"WAV", "FLAC", "MP3", "Vorbis", "Opus", "AIFF"};
  return kNames[static_cast<size_t>(format)];
}

namespace {

Result<SoundInfo> info_by_format(SoundFormat format, std::span<const std::byte> head, uint64_t file_bytes,
                                 const SoundOptions& options, std::string_view name) {
  if (format == SoundFormat::wav) {
    const auto wav = wav_info(head, file_bytes, sound_internal::wav_options(options), name);
    if (!wav) return fail(wav.error());
    return SoundInfo{SoundFormat::wav, wav->rate, wav->channels, wav->frames};
  }
  if (format == SoundFormat::flac) return sound_internal::flac_info(head, file_bytes, name);
  if (format == SoundFormat::aiff) return sound_internal::aiff_info(head, file_bytes, name);
  if (head.size() < file_bytes) return fail(sound_internal::need(head, file_bytes, file_bytes, name).error());
  return sound_internal::library_info(head, format, options, name);
}

}  // namespace

Result<SoundInfo> sound_info(std::span<const std::byte> head, uint64_t file_bytes, const SoundOptions& options,
                             std::string_view name) try {
  head = head.first(std::min<uint64_t>(head.size(), file_bytes));
  const auto format = sound_internal::format_of(head, file_bytes, name);
  if (!format) return fail(format.error());
  auto info = info_by_format(*format, head, file_bytes, options, name);
  if (!info) return info;
  HEADPOND_TRY(sound_internal::check_limits(*info, options, name));
  return info;
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

Result<Sound> decode_sound(std::span<const std::byte> file, const SoundOptions& options, std::string_view name) try {
  Tensor samples;
  sound_internal::Resampler resampler;
  const auto make = [&](int64_t frames, int64_t channels) {
    samples = Tensor::empty(f32, {frames, channels});
    return samples.mutable_as<float>().data();
  };
  const auto decoded = sound_internal::decode_sound_to(file, options, name, resampler, make);
  if (!decoded) return fail(decoded.error());
  return Sound{std::move(samples), decoded->rate, decoded->is_truncated};
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
