// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "headpond/base/random.h"

namespace headpond::scenarios {
namespace {

int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::vector<double> each_ms(int steps, const std::function<void()>& step) {
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    const int64_t began = now_ns();
    step();
    all.push_back(static_cast<double>(now_ns() - began) / 1e6);
  }
  return all;
}

}  // namespace

void burn_us(int64_t us) {
  const int64_t end = thread_cpu_ns() + us * 1000;
  volatile uint64_t state = 1;
  while (thread_cpu_ns() < end) {
    for (int i = 0; i < 500; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
  }
}

void sleep_us(int64_t us) {
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

double bare_seconds(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  const int64_t began = now_ns();
  std::thread other(run);
  run();
  other.join();
  return static_cast<double>(now_ns() - began) / 1e9;
}

uint64_t digest(uint64_t before, const Element& element) {
  for (size_t f = 0; f < element.size(); ++f) {
    const Tensor& field = element[f];
    before = mix(before, static_cast<uint64_t>(field.dtype()));
    for (int axis = 0; axis < field.rank(); ++axis) before = mix(before, static_cast<uint64_t>(field.dim(axis)));
    for (size_t i = 0; i < field.byte_size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, field.data() + i, std::min<size_t>(8, field.byte_size() - i));
      before = mix(before, word);
    }
  }
  return before;
}

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

Batch must_next(Loader& loader) {
  auto batch = loader.next();
  if (!batch) {
    std::cerr << "no batch: " << batch.error() << '\n';
    std::exit(1);
  }
  return std::move(*batch);
}

std::vector<double> step_ms(Loader& loader, int steps, int64_t device_us) {
  return each_ms(steps, [&] {
    const Batch batch = must_next(loader);
    sleep_us(device_us);
  });
}

std::vector<double> device_ms(int steps, int64_t device_us) {
  return each_ms(steps, [=] { sleep_us(device_us); });
}

}  // namespace headpond::scenarios
