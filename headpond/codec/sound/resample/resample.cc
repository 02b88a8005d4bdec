// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/resample/resample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/math/portable.h"
#include "headpond/codec/sound/resample/resample_internal.h"

namespace headpond {
namespace sound_internal {
namespace {

constexpr int64_t kMaxTaps = int64_t{4} << 20;
constexpr int64_t kMostOfSoxr = 256;  // times one rate is the other: beyond that libsoxr designs filters for minutes
constexpr int64_t kMostChannelsOfSoxr = 256;   // libsoxr takes 0.1 MiB for each
constexpr size_t kMostKept = size_t{1} << 20;  // bytes of all filters that are kept for other files
constexpr int64_t kSums = 8;                   // partial sums of a filter; taps are a multiple
constexpr int64_t kBlockTurns = 4096;          // about so many samples are prepared at once

[[noreturn]] void refuse_resample(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "resample: " + what));
}

// The modified Bessel function of order 0 (its power series).
double bessel(double x) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 400 && term > sum * 1e-17; ++k) {
    term *= x / (2 * k) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

double tap_at(const ResampleOptions& options, double t) {
  const auto width = static_cast<double>(options.width);
  if (std::abs(t) >= width) return 0;
  const double angle = t * std::numbers::pi;
  const double sinc = t == 0 ? 1 : portable::sin(angle) / angle;
  if (options.method == ResampleMethod::sinc_kaiser) {
    return sinc * bessel(options.beta * std::sqrt(1 - t * t / (width * width))) / bessel(options.beta);
  }
  const double window = portable::cos(angle / width / 2);
  return sinc * window * window;
}

float filtered(const float* samples, const float* taps, int64_t count) {
  float sums[kSums] = {};
  for (int64_t k = 0; k < count; k += kSums) {
    for (int64_t i = 0; i < kSums; ++i) sums[i] += samples[k + i] * taps[k + i];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// One channel of a part of a sound, and of its result: values `stride` apart.
struct Channel {
  const float* from;
  FrameRange part;  // What `from` has.
  float* to;
  FrameRange result;
  int64_t stride;
};

// Turns of all phases, some at once: their samples are copied side by side, with zeros outside.
void resample_channel(const Polyphase& filters, const Channel& channel, std::vector<float>& scratch) {
  const int64_t turns = std::max<int64_t>(1, kBlockTurns / filters.from);
  const int64_t first = filters.first.front();
  const int64_t length = turns * filters.from + filters.count + 1;
  scratch.resize(static_cast<size_t>(length));
  const int64_t block = turns * filters.to;
  for (int64_t begin = channel.result.begin / filters.to * filters.to; begin < channel.result.end; begin += block) {
    const int64_t origin = begin / filters.to * filters.from + first;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = origin + i;
      const bool is_there = at >= channel.part.begin && at < channel.part.end;
      scratch[static_cast<size_t>(i)] = is_there ? channel.from[(at - channel.part.begin) * channel.stride] : 0.0F;
    }
    const int64_t end = std::min(begin + block, channel.result.end);
    for (int64_t i = std::max(begin, channel.result.begin); i < end; ++i) {
      const int64_t phase = i % filters.to;
      const int64_t place = (i - begin) / filters.to * filters.from + filters.first[static_cast<size_t>(phase)] - first;
      channel.to[(i - channel.result.begin) * channel.stride] =
          filtered(scratch.data() + place, filters.taps.data() + phase * filters.count, filters.count);
    }
  }
}

size_t bytes_of(const Polyphase& filters) {
  return filters.taps.size() * sizeof(float) + filters.first.size() * sizeof(int64_t);
}

void check_soxr(const ResampleOptions& options) {
  const ResampleOptions plain = {.from = options.from, .to = options.to, .method = options.method};
  if (options != plain) refuse_resample("width, rolloff and beta are of sinc_hann and sinc_kaiser, not of soxr_hq");
  const auto [low, high] = std::minmax(options.from, options.to);
  if (high > kMostOfSoxr * low) {
    refuse_resample(fmt::format("soxr_hq takes rates of which one is at most {} times the other, not {} and {}",
                                kMostOfSoxr, options.from, options.to));
  }
  if (!has_soxr()) {
    throw Exception(
        Error(ErrorKind::Unimplemented, "resample: soxr_hq, but built without the component soxr (HEADPOND_SOXR)"));
  }
}

}  // namespace

void check_resample(const ResampleOptions& options) {
  if (options.from < 1 || options.from > kMaxResampledRate || options.to < 1 || options.to > kMaxResampledRate) {
    refuse_resample(
        fmt::format("from and to must be 1 to {}, not {} and {}", kMaxResampledRate, options.from, options.to));
  }
  if (options.width < 1 || options.width > 256) refuse_resample("width must be 1 to 256");
  if (!(options.rolloff > 0.01 && options.rolloff <= 1)) refuse_resample("rolloff must be above 0.01 to 1");
  if (!(options.beta >= 0 && options.beta <= 100)) refuse_resample("beta must be 0 to 100");
  if (options.method == ResampleMethod::soxr_hq) check_soxr(options);
}

Polyphase::Polyphase(const ResampleOptions& options)
    : from(options.from / std::gcd(options.from, options.to)), to(options.to / std::gcd(options.from, options.to)) {
  const double base = static_cast<double>(std::min(from, to)) * options.rolloff;
  const double reach = static_cast<double>(options.width) * static_cast<double>(from) / base;  // in samples
  count = (static_cast<int64_t>(2 * reach) + 2 + kSums - 1) / kSums * kSums;
  if (count * to > kMaxTaps) {
    refuse_resample(fmt::format("{} to {} needs {} phases of {} taps, more than {} in all", options.from, options.to,
                                to, count, kMaxTaps));
  }
  for (int64_t phase = 0; phase < to; ++phase) {
    const double middle = static_cast<double>(phase * from) / static_cast<double>(to);
    first.push_back(static_cast<int64_t>(std::floor(middle - reach)));
    for (int64_t k = 0; k < count; ++k) {
      // In units of 1 / (from to), so that it is exact where the sinc has its zeros.
      const auto distance = static_cast<double>((first.back() + k) * to - phase * from);
      const double t = distance / static_cast<double>(from * to) * base;
      taps.push_back(static_cast<float>(tap_at(options, t) * base / static_cast<double>(from)));
    }
  }
}

int64_t resampled_frames(int64_t frames, int64_t from, int64_t to) {
  const int64_t common = std::gcd(from, to);
  from /= common;
  to /= common;
  return frames / from * to + (frames % from * to + from - 1) / from;
}

FrameRange frames_read(const Polyphase& filters, const FrameRange& result) {
  const auto first_of = [&](int64_t frame) {
    return frame / filters.to * filters.from + filters.first[static_cast<size_t>(frame % filters.to)];
  };
  return {first_of(result.begin), first_of(result.end - 1) + filters.count};
}

void resample_part(const Polyphase& filters, const SoundPart& part, int64_t first, std::span<float> to,
                   std::vector<float>& scratch) {
  const int64_t channels = part.channels;
  if (channels == 0) return;
  const int64_t frames = static_cast<int64_t>(part.values.size()) / channels;
  const int64_t wanted = static_cast<int64_t>(to.size()) / channels;
  for (int64_t i = 0; i < channels; ++i) {
    resample_channel(filters,
                     {.from = part.values.data() + i,
                      .part = {part.begin, part.begin + frames},
                      .to = to.data() + i,
                      .result = {first, first + wanted},
                      .stride = channels},
                     scratch);
  }
}

std::shared_ptr<const Polyphase> ResampleFilters::get(int64_t from, int64_t to) {
  const auto found = std::ranges::find_if(kept_, [&](const Pair& pair) { return pair.from == from && pair.to == to; });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().filters;
  }
  const ResampleOptions options = {.from = from, .to = to};
  check_resample(options);
  auto made = std::make_shared<const Polyphase>(options);
  size_t bytes = bytes_of(*made);
  if (bytes > kMostKept) return made;
  for (const Pair& pair : kept_) bytes += bytes_of(*pair.filters);
  for (; bytes > kMostKept; kept_.erase(kept_.begin())) bytes -= bytes_of(*kept_.front().filters);
  kept_.push_back({from, to, made});
  return made;
}

}  // namespace sound_internal

namespace {

using sound_internal::Polyphase;
using sound_internal::refuse_resample;

void resample_into(const Polyphase& filters, const Tensor& in, std::span<float> out, std::vector<float>& scratch) {
  if (filters.from == filters.to) {
    std::ranges::copy(in.as<float>(), out.begin());
    return;
  }
  const int64_t channels = in.rank() == 2 ? in.dim(1) : 1;
  sound_internal::resample_part(filters, {.values = in.as<float>(), .channels = channels}, 0, out, scratch);
}

std::string title_of_resample(const ResampleOptions& options) {
  const ResampleOptions usual;
  std::vector<std::string> parts = {fmt::format("from={}, to={}", options.from, options.to)};
  if (options.method != usual.method) parts.push_back(fmt::format("method={}", name(options.method)));
  if (options.width != usual.width) parts.push_back(fmt::format("width={}", options.width));
  if (options.rolloff != usual.rolloff) parts.push_back(fmt::format("rolloff={}", options.rolloff));
  if (options.beta != usual.beta) parts.push_back(fmt::format("beta={}", options.beta));
  return fmt::format("resample({})", fmt::join(parts, ", "));
}

bool is_clip(DType dtype, const Shape& shape) {
  return dtype == DType::f32 && (shape.rank() == 1 || shape.rank() == 2);
}

std::string refusal_of_clip(DType dtype, const Shape& shape) {
  return fmt::format("takes float32[frames] or [frames,channels], not {}{}", name(dtype), shape.to_string());
}

// Why a kernel with these options refuses such a clip; empty if it takes it.
std::string refusal_of(DType dtype, const Shape& shape, const ResampleOptions& options) {
  if (!is_clip(dtype, shape)) return refusal_of_clip(dtype, shape);
  const bool is_narrow = shape.rank() == 1 || shape[1] <= sound_internal::kMostChannelsOfSoxr;
  if (options.method != ResampleMethod::soxr_hq || is_narrow) return "";
  return fmt::format("soxr_hq takes at most {} channels, not the {} of [frames,channels] = {}",
                     sound_internal::kMostChannelsOfSoxr, shape[1], shape.to_string());
}

Shape shape_of_resampled(const Shape& shape, const ResampleOptions& options) {
  const int64_t frames =
      shape[0] == kUnknown ? kUnknown : sound_internal::resampled_frames(shape[0], options.from, options.to);
  return shape.rank() == 1 ? Shape{frames} : Shape{frames, shape[1]};
}

/// Memory that a worker keeps for its next clip.
struct ResampleScratch {
  std::vector<float> values;
};

class Resample final : public Kernel {
 public:
  explicit Resample(const ResampleOptions& options)
      : Kernel({.title = title_of_resample(options),
                .result = [options](const Spec& in) { return result_of(in, options); }}),
        options_(options) {
    if (options.method != ResampleMethod::soxr_hq) filters_.emplace(options);
  }

  Result<void> run(KernelCall& call) const override {
    const Tensor& in = call.in();
    if (const std::string refusal = refusal_of(in.dtype(), in.shape(), options_); !refusal.empty()) {
      return fail(ErrorKind::InvalidArgument, "resample: " + refusal);
    }
    const auto out = call.make<float>(0, shape_of_resampled(in.shape(), options_));
    if (filters_) {
      resample_into(*filters_, in, out, call.scratch<ResampleScratch>().values);
      return {};
    }
    return sound_internal::resample_by_soxr(in.as<float>(), in.rank() == 2 ? in.dim(1) : 1, options_, out);
  }

 private:
  static Spec result_of(Spec spec, const ResampleOptions& options) {
    const std::string refusal = refusal_of(spec[0].dtype, spec[0].shape, options);
    if (!refusal.empty()) refuse_resample(refusal);
    spec[0].shape = shape_of_resampled(spec[0].shape, options);
    return spec;
  }

  const ResampleOptions options_;
  std::optional<Polyphase> filters_;  // But for soxr_hq.
};

}  // namespace

std::string_view name(ResampleMethod method) {
  switch (method) {
    case ResampleMethod::sinc_hann:
      return "sinc_hann";
    case ResampleMethod::sinc_kaiser:
      return "sinc_kaiser";
    default:
      return "soxr_hq";
  }
}

Result<Tensor> resample(const Tensor& samples, const ResampleOptions& options) {
  try {
    const std::vector<KernelRef> alone = {resample(options)};
    return run_kernels(alone, samples);
  } catch (const Exception& exception) {
    return fail(exception.error());
  }
}

KernelRef resample(const ResampleOptions& options) {
  sound_internal::check_resample(options);
  return std::make_shared<Resample>(options);
}

}  // namespace headpond
