// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/codec/sound/sample_rate_internal.h"

namespace headpond::sound_internal {
namespace {

// So that a product of frames and a rate leaves room for what is added to it.
constexpr int64_t kMostFrames = INT64_MAX / kMaxResampledRate / 2;

tl::unexpected<Error> failed(ErrorKind kind, std::string_view name, std::string_view what) {
  return fail(kind, fmt::format("{}: {}", name, what));
}

tl::unexpected<Error> too_late(int64_t first, int64_t frames, int32_t sample_rate, std::string_view name) {
  return failed(ErrorKind::InvalidArgument, name,
                fmt::format("first_sample {} of {} frames at {} Hz", first, frames, sample_rate));
}

Result<std::shared_ptr<const Polyphase>> filters_for(ResampleFilters& filters, int32_t rate, int32_t sample_rate,
                                                     std::string_view name) try {
  return filters.get(rate, sample_rate);
} catch (const Exception& exception) {
  return failed(exception.error().kind(), name, exception.error().message());
}

// Where the file does not say how many frames it has: decoding tells whether it has these.
FrameRange unknown_frames_to_decode(const WantedFrames& wanted, const Polyphase& filters) {
  const int64_t first = std::min(wanted.first, kMostFrames);
  const bool has_end = wanted.desired >= 0 && wanted.desired <= kMostFrames - first;
  const FrameRange read = frames_read(filters, {first, first + (has_end ? std::max<int64_t>(1, wanted.desired) : 1)});
  return {std::max<int64_t>(0, read.begin), has_end ? std::max<int64_t>(0, read.end) : -1};
}

Result<void> check_result(int64_t frames, const WantedFrames& wanted, std::string_view name) {
  if (frames <= wanted.max_values / wanted.channels) return {};
  return failed(ErrorKind::ResourceExhausted, name,
                fmt::format("{} frames of {} channels at {} Hz are more than the limit of {} values", frames,
                            wanted.channels, wanted.sample_rate, wanted.max_values));
}

// The frames of the file to decode; an end of -1: all to the end. An error iff they or the result are known not to be
// allowed.
Result<FrameRange> frames_to_decode(const SoundInfo& info, const WantedFrames& wanted, const Polyphase& filters,
                                    std::string_view name) {
  if (info.frames < 0) return unknown_frames_to_decode(wanted, filters);
  const auto all = frames_at_rate(info.frames, info.rate, wanted.sample_rate, name);
  if (!all) return fail(all.error());
  if (wanted.first > *all) return too_late(wanted.first, *all, wanted.sample_rate, name);
  const int64_t left = *all - wanted.first;
  const int64_t count = wanted.desired < 0 ? left : std::min(left, wanted.desired);
  HEADPOND_TRY(check_result(count, wanted, name));
  if (count == 0) return FrameRange{info.frames, info.frames};
  const FrameRange read = frames_read(filters, {wanted.first, wanted.first + count});
  return FrameRange{std::max<int64_t>(0, read.begin), count == left ? info.frames : std::min(info.frames, read.end)};
}

// The wanted frames that exist, of a file of which `decoded` frames of `range` were there.
Result<int64_t> frames_that_exist(const SoundInfo& info, const WantedFrames& wanted, const FrameRange& range,
                                  int64_t decoded, std::string_view name) {
  const bool ends_here = range.end < 0 || decoded < range.end - range.begin || range.end == info.frames;
  if (!ends_here) return wanted.desired;
  auto all = frames_at_rate(range.begin + decoded, info.rate, wanted.sample_rate, name);
  if (!all) return all;
  if (info.frames < 0 && wanted.first > *all) return too_late(wanted.first, *all, wanted.sample_rate, name);
  const int64_t left = std::max<int64_t>(0, *all - wanted.first);
  return wanted.desired < 0 ? left : std::min(left, wanted.desired);
}

}  // namespace

Result<int64_t> frames_at_rate(int64_t frames, int32_t rate, int32_t sample_rate, std::string_view name) {
  if (!is_resampled(rate, sample_rate)) return frames;
  if (rate > kMaxResampledRate) {
    return failed(
        ErrorKind::InvalidArgument, name,
        fmt::format("a sample rate of {} Hz is not resampled, {} is the highest one", rate, kMaxResampledRate));
  }
  if (frames <= kMostFrames) return resampled_frames(frames, rate, sample_rate);
  return failed(ErrorKind::ResourceExhausted, name, fmt::format("{} frames are too many to resample", frames));
}

Result<Decoded> decode_at_rate(const SoundInfo& info, const WantedFrames& wanted, Resampler& resampler,
                               std::string_view name, const DecodePart& decode, const MakeSamples& make) {
  HEADPOND_TRY(frames_at_rate(0, info.rate, wanted.sample_rate, name));
  const auto filters = filters_for(resampler.filters, info.rate, wanted.sample_rate, name);
  if (!filters) return fail(filters.error());
  const auto range = frames_to_decode(info, wanted, **filters, name);
  if (!range) return fail(range.error());
  Tensor part;
  const int64_t length = range->end < 0 ? -1 : range->end - range->begin;
  const auto decoded = decode(range->begin, length, [&](int64_t frames, int64_t channels) {
    part = Tensor::empty(f32, {frames, channels});
    return part.mutable_as<float>().data();
  });
  if (!decoded) return fail(decoded.error());
  const auto frames = frames_that_exist(info, wanted, *range, decoded->frames, name);
  if (!frames) return fail(frames.error());
  HEADPOND_TRY(check_result(*frames, wanted, name));
  const int64_t channels = wanted.channels;
  const int64_t rows = wanted.desired < 0 ? *frames : wanted.desired;
  float* const to = make(rows, channels);
  const auto there = static_cast<size_t>(*frames * channels);
  const auto values = part.as<float>().first(static_cast<size_t>(decoded->frames * channels));
  resample_part(**filters, {values, channels, range->begin}, wanted.first, {to, there}, resampler.scratch);
  std::fill(to + there, to + static_cast<size_t>(rows) * static_cast<size_t>(channels), 0.0F);
  return Decoded{wanted.sample_rate, decoded->is_truncated, *frames};
}

}  // namespace headpond::sound_internal
