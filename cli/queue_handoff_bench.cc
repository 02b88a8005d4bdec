// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "cli/benches.h"
#include "cli/handoff.h"
#include "headpond/queue/queue.h"

namespace headpond::cli {
namespace {

constexpr int64_t kCapacities[] = {4, 16, 32, 1024, 2000};
constexpr int64_t kFewer = 20;  // Times, for systems that take microseconds an item.
constexpr int64_t kSmall = 32;  // Capacities up to here are small.

HandoffTime run_headpond(const HandoffRun& asked) {
  FIFOQueue queue({.capacity = asked.capacity, .dtypes = {DType::i64}, .shapes = {Shape{}}});
  return hand_off(
      asked, [&](int64_t i) { (void)queue.enqueue(make_item<Element>(i)); },
      [&] {
        const auto item = queue.dequeue();
        return item ? number_in(*item) : int64_t{-1};
      });
}

// What people write first: a ring, a mutex, two condition variables.
template <class Item>
class MutexRing {
 public:
  explicit MutexRing(int64_t capacity) : slots_(static_cast<size_t>(capacity)) {}

  void put(Item item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return size_ < slots_.size(); });
    slots_[(first_ + size_++) % slots_.size()] = std::move(item);
    filled_.notify_one();
  }
  Item take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return size_ > 0; });
    Item item = std::move(slots_[first_]);
    first_ = (first_ + 1) % slots_.size();
    --size_;
    room_.notify_one();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::vector<Item> slots_;
  size_t first_ = 0, size_ = 0;
};

template <class Item>
HandoffTime run_mutex_ring(const HandoffRun& asked) {
  MutexRing<Item> ring(asked.capacity);
  return hand_off(
      asked, [&](int64_t i) { ring.put(make_item<Item>(i)); }, [&] { return number_in(ring.take()); });
}

std::vector<HandoffSystem> mutex_ring() {
  return {{.system = "mutex-ring",
           .version = HEADPOND_COMPILER,
           .payload = "int64 element",
           .slow_when_small = true,
           .run = run_mutex_ring<Element>},
          {.system = "mutex-ring",
           .version = HEADPOND_COMPILER,
           .payload = "int64",
           .slow_when_small = true,
           .run = run_mutex_ring<int64_t>}};
}

std::vector<HandoffSystem> systems_of(bool peers) {
  std::vector<HandoffSystem> systems = {
      {.system = "headpond", .version = HEADPOND_VERSION, .payload = "int64 element", .run = run_headpond}};
  const auto add = [&](const std::vector<HandoffSystem>& more) {
    systems.insert(systems.end(), more.begin(), more.end());
  };
  if (!peers) return systems;
  if constexpr (HEADPOND_WITH_ONETBB) add(onetbb_peer());
  if constexpr (HEADPOND_WITH_MOODYCAMEL) add(moodycamel_peer());
  add(mutex_ring());
  return systems;
}

struct Handoff {
  explicit Handoff(const BenchSetup& setup)
      : systems(systems_of(setup.peers)),
        items(setup.items),
        producer_cpu(setup.cpus.front()),
        consumer_cpu(setup.cpus.at(setup.cpus.size() > 1 ? 1 : 0)) {}

  // Capacity by capacity, so that systems that are compared run one after the other.
  std::vector<BenchSample> cycle(const std::stop_token& stop) {
    std::vector<BenchSample> samples;
    for (const int64_t capacity : kCapacities) {
      for (const HandoffSystem& system : systems) {
        const bool few = system.slow_when_small && capacity <= kSmall;
        const HandoffRun run{.capacity = capacity,
                             .items = few ? items / kFewer : items,
                             .producer_cpu = producer_cpu,
                             .consumer_cpu = consumer_cpu};
        samples.push_back(with_cpu_time([&] {
          const HandoffTime time =
              stop.stop_requested() ? HandoffTime{.ns_per_item = 0, .in_order = true} : system.run(run);
          in_order = in_order && time.in_order;
          return time.ns_per_item;
        }));
      }
    }
    return samples;
  }

  const std::vector<HandoffSystem> systems;
  const int64_t items;
  const int producer_cpu, consumer_cpu;
  bool in_order = true;
};

BenchRow row_of(const HandoffSystem& system, int64_t capacity) {
  const bool bare = system.payload == "int64";
  return {.name = fmt::format("fifo cap={} p=1 c=1{}", capacity, bare ? " int64" : ""),
          .params = {{"capacity", capacity},
                     {"producers", int64_t{1}},
                     {"consumers", int64_t{1}},
                     {"payload", system.payload}},
          .system = system.system,
          .system_version = system.version,
          .metric = "ns_per_item",
          .unit = "ns"};
}

void add_target(Bench& bench, int64_t capacity, double bound) {
  const size_t ratio = bench.ratios.size() - 1;
  bench.targets.push_back({fmt::format("W1.fifo.{}.onetbb", capacity),
                           fmt::format("at least {} x oneTBB bounded", bound), true, bound,
                           [ratio](const BenchResult& result) { return result.ratio(ratio).median; }});
}

}  // namespace

Bench queue_handoff_bench(const BenchSetup& setup) {
  const auto handoff = std::make_shared<Handoff>(setup);
  Bench bench{.name = "queue.handoff", .consume = "each number compared with its place", .round_s = 3};
  for (const int64_t capacity : kCapacities) {
    const size_t own = bench.rows.size();
    for (const HandoffSystem& system : handoff->systems) {
      bench.rows.push_back(row_of(system, capacity));
      if (bench.rows.size() - 1 == own || system.payload == "int64") continue;
      bench.ratios.push_back({own, bench.rows.size() - 1});
      if (system.system == "onetbb" && capacity == 16) add_target(bench, capacity, 2);
      if (system.system == "onetbb" && capacity == 1024) add_target(bench, capacity, 1.5);
    }
  }
  bench.cycle = [handoff](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    auto samples = handoff->cycle(stop);
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    return samples;
  };
  bench.digest_equal = [handoff] { return handoff->in_order; };
  return bench;
}

}  // namespace headpond::cli
