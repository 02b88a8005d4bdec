// SPDX-License-Identifier: Apache-2.0
// What waiting costs: until a thread that sleeps in a dequeue runs again, and the processor's time while it sleeps.
#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "cli/bench/benches.h"
#include "headpond/base/thread.h"
#include "headpond/queue/queue.h"

namespace headpond::cli {
namespace {

using std::chrono::microseconds;

constexpr int kWakes = 400;
constexpr microseconds kUntilAsleep{1500};  // Far above the time for which a waiter spins.

// What people would write without any library, and nothing around it.
class Futex {
 public:
  int64_t wait() {
    while (value_.load(std::memory_order_acquire) == 0)
      syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    value_.store(0, std::memory_order_relaxed);
    return sent_ns_;
  }
  void send(int64_t now) {
    sent_ns_ = now;
    value_.store(1, std::memory_order_release);
    syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  int64_t sent_ns_ = 0;
  std::atomic<uint32_t> value_ = 0;
};

struct Latency {
  double p50 = 0, p99 = 0;
};

// wait() returns the time that send() was given.
template <class Send, class Receive>
Latency wake(const std::vector<int>& cpus, Send send, Receive receive) {
  std::vector<double> took;
  std::atomic<int> received = 0;
  Thread sleeper("wake.wait", [&] {
    (void)pin_this_thread(std::span(&cpus.back(), 1));
    for (int i = 0; i < kWakes; ++i) {
      const int64_t sent = receive();
      took.push_back(static_cast<double>(now_ns() - sent));
      received = i + 1;
    }
  });
  Thread waker("wake.send", [&] {
    (void)pin_this_thread(std::span(&cpus.front(), 1));
    for (int i = 0; i < kWakes; ++i) {
      do {
        std::this_thread::sleep_for(kUntilAsleep);
      } while (received < i);
      send(now_ns());
    }
  });
  sleeper.join();
  waker.join();
  std::sort(took.begin(), took.end());
  return {took[took.size() / 2], took[took.size() * 99 / 100]};
}

Latency wake_queue(const std::vector<int>& cpus) {
  const FIFOQueue queue({.capacity = 4, .dtypes = {DType::i64}, .shapes = {Shape{}}});
  return wake(
      cpus, [&](int64_t now) { (void)queue.enqueue(Element{Tensor::scalar(now)}); },
      [&] { return (*queue.dequeue())[size_t{0}].as<int64_t>()[0]; });
}
Latency wake_futex(const std::vector<int>& cpus) {
  Futex futex;
  return wake(
      cpus, [&](int64_t now) { futex.send(now); }, [&] { return futex.wait(); });
}

double process_cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

}  // namespace

Bench queue_wake_bench(const BenchSetup& setup) {
  Bench bench{.name = "queue.wake", .consume = "the time that was sent"};
  for (const char* metric : {"p50_ns", "p99_ns"}) {
    for (const char* system : {"headpond", "futex"}) {
      bench.rows.push_back({.name = "a dequeue that sleeps", .system = system, .metric = metric, .unit = "ns"});
    }
    bench.ratios.push_back({bench.rows.size() - 1, bench.rows.size() - 2});
  }
  bench.targets.push_back({"W1.wake", "p50 at most 1.15 x a raw futex", false, 1.15,
                           [](const BenchResult& result) { return result.ratio(0).median; }});
  bench.cycle = [cpus = setup.cpus](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    Latency own, raw;
    const BenchSample of_own = with_cpu_time([&] { return (own = wake_queue(cpus)).p50; });
    const BenchSample of_raw = with_cpu_time([&] { return (raw = wake_futex(cpus)).p50; });
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    return std::vector<BenchSample>{of_own, of_raw, {own.p99, of_own.cpu_s}, {raw.p99, of_raw.cpu_s}};
  };
  return bench;
}

Bench queue_idle_bench(const BenchSetup&) {
  Bench bench{.name = "queue.idle", .rounds = 3};
  bench.rows.push_back({.name = "a dequeue blocked for 10 s", .metric = "cpu_ms", .unit = "ms"});
  bench.targets.push_back({"W1.idle", "at most 1 ms of CPU in the whole process", false, 1,
                           [](const BenchResult& result) { return result.row(0).median; }});
  bench.cycle = [](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    const FIFOQueue queue({.capacity = 4, .dtypes = {DType::i64}, .shapes = {Shape{}}});
    double cpu_ms = 0;
    Thread sleeper("idle.wait", [&] {
      const double before = process_cpu_ms();
      (void)queue.dequeue({.timeout = std::chrono::seconds(10), .stop = stop});
      cpu_ms = process_cpu_ms() - before;
    });
    sleeper.join();
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    return std::vector<BenchSample>{{.value = cpu_ms, .cpu_s = cpu_ms / 1e3}};
  };
  return bench;
}

}  // namespace headpond::cli
