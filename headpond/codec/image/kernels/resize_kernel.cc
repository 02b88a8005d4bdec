// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/resize_kernel.h"

#include <fmt/format.h>

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {

KernelRef resize(ImageSize size, const ResizeKernelOptions& options) {
  using namespace image_internal;
  const std::string name = "resize";
  check_size(name, size);
  if (options.max_size != 0 &&
      (!size.is_one_number() || options.max_size <= size.height || options.max_size > kResizeMaxSide)) {
    refuse_option(name, fmt::format("max_size {}: it needs one number as size, below it", options.max_size));
  }
  std::vector<std::string> parts = {size.to_string()};
  if (options.filter != ResizeFilter::bilinear)
    parts.push_back(fmt::format("filter={}", headpond::name(options.filter)));
  if (!options.antialias) parts.emplace_back("antialias=false");
  if (options.max_size != 0) parts.push_back(fmt::format("max_size={}", options.max_size));
  const ResizeStage stage = {size, options.max_size, {options.filter, options.antialias}};
  return std::make_shared<ImageChain>(title_of(name, parts), "", Stages{{stage, name, 0, false}});
}

}  // namespace headpond
