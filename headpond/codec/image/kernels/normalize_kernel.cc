// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/normalize_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {

KernelRef normalize(const NormalizeOptions& options) {
  using namespace image_internal;
  const std::string title = "normalize";
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const auto is_scale = [](double value) { return value > 0 && std::isfinite(value) && std::isfinite(1 / value); };
  if (options.mean.empty() || options.mean.size() > 4 || options.mean.size() != options.std.size()) {
    refuse_option(title, fmt::format("{} means and {} stds: 1 to 4 of each were expected", options.mean.size(),
                                     options.std.size()));
  }
  if (!std::all_of(options.mean.begin(), options.mean.end(), is_finite) ||
      !std::all_of(options.std.begin(), options.std.end(), is_scale)) {
    refuse_option(title, "mean and std must be finite, and std above 0");
  }
  if (options.dtype != DType::f32 && options.dtype != DType::f16 && options.dtype != DType::bf16) {
    refuse_option(title, fmt::format("dtype {}: float32, float16 or bfloat16 was expected", name(options.dtype)));
  }
  const NormalizeOptions usual;
  std::vector<std::string> parts;
  if (options.mean != usual.mean) parts.push_back(fmt::format("mean=[{}]", fmt::join(options.mean, ",")));
  if (options.std != usual.std) parts.push_back(fmt::format("std=[{}]", fmt::join(options.std, ",")));
  if (options.layout == ImageLayout::hwc) parts.emplace_back("layout=hwc");
  if (options.dtype != DType::f32) parts.push_back(fmt::format("dtype={}", name(options.dtype)));
  return std::make_shared<ImageChain>(title_of(title, parts), "", Stages{{NormalizeStage{options}, title, 0, false}});
}

const NormalizeOptions* normalization_of(const Kernel& kernel) {
  const auto* const chain = dynamic_cast<const image_internal::ImageChain*>(&kernel);
  if (chain == nullptr || chain->stages().size() != 1) return nullptr;
  const auto* const stage = chain->stages()[0].as<image_internal::NormalizeStage>();
  return stage == nullptr ? nullptr : &stage->options;
}

}  // namespace headpond
