// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
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
    all.push_back(ms_since(began));
  }
  return all;
}

}  // namespace

std::string Run::text(const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

int64_t Run::number(const std::string& name, int64_t otherwise) const {
  const std::string found = text(name);
  return found.empty() ? otherwise : std::stoll(found);
}

double ms_since(int64_t began_ns) { return static_cast<double>(now_ns() - began_ns) / 1e6; }

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

uint64_t rest_of(Loader& loader, uint64_t before) {
  for (const Batch& taken : loader) before = digest(before, taken.element());
  return before;
}

Resumed resumed(const Dataset& dataset, int at, const LoaderOptions& before, const LoaderOptions& after) {
  uint64_t sum = 0;
  std::string state;
  {
    Loader loader(dataset, before);
    for (int i = 0; i < at; ++i) sum = digest(sum, must_next(loader).element());
    state = loader.state();
    must_next(loader);
  }
  Loader loader = value_or_throw(Loader::restored(dataset, after, state));
  return {rest_of(loader, sum), state.size()};
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

struct LogLines::State {
  mutable std::mutex mu;
  std::vector<std::string> lines;
};

LogLines::LogLines() : state_(std::make_shared<State>()) {
  set_log_sink([state = state_](LogLevel, std::string_view line) {
    const std::lock_guard lock(state->mu);
    state->lines.emplace_back(line);
  });
}

LogLines::~LogLines() { set_log_sink({}); }

std::vector<std::string> LogLines::lines() const {
  const std::lock_guard lock(state_->mu);
  return state_->lines;
}

MemoryOverTime::MemoryOverTime()
    : idle_(memory_info().pss), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void MemoryOverTime::begin(std::string phase) {
  const std::lock_guard lock(mu_);
  phase_ = std::move(phase);
}

void MemoryOverTime::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void MemoryOverTime::look() {
  const auto now = static_cast<double>(memory_info().pss);
  const std::lock_guard lock(mu_);
  mib_[phase_].push_back(std::max(now - static_cast<double>(idle_), 0.0) / (1 << 20));
}

const std::map<std::string, std::vector<double>>& MemoryOverTime::end() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    look();
  }
  return mib_;
}

int64_t MemoryOverTime::peak_bytes() {
  double most = 0;
  for (const auto& [phase, mib] : end()) most = std::max(most, *std::ranges::max_element(mib));
  return static_cast<int64_t>(most * (1 << 20));
}

}  // namespace headpond::scenarios
