// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/buffer.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/stats.h"
#include "headpond/base/status.h"
#include "headpond/tensor/block_counts_internal.h"
#include "headpond/tensor/memory_account.h"

namespace headpond {
namespace {

// Sizes are rounded up to one of four steps per power of two: at most a quarter is wasted, and blocks of similar size
// share a free list.
constexpr size_t kMinLog = 7;   // The smallest block holds 128 bytes, its header included.
constexpr size_t kHeader = 64;  // That of Buffer, which only its friends can see: allocate() compares them.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMapFrom = size_t{128} << 10;
constexpr uint32_t kClasses = 4 * (64 - kMinLog);
constexpr uint32_t kFirstMapped = 4 * (17 - kMinLog);  // Of blocks of 128 KiB.

uint32_t class_of(size_t total) {
  if (total <= (size_t{1} << kMinLog)) return 0;
  const auto log = static_cast<size_t>(std::bit_width(total - 1)) - 1;  // 2^log < total <= 2^(log + 1)
  const size_t quarter = (total - 1 - (size_t{1} << log)) >> (log - 2);
  return static_cast<uint32_t>(4 * (log - kMinLog) + quarter + 1);
}

size_t class_size(uint32_t size_class) {
  if (size_class == 0) return size_t{1} << kMinLog;
  const size_t log = (size_class - 1) / 4 + kMinLog;
  return (size_t{1} << log) + ((size_class - 1) % 4 + 1) * (size_t{1} << (log - 2));
}

// The largest class whose free blocks may serve a request for `total` bytes. A large request may take a block of the
// next class if that is at most a quarter larger. Without this, a run whose elements differ in size keeps free blocks
// of every class.
uint32_t last_class_for(size_t total) {
  const uint32_t own = class_of(total);
  return own >= kFirstMapped && class_size(own + 1) <= total + total / 4 ? own + 1 : own;
}

constexpr size_t kPage = 4096;

size_t mapped_size(size_t size) { return (size + kPage - 1) / kPage * kPage; }

// Large blocks are mapped one by one: munmap() returns their memory to the system at once, which free() does not
// promise. Only whole huge pages are asked for, so that a block never takes more than its size.
void* map_block(size_t size) {
  const size_t alignment = size >= kHugePage ? kHugePage : kPage;
  const size_t length = mapped_size(size);
  void* const mapped =
      mmap(nullptr, length + alignment - kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const size_t beyond = reinterpret_cast<uintptr_t>(mapped) % alignment;
  const size_t before = beyond == 0 ? 0 : alignment - beyond, after = alignment - kPage - before;
  auto* const first = static_cast<std::byte*>(mapped) + before;
  if (before > 0) munmap(mapped, before);
  if (after > 0) munmap(first + length, after);
  if (size >= kHugePage) madvise(first, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return first;
}

void* system_allocate(size_t size) {
  if (size >= kMapFrom) return map_block(size);
  constexpr size_t kAlignment = 64;
  void* const block = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void system_free(void* block, size_t size) {
  if (size >= kMapFrom) {
    munmap(block, mapped_size(size));
  } else {
    std::free(block);
  }
}

// Locked during fork(), so that in the child no lock belongs to a thread that does not exist there.
class ForkLocks {
 public:
  static ForkLocks& all() {
    static ForkLocks* const locks = new ForkLocks;
    return *locks;
  }
  void add(Mutex& mutex) {
    MutexLock lock(mu_);
    mutexes_.push_back(&mutex);
  }
  void remove(Mutex& mutex) {
    MutexLock lock(mu_);
    std::erase(mutexes_, &mutex);
  }

 private:
  ForkLocks() { pthread_atfork(&lock_all, &unlock_all, &unlock_all); }
  static void lock_all() HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
    all().mu_.lock();
    for (Mutex* const mutex : all().mutexes_) mutex->lock();
  }
  static void unlock_all() HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
    for (Mutex* const mutex : all().mutexes_) mutex->unlock();
    all().mu_.unlock();
  }

  Mutex mu_;
  std::vector<Mutex*> mutexes_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace

// Small blocks belong to a few stripes, each with its own lock: a thread allocates from its stripe, and the block
// returns there. Large blocks share one stripe, so that a thread can reuse a block that another thread freed.
struct BufferPool::State {
  static constexpr size_t kStripes = 8;
  static constexpr int64_t kSmall = 32 << 10;
  static constexpr int64_t kMostSlack = 64 << 10;
  static constexpr int64_t kSpare = 32 << 20;

  struct alignas(64) Stripe {
    Mutex mu;
    std::array<std::vector<Buffer*>, kClasses> free HEADPOND_GUARDED_BY(mu);
    StatsCell bytes_in_use, bytes_cached, allocations, reuses;  // Written under the lock, read without: each task asks.
    int64_t owned HEADPOND_GUARDED_BY(mu) = 0;                  // Buffers that have owners.
    std::array<uint64_t, kClasses> taken HEADPOND_GUARDED_BY(mu) = {};  // Requests served from each class.
    uint32_t looked_at HEADPOND_GUARDED_BY(mu) = kFirstMapped;
    // Bytes of large blocks, which are all of one stripe. A block that was asked for is in use once the system gave it.
    int64_t large_in_use HEADPOND_GUARDED_BY(mu) = 0, large_free HEADPOND_GUARDED_BY(mu) = 0;
    int64_t most_large HEADPOND_GUARDED_BY(mu) = 0;  // In use at once.
    bool pool_is_gone HEADPOND_GUARDED_BY(mu) = false;
    // Not yet added to `in_use` and `cached`.
    int64_t new_in_use HEADPOND_GUARDED_BY(mu) = 0, new_cached HEADPOND_GUARDED_BY(mu) = 0;
  };

  const BlockHooks hooks;  // Empty: blocks are the system's.
  std::atomic<int64_t> max_cached_bytes, max_bytes;
  std::atomic<int64_t> slack = slack_now();
  std::array<Stripe, kStripes> stripes;
  std::atomic<int64_t> in_use = 0, cached = 0;  // Sums over all stripes, each to within `slack`.
  std::atomic<size_t> stripes_in_use = kStripes;

  State(BlockHooks given, int64_t max_cached, int64_t max_all)
      : hooks(std::move(given)), max_cached_bytes(max_cached), max_bytes(max_all) {
    for (Stripe& stripe : stripes) ForkLocks::all().add(stripe.mu);
  }
  ~State() {
    for (Stripe& stripe : stripes) ForkLocks::all().remove(stripe.mu);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int64_t slack_now() const { return std::min({kMostSlack, max_cached_bytes / 1024, max_bytes / 1024}); }
  void limit(int64_t bytes) {
    for (std::atomic<int64_t>* const most : {&max_cached_bytes, &max_bytes}) {
      for (int64_t now = *most; bytes < now && !most->compare_exchange_weak(now, bytes);) {
      }
    }
    slack = slack_now();
  }

  void* get_block(size_t size) const {
    if (!hooks.allocate) return system_allocate(size);
    void* const block = hooks.allocate(size);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
  void free_block(void* block, size_t size) const {
    hooks.release ? hooks.release(block, size) : system_free(block, size);
  }

  static size_t stripe_for(uint32_t size_class) {
    static std::atomic<size_t> threads = 0;
    constinit thread_local size_t own = kStripes;
    if (own == kStripes) own = threads.fetch_add(1, std::memory_order_relaxed) % kStripes;
    return static_cast<int64_t>(class_size(size_class)) <= kSmall ? own : 0;
  }

  void count(Stripe& stripe, uint32_t size_class, int64_t more_in_use, int64_t more_cached)
      HEADPOND_REQUIRES(stripe.mu) {
    if (size_class >= kFirstMapped) {
      stripe.large_free += more_cached;
      count_large_in_use(stripe, more_in_use);
    }
    count(stripe, more_in_use, more_cached);
  }
  static void count_large_in_use(Stripe& stripe, int64_t more) HEADPOND_REQUIRES(stripe.mu) {
    stripe.large_in_use += more;
    stripe.most_large = std::max(stripe.most_large, stripe.large_in_use);
  }
  void count(Stripe& stripe, int64_t more_in_use, int64_t more_cached) HEADPOND_REQUIRES(stripe.mu) {
    stripe.bytes_in_use.add(more_in_use);
    stripe.bytes_cached.add(more_cached);
    stripe.new_in_use += more_in_use;
    stripe.new_cached += more_cached;
    const int64_t most = slack.load(std::memory_order_relaxed);
    if (std::abs(stripe.new_in_use) <= most && std::abs(stripe.new_cached) <= most) return;
    in_use.fetch_add(std::exchange(stripe.new_in_use, 0), std::memory_order_relaxed);
    cached.fetch_add(std::exchange(stripe.new_cached, 0), std::memory_order_relaxed);
  }

  // The pool lives until its owner let go and every stripe's buffers are back.
  void let_go() {
    trim();
    for (Stripe& stripe : stripes) {
      bool is_last = false;
      {
        MutexLock lock(stripe.mu);
        stripe.pool_is_gone = true;
        is_last = stripe.owned == 0;
      }
      if (is_last) end_stripe();
    }
  }
  void end_stripe() {
    if (stripes_in_use.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    trim();
    delete this;
  }

  void trim() {
    for (Stripe& stripe : stripes) {
      std::array<std::vector<Buffer*>, kClasses> blocks;
      {
        MutexLock lock(stripe.mu);
        blocks.swap(stripe.free);
        count(stripe, 0, -stripe.bytes_cached.get());
        stripe.large_free = 0;
      }
      for (uint32_t i = 0; i < kClasses; ++i) {
        for (Buffer* block : blocks[i]) free_block(block, class_size(i));
      }
    }
  }

  struct Unneeded {
    Buffer* block = nullptr;
    size_t size = 0;
  };

  Unneeded take_oldest(Stripe& stripe, uint32_t size_class) HEADPOND_REQUIRES(stripe.mu) {
    std::vector<Buffer*>& blocks = stripe.free[size_class];
    const Unneeded found{blocks.front(), class_size(size_class)};
    blocks.erase(blocks.begin());
    count(stripe, size_class, 0, -static_cast<int64_t>(found.size));
    return found;
  }

  // Null if none is free; then `crowded` says whether a new block and the free ones of other sizes exceed the limit.
  // `size_class` is that of the block, or of the one to allocate.
  Buffer* take_free(Stripe& stripe, size_t total, uint32_t& size_class, bool& crowded) {
    MutexLock lock(stripe.mu);
    ++stripe.owned;
    if (stripe.free[size_class].empty()) {
      const uint32_t last = last_class_for(total);
      if (!stripe.free[last].empty()) size_class = last;
    }
    ++stripe.taken[size_class];
    const auto bytes = static_cast<int64_t>(class_size(size_class));
    if (stripe.free[size_class].empty()) {
      count(stripe, bytes, 0);
      stripe.allocations.add(1);
      const int64_t free_now = cached.load(std::memory_order_relaxed) + stripe.new_cached;
      const int64_t in_use_now = in_use.load(std::memory_order_relaxed) + stripe.new_in_use;
      crowded = free_now > 0 && in_use_now + free_now > max_bytes.load(std::memory_order_relaxed);
      return nullptr;
    }
    stripe.reuses.add(1);
    count(stripe, size_class, bytes, -bytes);
    Buffer* const block = stripe.free[size_class].back();
    stripe.free[size_class].pop_back();
    return block;
  }

  // Takes a large block off its list if it stayed free while 32 requests were served from its class. Each call checks a
  // few classes. In each it looks at the block that has been free for longest, because the newest is reused first. A
  // block that is needed less than once in 32 requests costs little to allocate again.
  Unneeded take_unneeded(Stripe& stripe) HEADPOND_REQUIRES(stripe.mu) {
    constexpr uint32_t kLooks = 4;
    constexpr uint64_t kMany = 32;
    for (uint32_t i = 0; i < kLooks; ++i) {
      stripe.looked_at = stripe.looked_at + 1 < kClasses ? stripe.looked_at + 1 : kFirstMapped;
      const std::vector<Buffer*>& blocks = stripe.free[stripe.looked_at];
      if (blocks.empty() || stripe.taken[stripe.looked_at] - blocks.front()->size_ < kMany) continue;
      return take_oldest(stripe, stripe.looked_at);
    }
    return {};
  }

  // Elements that differ in size need blocks of many classes, of each at other times. Their free blocks would add up to
  // far more than was ever in use at once, and to more in each epoch. So a new large block takes the place of free ones
  // beyond that; in steps, as the most that is in use at once grows a little for a long time. kSpare is for programs
  // that need a little of several classes in turn. Small blocks do not count: how many of them are free says
  // nothing about how many large ones a program needs.
  void make_place(Stripe& stripe, int64_t bytes) {
    if (hooks.release) return;
    for (Unneeded other = take_surplus(stripe, bytes); other.block != nullptr; other = take_surplus(stripe, bytes))
      system_free(other.block, other.size);
  }
  Unneeded take_surplus(Stripe& stripe, int64_t bytes) {
    MutexLock lock(stripe.mu);
    const int64_t in_use_then = stripe.large_in_use + bytes;
    const int64_t at_once = std::max(stripe.most_large, in_use_then) + kSpare;
    const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(at_once)) / 8);
    const int64_t most = (at_once + step - 1) / step * step;
    if (in_use_then + stripe.large_free <= most) return {};
    const uint32_t least_needed = least_needed_class(stripe);
    return least_needed < kClasses ? take_oldest(stripe, least_needed) : Unneeded{};
  }
  // Of the large ones, whose oldest free block stayed free while most requests were served from its class.
  static uint32_t least_needed_class(const Stripe& stripe) HEADPOND_REQUIRES(stripe.mu) {
    uint32_t found = kClasses;
    uint64_t most = 0;
    for (uint32_t i = kFirstMapped; i < kClasses; ++i) {
      if (stripe.free[i].empty()) continue;
      const uint64_t served = stripe.taken[i] - stripe.free[i].front()->size_;
      if (found < kClasses && served <= most) continue;
      found = i;
      most = served;
    }
    return found;
  }

  static bool keep_free(std::vector<Buffer*>& blocks, Buffer* block) noexcept {
    try {
      blocks.push_back(block);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // A new block for a request that take_free() counted. Throws std::bad_alloc; the request is then taken back.
  void* get_counted_block(Stripe& stripe, uint32_t size_class) {
    const auto bytes = static_cast<int64_t>(class_size(size_class));
    const bool is_large = size_class >= kFirstMapped;
    if (is_large) make_place(stripe, bytes);
    try {
      void* const block = get_block(class_size(size_class));
      if (is_large) {
        MutexLock lock(stripe.mu);
        count_large_in_use(stripe, bytes);
      }
      return block;
    } catch (...) {
      {
        MutexLock lock(stripe.mu);
        count(stripe, -bytes, 0);
      }
      if (disown(stripe)) end_stripe();
      throw;
    }
  }

  void give_back(Stripe& stripe, Buffer* block, uint32_t size_class) {
    Unneeded unneeded;
    if (keeps(stripe, block, size_class, unneeded)) {
      if (unneeded.block != nullptr) system_free(unneeded.block, unneeded.size);  // The pool may be gone by now.
      return;
    }
    // The block still counts as owned, so that the last one of another thread does not end the pool meanwhile.
    free_block(block, class_size(size_class));
    if (disown(stripe)) end_stripe();
  }
  bool keeps(Stripe& stripe, Buffer* block, uint32_t size_class, Unneeded& unneeded) {
    const auto bytes = static_cast<int64_t>(class_size(size_class));
    MutexLock lock(stripe.mu);
    const int64_t free_then = cached.load(std::memory_order_relaxed) + stripe.new_cached + bytes;
    const int64_t used_then = in_use.load(std::memory_order_relaxed) + stripe.new_in_use - bytes;
    const bool keep = !stripe.pool_is_gone && free_then <= max_cached_bytes.load(std::memory_order_relaxed) &&
                      used_then + free_then <= max_bytes.load(std::memory_order_relaxed) &&
                      keep_free(stripe.free[size_class], block);
    count(stripe, size_class, -bytes, keep ? bytes : 0);
    if (!keep) return false;
    --stripe.owned;
    block->size_ = stripe.taken[size_class];  // While it is free: see take_unneeded().
    if (size_class >= kFirstMapped && !hooks.release) unneeded = take_unneeded(stripe);
    return true;
  }
  // Whether the pool is gone and this was its stripe's last buffer.
  static bool disown(Stripe& stripe) {
    MutexLock lock(stripe.mu);
    return --stripe.owned == 0 && stripe.pool_is_gone;
  }

  BufferPoolStats stats() const {
    BufferPoolStats all{};
    for (const Stripe& stripe : stripes) {
      all.bytes_in_use += stripe.bytes_in_use.get();
      all.bytes_cached += stripe.bytes_cached.get();
      all.allocations += stripe.allocations.get();
      all.reuses += stripe.reuses.get();
    }
    return all;
  }
};

namespace {

using Release = std::function<void()>;
static_assert(internal::BlockNote::kPlace + sizeof(internal::BlockNote) <= 64);

}  // namespace

BufferRef BufferRef::calling(std::function<void()> release) {
  static_assert(Buffer::kHeader % alignof(Release) == 0);
  void* const block = system_allocate(Buffer::kHeader + sizeof(Release));
  auto* const buffer = new (block) Buffer;
  internal::BlockNote::make(*buffer);
  new (buffer->data()) Release(std::move(release));
  return BufferRef(buffer);
}

void Buffer::release() {
  if (pool_ == nullptr) {
    auto* const function = std::launder(reinterpret_cast<Release*>(data()));
    if (*function) (*function)();
    std::destroy_at(function);
    return system_free(this, kHeader + sizeof(Release));
  }
  auto* const pool = static_cast<BufferPool::State*>(pool_);
  const internal::BlockNote& note = internal::BlockNote::of(*this);
  if (internal::BlockCounts* const counts = note.counts.load(std::memory_order_relaxed))
    counts->add(-internal::BlockNote::bytes_of(*this));
#ifndef NDEBUG
  // A reader that kept a pointer without owning the buffer must not find its old bytes.
  std::memset(data(), 0xDB, std::min(size_, size_t{4096}));
#endif
  pool->give_back(pool->stripes[stripe_], this, size_class_);
}

BufferPool::BufferPool(int64_t max_cached_bytes, int64_t max_bytes)
    : state_(new State({}, max_cached_bytes, max_bytes)) {}

BufferPool::BufferPool(BlockHooks hooks, int64_t max_cached_bytes, int64_t max_bytes) {
  if (!hooks.allocate || !hooks.release)
    throw Exception(Error(ErrorKind::InvalidArgument, "BufferPool: a hook is missing; it needs allocate and release"));
  state_ = new State(std::move(hooks), max_cached_bytes, max_bytes);
}

BufferPool::~BufferPool() { state_->let_go(); }

BufferRef BufferPool::allocate(size_t size) {
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  static_assert(kHeader == Buffer::kHeader);
  uint32_t size_class = class_of(size + kHeader);
  const size_t at = State::stripe_for(size_class);
  State::Stripe& stripe = state_->stripes[at];
  bool crowded = false;
  void* block = state_->take_free(stripe, size + kHeader, size_class, crowded);
  if (block == nullptr) {
    if (crowded) state_->trim();
    block = state_->get_counted_block(stripe, size_class);
  }
  auto* const buffer = new (block) Buffer;
  buffer->size_ = size;
  buffer->size_class_ = static_cast<uint16_t>(size_class);
  buffer->stripe_ = static_cast<uint16_t>(at);
  buffer->pool_ = state_;
  internal::BlockNote& note = internal::BlockNote::make(*buffer);
  if (internal::BlockCounts* const counts = internal::current_counts) {
    note.counts.store(counts, std::memory_order_relaxed);
    counts->add(internal::BlockNote::bytes_of(*buffer));
  }
  return BufferRef(buffer);
}

BufferPoolStats BufferPool::stats() const { return state_->stats(); }

int64_t BufferPool::bytes_in_use() const { return state_->in_use.load(std::memory_order_relaxed); }

void BufferPool::trim() { state_->trim(); }

void BufferPool::limit(int64_t max_bytes) {
  state_->limit(max_bytes);
  if (stats().bytes_cached > max_bytes) trim();
}

BufferPool& BufferPool::shared() {
  static BufferPool* const pool = new BufferPool;
  return *pool;
}

namespace {

thread_local BufferPool* current_pool = nullptr;

}  // namespace

BufferPool& BufferPool::current() { return current_pool != nullptr ? *current_pool : shared(); }

CurrentPool::CurrentPool(BufferPool& pool) : before_(std::exchange(current_pool, &pool)) {}
CurrentPool::~CurrentPool() { current_pool = before_; }

int64_t internal::block_bytes(int64_t bytes) {
  constexpr int64_t kInside = 2 * sizeof(int64_t), kMost = int64_t{1} << 61;
  if (bytes <= kInside || bytes >= kMost) return bytes <= kInside ? 0 : bytes;
  return static_cast<int64_t>(class_size(class_of(static_cast<size_t>(bytes) + kHeader)));
}

}  // namespace headpond
