// SPDX-License-Identifier: Apache-2.0
// Kernels that mix the rows of a batch: Zhang et al., "mixup: beyond empirical risk minimization", 2017; Yun et al.,
// "CutMix", 2019; torchvision's MixUp and CutMix. They stand in a map after batch, over an image and a field with the
// role labels: map({.image = "image", .labels = "label"}, mixup(1000)).
//
// Each row is mixed with the row before it, the first with the last. Labels are integers of [0, num_classes), one a
// row, or f32 [rows, num_classes]; they become f32 [rows, num_classes]: lambda of the row's own, 1 - lambda of the
// other's. Fields with other roles are refused. Numbers follow from the batch's number in the epoch.
//
// InvalidArgument for a label that is out of range, and for numbers of rows that differ. Throw
// Exception(InvalidArgument) iff num_classes is below 1 or above 1,000,000, or alpha outside [1e-6, 1e6]; and when a
// map is built, for fields that they can't take. Thread-safe.
#pragma once

#include <cstdint>

#include "headpond/codec/image/image_layout.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// lambda * row + (1 - lambda) * other, lambda of Beta(alpha, alpha). The image is f32, or u8: then lambda has 16 bits,
/// and results are rounded to the nearest. Draws lambda, as draw_beta() does.
KernelRef mixup(int64_t num_classes, double alpha = 1);

/// A rectangle of the other row is put into each: in the middle of it is a pixel of the image, drawn uniformly; its
/// sides are those of the image times sqrt(1 - lambda), and what lies outside the image is cut off. The labels' lambda
/// is the part of the image that is left. The image is [rows, channels, height, width], or with layout hwc [rows,
/// height, width, channels]; 1 to 4 channels, any dtype of numbers. Draws two words, column and row of the middle, and
/// lambda.
KernelRef cutmix(int64_t num_classes, double alpha = 1, ImageLayout layout = ImageLayout::chw);

}  // namespace headpond
