// SPDX-License-Identifier: Apache-2.0
// One run over elements of 0.1 to 8 MB, and what the system says that the process had at most: tests/slow/memory.py.
//
//   headpond_memory_driver mixed|sorted plain|padded|trained computed|slow BUDGET_MIB
//
// trained: a training and its evaluations, each of whose inputs has such elements in a cache.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/cpu.h"
#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/train/loop/training.h"

namespace {

namespace hp = headpond;
using namespace std::chrono_literals;

constexpr int64_t kElements = 400, kLeast = 100'000, kMost = 8'000'000, kRows = 4;

constexpr int64_t kEpochs = 3;

struct What {
  bool sorted, padded, trained, slow;
  int64_t budget;
};

int64_t bytes_of(int64_t element, bool sorted) {
  if (sorted) return kLeast + (kMost - kLeast) * element / (kElements - 1);
  return kLeast + static_cast<int64_t>(hp::mix(7, static_cast<uint64_t>(element)) % (kMost - kLeast + 1));
}

hp::Dataset dataset_of(const What& what) {
  const auto make = [what](int64_t element) {
    if (what.slow) std::this_thread::sleep_for(100ms);
    hp::Tensor values = hp::Tensor::empty(hp::u8, {bytes_of(element, what.sorted)});
    std::memset(values.mutable_data(), static_cast<int>(element % 256), values.byte_size());
    return values;
  };
  const hp::Dataset elements =
      hp::range(kElements) |
      hp::map(make, {.output = {{"", hp::u8, {hp::kUnknown}}}, .name = "make", .blocking = what.slow});
  return what.padded ? elements | hp::padded_batch(kRows) : elements;
}

// A program of short steps that now and then does something else, while the loader could run ahead.
int64_t run(const What& what) {
  hp::Loader loader(dataset_of(what), {.memory = what.budget});
  int64_t taken = 0;
  for (const hp::Batch& batch : loader) {
    taken += what.padded ? batch[0].dim(0) : 1;
    std::this_thread::sleep_for(taken % 40 == 0 ? 300ms : 1ms);
  }
  return taken;
}

// Learns nothing.
struct Idle final : hp::Learner {
  Step train(const hp::Batch& /*batch*/) override {
    ++taken;
    std::this_thread::sleep_for(1ms);
    return {};
  }
  Step evaluate(const hp::Batch& /*batch*/) override {
    ++taken;
    return {};
  }
  std::vector<std::string> parameters() const override { return {}; }
  std::map<std::string, std::string> save() const override { return {{"model.pt", ""}}; }
  void restore(const std::map<std::string, std::string>& /*files*/) override {}
  int64_t taken = 0;
};

// An evaluation of all elements after each epoch.
int64_t run_training(const What& what) {
  Idle learner;
  const auto trained =
      hp::train_and_evaluate(learner, {.save_steps = kElements, .log_steps = 0, .memory = what.budget},
                             {.input = dataset_of(what) | hp::cache(), .max_steps = kEpochs * kElements, .epochs = -1},
                             {.input = dataset_of(what) | hp::cache(), .steps = std::nullopt, .throttle_secs = 0});
  if (!trained) std::fprintf(stderr, "%s\n", trained.error().to_string().c_str());
  return learner.taken == 2 * kEpochs * kElements ? kElements : -1;
}

// Prints the figures of a run; false: elements are missing.
bool measure(const What& what) {
  const uint64_t idle = hp::memory_info().pss;
  std::atomic<uint64_t> peak = idle;
  std::jthread sampler([&peak](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak = std::max(peak.load(), hp::memory_info().pss);
      std::this_thread::sleep_for(5ms);
    }
  });
  const int64_t taken = what.trained ? run_training(what) : run(what);
  sampler.request_stop();
  sampler.join();
  std::printf("%.1f\n", static_cast<double>(peak - idle) / (1 << 20));
  return taken == kElements;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto is = [argv](int i, const char* word) { return std::string(argv[i]) == word; };
  return measure({is(1, "sorted"), is(2, "padded"), is(2, "trained"), is(3, "slow"), std::atoll(argv[4]) << 20}) ? 0
                                                                                                                 : 1;
}
