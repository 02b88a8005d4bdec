// SPDX-License-Identifier: Apache-2.0
// The kernel that runs stages: a list of one or two for the kernels that users make, longer lists for joined ones.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "headpond/codec/image/kernels/geometry_internal.h"
#include "headpond/codec/image/kernels/image_pass_internal.h"
#include "headpond/tensor/rows_kernel.h"

namespace headpond::image_internal {

class ImageChain final : public RowsKernel {
 public:
  /// A kernel of a user. `draws`: the name of its random numbers, or "".
  ImageChain(std::string title, std::string draws, Stages stages);

  const Stages& stages() const { return stages_; }
  Result<void> run(KernelCall& call) const override;
  KernelRef with(const KernelRef& next) const override;
  std::string why_not(const KernelRef& next) const override;
  bool takes_rows(const FieldSpec& image) const override { return pass_.takes_rows(image); }
  void run_rows(const FieldSpec& image, const std::byte* from, size_t count, std::byte* to) const override {
    pass_.run_rows(image, from, count, to);
  }
  bool takes_lent() const override { return true; }
  bool takes_two() const override;
  std::array<Result<void>, 2> run_two(KernelCall& first, KernelCall& second) const override;

 private:
  struct Joined {};
  Result<void> end(KernelCall& call, ImageScratch& scratch) const;
  ImageChain(Joined, Stages stages, size_t kernels);

  const Stages stages_;
  const size_t kernels_;  // Number of kernels that are joined here.
  const ImagePass pass_;
};

/// The kernel `name` that decodes files of this format, which is not jpeg. Throws Exception(InvalidArgument) iff an
/// option is out of range.
KernelRef decode_kernel(const std::string& name, DecodeStage::Format format, const ImageOptions& options);

/// "name(a, b)"; "name" without parts.
std::string title_of(const std::string& name, const std::vector<std::string>& parts);
/// Throws Exception(InvalidArgument) with "name: what".
[[noreturn]] void refuse_option(const std::string& name, const std::string& what);
/// Throws unless both sides are 1 to kResizeMaxSide.
void check_size(const std::string& name, const ImageSize& size);
/// The size of a crop: one number is a square.
ImageSize square(const ImageSize& size);

/// The fields after the stages. Throws Exception(InvalidArgument) iff they can't take them.
Spec fields_after(const Stages& stages, Spec fields);

}  // namespace headpond::image_internal
