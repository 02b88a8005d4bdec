// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/order/cache_entries_internal.h"
#include "headpond/dataset/ops/order/cache_sequence_internal.h"

namespace headpond::internal {
namespace {

// Stores `made` at `to` unless an entry is there; returns the one that is there.
template <class T>
T* publish(std::atomic<void*>& to, std::unique_ptr<T> made, bool* is_new = nullptr) {
  void* there = nullptr;
  if (to.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    if (is_new != nullptr) *is_new = true;
    return made.release();
  }
  return static_cast<T*>(there);
}

class CacheView final : public View {
 public:
  CacheView(std::shared_ptr<const View> input, const Spec& spec, CacheContent& content)
      : input_(std::move(input)), spec_(spec), content_(content) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    if (const CacheEntry* const entry = content_.entries ? content_.entries->find(i) : nullptr)
      return give(*entry, out);
    const Got known = find_on_disk(content_, spec_, i, out);
    if (known != Got::pending) return known;
    const bool in_memory = content_.has_room(context);
    const int64_t left_out = context.left_out;
    const Got got = input_->at(i, context, in_memory ? OutputSlots() : outputs, out);
    if (got == Got::error || (got == Got::hole && context.left_out != left_out)) return got;  // Another time it may be.
    if (in_memory) return keep_in_memory(i, got, out);
    if (content_.store && got == Got::value) content_.store->keep(i, out);
    if (content_.store && got == Got::hole) content_.store->keep_hole(i);
    return got;
  }

 private:
  static Got give(const CacheEntry& entry, Element& out) {
    if (entry.got == Got::value) out = entry.element;
    return entry.got;
  }
  Got keep_in_memory(int64_t i, Got got, Element& out) const {
    CacheEntry made{.got = got, .element = std::move(out)};
    out = Element();
    keep_memory(made.element);
    const int64_t bytes = cached_bytes(made.element);
    bool is_new = false;
    const CacheEntry& entry = *content_.entries->keep(i, std::move(made), &is_new);
    if (is_new) content_.in_memory.fetch_add(bytes, std::memory_order_relaxed);
    return give(entry, out);
  }

  const std::shared_ptr<const View> input_;
  const Spec& spec_;
  CacheContent& content_;
};

}  // namespace

CacheEntries::CacheEntries(int64_t slots) {
  while (kBits * (top_ + 1) < 63 && (slots - 1) >> (kBits * (top_ + 1)) > 0) ++top_;
}

CacheEntries::~CacheEntries() { drop(root_, top_); }

void CacheEntries::drop(Fork& fork, int level) {
  for (const std::atomic<void*>& next : fork.next) {
    void* const below = next.load(std::memory_order_acquire);
    if (below == nullptr) continue;
    if (level == 0) {
      delete static_cast<CacheEntry*>(below);
    } else {
      drop(*static_cast<Fork*>(below), level - 1);
      delete static_cast<Fork*>(below);
    }
  }
}

const CacheEntry* CacheEntries::find(int64_t i) const {
  const Fork* fork = &root_;
  for (int level = top_; level > 0; --level) {
    fork = static_cast<const Fork*>(fork->next[digit(i, level)].load(std::memory_order_acquire));
    if (fork == nullptr) return nullptr;
  }
  return static_cast<const CacheEntry*>(fork->next[digit(i, 0)].load(std::memory_order_acquire));
}

const CacheEntry* CacheEntries::keep(int64_t i, CacheEntry entry, bool* is_new) {
  Fork* fork = &root_;
  for (int level = top_; level > 0; --level) {
    std::atomic<void*>& next = fork->next[digit(i, level)];
    void* const below = next.load(std::memory_order_acquire);
    fork = below != nullptr ? static_cast<Fork*>(below) : publish(next, std::make_unique<Fork>());
  }
  return publish(fork->next[digit(i, 0)], std::make_unique<CacheEntry>(std::move(entry)), is_new);
}

bool CacheContent::has_room(const Context& context) const {
  if ((!entries && !sequence) || in_memory.load(std::memory_order_relaxed) >= memory) return false;
  if (context.may_keep()) return true;
  if (!store && !has_warned.load(std::memory_order_relaxed) && !has_warned.exchange(true)) {
    log(LogLevel::warning,
        "cache: not all is kept, as more than half of the memory is in use, of all Loaders that share it: what is not "
        "kept is made again in each epoch; more memory for the Loader or its Resources, or a folder, has room");
  }
  return false;
}

int64_t cached_bytes(const Element& element) {
  int64_t bytes = 0;
  for (size_t f = 0; f < element.size(); ++f) bytes += static_cast<int64_t>(element[f].byte_size());
  return bytes;
}

Got find_on_disk(const CacheContent& content, const Spec& spec, int64_t position, Element& out) {
  if (!content.store) return Got::pending;
  switch (content.store->find(position, out)) {
    case CacheStore::Answer::value:
      if (!check_element(spec, out)) return Got::value;
      out.clear();
      return Got::pending;
    case CacheStore::Answer::hole:
      return Got::hole;
    case CacheStore::Answer::end:
      return Got::end;
    default:
      return Got::pending;
  }
}

std::shared_ptr<const View> view_cache(std::shared_ptr<const View> input, const Spec& spec, CacheContent& content) {
  return std::make_shared<CacheView>(std::move(input), spec, content);
}

}  // namespace headpond::internal
