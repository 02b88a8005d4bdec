// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/codec/image/color/image_kernel_internal.h"

namespace headpond::color_internal {
namespace {

// The image's field afterwards. Throws for an image that `function` can't take.
Spec with_image(Spec spec, const ImageFunction& function) {
  check_field(function.name, spec[0], function.channels);
  if (function.most_for_float && spec[0].dtype == DType::f32) {
    require_range(function.name, "threshold", *function.most_for_float, -kLargest, 1);
  }
  if (function.output_channels != 0) {
    spec[0].shape = Shape({spec[0].shape[0], spec[0].shape[1], function.output_channels});
  }
  return spec;
}

std::string title_of(const ImageFunction& function) {
  return function.arguments.empty() ? function.name : fmt::format("{}({})", function.name, function.arguments);
}

class ImageKernel final : public Kernel {
 public:
  explicit ImageKernel(const ImageFunction& function)
      : Kernel({.title = title_of(function),
                .draws = function.draws ? function.name : "",
                .result = [function](const Spec& in) { return with_image(in, function); }}),
        function_(function) {}

  Result<void> run(KernelCall& call) const override {
    if (auto fits = check_image(function_.name, call.in(), function_.channels); !fits) return fits;
    Random random = function_.draws ? call.random() : Random(0);
    if (function_.p && !(static_cast<double>(random.uniform()) < *function_.p)) return {};
    const Tensor& image = call.in();
    const int64_t channels = function_.output_channels == 0 ? image.dim(2) : function_.output_channels;
    std::byte* const out = call.make(0, image.dtype(), {image.dim(0), image.dim(1), channels});
    return function_.run(image, out, random, call);
  }

 private:
  const ImageFunction function_;
};

}  // namespace

KernelRef image_kernel(const ImageFunction& function) { return std::make_shared<ImageKernel>(function); }

void require_range(std::string_view op, std::string_view option, double value, double low, double high) {
  if (auto fits = check_range(op, option, value, low, high); !fits) throw Exception(fits.error());
}

}  // namespace headpond::color_internal
