// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/resize_kernel.h"

#include <fmt/format.h>

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {

namespace {

constexpr const char* kResize = "resize";

// `size` {0}: none.
KernelRef resize_chain(ImageSize size, const ResizeKernelOptions& options) {
  using namespace image_internal;
  std::vector<std::string> parts;
  if (size.height > 0) parts.push_back(size.to_string());
  if (options.filter != ResizeFilter::bilinear)
    parts.push_back(fmt::format("filter={}", headpond::name(options.filter)));
  if (!options.antialias) parts.emplace_back("antialias=false");
  if (options.max_size != 0) parts.push_back(fmt::format("max_size={}", options.max_size));
  const ResizeStage stage = {size, options.max_size, {options.filter, options.antialias}};
  return std::make_shared<ImageChain>(title_of(kResize, parts), "", Stages{{stage, kResize, 0, false}});
}

}  // namespace

KernelRef resize(ImageSize size, const ResizeKernelOptions& options) {
  image_internal::check_size(kResize, size);
  if (options.max_size != 0 &&
      (!size.is_one_number() || options.max_size <= size.height || options.max_size > kResizeMaxSide)) {
    image_internal::refuse_option(kResize,
                                  fmt::format("max_size {}: it needs one number as size, below it", options.max_size));
  }
  return resize_chain(size, options);
}

KernelRef resize(const ResizeKernelOptions& options) {
  if (options.max_size < 1 || options.max_size > kResizeMaxSide) {
    image_internal::refuse_option(
        kResize, fmt::format("max_size {}: without a size it must be 1 to {}", options.max_size, kResizeMaxSide));
  }
  return resize_chain(0, options);
}

}  // namespace headpond
