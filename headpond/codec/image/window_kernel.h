// SPDX-License-Identifier: Apache-2.0
// Kernels that begin with a crop whose place follows from the image's size and random numbers alone, so that a decoder
// can decode that part only.
#pragma once

#include <cstdint>

#include "headpond/base/random.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// A rectangle of an image, in pixels. For a WindowKernel it may reach outside, where the image is padded.
struct ImageWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const ImageWindow&, const ImageWindow&) = default;
};

/// A kernel that is a crop and then, perhaps, another kernel. Immutable, thread-safe.
class WindowKernel : public Kernel {
 public:
  /// The part that is kept of an image of this size. A pure function: a decoder that calls it gets the window that
  /// run() would use with the same random numbers. REQUIRES: height, width > 0.
  virtual ImageWindow window(int64_t height, int64_t width, Random random) const = 0;
  /// What does the rest on the cropped image, for example the resize; null: nothing. It draws no random numbers.
  virtual KernelRef after_window() const { return nullptr; }

 protected:
  using Kernel::Kernel;
};

}  // namespace headpond
