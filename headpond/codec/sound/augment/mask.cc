// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/augment/mask.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace headpond {
namespace {

[[noreturn]] void refuse_mask(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

/// Masks of one kind.
struct MaskGroup {
  const char *width_option, *count_option;
  bool over_time;
  int64_t width;
  int64_t count;
  double p;
};

struct MaskPlan {
  std::string name, title;
  std::vector<MaskGroup> groups;
  MaskFill fill;
  bool mels_first;
};

float mean_of_spectrum(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : static_cast<float>(sum / static_cast<double>(values.size()));
}

/// A spectrum in memory, which is masked.
struct MaskedSpectrum {
  std::span<float> values;
  int64_t rows, columns;
  float fill;

  void mask_rows(int64_t first, int64_t count) const {
    std::fill_n(values.data() + first * columns, count * columns, fill);
  }
  void mask_columns(int64_t first, int64_t count) const {
    for (int64_t row = 0; row < rows; ++row) std::fill_n(values.data() + row * columns + first, count, fill);
  }
};

void apply_masks(const MaskGroup& group, const MaskedSpectrum& spectrum, bool rows, Random& random) {
  const auto size = static_cast<double>(rows ? spectrum.rows : spectrum.columns);
  const double most = std::min(static_cast<double>(group.width), std::floor(group.p * size));
  for (int64_t i = 0; i < group.count; ++i) {
    const double width = static_cast<double>(random.uniform()) * most;
    const auto first = static_cast<int64_t>(static_cast<double>(random.uniform()) * (size - width));
    if (rows) {
      spectrum.mask_rows(first, static_cast<int64_t>(width));
    } else {
      spectrum.mask_columns(first, static_cast<int64_t>(width));
    }
  }
}

class MaskKernel final : public Kernel {
 public:
  explicit MaskKernel(MaskPlan plan)
      : Kernel({.title = plan.title,
                .draws = plan.name,
                .result =
                    [name = plan.name](const Spec& in) {
                      if (!is_spectrum(in[0].dtype, in[0].shape)) refuse_mask(refusal(name, in[0].dtype, in[0].shape));
                      return in;
                    }}),
        plan_(std::move(plan)) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& in = call.in();
    if (!is_spectrum(in.dtype(), in.shape())) {
      return fail(ErrorKind::InvalidArgument, refusal(plan_.name, in.dtype(), in.shape()));
    }
    const auto from = in.as<float>();
    const float fill = plan_.fill == MaskFill::mean ? mean_of_spectrum(from) : 0;
    const auto to = call.make<float>(0, in.shape());
    std::ranges::copy(from, to.begin());
    Random random = call.random();
    const MaskedSpectrum spectrum = {.values = to, .rows = in.dim(0), .columns = in.dim(1), .fill = fill};
    for (const MaskGroup& group : plan_.groups)
      apply_masks(group, spectrum, group.over_time != plan_.mels_first, random);
    return {};
  }

 private:
  static bool is_spectrum(DType dtype, const Shape& shape) { return dtype == DType::f32 && shape.rank() == 2; }
  static std::string refusal(const std::string& name, DType dtype, const Shape& shape) {
    return fmt::format("{}: takes float32 of rank 2, not {}{}", name, headpond::name(dtype), shape.to_string());
  }

  const MaskPlan plan_;
};

void check_group(const std::string& name, const MaskGroup& group, int64_t least) {
  if (group.width < 1) refuse_mask(fmt::format("{}: {} must be at least 1", name, group.width_option));
  if (group.count < least || group.count > 1000)
    refuse_mask(fmt::format("{}: {} must be {} to 1000", name, group.count_option, least));
  if (!(group.p > 0 && group.p <= 1)) refuse_mask(name + ": p must be above 0 to 1");
}

void add_shared(std::vector<std::string>& parts, double p, MaskFill fill, bool mels_first) {
  if (p != 1) parts.push_back(fmt::format("p={}", p));
  if (fill == MaskFill::mean) parts.emplace_back("fill=mean");
  if (mels_first) parts.emplace_back("mels_first=true");
}

KernelRef mask_of(const std::string& name, bool over_time, const MaskOptions& options) {
  const MaskGroup group = {.width_option = "width",
                           .count_option = "count",
                           .over_time = over_time,
                           .width = options.width,
                           .count = options.count,
                           .p = options.p};
  check_group(name, group, 1);
  std::vector<std::string> parts = {fmt::format("width={}", options.width)};
  if (options.count != 1) parts.push_back(fmt::format("count={}", options.count));
  add_shared(parts, options.p, options.fill, options.mels_first);
  return std::make_shared<MaskKernel>(MaskPlan{.name = name,
                                               .title = fmt::format("{}({})", name, fmt::join(parts, ", ")),
                                               .groups = {group},
                                               .fill = options.fill,
                                               .mels_first = options.mels_first});
}

}  // namespace

KernelRef time_mask(const MaskOptions& options) { return mask_of("time_mask", true, options); }
KernelRef frequency_mask(const MaskOptions& options) { return mask_of("frequency_mask", false, options); }

KernelRef spec_augment(const SpecAugmentOptions& options) {
  const std::string name = "spec_augment";
  const MaskGroup time = {.width_option = "time_width",
                          .count_option = "time_masks",
                          .over_time = true,
                          .width = options.time_width,
                          .count = options.time_masks,
                          .p = options.p};
  const MaskGroup frequency = {.width_option = "frequency_width",
                               .count_option = "frequency_masks",
                               .over_time = false,
                               .width = options.frequency_width,
                               .count = options.frequency_masks,
                               .p = 1};
  check_group(name, time, 0);
  check_group(name, frequency, 0);
  const SpecAugmentOptions usual;
  std::vector<std::string> parts;
  const auto add = [&](const char* option, int64_t value, int64_t default_value) {
    if (value != default_value) parts.push_back(fmt::format("{}={}", option, value));
  };
  add("frequency_width", options.frequency_width, usual.frequency_width);
  add("frequency_masks", options.frequency_masks, usual.frequency_masks);
  add("time_width", options.time_width, usual.time_width);
  add("time_masks", options.time_masks, usual.time_masks);
  add_shared(parts, options.p, options.fill, options.mels_first);
  return std::make_shared<MaskKernel>(
      MaskPlan{.name = name,
               .title = parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", ")),
               .groups = {time, frequency},
               .fill = options.fill,
               .mels_first = options.mels_first});
}

}  // namespace headpond
