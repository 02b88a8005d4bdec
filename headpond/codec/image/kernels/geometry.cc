// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/codec/image/kernels/geometry_internal.h"

namespace headpond::image_internal {
namespace {

ImageWindow whole(int64_t height, int64_t width) { return {0, 0, height, width}; }

void apply_window(const WindowStage& stage, ImageWindow chosen, Geometry& geometry) {
  const int64_t height = geometry.out_height(), width = geometry.out_width();
  const ImageWindow before = whole(height, width);
  geometry.moves.push_back(
      {Move::Kind::window, chosen, height, width, chosen.height, chosen.width, stage.drops, stage.min_area});
  const bool pads = !contains(before, chosen);
  if (geometry.flips_rows) chosen.y = height - chosen.y - chosen.height;
  if (geometry.flips_columns) chosen.x = width - chosen.x - chosen.width;
  ImageWindow& window = geometry.resize == nullptr ? geometry.window : geometry.part;
  ImageWindow& valid = geometry.resize == nullptr ? geometry.valid : geometry.part_valid;
  if (pads) {
    valid = intersection(valid, window);
    geometry.padding = &stage;
  }
  window = {window.y + chosen.y, window.x + chosen.x, chosen.height, chosen.width};
}

Result<void> apply_resize(const ResizeStage& stage, Geometry& geometry) {
  const int64_t height = geometry.window.height, width = geometry.window.width;
  const auto [new_height, new_width] = resized_sides(stage, height, width);
  for (const int64_t side : {height, width, new_height, new_width}) {
    if (side >= 1 && side <= kResizeMaxSide) continue;
    return fail(ErrorKind::InvalidArgument, fmt::format("{} x {} pixels can't become {} x {}: sides of 1 to {} can",
                                                        width, height, new_width, new_height, kResizeMaxSide));
  }
  geometry.moves.push_back({.kind = Move::Kind::resize,
                            .window = {},
                            .height = height,
                            .width = width,
                            .new_height = new_height,
                            .new_width = new_width});
  geometry.resize = &stage;
  geometry.resized_height = new_height;
  geometry.resized_width = new_width;
  geometry.part = geometry.part_valid = whole(new_height, new_width);
  return {};
}

void apply_flip(const FlipStage& stage, Random& random, Geometry& geometry) {
  if (static_cast<double>(random.u32()) >= stage.p * 0x1p32) return;
  const int64_t height = geometry.out_height(), width = geometry.out_width();
  geometry.moves.push_back({.kind = stage.is_vertical ? Move::Kind::flip_rows : Move::Kind::flip_columns,
                            .window = {},
                            .height = height,
                            .width = width,
                            .new_height = height,
                            .new_width = width});
  bool& flips = stage.is_vertical ? geometry.flips_rows : geometry.flips_columns;
  flips = !flips;
}

Result<void> apply(const Stage& stage, const KernelCall& call, Geometry& geometry) {
  Random random = stage.draws ? call.random(stage.kernel) : Random(0);
  if (const auto* const window = stage.as<WindowStage>()) {
    const auto chosen = window->choose(geometry.out_height(), geometry.out_width(), random);
    if (!chosen) return fail(chosen.error());
    apply_window(*window, *chosen, geometry);
  } else if (const auto* const resize = stage.as<ResizeStage>()) {
    return apply_resize(*resize, geometry);
  } else if (const auto* const flip = stage.as<FlipStage>()) {
    apply_flip(*flip, random, geometry);
  }
  return {};
}

// The index in pixels that repeat after `period`, the second half mirrored.
int64_t mirrored(int64_t i, int64_t period) {
  i %= period;
  return i < 0 ? i + period : i;
}

bool may_pad(const Stage& stage) {
  const auto* const window = stage.as<WindowStage>();
  return window != nullptr && window->may_pad;
}

// Whether a stage of this kind comes before stage `i`.
template <class T>
bool has_before(const Stages& stages, size_t i) {
  return std::any_of(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(i),
                     [](const Stage& stage) { return stage.as<T>() != nullptr; });
}

std::string why_not_here(const Stages& all, size_t i) {
  const Stage& stage = all[i];
  if (has_before<NormalizeStage>(all, i)) return "normalize comes before it";
  const auto* const decode = all.front().as<DecodeStage>();
  if (decode != nullptr && i > 0 && decode->dtype() != DType::u8) return "the image is decoded to 16 bits";
  if (stage.as<DecodeStage>() != nullptr && i > 0) return "decoding comes first";
  if (stage.as<ResizeStage>() != nullptr && has_before<ResizeStage>(all, i)) return "two resizes";
  if (stage.as<ResizeStage>() != nullptr && has_before<FlipStage>(all, i)) return "the flip comes before the resize";
  if (!may_pad(stage)) return "";
  for (size_t k = 0; k < i; ++k) {
    const bool is_plain = stage.as<WindowStage>()->is_zero() && may_pad(all[k]) && all[k].as<WindowStage>()->is_zero();
    if (may_pad(all[k]) && !is_plain) return "both may pad";
  }
  const bool repeats = stage.as<WindowStage>()->mode != PadMode::constant;
  return repeats && has_before<ResizeStage>(all, i) ? "the padding repeats pixels of the resized image" : "";
}

}  // namespace

std::pair<int64_t, int64_t> resized_sides(const ResizeStage& stage, int64_t height, int64_t width) {
  if (!stage.size.is_one_number()) return {stage.size.height, stage.size.width};
  const int64_t shorter = std::min(height, width), longer = std::max(height, width);
  // Sides are below 2^32 and sizes below 2^21.
  int64_t new_shorter = stage.size.height;
  int64_t new_longer = new_shorter * longer / shorter;
  if (stage.size.height == 0) {
    new_shorter = std::max<int64_t>(stage.max_size * shorter / longer, 1);
    new_longer = stage.max_size;
  } else if (stage.max_size > 0 && new_longer > stage.max_size) {
    new_shorter = std::max<int64_t>(stage.max_size * new_shorter / new_longer, 1);
    new_longer = stage.max_size;
  }
  return height <= width ? std::pair(new_shorter, new_longer) : std::pair(new_longer, new_shorter);
}

ImageWindow intersection(const ImageWindow& a, const ImageWindow& b) {
  const int64_t y = std::max(a.y, b.y), x = std::max(a.x, b.x);
  return {y, x, std::max<int64_t>(std::min(a.y + a.height, b.y + b.height) - y, 0),
          std::max<int64_t>(std::min(a.x + a.width, b.x + b.width) - x, 0)};
}

bool contains(const ImageWindow& outer, const ImageWindow& inner) { return intersection(outer, inner) == inner; }

Result<void> plan_geometry(const Stages& stages, int64_t height, int64_t width, const KernelCall& call,
                           Geometry& geometry) {
  const bool is_only_decoded = stages.size() == 1 && stages[0].as<DecodeStage>() != nullptr;
  const int64_t most = is_only_decoded ? INT64_MAX : kResizeMaxSide;
  if (height < 1 || width < 1 || height > most || width > most) {
    return fail(ErrorKind::InvalidArgument, fmt::format("an image of {} x {} pixels: sides of 1 to {} were expected",
                                                        width, height, kResizeMaxSide));
  }
  Geometry fresh;
  fresh.height = height;
  fresh.width = width;
  fresh.valid = fresh.window = whole(height, width);
  fresh.moves = std::move(geometry.moves);
  fresh.moves.clear();
  geometry = std::move(fresh);
  for (const Stage& stage : stages) HEADPOND_TRY(apply(stage, call, geometry));
  return {};
}

std::string why_not_joined(const Stages& stages, const Stages& next) {
  Stages all = stages;
  all.insert(all.end(), next.begin(), next.end());
  for (size_t i = stages.size(); i < all.size(); ++i) {
    if (std::string why = why_not_here(all, i); !why.empty()) return why;
  }
  return "";
}

int64_t padded_index(int64_t i, int64_t begin, int64_t size, PadMode mode) {
  i -= begin;
  if (i >= 0 && i < size) return begin + i;
  switch (mode) {
    case PadMode::constant:
      return -1;
    case PadMode::edge:
      return begin + (i < 0 ? 0 : size - 1);
    case PadMode::reflect:
      if (size == 1) return begin;
      i = mirrored(i, 2 * (size - 1));
      return begin + (i < size ? i : 2 * (size - 1) - i);
    case PadMode::symmetric:
      i = mirrored(i, 2 * size);
      return begin + (i < size ? i : 2 * size - 1 - i);
  }
  return -1;
}

void map_axis(const Geometry& geometry, bool is_rows, resize_internal::TapsCache& taps, std::vector<int64_t>& map) {
  struct Line {
    int64_t begin, size;
  };
  const auto line = [&](const ImageWindow& a) { return is_rows ? Line{a.y, a.height} : Line{a.x, a.width}; };
  const Line valid = line(geometry.valid), window = line(geometry.window);
  const Line part = line(geometry.part), part_valid = line(geometry.part_valid);
  const bool flips = is_rows ? geometry.flips_rows : geometry.flips_columns;
  const int64_t size = is_rows ? geometry.out_height() : geometry.out_width();
  const resize_internal::Taps* nearest = nullptr;
  if (geometry.resize != nullptr) {
    const int64_t resized = is_rows ? geometry.resized_height : geometry.resized_width;
    nearest = &taps.get({.in = window.size, .out = resized, .options = {.filter = ResizeFilter::nearest}});
  }
  map.resize(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    int64_t at = flips ? size - 1 - i : i;
    if (nearest != nullptr) {
      at += part.begin;
      const bool is_inside = at >= part_valid.begin && at < part_valid.begin + part_valid.size;
      at = is_inside ? nearest->first[static_cast<size_t>(at)] : -1;
    }
    const bool is_padding = nearest != nullptr && at < 0;
    map[static_cast<size_t>(i)] =
        is_padding || valid.size == 0 ? -1 : padded_index(window.begin + at, valid.begin, valid.size, geometry.mode());
  }
}

}  // namespace headpond::image_internal
