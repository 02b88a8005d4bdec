// SPDX-License-Identifier: Apache-2.0
// A DeviceFeed on a real CUDA device, its batches as torch tensors: their values, page-locked memory, and how long a
// step takes whose batch is copied beside it. Ends with 77 where there is no device.
//
// For a libtorch with CUDA's libraries: tests/slow/torch2.py BUILD_FOLDER TORCH_FOLDER builds and runs it.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "headpond/dataset/ops.h"
#include "headpond/train/device/cuda.h"
#include "headpond/train/tensors.h"

namespace {

namespace hp = headpond;
using Clock = std::chrono::steady_clock;

constexpr int64_t kMiB = 1 << 20;
constexpr double kMostOverLimit = 1.02;
constexpr double kCallMs = 0.1;  // The device stands still meanwhile if the program waits for each step.
constexpr int kSkipped = 77;

bool all_right = true;
void say(bool is_right, const char* what) {
  std::printf("%s  %s\n", is_right ? "ok    " : "FAILED", what);
  std::fflush(stdout);
  all_right = all_right && is_right;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Batches "x" f32 [4, a quarter of `bytes`], each full of its index.
hp::Dataset numbered(int64_t batches, int64_t bytes) {
  constexpr int64_t kRows = 4;
  const int64_t length = bytes / 4 / kRows;
  const auto fill = [length](int64_t i) {
    hp::Tensor row = hp::Tensor::empty(hp::f32, {length});
    std::ranges::fill(row.mutable_as<float>(), static_cast<float>(i / kRows));
    return row;
  };
  return hp::range(batches * kRows) | hp::map(fill, {.output = {{"x", hp::f32, {length}}}, .name = "fill"}) |
         hp::batch(kRows);
}

// Says at once that a copy is done: the feed then ends the lease too early.
struct HastyStream : hp::DeviceStream {
  explicit HastyStream(std::shared_ptr<hp::DeviceStream> of) : stream(std::move(of)) {}
  struct Hasty : hp::DeviceCopy {
    explicit Hasty(std::unique_ptr<hp::DeviceCopy> of) : copy(std::move(of)) {}
    bool is_done() override { return true; }
    hp::Result<void> wait() override { return copy->wait(); }
    std::unique_ptr<hp::DeviceCopy> copy;
  };
  hp::Result<void*> allocate(size_t bytes) override { return stream->allocate(bytes); }
  void free(void* memory) noexcept override { stream->free(memory); }
  hp::Result<std::unique_ptr<hp::DeviceCopy>> copy(std::span<const Part> parts) override {
    auto begun = stream->copy(parts);
    if (!begun) return begun;
    return std::make_unique<Hasty>(std::move(*begun));
  }
  hp::Result<void> before_program(hp::DeviceCopy& copy) override {
    return stream->before_program(*static_cast<Hasty&>(copy).copy);
  }
  hp::Result<void> after_program() override { return stream->after_program(); }
  int device() const override { return stream->device(); }
  std::shared_ptr<hp::DeviceStream> stream;
};

// A step: products of matrices on the device, and a look at the batch.
struct Step {
  int products = 0;
  torch::Tensor matrix = torch::randn({4096, 4096}, torch::TensorOptions(torch::kCUDA)) / 64;
  torch::Tensor state = torch::randn({4096, 4096}, torch::TensorOptions(torch::kCUDA));
  torch::Tensor seen = torch::zeros({}, torch::TensorOptions(torch::kCUDA));
  void operator()(const torch::Tensor& x) {
    for (int i = 0; i < products; ++i) state = state.mm(matrix);
    seen += x[0][0];
  }
};

// How many of `batches` are not what the Loader gave, seen by the device. `work` is asked of the device for each, so
// that the next copies begin late.
int64_t damaged(
    int64_t batches, int64_t bytes, int depth, std::shared_ptr<hp::BufferPool> pool,
    std::shared_ptr<hp::DeviceStream> stream, const std::function<void()>& work = [] {}) {
  hp::Loader loader(numbered(batches, bytes), {.memory = 8 * bytes, .pool = std::move(pool)});
  hp::DeviceFeed feed(loader, {.depth = depth, .stream = std::move(stream)});
  std::vector<torch::Tensor> wrong;  // Of each batch, computed when the device comes to it.
  for (const hp::DeviceBatch& batch : feed) {
    work();
    wrong.push_back(hp::value_or_throw(hp::as_torch(batch["x"])).ne(static_cast<float>(batch.index())).any());
  }
  if (std::ssize(wrong) != batches) return std::numeric_limits<int64_t>::max();
  return torch::stack(wrong).sum().item<int64_t>();
}

void check_bytes(const std::shared_ptr<hp::BufferPool>& pool, const std::shared_ptr<hp::DeviceStream>& stream) {
  for (const int depth : {1, 2, 5}) {
    std::printf("        depth %d\n", depth);
    say(damaged(200, 4 * kMiB, depth, pool, stream) == 0, "200 batches of 4 MiB, page-locked: all values are right");
    say(damaged(50, 4 * kMiB, depth, std::make_shared<hp::BufferPool>(), stream) == 0,
        "50 batches of 4 MiB of ordinary memory: all values are right");
    say(damaged(200, 4096, depth, pool, stream) == 0, "200 batches of 4 KiB: all values are right");
  }
  Step step{.products = 20};
  const auto work = [&step] { step(step.matrix); };
  const int64_t hurt = damaged(100, 4 * kMiB, 5, pool, std::make_shared<HastyStream>(stream), work);
  std::printf("        %lld of 100 batches are damaged if leases end at once\n", static_cast<long long>(hurt));
  say(hurt > 0, "control: a lease that ends at once damages batches");
  say(damaged(100, 4 * kMiB, 5, pool, stream, work) == 0, "the same batches with true leases are right");
}

void check_pinned(const std::shared_ptr<hp::BufferPool>& pool) {
  const auto is_pinned = [](std::shared_ptr<hp::BufferPool> of) {
    hp::Loader loader(numbered(1, kMiB), {.pool = std::move(of)});
    return hp::value_or_throw(hp::as_torch(hp::value_or_throw(loader.next())["x"])).is_pinned();
  };
  say(is_pinned(pool), "torch says that a batch of pinned_pool() is page-locked");
  say(!is_pinned(std::make_shared<hp::BufferPool>()), "control: a batch of another pool is not");
}

double ms_of(int64_t times, const std::function<void()>& run) {
  torch::cuda::synchronize();
  const auto begin = Clock::now();
  run();
  torch::cuda::synchronize();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / static_cast<double>(times);
}

// Batches that cost the processor nothing: one of a few that are there, page-locked.
struct Ready {
  std::shared_ptr<hp::BufferPool> pool;
  int64_t bytes;
  std::vector<hp::Tensor> tensors;
  Ready(std::shared_ptr<hp::BufferPool> from, int64_t size) : pool(std::move(from)), bytes(size) {
    for (int i = 0; i < 4; ++i) {
      tensors.push_back(hp::Tensor::empty(hp::f32, {1, bytes / 4}, *pool));
      std::ranges::fill(tensors.back().mutable_as<float>(), 1.0F);
    }
  }
  hp::Dataset dataset(int64_t count) const {
    const auto give = [all = tensors](int64_t i) { return all[static_cast<size_t>(i) % all.size()]; };
    return hp::range(count) | hp::map(give, {.output = {{"x", hp::f32, {1, bytes / 4}}}, .name = "give"});
  }
};

struct Timing {
  const Ready& ready;
  std::shared_ptr<hp::DeviceStream> stream;
  Step& step;
  bool waits;  // The program waits for each step, as one that looks at each loss does.
  static constexpr int64_t kSteps = 60;

  double alone(const torch::Tensor& x) {
    return ms_of(kSteps, [&] {
      for (int64_t i = 0; i < kSteps; ++i) {
        step(x);
        if (waits) torch::cuda::synchronize();
      }
    });
  }
  // Copies that torch makes, of the same memory.
  double copied(torch::Tensor& x) {
    std::vector<torch::Tensor> all;
    for (const hp::Tensor& tensor : ready.tensors) all.push_back(hp::value_or_throw(hp::as_torch(tensor)));
    return ms_of(kSteps, [&] {
      for (size_t i = 0; i < kSteps; ++i) x.copy_(all[i % all.size()], true);
    });
  }
  double fed(int depth, bool works) {
    hp::Loader loader(ready.dataset(kSteps + 4));
    hp::DeviceFeed feed(loader, {.depth = depth, .stream = stream});
    for (int i = 0; i < 4; ++i) (void)hp::value_or_throw(feed.next());  // The device's memory is there.
    return ms_of(kSteps, [&] {
      for (int64_t i = 0; i < kSteps; ++i) {
        const hp::DeviceBatch batch = hp::value_or_throw(feed.next());
        const auto x = hp::value_or_throw(hp::as_torch(batch["x"]));
        if (works) step(x);
        if (waits) torch::cuda::synchronize();
      }
    });
  }
};

void check_time(const Ready& ready, const std::shared_ptr<hp::DeviceStream>& stream, double steps_a_copy, bool waits) {
  Step step;
  auto x = torch::zeros({1, ready.bytes / 4}, torch::TensorOptions(torch::kCUDA));
  Timing timing{ready, stream, step, waits};
  const double copy_ms = timing.copied(x);
  step.products = 20;
  timing.alone(x);  // What the first products need is loaded.
  step.products = std::max(1, static_cast<int>(20 * steps_a_copy * copy_ms / timing.alone(x)));
  std::vector<double> steps, copies, overlapped, in_turn;
  for (int round = 0; round < 5; ++round) {
    steps.push_back(timing.alone(x));
    copies.push_back(timing.copied(x));
    overlapped.push_back(timing.fed(2, true));
    in_turn.push_back(timing.fed(1, true));
  }
  const double limit = std::max(median(steps), median(copies));
  std::printf(
      "        step %.3f ms, copy %.3f ms (%.1f GB/s), fed %.3f ms = %.3f x the longer, depth 1 %.3f ms = %.3f x\n",
      median(steps), median(copies), static_cast<double>(ready.bytes) / median(copies) * 1e-6, median(overlapped),
      median(overlapped) / limit, median(in_turn), median(in_turn) / limit);
  say(median(overlapped) <= kMostOverLimit * limit + (waits ? kCallMs : 0),
      waits ? "a step is at most 1.02 x the longer of step and copy, and 0.1 ms; the program waits for each"
            : "a step is at most 1.02 x the longer of step and copy");
  say(median(in_turn) > kMostOverLimit * limit, "control: with depth 1 it takes longer");
}

}  // namespace

int main() {
  dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);  // Only the part for processors is linked.
  const auto pool = hp::pinned_pool();
  if (!pool || !torch::cuda::is_available()) {
    std::printf("skipped: %s\n", pool ? "torch sees no CUDA device" : pool.error().to_string().c_str());
    return kSkipped;
  }
  const auto stream = hp::value_or_throw(hp::cuda_stream());
  torch::zeros({1}, torch::TensorOptions(torch::kCUDA));  // Before this torch calls no memory page-locked.
  check_pinned(*pool);
  check_bytes(*pool, stream);
  const Ready ready(*pool, 128 * kMiB);
  for (const bool waits : {false, true})
    for (const double steps_a_copy : {3.0, 1.0, 0.33}) check_time(ready, stream, steps_a_copy, waits);
  return all_right ? 0 : 1;
}
