// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/flip_kernels.h"

#include <fmt/format.h>

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {
namespace {

KernelRef flip_kernel(const std::string& name, bool is_vertical, double p) {
  using namespace image_internal;
  if (!(p >= 0 && p <= 1)) refuse_option(name, fmt::format("p {}: it must be 0 to 1", p));
  const std::string title = title_of(name, p == 0.5 ? std::vector<std::string>() : std::vector{fmt::format("p={}", p)});
  return std::make_shared<ImageChain>(title, name, Stages{{FlipStage{is_vertical, p}, "flip", 0, true}});
}

}  // namespace

KernelRef random_horizontal_flip(double p) { return flip_kernel("random_horizontal_flip", false, p); }
KernelRef random_vertical_flip(double p) { return flip_kernel("random_vertical_flip", true, p); }

}  // namespace headpond
