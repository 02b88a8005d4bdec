// SPDX-License-Identifier: Apache-2.0
// Very many short races: a fixed crew of threads meets at a new queue, each with a handle of its own and a few calls
// that put, take, time out, are stopped, close, cancel or drop the handle, all at once. Before every other race one of
// them used the queue alone. Nothing hangs, nothing leaks, and a ledger counts that no element is lost or comes twice.
// HEADPOND_RACES sets the number of races.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstdio>
#include <optional>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/tensor/buffer.h"

namespace headpond::internal {
namespace {

using Draw = headpond::Random;
constexpr size_t kCrew = 4;
constexpr size_t kIds = 32;  // Elements that one thread may put in a race.

struct Found {
  int64_t lost = 0;
  int64_t twice = 0;
  int64_t never_put = 0;
  int64_t out_of_order = 0;
  bool operator==(const Found&) const = default;
};

// What a thread brings to a race and what it has when the race is over. Its n-th element is number * kIds + n.
struct Member {
  size_t number = 0;
  std::optional<Queue> handle;
  Draw random{RandomKey{0}};
  size_t next = 0;
  std::array<bool, kIds> is_in{};      // The call said so.
  std::array<bool, kIds> may_be_in{};  // A call of many rows that failed half way.
  std::vector<int64_t> taken;
};

// One barrier a race: whoever comes last counts what happened and prepares the next race.
class Races {
 public:
  Races(int64_t races, bool loses) : races_(races), loses_(loses) {
    for (size_t i = 0; i < kCrew; ++i) crew_[i].number = i;
  }

  Found run() {
    prepare();
    std::barrier meeting(kCrew, [this]() noexcept {
      audit();
      if (++race_ < races_) prepare();
    });
    {
      std::vector<std::jthread> threads;
      for (Member& member : crew_) {
        threads.emplace_back([this, &member, &meeting] {
          while (race_ < races_) {
            play(member);
            meeting.arrive_and_wait();
          }
        });
      }
    }
    return found_;
  }
  int64_t good() const { return good_; }
  int64_t waits() const { return waits_; }

 private:
  void prepare() {
    Draw random(RandomKey{static_cast<uint64_t>(race_)});
    maker_.type = kTypes[random.below(kTypes.size())];
    stacks_ = random.below(2) == 0;
    constexpr std::array capacities = {1, 2, 5, -1};
    QueueOptions options = scalars(capacities[random.below(capacities.size())]);
    if (!stacks_) options.shapes.clear();  // Then elements lie in the queue as tensors with buffers of their own.
    if (maker_.type == "PaddingFIFOQueue") options.shapes = {Shape{}};
    const bool warms_up = random.below(2) == 0;
    const int64_t minimum = options.capacity == 5 && !warms_up ? 2 : 0;
    const Queue queue = maker_.make(options, minimum, static_cast<uint64_t>(race_));
    if (warms_up) warm_up(queue);
    stop_ = {};
    ender_ = random.below(kCrew);
    if (random.below(2) == 0) kept_ = queue;
    for (Member& member : crew_) {
      member = {.number = member.number, .handle = queue, .taken = {}};
      member.random = Draw(RandomKey{static_cast<uint64_t>(race_)}, 1 + member.number);
    }
  }

  // The calling thread becomes the owner of both locks of the queue.
  void warm_up(const Queue& queue) const {
    for (int i = 0; i < 12; ++i) {
      (void)queue.enqueue(maker_.one(0));
      (void)queue.dequeue();
    }
  }

  Wait wait(Draw& random) const {
    Wait wait;
    const uint64_t choice = random.below(4);
    if (choice == 0) wait.timeout = std::chrono::nanoseconds(0);
    if (choice == 1) wait.timeout = std::chrono::nanoseconds(random.below(20'000));
    if (random.below(4) == 0) wait.stop = stop_.get_token();
    return wait;
  }

  // The ender ends all waits, so that a race comes to an end; the others leave when they are done, with the handle.
  void play(Member& member) {
    for (uint64_t calls = 1 + member.random.below(3); calls > 0; --calls) call(member);
    if (member.number == ender_) {
      if (member.random.below(2) == 0) {
        (void)member.handle->close(true);
      } else {
        member.handle->close_with_error(Error(ErrorKind::Cancelled, "the race is over"));
      }
    }
    member.handle.reset();
  }

  void call(Member& member) {
    const Queue& queue = *member.handle;
    switch (member.random.below(12)) {
      case 0:
        // Waits for queued puts, which only another thread can admit.
        if (member.number != ender_) (void)queue.close();
        break;
      case 1:
        (void)queue.close(true);
        break;
      case 2:
        stop_.request_stop();
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        put(member, queue);
        break;
      default:
        take(member, queue);
        break;
    }
  }

  // The ender's waits always have a timeout.
  Wait patience(Member& member) const {
    Wait patience = wait(member.random);
    if (member.number == ender_ && patience.timeout == kForever) patience.timeout = std::chrono::microseconds(20);
    return patience;
  }

  void put(Member& member, const Queue& queue) {
    const Wait patience = this->patience(member);
    const auto first = static_cast<int64_t>(member.number * kIds + member.next);
    const size_t count = stacks_ ? 1 + member.random.below(4) : 1;
    const bool is_complete =
        count == 1
            ? queue.enqueue(maker_.one(first), patience).has_value()
            : queue.enqueue_many(maker_.rows(range(first, first + static_cast<int64_t>(count))), patience).has_value();
    for (size_t i = 0; i < count; ++i) {
      member.is_in[member.next] = is_complete;
      member.may_be_in[member.next++] = is_complete || count > 1;
    }
  }

  void take(Member& member, const Queue& queue) {
    const Wait patience = this->patience(member);
    const auto n = static_cast<int64_t>(1 + member.random.below(3));
    const uint64_t kind = stacks_ && queue.capacity() != 1 ? member.random.below(3) : 0;
    const Result<Element> result = kind == 0   ? queue.dequeue(patience)
                                   : kind == 1 ? queue.dequeue_many(std::min<int64_t>(n, 2), patience)
                                               : queue.dequeue_up_to(n, patience);
    if (!result || (loses_ && race_ % 100 == 99)) return;
    const std::span<const int64_t> got = (*result)[result->size() - 1].as<int64_t>();
    member.taken.insert(member.taken.end(), got.begin(), got.end());
  }

  // The ledger of one race. Who took it all is known only if a handle was kept.
  void audit() {
    std::array<int, kCrew * kIds> count{};
    for (const Member& member : crew_) {
      std::array<int64_t, kCrew> last;
      last.fill(-1);
      for (const int64_t element : member.taken) {
        ++count[static_cast<size_t>(element)];
        int64_t& before = last[static_cast<size_t>(element) / kIds];
        if (maker_.keeps_order() && element <= before) ++found_.out_of_order;
        before = element;
      }
    }
    if (kept_) {
      const QueueStats stats = kept_->stats();
      waits_ += stats.enqueue_waits + stats.dequeue_waits;
      while (const auto element = kept_->try_dequeue()) {
        ++count[static_cast<size_t>((*element)[element->size() - 1].as<int64_t>()[0])];
      }
    }
    for (const Member& member : crew_) {
      for (size_t i = 0; i < kIds; ++i) {
        const int times = count[member.number * kIds + i];
        found_.twice += times > 1 ? 1 : 0;
        found_.never_put += times > 0 && !member.may_be_in[i] ? 1 : 0;
        found_.lost += kept_ && times == 0 && member.is_in[i] ? 1 : 0;
        good_ += times;
      }
    }
    kept_.reset();
  }

  const int64_t races_;
  const bool loses_;  // The control: now and then forgets what it took.
  int64_t race_ = 0;  // This and the following change between races only, when all threads have met.
  Maker maker_;
  bool stacks_ = true;
  size_t ender_ = 0;
  std::stop_source stop_;
  std::optional<Queue> kept_;
  std::array<Member, kCrew> crew_;
  Found found_;
  int64_t good_ = 0;
  int64_t waits_ = 0;
};

int64_t races() {
  const char* const given = std::getenv("HEADPOND_RACES");
  return given == nullptr ? 5'000 : std::atoll(given);
}

TEST(Races, NothingHangsNothingLeaksNothingIsLostOrComesTwice) {
  const Watchdog watchdog("races", std::chrono::seconds(300 + races() / 50));
  const int64_t before = BufferPool::shared().stats().bytes_in_use;
  Races all(races(), false);
  const Found found = all.run();
  EXPECT_EQ(found, Found()) << "lost " << found.lost << ", twice " << found.twice << ", never put " << found.never_put
                            << ", out of order " << found.out_of_order;
  EXPECT_GT(all.good(), races() / 2);
  EXPECT_GT(all.waits(), races() / 20);
  EXPECT_EQ(BufferPool::shared().stats().bytes_in_use, before);
}

TEST(Races, AnElementThatIsForgottenIsFound) {
  const Watchdog watchdog("control of the races");
  EXPECT_GT(Races(2'000, true).run().lost, 0);
}

}  // namespace
}  // namespace headpond::internal
