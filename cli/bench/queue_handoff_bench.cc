// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "cli/bench/benches.h"
#include "cli/bench/handoff.h"
#include "headpond/queue/priority_queue.h"
#include "headpond/queue/queue.h"

namespace headpond::cli {
namespace {

constexpr int64_t kCapacities[] = {4, 16, 32, 1024, 2000};
constexpr int64_t kFewer = 20;  // Times, for systems that take microseconds an item.
constexpr int64_t kSmall = 32;  // Capacities up to here are small.

Element of_priority(int64_t i) { return Element{Tensor::scalar(i), Tensor::scalar(i)}; }

// The last item closes the queue, so that those that a minimum kept inside come out too.
HandoffTime run_queue(const HandoffRun& asked, const Queue& queue, bool ordered, Element (*make)(int64_t)) {
  return hand_off(
      asked, ordered,
      [&queue, &asked, make](int, int64_t i) {
        (void)queue.enqueue(make(i));
        if (asked.threads == 1 && i == asked.items - 1) (void)queue.close();
      },
      [&queue](int) {
        const auto item = queue.dequeue();
        return item ? number_in(*item) : int64_t{-1};
      });
}

QueueOptions numbers(const HandoffRun& asked) {
  return {.capacity = asked.capacity, .dtypes = {DType::i64}, .shapes = {Shape{}}};
}
HandoffTime run_fifo(const HandoffRun& asked) {
  return run_queue(asked, FIFOQueue(numbers(asked)), true, make_item<Element>);
}
HandoffTime run_random(const HandoffRun& asked) {
  return run_queue(asked, RandomShuffleQueue(numbers(asked), asked.capacity / 2), false, make_item<Element>);
}
HandoffTime run_priority(const HandoffRun& asked) {
  return run_queue(asked, PriorityQueue(numbers(asked)), false, of_priority);
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
HandoffTime run_mutex_ring(const HandoffRun& asked, Item (*make)(int64_t)) {
  MutexRing<Item> ring(asked.capacity);
  return hand_off(
      asked, true, [&](int, int64_t i) { ring.put(make(i)); }, [&](int) { return number_in(ring.take()); });
}

HandoffSystem mutex_ring(Element (*make)(int64_t)) {
  return {.system = "mutex-ring",
          .version = HEADPOND_COMPILER,
          .payload = "int64 element",
          .slow_when_small = true,
          .run = [make](const HandoffRun& asked) { return run_mutex_ring<Element>(asked, make); }};
}

HandoffSystem own(HandoffTime (*run)(const HandoffRun&)) {
  return {.system = "headpond", .version = HEADPOND_VERSION, .payload = "int64 element", .run = run};
}

std::vector<HandoffSystem> first_in_first_out(bool peers) {
  std::vector<HandoffSystem> systems = {own(run_fifo)};
  const auto add = [&](const std::vector<HandoffSystem>& more) {
    systems.insert(systems.end(), more.begin(), more.end());
  };
  if (!peers) return systems;
  add(gate_peer());
  if constexpr (HEADPOND_WITH_ONETBB) add(onetbb_peer());
  if constexpr (HEADPOND_WITH_MOODYCAMEL) add(moodycamel_peer());
  add({mutex_ring(make_item<Element>),
       {.system = "mutex-ring",
        .version = HEADPOND_COMPILER,
        .payload = "int64",
        .slow_when_small = true,
        .run = [](const HandoffRun& asked) { return run_mutex_ring<int64_t>(asked, make_item<int64_t>); }}});
  return systems;
}

// Systems that move the same items; the first is Headpond's.
struct Case {
  std::string name;
  int64_t capacity;
  int threads;
  std::vector<HandoffSystem> systems;
};

// Systems that are compared run one after the other.
std::vector<Case> all_cases(bool peers, size_t cpus) {
  std::vector<Case> cases;
  for (const int threads : {1, 2, 4, 8}) {
    if (threads > 2 && cpus < 2 * static_cast<size_t>(threads)) continue;  // They would wait for CPUs.
    for (const int64_t capacity : kCapacities) {
      if (threads == 1 || capacity == 16 || capacity == 1024)
        cases.push_back({"fifo", capacity, threads, first_in_first_out(peers)});
    }
  }
  cases.push_back({"random", 1024, 1, {own(run_random)}});
  cases.push_back({"priority", 1024, 1, {own(run_priority)}});
  if (peers) {
    cases.rbegin()[1].systems.push_back(mutex_ring(make_item<Element>));
    cases.rbegin()[0].systems.push_back(mutex_ring(of_priority));
  }
  return cases;
}

struct Handoff {
  explicit Handoff(const BenchSetup& setup)
      : cases(all_cases(setup.peers, setup.cpus.size())),
        items(setup.items),
        producer_cpu(setup.cpus.front()),
        consumer_cpu(setup.cpus.at(setup.cpus.size() > 1 ? 1 : 0)) {}

  std::vector<BenchSample> cycle(const std::stop_token& stop) {
    std::vector<BenchSample> samples;
    for (const Case& each : cases) {
      for (const HandoffSystem& system : each.systems) {
        const bool few = each.threads > 1 || (system.slow_when_small && each.capacity <= kSmall);
        const HandoffRun run{.capacity = each.capacity,
                             .items = few ? items / kFewer : items,
                             .threads = each.threads,
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

  const std::vector<Case> cases;
  const int64_t items;
  const int producer_cpu, consumer_cpu;
  bool in_order = true;
};

BenchRow row_of(const Case& of, const HandoffSystem& system) {
  const bool bare = system.payload == "int64";
  return {
      .name = fmt::format("{} cap={} p={} c={}{}", of.name, of.capacity, of.threads, of.threads, bare ? " int64" : ""),
      .params = {{"capacity", of.capacity},
                 {"producers", int64_t{of.threads}},
                 {"consumers", int64_t{of.threads}},
                 {"payload", system.payload}},
      .system = system.system,
      .system_version = system.version,
      .metric = "ns_per_item",
      .unit = "ns"};
}

// `bound` times as fast as the peer, or not slower than `bound` times what the peer takes.
struct Bar {
  const char* name;
  int64_t capacity;
  const char* system;
  bool at_least;
  double bound;
};
constexpr Bar kBars[] = {{"fifo", 4, "onetbb", true, 3},
                         {"fifo", 16, "onetbb", true, 2.5},
                         {"fifo", 1024, "onetbb", true, 2},
                         {"fifo", 16, "moodycamel", true, 2.5},
                         {"fifo", 1024, "moodycamel", true, 1.8},
                         {"fifo", 4, "gate", false, 2.5},
                         {"fifo", 16, "gate", false, 2.5},
                         {"fifo", 1024, "gate", false, 2.5},
                         {"random", 1024, "mutex-ring", false, 1.5},
                         {"priority", 1024, "mutex-ring", false, 1.5}};

void compare(Bench& bench, const Case& of, size_t own_row, const HandoffSystem& peer) {
  const size_t peer_row = bench.rows.size() - 1;
  const auto* const bar = std::find_if(std::begin(kBars), std::end(kBars), [&](const Bar& each) {
    return of.threads == 1 && of.name == each.name && of.capacity == each.capacity && peer.system == each.system;
  });
  const bool at_least = bar == std::end(kBars) || bar->at_least;
  if (at_least && peer.payload == "int64") return;
  bench.ratios.push_back(at_least ? BenchRatio{own_row, peer_row} : BenchRatio{peer_row, own_row});
  if (bar == std::end(kBars)) return;
  const size_t ratio = bench.ratios.size() - 1;
  bench.targets.push_back({fmt::format("W1.{}.{}.{}", of.name, of.capacity, peer.system),
                           at_least ? fmt::format("at least {} x as fast as {}", bar->bound, peer.system)
                                    : fmt::format("at most {} x the time of {}", bar->bound, peer.system),
                           at_least, bar->bound,
                           [ratio](const BenchResult& result) { return result.ratio(ratio).median; }});
}

}  // namespace

HandoffTime sum_up(const HandoffRun& run, bool ordered, const std::vector<HandoffShare>& shares) {
  HandoffShare all = shares[0];
  for (size_t i = 1; i < shares.size(); ++i) {
    all.begin_ns = std::min(all.begin_ns, shares[i].begin_ns);
    all.end_ns = std::max(all.end_ns, shares[i].end_ns);
    all.sum += shares[i].sum;
  }
  const auto n = static_cast<uint64_t>(run.items / run.threads * run.threads);
  const bool complete = all.sum == n * (n - 1) / 2 * kMix;
  return {static_cast<double>(all.end_ns - all.begin_ns) / static_cast<double>(n),
          complete && (!ordered || run.threads > 1 || all.wrong == 0)};
}

Bench queue_handoff_bench(const BenchSetup& setup) {
  const auto handoff = std::make_shared<Handoff>(setup);
  Bench bench{.name = "queue.handoff", .consume = "each number compared with its place", .round_s = 3};
  for (const Case& each : handoff->cases) {
    const size_t own_row = bench.rows.size();
    for (const HandoffSystem& system : each.systems) {
      bench.rows.push_back(row_of(each, system));
      if (bench.rows.size() - 1 > own_row) compare(bench, each, own_row, system);
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
