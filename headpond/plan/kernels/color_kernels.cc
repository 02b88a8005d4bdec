// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_kernels.h"

#include <array>
#include <optional>

#include "headpond/codec/image/color/mixup.h"
#include "headpond/codec/image/color/random_erasing.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/tensor/random_choice.h"

namespace headpond::plan {
namespace {

template <KernelRef (*make)()>
KernelRef build_plain(const PlanArguments&) {
  return make();
}

template <KernelRef (*make)(double)>
KernelRef build_with_p(const PlanArguments& options) {
  return make(number_option(options, "p", 0.5));
}
KernelRef build_random_grayscale(const PlanArguments& options) {
  return random_grayscale(number_option(options, "p", 0.1));
}

KernelRef build_adjust_brightness(const PlanArguments& options) {
  return adjust_brightness(options.number("brightness_factor"));
}
KernelRef build_adjust_contrast(const PlanArguments& options) {
  return adjust_contrast(options.number("contrast_factor"));
}
KernelRef build_adjust_saturation(const PlanArguments& options) {
  return adjust_saturation(options.number("saturation_factor"));
}
KernelRef build_adjust_hue(const PlanArguments& options) { return adjust_hue(options.number("hue_factor")); }
KernelRef build_adjust_gamma(const PlanArguments& options) {
  return adjust_gamma(options.number("gamma"), number_option(options, "gain", 1));
}
KernelRef build_adjust_sharpness(const PlanArguments& options) {
  return adjust_sharpness(options.number("sharpness_factor"));
}
KernelRef build_random_adjust_sharpness(const PlanArguments& options) {
  return random_adjust_sharpness(options.number("sharpness_factor"), number_option(options, "p", 0.5));
}
KernelRef build_grayscale(const PlanArguments& options) {
  return grayscale(int32_option(options, "num_output_channels", 1));
}
KernelRef build_solarize(const PlanArguments& options) { return solarize(options.number("threshold")); }
KernelRef build_random_solarize(const PlanArguments& options) {
  return random_solarize(options.number("threshold"), number_option(options, "p", 0.5));
}
int32_t bits_option(const PlanArguments& options) {
  (void)options.value("bits");  // Required.
  return int32_option(options, "bits", 0);
}
KernelRef build_posterize(const PlanArguments& options) { return posterize(bits_option(options)); }
KernelRef build_random_posterize(const PlanArguments& options) {
  return random_posterize(bits_option(options), number_option(options, "p", 0.5));
}

// One or two numbers; none if the option is missing.
std::vector<double> range_option(const PlanArguments& options, const std::string& name) {
  std::vector<double> numbers = numbers_option(options, name);
  if (numbers.size() > 2) options.refuse(name, "must be one or two numbers");
  return numbers;
}

KernelRef build_gaussian_blur(const PlanArguments& options) {
  (void)options.value("kernel_size");  // Required.
  const std::vector<int64_t> size = integers_option(options, "kernel_size");
  if (size.size() > 2) options.refuse("kernel_size", "must be one or two integers");
  const std::vector<double> sigma = range_option(options, "sigma");
  const ValueRange range = sigma.empty() ? ValueRange(0.1, 2) : ValueRange(sigma.front(), sigma.back());
  return gaussian_blur(std::array<int64_t, 2>{size.front(), size.back()}, range);
}

std::optional<JitterRange> jitter_option(const PlanArguments& options, const std::string& name) {
  const std::vector<double> range = range_option(options, name);
  if (range.empty()) return {};
  return range.size() == 1 ? JitterRange(range[0]) : JitterRange(range[0], range[1]);
}

KernelRef build_color_jitter(const PlanArguments& options) {
  return color_jitter({.brightness = jitter_option(options, "brightness"),
                       .contrast = jitter_option(options, "contrast"),
                       .saturation = jitter_option(options, "saturation"),
                       .hue = jitter_option(options, "hue")});
}

ImageLayout layout_option(const PlanArguments& options) {
  return options.choice("layout", {"chw", "hwc"}) == 0 ? ImageLayout::chw : ImageLayout::hwc;
}

std::array<double, 2> pair_option(const PlanArguments& options, const std::string& name,
                                  std::array<double, 2> fallback) {
  const std::vector<double> numbers = numbers_option(options, name, {fallback[0], fallback[1]});
  if (numbers.size() != 2) options.refuse(name, "must be two numbers");
  return {numbers[0], numbers[1]};
}

KernelRef build_random_erasing(const PlanArguments& options) {
  RandomErasingOptions erasing;
  erasing.p = number_option(options, "p", erasing.p);
  erasing.scale = pair_option(options, "scale", erasing.scale);
  erasing.ratio = pair_option(options, "ratio", erasing.ratio);
  erasing.value.channels = numbers_option(options, "value", erasing.value.channels);
  erasing.random_value = options.flag("random_value", erasing.random_value);
  erasing.layout = layout_option(options);
  return random_erasing(erasing);
}

KernelRef build_mixup(const PlanArguments& options) {
  return mixup(options.integer("num_classes"), number_option(options, "alpha", 1));
}
KernelRef build_cutmix(const PlanArguments& options) {
  return cutmix(options.integer("num_classes"), number_option(options, "alpha", 1), layout_option(options));
}
KernelRef build_random_choice(const PlanArguments& options) {
  return random_choice(kernels_option(options, "kernels"), numbers_option(options, "p"));
}
KernelRef build_random_apply(const PlanArguments& options) {
  return random_apply(kernels_option(options, "kernels"), number_option(options, "p", 0.5));
}

}  // namespace

const std::vector<PlanKernel>& color_plan_kernels() {
  static const std::vector<PlanKernel> all = {
      {"adjust_brightness", {"brightness_factor"}, build_adjust_brightness},
      {"adjust_contrast", {"contrast_factor"}, build_adjust_contrast},
      {"adjust_saturation", {"saturation_factor"}, build_adjust_saturation},
      {"adjust_hue", {"hue_factor"}, build_adjust_hue},
      {"adjust_gamma", {"gamma", "gain"}, build_adjust_gamma},
      {"adjust_sharpness", {"sharpness_factor"}, build_adjust_sharpness},
      {"random_adjust_sharpness", {"sharpness_factor", "p"}, build_random_adjust_sharpness},
      {"color_jitter", {"brightness", "contrast", "saturation", "hue"}, build_color_jitter},
      {"grayscale", {"num_output_channels"}, build_grayscale},
      {"to_grayscale", {"num_output_channels"}, build_grayscale},
      {"random_grayscale", {"p"}, build_random_grayscale},
      {"invert", {}, build_plain<invert>},
      {"random_invert", {"p"}, build_with_p<random_invert>},
      {"solarize", {"threshold"}, build_solarize},
      {"random_solarize", {"threshold", "p"}, build_random_solarize},
      {"posterize", {"bits"}, build_posterize},
      {"random_posterize", {"bits", "p"}, build_random_posterize},
      {"equalize", {}, build_plain<equalize>},
      {"random_equalize", {"p"}, build_with_p<random_equalize>},
      {"autocontrast", {}, build_plain<autocontrast>},
      {"random_autocontrast", {"p"}, build_with_p<random_autocontrast>},
      {"gaussian_blur", {"kernel_size", "sigma"}, build_gaussian_blur},
      {"random_erasing", {"p", "scale", "ratio", "value", "random_value", "layout"}, build_random_erasing},
      {"mixup", {"num_classes", "alpha"}, build_mixup},
      {"cutmix", {"num_classes", "alpha", "layout"}, build_cutmix},
      {"random_choice", {"kernels", "p"}, build_random_choice},
      {"random_apply", {"kernels", "p"}, build_random_apply},
  };
  return all;
}

}  // namespace headpond::plan
