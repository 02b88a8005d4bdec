// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/geometry_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headpond/codec/image/policy/policies.h"
#include "headpond/plan/kernels/plan_kernel.h"

namespace headpond::plan {
namespace {

const std::vector<std::string> kFieldOptions = {"interpolation", "fill", "mask_fill", "min_area"};

std::vector<std::string> with_field_options(std::vector<std::string> options) {
  options.insert(options.end(), kFieldOptions.begin(), kFieldOptions.end());
  return options;
}

// One of the numbers of values that are expected.
std::vector<double> some_numbers(const PlanArguments& options, const std::string& name,
                                 const std::vector<size_t>& counts) {
  std::vector<double> values = numbers_option(options, name);
  if (std::ranges::find(counts, values.size()) == counts.end()) {
    options.refuse(name, fmt::format("has {} numbers: {} are expected", values.size(), fmt::join(counts, " or ")));
  }
  return values;
}

XY two_numbers(const PlanArguments& options, const std::string& name) {
  const std::vector<double> values = some_numbers(options, name, {2});
  return {values[0], values[1]};
}

AngleRange angle_range(const PlanArguments& options, const std::string& name) {
  const std::vector<double> values = some_numbers(options, name, {1, 2});
  return values.size() == 1 ? AngleRange(values[0]) : AngleRange(values[0], values[1]);
}

ShearRange shear_range(const PlanArguments& options) {
  const std::vector<double> values = some_numbers(options, "shear", {1, 2, 4});
  if (values.size() == 1) return {values[0]};
  if (values.size() == 2) return {values[0], values[1]};
  return {values[0], values[1], values[2], values[3]};
}

Corners corners(const PlanArguments& options, const std::string& name) {
  const PlanList& list = options.list(name);
  Corners all{};
  if (list.size() != all.size()) options.refuse(name, "must be four points, each a list of x and y");
  for (size_t i = 0; i < all.size(); ++i) {
    const auto* const point = list[i].as<PlanList>();
    if (point == nullptr || point->size() != 2) options.refuse(name, "must be four points, each a list of x and y");
    all[i] = {options.to_number(name, (*point)[0]), options.to_number(name, (*point)[1])};
  }
  return all;
}

template <class Options>
void take_field_options(const PlanArguments& from, Options& to) {
  to.interpolation =
      from.choice("interpolation", {"nearest", "bilinear"}) == 0 ? Interpolation::nearest : Interpolation::bilinear;
  to.fill = numbers_option(from, "fill", to.fill);
  to.mask_fill = number_option(from, "mask_fill", to.mask_fill);
  to.min_area = number_option(from, "min_area", to.min_area);
}

KernelRef build_affine(const PlanArguments& options) {
  AffineOptions affine_options = {.angle = number_option(options, "angle", 0),
                                  .scale = number_option(options, "scale", 1)};
  if (options.has("translate")) affine_options.translate = two_numbers(options, "translate");
  if (options.has("shear")) {
    const std::vector<double> shear = some_numbers(options, "shear", {1, 2});
    affine_options.shear = {shear[0], shear.size() == 2 ? shear[1] : 0};
  }
  if (options.has("center")) affine_options.center = two_numbers(options, "center");
  take_field_options(options, affine_options);
  return affine(affine_options);
}

RotateOptions rotate_options(const PlanArguments& options) {
  RotateOptions rotation = {.expand = options.flag("expand", false)};
  if (options.has("center")) rotation.center = two_numbers(options, "center");
  take_field_options(options, rotation);
  return rotation;
}

KernelRef build_rotate(const PlanArguments& options) {
  return rotate(options.number("angle"), rotate_options(options));
}

KernelRef build_random_rotation(const PlanArguments& options) {
  return random_rotation(angle_range(options, "degrees"), rotate_options(options));
}

KernelRef build_perspective(const PlanArguments& options) {
  PerspectiveOptions perspective_options;
  take_field_options(options, perspective_options);
  return perspective(corners(options, "startpoints"), corners(options, "endpoints"), perspective_options);
}

KernelRef build_random_affine(const PlanArguments& options) {
  RandomAffineOptions affine_options = {.degrees = angle_range(options, "degrees")};
  if (options.has("translate")) affine_options.translate = two_numbers(options, "translate");
  if (options.has("scale")) affine_options.scale = two_numbers(options, "scale");
  if (options.has("shear")) affine_options.shear = shear_range(options);
  if (options.has("center")) affine_options.center = two_numbers(options, "center");
  take_field_options(options, affine_options);
  return random_affine(affine_options);
}

KernelRef build_random_perspective(const PlanArguments& options) {
  RandomPerspectiveOptions perspective_options;
  perspective_options.distortion_scale =
      number_option(options, "distortion_scale", perspective_options.distortion_scale);
  perspective_options.p = number_option(options, "p", perspective_options.p);
  take_field_options(options, perspective_options);
  return random_perspective(perspective_options);
}

KernelRef build_rand_augment(const PlanArguments& options) {
  RandAugmentOptions policy;
  policy.num_ops = int32_option(options, "num_ops", policy.num_ops);
  policy.magnitude = int32_option(options, "magnitude", policy.magnitude);
  policy.num_magnitude_bins = int32_option(options, "num_magnitude_bins", policy.num_magnitude_bins);
  take_field_options(options, policy);
  return rand_augment(policy);
}

KernelRef build_trivial_augment_wide(const PlanArguments& options) {
  PolicyOptions policy;
  take_field_options(options, policy);
  return trivial_augment_wide(int32_option(options, "num_magnitude_bins", 31), policy);
}

KernelRef build_auto_augment(const PlanArguments& options) {
  PolicyOptions policy;
  take_field_options(options, policy);
  return auto_augment(options.text("policy", "imagenet"), policy);
}

}  // namespace

const std::vector<PlanKernel>& geometry_plan_kernels() {
  static const std::vector<PlanKernel> all = {
      {"affine", with_field_options({"angle", "translate", "scale", "shear", "center"}), build_affine},
      {"rotate", with_field_options({"angle", "expand", "center"}), build_rotate},
      {"perspective", with_field_options({"startpoints", "endpoints"}), build_perspective},
      {"random_affine", with_field_options({"degrees", "translate", "scale", "shear", "center"}), build_random_affine},
      {"random_rotation", with_field_options({"degrees", "expand", "center"}), build_random_rotation},
      {"random_perspective", with_field_options({"distortion_scale", "p"}), build_random_perspective},
      {"rand_augment", with_field_options({"num_ops", "magnitude", "num_magnitude_bins"}), build_rand_augment},
      {"trivial_augment_wide", with_field_options({"num_magnitude_bins"}), build_trivial_augment_wide},
      {"auto_augment", with_field_options({"policy"}), build_auto_augment},
  };
  return all;
}

}  // namespace headpond::plan
