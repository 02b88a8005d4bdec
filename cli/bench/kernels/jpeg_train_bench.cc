// SPDX-License-Identifier: Apache-2.0
// JPEG files in memory to normalized crops in a batch, against the decoding of the same crops by libjpeg-turbo alone.
// The pictures are made: waves and noise, of the sizes in bytes that ImageNet's files have.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "cli/bench/kernels/crop_only_jpeg.h"
#include "cli/bench/kernels/kernel_bench.h"
#include "headpond/base/math/portable.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/jpeg_index.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/dataset/ops.h"

namespace headpond::cli {
namespace {

// Files are taken in turn, so that a run fills enough batches: the memory of the first ones is new to the process.
constexpr int64_t kMostFiles = 256, kMostPictures = 1024, kSide = 224;

struct PictureSet {
  const char* name;
  int64_t height, width;
  int noise, quality;
};
constexpr size_t kCasesOfSet = 3;
constexpr PictureSet kSets[] = {{"500x375, quality 90", 375, 500, 24, 90},
                                {"500x400, quality 95, about 110 KB", 400, 500, 40, 95}};

Tensor picture(const PictureSet& set, int64_t number) {
  Tensor made = Tensor::empty(DType::u8, {set.height, set.width, 3});
  Random random(static_cast<uint64_t>(number));
  std::vector<double> across, down;
  for (int64_t x = 0; x < set.width; ++x)
    across.push_back(50 * portable::sin(0.011 * static_cast<double>(x * (1 + number % 7))));
  for (int64_t y = 0; y < set.height; ++y)
    down.push_back(50 * portable::sin(0.013 * static_cast<double>(y * (1 + number % 5))));
  auto* to = made.mutable_as<uint8_t>().data();
  for (int64_t y = 0; y < set.height; ++y) {
    for (int64_t x = 0; x < set.width; ++x, to += 3) {
      const double base = 128 + across[static_cast<size_t>(x)] + down[static_cast<size_t>(y)];
      const bool is_rough = (x / 64 + y / 64 + number) % 2 == 0;
      const auto noise =
          is_rough ? static_cast<int>(random.below(2 * static_cast<uint64_t>(set.noise))) - set.noise : 0;
      for (int c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>(std::clamp(base + noise + 20 * (c - 1), 0.0, 255.0));
    }
  }
  return made;
}

// What random_resized_crop keeps of picture `number`: points show where the corners go.
Result<ImageWindow> window_of(const PictureSet& set, int64_t number) {
  const auto height = static_cast<float>(set.height), width = static_cast<float>(set.width);
  const KernelRef crop = random_resized_crop({kSide, kSide});
  const auto moved =
      run_kernels(std::span(&crop, 1),
                  {Tensor::empty(DType::u8, {set.height, set.width, 1}),
                   Tensor::from(std::vector<float>{0, 0, width, height}, {2, 2})},
                  {.seed = 7, .key = static_cast<uint64_t>(number), .roles = {FieldRole::image, FieldRole::points}});
  if (!moved) return fail(moved.error());
  const auto corners = (*moved)[1].as<float>();
  const double kept_width = width * kSide / (corners[2] - corners[0]),
               kept_height = height * kSide / (corners[3] - corners[1]);
  return ImageWindow{.y = std::lround(-corners[1] * kept_height / kSide),
                     .x = std::lround(-corners[0] * kept_width / kSide),
                     .height = std::lround(kept_height),
                     .width = std::lround(kept_width)};
}

struct Pictures {
  std::vector<std::string> files;
  std::vector<ImageWindow> windows;

  std::vector<std::string> indices;  // Indices of the files.

  const std::string& file(size_t i) const { return files[i % files.size()]; }
};

Result<void> make_pictures(const PictureSet& set, int64_t count, Pictures& pictures) {
  for (int64_t i = 0; i < count; ++i) {
    if (i < kMostFiles) {
      const auto file = encode_jpeg(picture(set, i), {.quality = set.quality});
      if (!file) return fail(file.error());
      pictures.files.emplace_back(reinterpret_cast<const char*>(file->data()), file->size());
      const auto index = jpeg_index(*file);
      if (!index) return fail(index.error());
      pictures.indices.emplace_back(reinterpret_cast<const char*>(index->data()), index->size());
    }
    const auto window = window_of(set, i);
    if (!window) return fail(window.error());
    pictures.windows.push_back(*window);
  }
  return {};
}

// Crops of the whole picture if `set` is given.
Result<uint64_t> crops_only(const Pictures& pictures, const PictureSet* set = nullptr) {
  std::vector<uint8_t> pixels;
  for (size_t i = 0; i < pictures.windows.size(); ++i) {
    const std::string& file = pictures.file(i);
    const ImageWindow window = set == nullptr ? pictures.windows[i] : ImageWindow{0, 0, set->height, set->width};
    HEADPOND_TRY(decode_crop_only(std::as_bytes(std::span(file.data(), file.size())), window, pixels));
  }
  return uint64_t{0};  // Pixels before the resize: nothing to compare.
}

Tensor text_of(const std::string& file) { return Tensor::scalar(std::string_view(file)); }

KernelWork work_of(const std::shared_ptr<const Pictures>& pictures, bool antialias) {
  const auto count = static_cast<int64_t>(pictures->windows.size());
  std::vector<std::string_view> texts;
  for (size_t i = 0; i < pictures->windows.size(); ++i) texts.emplace_back(pictures->file(i));
  return {.source = from_tensor_slices(Tensor::from(std::span<const std::string_view>(texts), {count})),
          .input = [pictures](int64_t i) { return text_of(pictures->file(static_cast<size_t>(i))); },
          .items = count,
          .kernels = {decode_jpeg(), random_resized_crop({kSide, kSide}, {.antialias = antialias}),
                      random_horizontal_flip(), normalize()},
          .shape = {3, kSide, kSide}};
}

// The same with an index beside each file.
KernelWork indexed(KernelWork work, const Pictures& pictures) {
  std::vector<std::string_view> texts, indices;
  for (size_t i = 0; i < pictures.windows.size(); ++i) {
    texts.emplace_back(pictures.file(i));
    indices.emplace_back(pictures.indices[i % pictures.indices.size()]);
  }
  work.source = from_tensor_slices(
      {{"image", Tensor::from(std::span<const std::string_view>(texts), {work.items})},
       {"image/jpeg_index", Tensor::from(std::span<const std::string_view>(indices), {work.items})}});
  work.field = "image";
  return work;
}

// Cases of a set: antialiased and not, then the latter by index. All have the same pictures.
Result<void> prepare(std::vector<TimedCase>& cases) {
  std::shared_ptr<Pictures> pictures;
  for (size_t i = 0; i < cases.size(); ++i) {
    const PictureSet& set = kSets[i / kCasesOfSet];
    std::vector<TimedSystem>& systems = cases[i].systems;
    if (i % kCasesOfSet == 0) {
      pictures = std::make_shared<Pictures>();
      HEADPOND_TRY(make_pictures(set, cases[i].items, *pictures));
    }
    const KernelWork work = work_of(pictures, i % kCasesOfSet == 0);
    const std::vector<TimedSystem> plain = kernel_systems(work);
    if (i % kCasesOfSet == 2) {
      systems[0].run = kernel_systems(indexed(work, *pictures))[0].run;
      systems[1].run = plain[0].run;
      systems[2].run = [pictures, &set] { return crops_only(*pictures, &set); };
    } else {
      for (size_t k = 0; k < plain.size(); ++k) systems[k].run = plain[k].run;
    }
    systems.back().run = [pictures] { return crops_only(*pictures); };
  }
  return {};
}

}  // namespace

Bench jpeg_train_bench(const BenchSetup& bench_setup) {
  const int64_t pictures = std::clamp<int64_t>(bench_setup.items / 150, 4, kMostPictures);
  TimedBench setup{.name = "jpeg.train", .item = "image", .cases = {}, .prepare = prepare, .rounds = 5};
  for (const PictureSet& set : kSets) {
    for (size_t i = 0; i < kCasesOfSet; ++i) {
      std::vector<TimedSystem> systems = kernel_systems();
      if (i == 2) {
        systems = {{"headpond threads=0, indexed", HEADPOND_VERSION, {}},
                   {"headpond threads=0", HEADPOND_VERSION, {}},
                   {"libjpeg-turbo, whole", HEADPOND_COMPILER, {}}};
      }
      systems.push_back({"libjpeg-turbo, crop only", HEADPOND_COMPILER, {}});
      setup.cases.push_back({fmt::format("{}: decode_jpeg > random_resized_crop({}) > flip > normalize, batch 64{}",
                                         set.name, i == 0 ? "224" : "224, antialias=false", i == 2 ? ", by index" : ""),
                             pictures, systems});
    }
  }
  Bench bench = timed_bench(std::move(setup));
  // All against libjpeg-turbo's decoding of the same crops, the last ratio of each case. The last two are of the second
  // set, without antialias: plain files, then indexed ones.
  const auto target = [&](const char* id, size_t at, const char* what, double bound) {
    bench.targets.push_back({id,
                             fmt::format("{}per core at least {} x libjpeg-turbo's decoding of the crop alone ({})",
                                         what, bound, bench.rows[at * 8].name),
                             true, bound, [at](const BenchResult& result) { return result.ratio(3 * at + 2).median; }});
  };
  target("W7.jpeg.antialias", 0, "", 0.88);
  target("W7.jpeg.plain", 1, "", 0.95);
  target("W7.jpeg.two_streams", kCasesOfSet + 1, "two files at once: ", 1.5);
  target("W7.jpeg.indexed", kCasesOfSet + 2, "by index: ", 2.1);
  return bench;
}

}  // namespace headpond::cli
