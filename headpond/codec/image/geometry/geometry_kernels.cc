// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/geometry_kernels.h"

#include "headpond/codec/image/geometry/map_kernel_internal.h"

namespace headpond {
namespace {

using warp_internal::fields_of;
using warp_internal::MapFunction;
using warp_internal::ResultSize;
using warp_internal::Title;
using warp_internal::WarpSize;

// An image of one pixel, by `make`: what it throws is an option that is out of range.
template <class Make>
void check_map_of(const char* op, Make make) {
  try {
    make(1, 1);
  } catch (const Exception& wrong) {
    warp_internal::refuse_option(op, wrong.error().message());
  }
}

std::string affine_title(const AffineOptions& options) {
  Title title("affine");
  title.add("angle", options.angle, 0);
  if (options.translate != XY{0, 0}) title.add("translate", {options.translate[0], options.translate[1]});
  title.add("scale", options.scale, 1);
  if (options.shear.x != 0 || options.shear.y != 0) title.add("shear", {options.shear.x, options.shear.y});
  title.add(options.center);
  title.add(fields_of(options));
  return title.text();
}

std::string rotate_title(double angle, const RotateOptions& options) {
  Title title("rotate");
  title.add("angle", std::vector<double>{angle});
  if (options.expand) title.add("expand", "true");
  title.add(options.center);
  title.add(fields_of(options));
  return title.text();
}

std::string perspective_title(const Corners& startpoints, const Corners& endpoints, const PerspectiveOptions& options) {
  Title title("perspective");
  for (const auto& [name, corners] : {std::pair("startpoints", startpoints), std::pair("endpoints", endpoints)}) {
    std::vector<double> values;
    for (const XY& corner : corners) values.insert(values.end(), corner.begin(), corner.end());
    title.add(name, values);
  }
  title.add(fields_of(options));
  return title.text();
}

}  // namespace

KernelRef affine(const AffineOptions& options) {
  const AffineParameters parameters = {.angle = options.angle,
                                       .translate = options.translate,
                                       .scale = options.scale,
                                       .shear = {options.shear.x, options.shear.y},
                                       .center = options.center};
  const auto make = [parameters](int64_t height, int64_t width) { return affine_map(height, width, parameters); };
  check_map_of("affine", make);
  return warp_internal::map_kernel({.name = "affine",
                                    .title = affine_title(options),
                                    .options = fields_of(options),
                                    .map = [make](WarpSize size, Random&) { return make(size.height, size.width); }});
}

KernelRef rotate(double angle, const RotateOptions& options) {
  const auto make = [angle, expand = options.expand, center = options.center](int64_t height, int64_t width) {
    return rotation_map(height, width, angle, expand, center);
  };
  check_map_of("rotate", make);
  MapFunction function = {.name = "rotate",
                          .title = rotate_title(angle, options),
                          .options = fields_of(options),
                          .map = [make](WarpSize size, Random&) { return make(size.height, size.width); }};
  if (options.expand) {
    function.size = [make](int64_t height, int64_t width) {
      if (height == kUnknown || width == kUnknown) return warp_internal::unknown_size(height, width);
      const ImageMap map = make(height, width);
      return ResultSize{map.height, map.width};
    };
  }
  return warp_internal::map_kernel(function);
}

KernelRef perspective(const Corners& startpoints, const Corners& endpoints, const PerspectiveOptions& options) {
  const auto make = [startpoints, endpoints](int64_t height, int64_t width) {
    return perspective_map(height, width, startpoints, endpoints);
  };
  check_map_of("perspective", make);
  return warp_internal::map_kernel({.name = "perspective",
                                    .title = perspective_title(startpoints, endpoints, options),
                                    .options = fields_of(options),
                                    .map = [make](WarpSize size, Random&) { return make(size.height, size.width); }});
}

}  // namespace headpond
