// SPDX-License-Identifier: Apache-2.0
// The operations of augmentation policies, how strong they are, and AutoAugment's tables: those of torchvision.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "headpond/codec/image/geometry/warp_fields_internal.h"
#include "headpond/tensor/kernel.h"

namespace headpond::policy_internal {

enum class PolicyOp : uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  color,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
  invert
};
/// The first operations of PolicyOp are those of RandAugment and TrivialAugment; invert is AutoAugment's alone.
inline constexpr uint32_t kRandomOps = 14;

/// True iff a magnitude of `op` may be negated.
bool is_signed(PolicyOp op);

/// How strong operations are: RandAugment and AutoAugment, or TrivialAugment Wide.
enum class Space : uint8_t { standard, wide };

struct PolicyImage {
  int64_t height = 0;
  int64_t width = 0;
  DType dtype = DType::u8;
};

/// Number `bin` of `bins` magnitudes of `op`, from the weakest on, in torchvision's units; 0 for an operation that has
/// none. REQUIRES: 0 <= bin < bins, bins >= 2.
double magnitude(PolicyOp op, Space space, int bin, int bins, const PolicyImage& image);

/// `op` with this magnitude, for an image; null for identity. Geometric ones take `options`.
KernelRef policy_kernel(PolicyOp op, double magnitude, const PolicyImage& image,
                        const warp_internal::FieldOptions& options);

/// An operation of AutoAugment: how often it is done, and the number of its magnitude, of 10.
struct PolicyStep {
  PolicyOp op;
  double p;
  int bin;
};
using SubPolicy = std::array<PolicyStep, 2>;

/// "imagenet", "cifar10" or "svhn"; empty for another name.
std::span<const SubPolicy> auto_augment_table(std::string_view policy);

}  // namespace headpond::policy_internal
