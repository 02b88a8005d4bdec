// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headpond/codec/image/jpeg_index.h"
#include "headpond/codec/image/kernels/image_chain_internal.h"
#include "headpond/codec/image/kernels/role_moves_internal.h"

namespace headpond::image_internal {
namespace {

// The field beside the image that has the index of a JPEG.
std::string companion_of(const Stages& stages) {
  const auto* const decode = stages.front().as<DecodeStage>();
  const bool may_be_jpeg = decode != nullptr && decode->format != DecodeStage::Format::png;
  return may_be_jpeg ? std::string(kJpegIndexField) : "";
}

std::string region_of(const DecodeStage& stage) {
  if (stage.format == DecodeStage::Format::png) return "rows of the PNG";
  return stage.format == DecodeStage::Format::jpeg ? "region of the JPEG" : "region of the image";
}

// "region of the JPEG + resize + flip + normalize".
std::string joined_title(const Stages& stages) {
  std::vector<std::string> names;
  for (size_t i = 0; i < stages.size(); ++i) {
    const auto* const file = stages[i].as<DecodeStage>();
    const bool is_region = file != nullptr && i + 1 < stages.size() && stages[i + 1].as<WindowStage>();
    names.push_back(is_region ? region_of(*file) : stages[i].name);
    if (is_region) ++i;
  }
  const auto* const decode = stages.front().as<DecodeStage>();
  const bool resizes = std::ranges::any_of(stages, [](const Stage& stage) { return stage.as<ResizeStage>(); });
  const bool fits = resizes && decode != nullptr && decode->options.scale == JpegScale::fit;
  return fmt::format("{}{}", fmt::join(names, " + "), fits ? " (scale=fit changes pixels)" : "");
}

}  // namespace

ImageChain::ImageChain(std::string title, std::string draws, Stages stages)
    : RowsKernel({.title = std::move(title),
                  .draws = std::move(draws),
                  .result = [stages](const Spec& in) { return fields_after(stages, in); },
                  .companion = companion_of(stages)}),
      stages_(std::move(stages)),
      kernels_(1),
      pass_(stages_) {}

ImageChain::ImageChain(Joined, Stages stages, size_t kernels)
    : RowsKernel({.title = joined_title(stages), .companion = companion_of(stages)}),
      stages_(std::move(stages)),
      kernels_(kernels),
      pass_(stages_) {}

Result<void> ImageChain::run(KernelCall& call) const {
  auto& scratch = call.scratch<ImageScratch>();
  HEADPOND_TRY(pass_.begin(call, scratch));
  return end(call, scratch);
}

Result<void> ImageChain::end(KernelCall& call, ImageScratch& scratch) const {
  HEADPOND_TRY(pass_.make(call, scratch));
  const Geometry& geometry = scratch.geometry;
  return call.size() == 1 || geometry.moves.empty() ? Result<void>() : move_roles(geometry, call, scratch);
}

bool ImageChain::takes_two() const {
  const auto* const decode = stages_.front().as<DecodeStage>();
  return decode != nullptr && decode->format != DecodeStage::Format::png;
}

std::array<Result<void>, 2> ImageChain::run_two(KernelCall& first, KernelCall& second) const {
  auto& one = first.scratch<ImageScratch>();
  auto& other = second.scratch<SecondImageScratch>();
  std::array<Result<void>, 2> done = {pass_.begin(first, one), pass_.begin(second, other)};
  if (done[0] && done[1]) pass_.decode_two(first, one, second, other);
  if (done[0]) done[0] = end(first, one);
  if (done[1]) done[1] = end(second, other);
  return done;
}

KernelRef ImageChain::with(const KernelRef& next) const {
  const auto* const chain = dynamic_cast<const ImageChain*>(next.get());
  if (chain == nullptr || !why_not_joined(stages_, chain->stages_).empty()) return nullptr;
  Stages all = stages_;
  for (Stage stage : chain->stages_) {
    stage.kernel += kernels_;
    all.push_back(std::move(stage));
  }
  return KernelRef(new ImageChain(Joined(), std::move(all), kernels_ + chain->kernels_));
}

std::string ImageChain::why_not(const KernelRef& next) const {
  const auto* const chain = dynamic_cast<const ImageChain*>(next.get());
  return chain == nullptr ? "" : why_not_joined(stages_, chain->stages_);
}

std::string title_of(const std::string& name, const std::vector<std::string>& parts) {
  return parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", "));
}

void refuse_option(const std::string& name, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, name + ": " + what));
}

void check_size(const std::string& name, const ImageSize& size) {
  const auto is_side = [](int64_t side) { return side >= 1 && side <= kResizeMaxSide; };
  if (is_side(size.height) && (size.is_one_number() || is_side(size.width))) return;
  refuse_option(name, fmt::format("size {}: sides must be 1 to {}", size.to_string(), kResizeMaxSide));
}

ImageSize square(const ImageSize& size) { return size.is_one_number() ? ImageSize(size.height, size.height) : size; }

}  // namespace headpond::image_internal

namespace headpond {

std::string ImageSize::to_string() const {
  return is_one_number() ? fmt::format("{}", height) : fmt::format("[{},{}]", height, width);
}

}  // namespace headpond
