// SPDX-License-Identifier: Apache-2.0
// PNG files in memory to pixels in a batch, against the same kernel in a loop and what a program would write that uses
// libpng alone.
#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "cli/bench/kernels/kernel_bench.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_kernel.h"
#include "headpond/dataset/ops.h"
#ifdef HEADPOND_HAS_PNG
#include <png.h>
#endif

namespace headpond::cli {
namespace {

constexpr int64_t kMostFiles = 64, kMostPictures = 512;

struct PictureSet {
  const char* name;
  int64_t height, width, channels;
  uint64_t noise;  // 0: a mask of two values.
};
// Their sizes are multiples of 32 bytes, so that the xor of a batch is that of its rows.
constexpr PictureSet kSets[] = {{"504x376 RGB", 376, 504, 3, 24}, {"256x256 mask, grey", 256, 256, 1, 0}};

Tensor picture(const PictureSet& set, int64_t number) {
  Tensor made = Tensor::empty(DType::u8, {set.height, set.width, set.channels});
  Random random(static_cast<uint64_t>(number));
  auto* to = made.mutable_as<uint8_t>().data();
  for (int64_t y = 0; y < set.height; ++y) {
    for (int64_t x = 0; x < set.width; ++x) {
      const bool is_inside = (x - 99) * (x - 99) + (y - 99) * (y - 99) < 900 + 50 * number;
      for (int64_t c = 0; c < set.channels; ++c) {
        const int64_t smooth = (x + 2 * y + 40 * c + number) / 4 % 200;
        *to++ = static_cast<uint8_t>(set.noise > 0 ? smooth + static_cast<int64_t>(random.below(set.noise))
                                                   : (is_inside ? 255 : 0));
      }
    }
  }
  return made;
}

struct Pictures {
  std::vector<std::string> files;
  int64_t count = 0;
  const std::string& file(int64_t i) const { return files[static_cast<size_t>(i) % files.size()]; }
};

Result<std::shared_ptr<const Pictures>> make_pictures(const PictureSet& set, int64_t count) {
  Pictures made{.files = {}, .count = count};
  for (int64_t i = 0; i < std::min(count, kMostFiles); ++i) {
    const auto file = encode_png(picture(set, i));
    if (!file) return fail(file.error());
    made.files.emplace_back(reinterpret_cast<const char*>(file->data()), file->size());
  }
  return std::make_shared<const Pictures>(std::move(made));
}

KernelWork work_of(const std::shared_ptr<const Pictures>& pictures, const PictureSet& set) {
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < pictures->count; ++i) texts.emplace_back(pictures->file(i));
  return {.source = from_tensor_slices(Tensor::from(std::span<const std::string_view>(texts), {pictures->count})),
          .input = [pictures](int64_t i) { return Tensor::scalar(std::string_view(pictures->file(i))); },
          .items = pictures->count,
          .kernels = {decode_png({.channels = static_cast<int>(set.channels)})},
          .dtype = DType::u8,
          .shape = {set.height, set.width, set.channels}};
}

#ifdef HEADPOND_HAS_PNG
constexpr const char* kLibpng = PNG_LIBPNG_VER_STRING;

// By its simplified interface.
Result<uint64_t> by_libpng(const Pictures& pictures, const PictureSet& set) {
  std::vector<std::byte> pixels(static_cast<size_t>(set.height * set.width * set.channels));
  uint64_t all = 0;
  for (int64_t i = 0; i < pictures.count; ++i) {
    const std::string& file = pictures.file(i);
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    const bool is_begun = png_image_begin_read_from_memory(&image, file.data(), file.size()) != 0;
    image.format = set.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    if (!is_begun || png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0)
      return fail(ErrorKind::DataLoss, std::string("libpng: ") + image.message);
    all ^= xor_of(pixels);
  }
  return all;
}
#else
constexpr const char* kLibpng = "";

Result<uint64_t> by_libpng(const Pictures&, const PictureSet&) {
  return fail(ErrorKind::Unimplemented, "built without the component png (HEADPOND_PNG)");
}
#endif

Result<void> prepare(std::vector<TimedCase>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const PictureSet& set = kSets[i];
    const auto pictures = make_pictures(set, cases[i].items);
    if (!pictures) return fail(pictures.error());
    std::vector<TimedSystem>& systems = cases[i].systems;
    const std::vector<TimedSystem> ours = kernel_systems(work_of(*pictures, set));
    for (size_t k = 0; k < ours.size(); ++k) systems[k].run = ours[k].run;
    systems.back().run = [made = *pictures, &set] { return by_libpng(*made, set); };
  }
  return {};
}

}  // namespace

Bench png_decode_bench(const BenchSetup& bench_setup) {
  const int64_t pictures = std::clamp<int64_t>(bench_setup.items / 400, 4, kMostPictures);
  TimedBench setup{.name = "png.decode", .item = "image", .cases = {}, .prepare = prepare, .rounds = 5};
  for (const PictureSet& set : kSets) {
    std::vector<TimedSystem> systems = kernel_systems();
    systems.push_back({"libpng", kLibpng, {}});
    setup.cases.push_back({fmt::format("{}: decode_png, batch 64", set.name), pictures, systems});
  }
  return timed_bench(std::move(setup));
}

}  // namespace headpond::cli
