// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>

#include "cli/bench/benches.h"
#include "headpond/base/normal.h"

namespace headpond::cli {
namespace {

constexpr size_t kValues = size_t{64} << 10;  // About a millisecond of std, and a quarter of a level-2 cache.

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

// The buffers of all systems, and how each fills its own.
class NormalSystems {
 public:
  explicit NormalSystems(uint64_t seed)
      : key_(random_key(seed, "bench.rng.normal", 0, 0)), engine_(static_cast<uint32_t>(seed)) {
    for (const std::string_view target : normal_targets()) names.emplace_back(target);
    names.emplace_back("scalar");
    buffers_.assign(names.size() + 1, std::vector<float>(kValues));
  }

  std::vector<BenchSample> cycle() {
    std::vector<BenchSample> samples;
    for (size_t i = 0; i < names.size(); ++i) {
      samples.push_back(timed([&] { fill(i); }));
      agree = agree && same_bits(buffers_[i], buffers_[0]);
    }
    samples.push_back(timed([&] {
      for (float& value : buffers_.back()) value = distribution_(engine_);
    }));
    ++element_;
    return samples;
  }

  std::vector<std::string> names;  // Without std.
  bool agree = true;

 private:
  void fill(size_t i) {
    if (i + 1 == names.size()) {
      fill_normal_scalar(buffers_[i], key_, element_);
    } else {
      fill_normal_on(names[i], buffers_[i], key_, element_);
    }
  }
  template <class Work>
  static BenchSample timed(Work work) {
    return with_cpu_time([&] {
      const int64_t start = now_ns();
      work();
      return static_cast<double>(now_ns() - start) / static_cast<double>(kValues);
    });
  }

  const RandomKey key_;
  std::mt19937 engine_;
  std::normal_distribution<float> distribution_;
  uint64_t element_ = 0;
  std::vector<std::vector<float>> buffers_;
};

}  // namespace

Bench rng_normal_bench(const BenchSetup& setup) {
  const auto systems = std::make_shared<NormalSystems>(setup.seed);
  Bench bench{.name = "rng.normal", .round_s = 1};
  const size_t count = systems->names.size();
  for (size_t i = 0; i <= count; ++i) {
    bench.rows.push_back({.name = fmt::format("f32 n={}", kValues),
                          .params = {{"values", static_cast<int64_t>(kValues)}},
                          .system = i < count ? "headpond " + systems->names[i] : "std",
                          .system_version = i < count ? HEADPOND_VERSION : HEADPOND_COMPILER,
                          .metric = "ns_per_value",
                          .unit = "ns"});
    if (i < count) bench.ratios.push_back({i, count});
  }
  const auto ratio = [](size_t i) { return [i](const BenchResult& result) { return result.ratio(i).median; }; };
  bench.targets.push_back({"rng.normal.best", systems->names[0] + ": at least 8 x std", true, 8, ratio(0)});
  for (size_t i = 0; i < count; ++i) {
    if (systems->names[i] == "AVX2")
      bench.targets.push_back({"rng.normal.avx2", "AVX2: at least 6 x std", true, 6, ratio(i)});
  }
  bench.cycle = [systems](const std::stop_token&) -> Result<std::vector<BenchSample>> { return systems->cycle(); };
  bench.digest_equal = [systems] { return systems->agree; };
  return bench;
}

}  // namespace headpond::cli
