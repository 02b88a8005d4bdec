// SPDX-License-Identifier: Apache-2.0
// Images that need no decoder: the resize alone, stored images of one size, and small images in memory.
#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "cli/bench/kernels/kernel_bench.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/resize/resize.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/array/npy.h"

namespace headpond::cli {
namespace {

Tensor noisy_images(const Shape& shape, uint64_t seed) {
  Tensor made = Tensor::empty(DType::u8, shape);
  Random random(seed);
  for (uint8_t& value : made.mutable_as<uint8_t>()) value = static_cast<uint8_t>(random.u32());
  return made;
}

// A row of `images`, without a copy: they outlive it.
Tensor row_of(const std::shared_ptr<const Tensor>& images, int64_t i) {
  const Shape row = images->shape().row();
  const auto bytes = static_cast<int64_t>(images->byte_size()) / images->dim(0);
  return Tensor::view(images->data() + i * bytes, images->dtype(), row);
}

struct ResizeWork {
  int64_t height, width;
  ResizeOptions options;
};
const ResizeWork kResizes[] = {{270, 310, {}},
                               {256, 256, {}},
                               {256, 256, {.antialias = false}},
                               {375, 500, {}},
                               {375, 500, {.filter = ResizeFilter::bicubic}},
                               {375, 500, {.filter = ResizeFilter::lanczos}},
                               {375, 500, {.filter = ResizeFilter::area}},
                               {256, 256, {.filter = ResizeFilter::nearest}}};
constexpr int64_t kResized = 224, kMostResizes = 200;

Result<uint64_t> resize_all(const Tensor& image, const ResizeOptions& options, int64_t times) {
  uint64_t all = 0;
  for (int64_t i = 0; i < times; ++i) {
    const auto made = resize_image(image, kResized, kResized, options);
    if (!made) return fail(made.error());
    all ^= xor_of({made->data(), made->byte_size()}) + static_cast<uint64_t>(i);
  }
  return all;
}

constexpr int64_t kMostStored = 977, kStoredSide = 256;

// Stored images in a folder of this run.
class StoredImages {
 public:
  ~StoredImages() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Result<void> make(int64_t count) {
    std::string name = (std::filesystem::temp_directory_path() / "headpond-pixels-raw-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return fail(ErrorKind::FailedPrecondition, "cannot make " + name);
    folder_ = name;
    HEADPOND_TRY(write_npy(path(), noisy_images({count, kStoredSide, kStoredSide, 3}, 3)));
    auto read = read_npy(path());
    if (!read) return fail(read.error());
    images_ = std::make_shared<const Tensor>(std::move(*read));
    return {};
  }
  std::string path() const { return folder_ + "/images.npy"; }
  const std::shared_ptr<const Tensor>& images() const { return images_; }

 private:
  std::string folder_;
  std::shared_ptr<const Tensor> images_;
};

struct StoredWork {
  const char* name;
  bool antialias, is_float;
};
constexpr StoredWork kStoredWorks[] = {{"antialias=false, to normalized float", false, true},
                                       {"antialias=false, to u8", false, false},
                                       {"antialiased, to normalized float", true, true}};

KernelWork stored_work(const std::shared_ptr<const StoredImages>& stored, const StoredWork& work) {
  KernelWork made = {
      .source = npy(stored->path()),
      .input = [stored](int64_t i) { return row_of(stored->images(), i); },
      .items = stored->images()->dim(0),
      .kernels = {random_resized_crop({224, 224}, {.antialias = work.antialias}), random_horizontal_flip()},
      .dtype = work.is_float ? DType::f32 : DType::u8,
      .shape = work.is_float ? Shape{3, 224, 224} : Shape{224, 224, 3}};
  if (work.is_float) made.kernels.push_back(normalize());
  return made;
}

constexpr int64_t kMostSmall = 50'000;

KernelWork small_work(int64_t count) {
  const auto images = std::make_shared<const Tensor>(noisy_images({count, 32, 32, 3}, 5));
  return {.source = from_tensor_slices(*images),
          .input = [images](int64_t i) { return row_of(images, i); },
          .items = count,
          .kernels = {random_crop({32, 32}, {.padding = {4}}), random_horizontal_flip(),
                      normalize({.mean = {0.4914, 0.4822, 0.4465}, .std = {0.247, 0.2435, 0.2616}})},
          .shape = {3, 32, 32},
          .batch = 512};
}

void take_runs(std::vector<TimedSystem>& to, const std::vector<TimedSystem>& from) {
  for (size_t i = 0; i < from.size(); ++i) to[i].run = from[i].run;
}

}  // namespace

Bench pixels_resize_bench(const BenchSetup& bench_setup) {
  const int64_t times = std::clamp<int64_t>(bench_setup.items / 500, 2, kMostResizes);
  TimedBench setup{.name = "pixels.resize", .item = "image", .cases = {}, .prepare = {}, .rounds = 7};
  for (const ResizeWork& work : kResizes) {
    const auto image = std::make_shared<const Tensor>(noisy_images({work.height, work.width, 3}, 1));
    const ResizeOptions options = work.options;
    setup.cases.push_back(
        {fmt::format("{}x{} to 224x224, {}{}, u8 RGB", work.width, work.height, name(options.filter),
                     options.antialias ? "" : ", antialias=false"),
         times,
         {{"headpond", HEADPOND_VERSION, [image, options, times] { return resize_all(*image, options, times); }}}});
  }
  return timed_bench(std::move(setup));
}

Bench pixels_raw_bench(const BenchSetup& bench_setup) {
  const int64_t count = std::clamp<int64_t>(bench_setup.items / 200, 8, kMostStored);
  TimedBench setup{.name = "pixels.raw", .item = "image", .cases = {}, .prepare = {}, .rounds = 7};
  for (const StoredWork& work : kStoredWorks) {
    setup.cases.push_back(
        {fmt::format("npy | map(random_resized_crop(224), flip) | batch(64), {}", work.name), count, kernel_systems()});
  }
  setup.prepare = [](std::vector<TimedCase>& cases) -> Result<void> {
    const auto stored = std::make_shared<StoredImages>();
    HEADPOND_TRY(stored->make(cases[0].items));
    for (size_t i = 0; i < cases.size(); ++i) {
      take_runs(cases[i].systems, kernel_systems(stored_work(stored, kStoredWorks[i])));
    }
    return {};
  };
  Bench bench = timed_bench(std::move(setup));
  bench.targets = {{"W8.pixels.raw", "per core at least 0.8 x the same kernels in a loop (float, antialias=false)",
                    true, 0.8, [](const BenchResult& result) { return result.ratio(0).median; }},
                   {"W8.pixels.raw.u8", "per core at least 0.8 x the same kernels in a loop (u8)", true, 0.8,
                    [](const BenchResult& result) { return result.ratio(2).median; }}};
  return bench;
}

Bench cifar_memory_bench(const BenchSetup& bench_setup) {
  const int64_t count = std::clamp<int64_t>(bench_setup.items / 4, 64, kMostSmall);
  TimedBench setup{.name = "cifar.memory", .item = "image", .cases = {}, .prepare = {}, .rounds = 7};
  setup.cases.push_back({"from_tensor_slices | map(random_crop(32, padding=4), flip, normalize) | batch(512), 32x32x3",
                         count, kernel_systems()});
  setup.prepare = [](std::vector<TimedCase>& cases) -> Result<void> {
    take_runs(cases[0].systems, kernel_systems(small_work(cases[0].items)));
    return {};
  };
  Bench bench = timed_bench(std::move(setup));
  bench.targets = {{"W10.cifar.memory", "per core at least 0.8 x the same kernels in a loop", true, 0.8,
                    [](const BenchResult& result) { return result.ratio(0).median; }}};
  return bench;
}

}  // namespace headpond::cli
