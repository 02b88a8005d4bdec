// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/ways.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "examples/preprocess_once/operators.h"
#include "examples/preprocess_once/records.h"
#include "examples/preprocess_once/straightforward.h"

namespace preprocess_once {
namespace {

constexpr size_t kHeldBytes = size_t{64} << 20;

double seconds_since(int64_t start_ns) { return static_cast<double>(hp::now_ns() - start_ns) * 1e-9; }

// The next samples of `loader`, until they are kHeldBytes; none at the end.
hp::Result<std::vector<hp::Batch>> some_of(hp::Loader& loader) {
  std::vector<hp::Batch> samples;
  for (size_t bytes = 0; bytes < kHeldBytes;) {
    const auto sample = loader.next();
    if (hp::at_end(sample)) break;
    if (!sample) return hp::fail(sample.error());
    bytes += (*sample)["input"].byte_size() + (*sample)["nuclei"].byte_size();
    samples.push_back(*sample);
  }
  return samples;
}

// Adds the nanoseconds of both ways for one image.
hp::Result<void> time_both(const Clicks& clicks, hp::Tensor& input, int64_t& brute_force_ns, int64_t& linear_ns) {
  const int64_t start = hp::now_ns();
  measure_distances(clicks, input);
  const int64_t between = hp::now_ns();
  HEADPOND_TRY(write_distances(clicks, input));
  brute_force_ns += between - start;
  linear_ns += hp::now_ns() - between;
  return {};
}

}  // namespace

hp::Result<Run> run_straightforwardly(const std::vector<Picture>& pictures, uint64_t seed, const GoOn& go_on) {
  Run run;
  const int64_t start = hp::now_ns();
  for (size_t i = 0; i < pictures.size(); ++i) {
    const auto sample = prepare_straightforwardly(pictures[i], seed, static_cast<int64_t>(i));
    if (!sample) return hp::fail(sample.error());
    run.digests.push_back(digest(sample->input, sample->nuclei));
    HEADPOND_TRY(ask(go_on, static_cast<int64_t>(i) + 1));
  }
  run.rate = static_cast<double>(pictures.size()) / seconds_since(start);
  return run;
}

hp::Result<Run> run_loader(const std::function<hp::Dataset()>& make, const hp::LoaderOptions& options,
                           const GoOn& go_on) {
  Run run;
  const int64_t start = hp::now_ns();
  hp::Loader loader(make(), options);
  while (true) {
    const auto sample = loader.next();
    if (hp::at_end(sample)) break;
    if (!sample) return hp::fail(sample.error());
    run.digests.push_back(digest((*sample)["input"], (*sample)["nuclei"]));
    HEADPOND_TRY(ask(go_on, static_cast<int64_t>(run.digests.size())));
  }
  const double wall_s = seconds_since(start);
  run.rate = static_cast<double>(run.digests.size()) / wall_s;
  run.wait_share = static_cast<double>(loader.stats().wait_ns) * 1e-9 / wall_s;
  return run;
}

hp::Result<Run> run_in_memory(const std::string& path, int64_t epochs, const GoOn& go_on) {
  std::vector<Digests> of_epochs(static_cast<size_t>(epochs));
  hp::Loader loader(read_prepared(path), {.threads = 0});  // No thread that reads ahead while the loop is timed.
  double seconds = 0;
  int64_t done = 0;
  while (true) {
    const auto samples = some_of(loader);
    if (!samples) return hp::fail(samples.error());
    if (samples->empty()) break;
    const int64_t start = hp::now_ns();
    for (Digests& digests : of_epochs) {
      for (const hp::Batch& sample : *samples) {
        digests.push_back(digest(sample["input"], sample["nuclei"]));
        HEADPOND_TRY(ask(go_on, ++done));
      }
    }
    seconds += seconds_since(start);
  }
  Run run{.rate = static_cast<double>(done) / seconds};
  for (const Digests& digests : of_epochs) run.digests.insert(run.digests.end(), digests.begin(), digests.end());
  return run;
}

hp::Result<DistanceTimes> time_distances(const std::string& path, uint64_t seed, const GoOn& go_on) {
  int64_t brute_force_ns = 0, linear_ns = 0, number = 0;
  hp::Loader loader(read_prepared(path), {.threads = 0});
  for (;; ++number) {
    const auto sample = loader.next();
    if (hp::at_end(sample)) break;
    if (!sample) return hp::fail(sample.error());
    const hp::Tensor& nuclei = (*sample)["nuclei"];
    const Clicks clicks = draw_clicks(nuclei.as<uint8_t>(), nuclei.dim(1), seed, number);
    hp::Tensor input = hp::Tensor::empty(hp::u8, {nuclei.dim(0), nuclei.dim(1), kChannels});
    std::fill_n(input.mutable_data(), input.byte_size(), std::byte{0});
    if (number == 0) {
      HEADPOND_TRY(time_both(clicks, input, brute_force_ns, linear_ns));
      brute_force_ns = linear_ns = 0;
    }
    HEADPOND_TRY(time_both(clicks, input, brute_force_ns, linear_ns));
    HEADPOND_TRY(ask(go_on, number + 1));
  }
  const double images = static_cast<double>(number) * 1e6;
  return DistanceTimes{static_cast<double>(brute_force_ns) / images, static_cast<double>(linear_ns) / images};
}

bool repeats(const Digests& digests, const Digests& one, int64_t epochs) {
  if (one.empty() || digests.size() != one.size() * static_cast<size_t>(epochs)) return false;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (digests[i] != one[i % one.size()]) return false;
  }
  return true;
}

}  // namespace preprocess_once
