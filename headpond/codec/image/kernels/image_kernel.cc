// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/image_kernel.h"

#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {

KernelRef decode_image(const ImageOptions& options) {
  return image_internal::decode_kernel("decode_image", image_internal::DecodeStage::Format::any, options);
}

}  // namespace headpond
