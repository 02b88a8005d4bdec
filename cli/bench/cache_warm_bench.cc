// SPDX-License-Identifier: Apache-2.0
// Batches from a cache that has all elements, in memory and on disk, against a loop that copies the same rows.
// benchmarks/peers measures other libraries with the parameters of the last row.
#include <fmt/core.h>

#include <cstring>
#include <memory>

#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "cli/bench/consume.h"
#include "cli/bench/temp_folder.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kImages = 1024, kBatch = 32, kImageBytes = int64_t{224} * 224 * 3;
const Shape kImage = {224, 224, 3};
constexpr int64_t kRows = 50'000, kFloats = 784, kRowBatch = 256;

Tensor image(int64_t number) {
  Tensor made = Tensor::empty(DType::u8, kImage);
  std::memset(made.mutable_data(), static_cast<int>(number % 251), static_cast<size_t>(kImageBytes));
  return made;
}

Dataset images() {
  return range(kImages) | map(&image, {.output = {{"image", DType::u8, kImage}}, .name = "image", .version = 1});
}

Tensor row_of(int64_t number) {
  Tensor made = Tensor::empty(DType::f32, {kFloats});
  for (float& value : made.mutable_as<float>()) value = static_cast<float>(number);
  return made;
}

Dataset rows() {
  return range(kRows) | map(&row_of, {.output = {{"", DType::f32, {kFloats}}}, .name = "row", .version = 1});
}

struct Systems {
  TempFolder folder{"cache"};
  Dataset in_memory = images() | cache() | shuffle() | batch(kBatch);
  Dataset on_disk = images() | cache(folder.path) | shuffle() | batch(kBatch);
  Dataset in_order = rows() | cache() | batch(kRowBatch);
  std::vector<std::byte> pixels;
  uint64_t all = 0;  // What was read, so that no reading is left out.
  bool agree = true;
};

// Nanoseconds of an element; each batch is read.
Result<double> ns_each(const Dataset& dataset, int64_t elements, uint64_t seed, Systems& systems) {
  Loader loader(dataset, {.seed = seed, .threads = 0});
  const int64_t began = now_ns();
  int64_t read = 0;
  while (true) {
    const auto next = loader.next();
    if (at_end(next)) break;
    if (!next) return fail(next.error());
    systems.all += xor_of(next->element());
    read += next->element()[size_t{0}].shape()[0];
  }
  systems.agree = systems.agree && read == elements;
  return static_cast<double>(now_ns() - began) / static_cast<double>(elements);
}

double a_second(double ns) { return 1e9 / ns; }
double as_it_is(double ns) { return ns; }

double rate_by_hand(uint64_t seed, Systems& systems) {
  if (systems.pixels.empty()) {
    for (int64_t i = 0; i < kImages; ++i) {
      const Tensor one = image(i);
      systems.pixels.insert(systems.pixels.end(), one.data(), one.data() + kImageBytes);
    }
  }
  const auto view = (range(kImages) | shuffle()).node()->bind({seed, 0});
  std::vector<std::byte> rows(static_cast<size_t>(kBatch * kImageBytes));
  Context context;
  const int64_t began = now_ns();
  for (int64_t i = 0; i < kImages; ++i) {
    Element position;
    if (view->at(i, context, {}, position) != Got::value) return 0;
    const std::byte* const from = systems.pixels.data() + position[size_t{0}].item<int64_t>() * kImageBytes;
    std::memcpy(rows.data() + i % kBatch * kImageBytes, from, static_cast<size_t>(kImageBytes));
    if (i % kBatch == kBatch - 1) systems.all += xor_of(std::span<const std::byte>(rows));
  }
  return static_cast<double>(kImages) / (1e-9 * static_cast<double>(now_ns() - began));
}

}  // namespace

Bench cache_warm_bench(const BenchSetup& setup) {
  Bench bench{.name = "cache.warm", .consume = kXorName};
  for (const char* const system : {"in memory", "on disk", "loop that copies rows"}) {
    bench.rows.push_back({.name = "1024 images of 224x224x3, batches of 32, shuffled, one thread",
                          .system = system,
                          .system_version = HEADPOND_VERSION,
                          .metric = "images_per_s",
                          .unit = "1/s",
                          .lower_is_better = false});
  }
  bench.rows.push_back({.name = "rows of 784 floats from the cache",
                        .params = {{"elements", kRows}, {"floats", kFloats}, {"batch", kRowBatch}},
                        .system = "headpond",
                        .system_version = HEADPOND_VERSION,
                        .metric = "ns_per_element",
                        .unit = "ns"});
  bench.ratios = {{0, 2}, {1, 2}};
  const auto systems = std::make_shared<Systems>();
  bench.cycle = [systems, seed = setup.seed](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    const auto measure = [&](const Dataset& dataset, int64_t elements, double (*in_unit)(double)) -> Result<void> {
      HEADPOND_TRY(ns_each(dataset, elements, seed, *systems));  // Fills the cache.
      Result<double> ns = 0.0;
      samples.push_back(with_cpu_time([&] {
        ns = ns_each(dataset, elements, seed, *systems);
        return in_unit(ns.value_or(1));
      }));
      if (!ns) return fail(ns.error());
      return {};
    };
    HEADPOND_TRY(measure(systems->in_memory, kImages, a_second));
    HEADPOND_TRY(measure(systems->on_disk, kImages, a_second));
    samples.push_back(with_cpu_time([&] { return rate_by_hand(seed, *systems); }));
    HEADPOND_TRY(measure(systems->in_order, kRows, as_it_is));
    return samples;
  };
  bench.digest_equal = [systems] { return systems->agree; };
  return bench;
}

}  // namespace headpond::cli
