// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/distance_map_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace headpond {
namespace {

constexpr float kFarthest = 0x1p30F;
constexpr int kMaxGroups = 16;

[[noreturn]] void refuse_distances(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "distance_map: " + what));
}

std::string title_of(const DistanceMapOptions& options) {
  const DistanceMapOptions usual;
  std::vector<std::string> parts;
  if (options.limit != usual.limit) parts.push_back(fmt::format("limit={}", options.limit));
  if (options.groups != usual.groups) parts.push_back(fmt::format("groups={}", options.groups));
  if (options.layout != usual.layout) parts.emplace_back("layout=chw");
  return parts.empty() ? "distance_map" : fmt::format("distance_map({})", fmt::join(parts, ", "));
}

bool is_picture(DType dtype, int rank) { return (dtype == DType::u8 || dtype == DType::f32) && rank == 3; }

// The fields after the kernel.
Spec with_distances(Spec spec, const DistanceMapOptions& options) {
  FieldSpec& image = spec[0];
  const int axis = options.layout == ImageLayout::chw ? 0 : 2;
  if (!is_picture(image.dtype, image.shape.rank())) {
    refuse_distances(fmt::format("takes an image uint8 or float32 {}, not {}{}",
                                 axis == 0 ? "[channels,height,width]" : "[height,width,channels]", name(image.dtype),
                                 image.shape.to_string()));
  }
  bool has_points = false;
  for (const FieldSpec& field : spec) {
    if (role_of(field) != FieldRole::points) continue;
    has_points = true;
    const bool is_fine = field.dtype == DType::f32 && field.shape.rank() == 2;
    if (is_fine && (field.shape[1] == 2 || field.shape[1] == kUnknown)) continue;
    refuse_distances(fmt::format("takes points float32[?,2], not {}{}", name(field.dtype), field.shape.to_string()));
  }
  if (!has_points) refuse_distances("no field is the points");
  std::vector<int64_t> sides(image.shape.dims().begin(), image.shape.dims().end());
  int64_t& channels = sides[static_cast<size_t>(axis)];
  if (channels != kUnknown) channels += options.groups;
  image.shape = Shape(sides);
  return spec;
}

// Pixels of `from`, followed by room for the new channels.
void copy_channels(const Tensor& from, int64_t channels, bool is_planar, std::byte* to) {
  if (is_planar) {
    if (from.byte_size() > 0) std::memcpy(to, from.data(), from.byte_size());
    return;
  }
  const size_t item = item_size(from.dtype());
  const size_t pixel = static_cast<size_t>(from.dim(2)) * item, stride = static_cast<size_t>(channels) * item;
  if (pixel == 0) return;
  const std::byte* at = from.data();
  if (pixel == 3) {  // Most images: a copy of a known length.
    for (const std::byte* const end = at + from.byte_size(); at != end; at += 3, to += stride) std::memcpy(to, at, 3);
    return;
  }
  for (const std::byte* const end = at + from.byte_size(); at != end; at += pixel, to += stride) {
    std::memcpy(to, at, pixel);
  }
}

class DistanceMap final : public Kernel {
 public:
  explicit DistanceMap(const DistanceMapOptions& options)
      : Kernel(
            {.title = title_of(options), .result = [options](const Spec& in) { return with_distances(in, options); }}),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& image = call.in();
    const Tensor* const points = points_of(call);
    if (!is_picture(image.dtype(), image.rank()) || points == nullptr) {
      return fail(ErrorKind::InvalidArgument, "an image of three dimensions and points float32 [n,2] were expected");
    }
    if (points->dim(0) % options_.groups != 0) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("{} points are no {} groups of one size", points->dim(0), options_.groups));
    }
    const bool is_planar = options_.layout == ImageLayout::chw;
    ImageChannel channel = {.image = {},
                            .height = image.dim(is_planar ? 1 : 0),
                            .width = image.dim(is_planar ? 2 : 1),
                            .channels = image.dim(is_planar ? 0 : 2) + options_.groups,
                            .is_planar = is_planar,
                            .dtype = image.dtype()};
    const Shape shape = is_planar ? Shape{channel.channels, channel.height, channel.width}
                                  : Shape{channel.height, channel.width, channel.channels};
    std::byte* const to = call.make(0, image.dtype(), shape);
    channel.image = {to, static_cast<size_t>(*shape.size()) * item_size(image.dtype())};
    copy_channels(image, channel.channels, is_planar, to);
    return add(points->as<float>(), channel);
  }

 private:
  static const Tensor* points_of(const KernelCall& call) {
    for (size_t i = 1; i < call.size(); ++i) {
      const Tensor& field = call.in(i);
      const bool is_fine = field.dtype() == DType::f32 && field.rank() == 2 && field.dim(1) == 2;
      if (call.role(i) == FieldRole::points) return is_fine ? &field : nullptr;
    }
    return nullptr;
  }

  Result<void> add(std::span<const float> positions, ImageChannel& channel) const {
    const size_t each = positions.size() / static_cast<size_t>(options_.groups);
    std::vector<ImagePoint> points;
    for (int group = 0; group < options_.groups; ++group) {
      points.clear();
      const auto own = positions.subspan(static_cast<size_t>(group) * each, each);
      for (size_t i = 0; i < own.size(); i += 2) {
        const bool is_near = std::abs(own[i]) < kFarthest && std::abs(own[i + 1]) < kFarthest;  // And a number.
        if (!is_near) continue;
        points.push_back({static_cast<int32_t>(std::floor(own[i + 1])), static_cast<int32_t>(std::floor(own[i]))});
      }
      channel.index = channel.channels - options_.groups + group;
      HEADPOND_TRY(write_distance_map(points, options_.limit, channel));
    }
    return {};
  }

  const DistanceMapOptions options_;
};

}  // namespace

KernelRef distance_map(const DistanceMapOptions& options) {
  if (!(options.limit >= kMinDistanceLimit && options.limit <= kMaxDistanceLimit)) {
    refuse_distances(fmt::format("limit {}: {} to {} pixels", options.limit, kMinDistanceLimit, kMaxDistanceLimit));
  }
  if (options.groups < 1 || options.groups > kMaxGroups) {
    refuse_distances(fmt::format("groups {}: 1 to {}", options.groups, kMaxGroups));
  }
  return std::make_shared<DistanceMap>(options);
}

}  // namespace headpond
