// SPDX-License-Identifier: Apache-2.0
#include "tests/memory/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

namespace {

struct Account {
  int64_t live = 0;
  int64_t bytes = 0;  // Of the live ones.
  int64_t most_bytes = 0;
  int64_t left = 0;  // Until one fails; 0: none will.
  bool has_failed = false;
  bool goes_on = false;
};
constinit thread_local Account account;

bool fails() {
  if (account.left == 0 || --account.left > 0) return account.has_failed && account.goes_on;
  account.has_failed = true;
  return true;
}

void add_bytes(int64_t bytes) {
  account.bytes += bytes;
  account.most_bytes = std::max(account.most_bytes, account.bytes);
}
int64_t size_of(void* block) { return static_cast<int64_t>(malloc_usable_size(block)); }

template <class Call>
void* allocate(Call call) {
  void* const block = fails() ? nullptr : call();
  if (block == nullptr) errno = ENOMEM;
  account.live += block != nullptr ? 1 : 0;
  add_bytes(size_of(block));
  return block;
}

}  // namespace

extern "C" {
void* malloc(size_t size) {
  return allocate([&] { return __libc_malloc(size); });
}
void* calloc(size_t count, size_t size) {
  return allocate([&] { return __libc_calloc(count, size); });
}
void* realloc(void* block, size_t size) {
  if (block == nullptr) return malloc(size);
  if (size > 0 && fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  if (size == 0) --account.live;
  const int64_t before = size_of(block);
  void* const moved = __libc_realloc(block, size);
  if (moved != nullptr || size == 0) add_bytes(size_of(moved) - before);
  return moved;
}
void* memalign(size_t alignment, size_t size) {
  return allocate([&] { return __libc_memalign(alignment, size); });
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  void* const got = memalign(alignment, size);
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}
void free(void* block) {
  if (block != nullptr) --account.live;
  add_bytes(-size_of(block));
  __libc_free(block);
}
}

namespace headpond::test {

int64_t live_allocations() { return account.live; }

PeakBytes::PeakBytes() : before_(account.bytes) { account.most_bytes = before_; }
int64_t PeakBytes::bytes() const { return account.most_bytes - before_; }

FailingAllocation::FailingAllocation(int64_t nth, Failing failing) {
  account.left = nth;
  account.has_failed = false;
  account.goes_on = failing == Failing::from_then_on;
}
FailingAllocation::~FailingAllocation() {
  account.left = 0;
  account.has_failed = account.goes_on = false;
}
bool FailingAllocation::has_failed() const { return account.has_failed; }

}  // namespace headpond::test
