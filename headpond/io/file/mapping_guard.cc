// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/io/file/mapping_guard_internal.h"

namespace headpond::internal {
namespace {

using Slot = MappingGuard::Slot;
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

struct Block {
  std::array<Slot, 64> slots;
  std::atomic<Block*> next = nullptr;
};

// Blocks are never freed, because the handler may read them at any time.
constinit Block g_first;
struct sigaction g_earlier = {};
uintptr_t g_page = 0;

// The system call itself: the mmap of a sanitizer takes locks, which a handler must not.
bool put_zeros(uintptr_t from, uintptr_t to) {
  const long at =
      syscall(SYS_mmap, from, to - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return at == static_cast<long>(from);
}

// All pages to the end at once: a file is cut at one place, and each piece would be a mapping of its own.
bool replace_page(uintptr_t address) {
  for (Block* block = &g_first; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
    for (Slot& slot : block->slots) {
      const uintptr_t begin = slot.begin.load(std::memory_order_acquire),
                      end = slot.end.load(std::memory_order_acquire);
      const bool inside = begin != 0 && begin <= address && address < end;
      // The slot of another mapping may change its owner at this moment.
      if (!inside || slot.begin.load(std::memory_order_acquire) != begin) continue;
      slot.lost.store(true, std::memory_order_seq_cst);
      return put_zeros(address & ~(g_page - 1), end);
    }
  }
  return false;
}

void pass_on(int number, siginfo_t* info, void* context) {
  if ((g_earlier.sa_flags & SA_SIGINFO) != 0) return g_earlier.sa_sigaction(number, info, context);
  const bool is_fault = info->si_code > 0;
  if (g_earlier.sa_handler == SIG_IGN && !is_fault) return;
  if (g_earlier.sa_handler != SIG_IGN && g_earlier.sa_handler != SIG_DFL) return g_earlier.sa_handler(number);
  // The default action ends the program: a fault occurs again on return, a signal that was sent does not.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  if (!is_fault) raise(number);
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool is_fault = info->si_code > 0;
  if (!is_fault || !replace_page(reinterpret_cast<uintptr_t>(info->si_addr))) pass_on(number, info, context);
  errno = saved;
}

bool install() {
  g_page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  sigaction(SIGBUS, nullptr, &g_earlier);
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, nullptr) == 0;
}

class Table {
 public:
  Slot* take() {
    const MutexLock lock(mu_);
    if (free_.empty()) add(free_.capacity() == 0 ? &g_first : append_block());
    Slot* slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot* slot) {
    const MutexLock lock(mu_);
    free_.push_back(slot);
  }

 private:
  Block* append_block() HEADPOND_REQUIRES(mu_) {
    auto* const block = new Block;
    last_->next.store(block, std::memory_order_release);
    return last_ = block;
  }
  void add(Block* block) HEADPOND_REQUIRES(mu_) {
    slots_ += block->slots.size();
    free_.reserve(slots_);  // So that freeing a slot never allocates.
    for (Slot& slot : block->slots) free_.push_back(&slot);
  }

  Mutex mu_;
  Block* last_ HEADPOND_GUARDED_BY(mu_) = &g_first;
  size_t slots_ HEADPOND_GUARDED_BY(mu_) = 0;
  std::vector<Slot*> free_ HEADPOND_GUARDED_BY(mu_);
};

Table& table() {
  static auto* const table = new Table;  // Never destroyed: a guard may be static.
  return *table;
}

}  // namespace

MappingGuard::MappingGuard(std::span<const std::byte> range) : slot_(table().take()) {
  [[maybe_unused]] static const bool installed = install();
  const auto begin = reinterpret_cast<uintptr_t>(range.data()), end = begin + range.size();
  slot_->lost.store(false, std::memory_order_relaxed);
  slot_->end.store((end + g_page - 1) & ~(g_page - 1), std::memory_order_release);
  slot_->begin.store(begin, std::memory_order_release);
}

MappingGuard::~MappingGuard() {
  slot_->begin.store(0, std::memory_order_release);
  table().give_back(slot_);
}

}  // namespace headpond::internal
