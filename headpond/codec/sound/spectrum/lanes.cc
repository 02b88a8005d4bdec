// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "headpond/codec/sound/spectrum/lanes_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/sound/spectrum/lanes.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "headpond/codec/sound/spectrum/transform_lanes_internal.h"

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

/// The frames of a tile: lane l's samples begin at from + l * step.
struct Frames {
  const float* from;
  int64_t step;
};

// Calls put(i, samples i of all frames), for each i of the window. Meanwhile the samples that only the next tile has
// begin to be loaded, some lines at a time: a processor waits for few at once, and does not foresee the order of these.
template <class L, class Put>
HWY_INLINE void each_sample(const Frames& frames, int64_t length, Put put) {
  int64_t i = 0;
#if !(HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE)
  if constexpr (L::kLanes > 1) {
    constexpr int64_t kLineFloats = si::kLine / sizeof(float);
    const int64_t ahead = 4 * L::kLanes * std::min(frames.step, length) / length;  // For each four of a frame.
    const float* next = frames.from + (L::kLanes - 1) * frames.step + length;
    for (; i + 4 <= length; i += 4, next += ahead) {
      const float* const from = frames.from + i;
      for (int64_t k = 0; k < ahead; k += kLineFloats) hwy::Prefetch(next + k);
      F a = load_blocks(Floats(), from, 4 * frames.step);
      F b = load_blocks(Floats(), from + frames.step, 4 * frames.step);
      F c = load_blocks(Floats(), from + 2 * frames.step, 4 * frames.step);
      F d = load_blocks(Floats(), from + 3 * frames.step, 4 * frames.step);
      transpose(a, b, c, d);
      put(i, a);
      put(i + 1, b);
      put(i + 2, c);
      put(i + 3, d);
    }
  }
#endif
  for (; i < length; ++i) {
    float values[L::kLanes];
    for (int64_t lane = 0; lane < L::kLanes; ++lane) values[lane] = frames.from[lane * frames.step + i];
    put(i, L::load(values));
  }
}

/// Rows that are transformed: in double if the first stages are, else rounded.
template <class L>
struct WideRows {
  double* rows;
  HWY_INLINE void put(const Vector<typename L::Wide>& value, uint32_t row) const {
    L::Wide::store(value, rows + row * L::kLanes);
  }
};
template <class L>
struct FloatRows {
  float* rows;
  HWY_INLINE void put(const Vector<typename L::Wide>& value, uint32_t row) const {
    L::store(L::narrow(value), rows + row * L::kLanes);
  }
};

// The windowed frame without its mean and with pre-emphasis, from natural to transform order.
template <class L, class To>
void prepare(const Spectrum::Tables& tables, const Frames& frames, const To& to, float* natural) {
  using W = typename L::Wide;
  const int64_t length = tables.settings.window_length;
  const uint32_t* const row_of = tables.plan.row_of.data() + tables.left;
  Vector<W> sums[4] = {W::set(0), W::set(0), W::set(0), W::set(0)};
  each_sample<L>(frames, length, [&](int64_t i, Vector<L> value) HWY_ATTR {
    L::store(value, natural + i * L::kLanes);
    sums[i % 4] = sums[i % 4] + L::widen(value);
  });
  const double part = tables.settings.remove_mean ? 1 / static_cast<double>(length) : 0;
  const Vector<W> mean = ((sums[0] + sums[1]) + (sums[2] + sums[3])) * W::set(part);
  const Vector<W> emphasis = W::set(tables.settings.pre_emphasis);
  Vector<W> before = L::widen(L::load(natural)) - mean;
  for (int64_t i = 0; i < length; ++i) {
    const Vector<W> value = L::widen(L::load(natural + i * L::kLanes)) - mean;
    const Vector<W> windowed = (value - emphasis * before) * W::set(tables.window[static_cast<size_t>(i)]);
    to.put(windowed, row_of[i]);
    before = value;
  }
}

// In double: weak bands lie near the rounding errors of strong ones.
template <class L, class To>
void window_frames(const Spectrum::Tables& tables, const Frames& frames, const To& to, float* natural) {
  const si::FftPlan& plan = tables.plan;
  if (plan.split.empty() || tables.settings.window_length < plan.points) {
    std::fill_n(to.rows, 2 * plan.size * L::kLanes, 0);
  }
  if (tables.settings.remove_mean || tables.settings.pre_emphasis != 0) {
    prepare<L>(tables, frames, to, natural);
    return;
  }
  const uint32_t* const row_of = plan.row_of.data() + tables.left;
  const double* const window = tables.window.data();
  each_sample<L>(frames, tables.settings.window_length, [=](int64_t i, Vector<L> value) HWY_ATTR {
    to.put(L::widen(value) * L::Wide::set(window[i]), row_of[i]);
  });
}

template <class L>
HWY_INLINE Vector<L> logarithm(Vector<L> value) {
  Vector<L> exponent, fraction;
  L::split(value, exponent, fraction);
  Vector<L> sum = L::set(si::kLn[8]);
  for (int i = 7; i >= 0; --i) sum = sum * fraction + L::set(si::kLn[i]);
  return sum * fraction + exponent * L::set(si::kLnTwo);
}

/// Where a tile's bands are put: a line for each, `step` values apart.
struct Lines {
  const float* out;
  int64_t step;
};

// The mel bands of the powers in every second row. Meanwhile the lines that they are put into begin to be loaded.
template <class L>
void take_mels(const Spectrum::Tables& tables, const float* rows, float* to, Lines lines) {
  const si::Settings& settings = tables.settings;
  const bool is_log = tables.kind >= SpectrumKind::log_mel;
  const bool offset = settings.log == SpectrumLog::ln_offset;
  const auto floor = static_cast<float>(settings.floor);
  for (const si::Filter& filter : tables.filters) {
    const float* const weights = tables.weights.data() + filter.weights;
    const float* from = rows + 2 * filter.first * L::kLanes;
    hwy::Prefetch(lines.out);
    lines.out += lines.step;
    Vector<L> sum = L::set(0);
    for (int64_t i = 0; i < filter.count; ++i, from += 2 * L::kLanes) {
      sum = sum + L::load(from) * L::set(weights[i]);
    }
    if (is_log) {
      if (offset) sum = sum + L::set(floor);
      sum = logarithm<L>(L::at_least(sum, offset ? 1e-37F : floor)) * L::set(tables.log_factor);
    }
    L::store(sum, to);
    to += L::kLanes;
  }
}

/// Rows that are the columns of the result: `width` of them, each `step` rows after the one before.
struct Columns {
  const float* rows;
  int64_t step;
  int64_t width;
};

template <class L>
void put_row_of_columns(const Columns& columns, int64_t count, float* to, int64_t stride) {
  for (int64_t i = 0; i < columns.width; ++i) {
    std::memcpy(to + i * stride, columns.rows + i * columns.step * L::kLanes, static_cast<size_t>(count) * 4);
  }
}

// Both parts of a number side by side: [bins, frames, 2].
template <class L>
void put_row_of_parts(const Columns& columns, int64_t count, float* to, int64_t stride) {
  for (int64_t i = 0; i < columns.width; ++i) {
    float* const first = to + i / 2 * 2 * stride + i % 2;
    for (int64_t lane = 0; lane < count; ++lane) first[2 * lane] = columns.rows[i * L::kLanes + lane];
  }
}

// The first `count` lanes, each to its own row of `to`.
template <class L>
void put_rows(const Columns& columns, int64_t count, float* to) {
  int64_t i = 0;
#if !(HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE)
  if constexpr (L::kLanes > 1) {
    alignas(64) float tile[4 * L::kLanes];
    for (; i + 4 <= columns.width; i += 4) {
      const float* const from = columns.rows + i * columns.step * L::kLanes;
      const int64_t next = columns.step * L::kLanes;
      F a = L::load(from), b = L::load(from + next), c = L::load(from + 2 * next), d = L::load(from + 3 * next);
      transpose(a, b, c, d);
      L::store(a, tile);
      L::store(b, tile + L::kLanes);
      L::store(c, tile + 2 * L::kLanes);
      L::store(d, tile + 3 * L::kLanes);
      for (int64_t lane = 0; lane < count; ++lane) {
        std::memcpy(to + lane * columns.width + i, tile + lane % 4 * L::kLanes + lane / 4 * 4, 16);
      }
    }
  }
#endif
  for (; i < columns.width; ++i) {
    for (int64_t lane = 0; lane < count; ++lane) {
      to[lane * columns.width + i] = columns.rows[i * columns.step * L::kLanes + lane];
    }
  }
}

inline float sample_at(const Spectrum::Tables& tables, const si::LanesJob& job, int64_t index) {
  if (tables.settings.edges == SpectrumEdges::reflect) {
    if (index < 0) index = -index;
    if (index >= job.n) index = 2 * (job.n - 1) - index;
  }
  return index >= 0 && index < job.n ? job.samples[index] : 0.0F;
}

// The frames from `frame` on: where they lie in the clip, or copied with what stands for samples outside.
template <class L>
Frames frames_at(const Spectrum::Tables& tables, const si::LanesJob& job, int64_t frame, float* copy) {
  const int64_t hop = tables.settings.hop, length = tables.settings.window_length;
  const int64_t begin = frame * hop + tables.first;
  const bool whole = frame + L::kLanes <= job.frames;
  if (whole && begin >= 0 && begin + (L::kLanes - 1) * hop + length <= job.n) return {job.samples + begin, hop};
  for (int64_t lane = 0; lane < L::kLanes; ++lane) {
    for (int64_t i = 0; i < length; ++i) {
      copy[lane * length + i] = frame + lane < job.frames ? sample_at(tables, job, begin + lane * hop + i) : 0.0F;
    }
  }
  return {copy, length};
}

template <class L>
Lines lines_of(const si::LanesJob& job, int64_t frame) {
  if (job.mels_first) return {.out = job.out + frame, .step = job.frames};
  return {.out = job.out + frame * job.tables->width(), .step = L::kLanes};
}

template <class L>
void run_tile(const Spectrum::Tables& tables, const si::LanesJob& job, float* scratch, int64_t frame) {
  const si::FftPlan& plan = tables.plan;
  auto* const wide = reinterpret_cast<double*>(scratch);
  float* const rows = scratch + si::wide_rows(plan) * L::kLanes;
  float* const spare = rows + plan.rows * L::kLanes;
  float* const bands = spare + plan.spare_rows * L::kLanes;
  float* const natural = bands + static_cast<int64_t>(tables.filters.size()) * L::kLanes;
  float* const copy = natural + tables.settings.window_length * L::kLanes;
  const Frames frames = frames_at<L>(tables, job, frame, copy);
  if (plan.wide_stages > 0) {
    window_frames<L>(tables, frames, WideRows<L>{wide}, natural);
  } else {
    window_frames<L>(tables, frames, FloatRows<L>{rows}, natural);
  }
  transform<L>(plan, wide, rows, spare);
  Columns columns = {.rows = rows, .step = 2, .width = tables.width()};
  if (tables.kind == SpectrumKind::stft) {
    take_bins<L, Parts>(plan, rows);
    columns.step = 1;
  } else if (tables.settings.power == 1) {
    take_bins<L, Magnitude>(plan, rows);
  } else {
    take_bins<L, Power>(plan, rows);
  }
  if (!tables.filters.empty()) {
    take_mels<L>(tables, rows, bands, lines_of<L>(job, frame));
    columns = {.rows = bands, .step = 1, .width = tables.width()};
  }
  const int64_t count = std::min<int64_t>(L::kLanes, job.frames - frame);
  if (job.mels_first && tables.kind == SpectrumKind::stft) {
    put_row_of_parts<L>(columns, count, job.out + 2 * frame, job.frames);
  } else if (job.mels_first) {
    put_row_of_columns<L>(columns, count, job.out + frame, job.frames);
  } else {
    put_rows<L>(columns, count, job.out + frame * columns.width);
  }
}

template <class L>
void run_all(const si::LanesJob& job) {
  const size_t past_line = reinterpret_cast<uintptr_t>(job.scratch) % si::kLine;
  float* const scratch = job.scratch + (si::kLine - past_line) / sizeof(float);
  for (int64_t frame = 0; frame < job.frames; frame += L::kLanes) run_tile<L>(*job.tables, job, scratch, frame);
}

void run_target(const si::LanesJob& job) { run_all<Lanes>(job); }
#if HWY_ONCE
void run_one_lane(const si::LanesJob& job) { run_all<OneLane>(job); }
#endif

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(run_target);

using RunTarget = decltype(&HWY_STATIC_DISPATCH(run_target));

const std::vector<VectorTarget<RunTarget>>& spectrum_targets() {
  static const auto found = vector_targets(HWY_DISPATCH_TABLE(run_target), HWY_TARGETS);
  return found;
}

}  // namespace

namespace spectrum_internal {

size_t scratch_floats(const Spectrum::Tables& tables) {
  const FftPlan& plan = tables.plan;
  const auto rows = wide_rows(plan) + plan.rows + plan.spare_rows + static_cast<int64_t>(tables.filters.size());
  return static_cast<size_t>((rows + 2 * tables.settings.window_length) * kMaxLanes) + kLine / sizeof(float);
}

void run_lanes(const LanesJob& job) {
  constexpr RunTarget kScalar = run_lanes_scalar;
  best_code(spectrum_targets(), kScalar)(job);
}

void run_lanes_scalar(const LanesJob& job) { HWY_STATIC_DISPATCH(run_one_lane)(job); }

std::vector<std::string_view> lanes_targets() { return names_of(spectrum_targets()); }

void run_lanes_on(std::string_view target, const LanesJob& job) { code_of(spectrum_targets(), target)(job); }

}  // namespace spectrum_internal
}  // namespace headpond
#endif
