// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "headpond/codec/image/geometry/map_kernel_internal.h"

namespace headpond::warp_internal {
namespace {

class MapKernel final : public Kernel {
 public:
  explicit MapKernel(const MapFunction& function)
      : Kernel(
            {.title = function.title,
             .draws = function.draws ? function.name : "",
             .result = [function](
                           const Spec& in) { return moved_spec(function.name, in, function.options, function.size); }}),
        function_(function) {}

  Result<void> run(KernelCall& call) const override {
    const auto size = image_size(call.in());
    if (!size) return fail(size.error());
    Random random = function_.draws ? call.random() : Random(0);
    const auto map = function_.map(*size, random);
    if (!map) return {};
    return warp_fields(call, *map, function_.options);
  }

 private:
  const MapFunction function_;
};

}  // namespace

KernelRef map_kernel(const MapFunction& function) {
  check_options(function.name, function.options);
  return std::make_shared<MapKernel>(function);
}

void Title::add(std::string_view option, double value, double unless) {
  if (value != unless) parts_.push_back(fmt::format("{}={}", option, value));
}

void Title::add(std::string_view option, const std::vector<double>& values) {
  if (values.size() == 1) return add(option, fmt::format("{}", values[0]));
  add(option, fmt::format("[{}]", fmt::join(values, ",")));
}

void Title::add(std::string_view option, std::string_view word) {
  parts_.push_back(fmt::format("{}={}", option, word));
}

void Title::add(const std::optional<XY>& center) {
  if (center) add("center", std::vector<double>(center->begin(), center->end()));
}

void Title::add(const FieldOptions& options) {
  if (options.image.interpolation != Interpolation::nearest) add("interpolation", name(options.image.interpolation));
  if (options.image.fill != std::vector<double>{0}) add("fill", options.image.fill);
  add("mask_fill", options.mask_fill, 0);
  add("min_area", options.min_area, 1);
}

std::string Title::text() const {
  return parts_.empty() ? name_ : fmt::format("{}({})", name_, fmt::join(parts_, ", "));
}

void refuse_option(std::string_view op, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", op, what)));
}

}  // namespace headpond::warp_internal
