// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <utility>

#include "headpond/dataset/ops/order/cache_entries_internal.h"

namespace headpond::internal {
namespace {

// Stores `made` at `to` unless an entry is there; returns the one that is there.
template <class T>
T* publish(std::atomic<void*>& to, std::unique_ptr<T> made) {
  void* there = nullptr;
  if (to.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    return made.release();
  }
  return static_cast<T*>(there);
}

class CacheView final : public View {
 public:
  CacheView(std::shared_ptr<const View> input, CacheEntries& cache) : input_(std::move(input)), cache_(cache) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const CacheEntry* entry = cache_.find(i);
    if (entry == nullptr && !context.may_keep()) return input_->at(i, context, outputs, out);
    if (entry == nullptr) {
      CacheEntry made;
      made.got = input_->at(i, context, {}, made.element);
      if (made.got == Got::error) return Got::error;
      own_memory(made.element);
      entry = cache_.keep(i, std::move(made));
    }
    if (entry->got == Got::value) out = entry->element;
    return entry->got;
  }

 private:
  const std::shared_ptr<const View> input_;
  CacheEntries& cache_;
};

}  // namespace

void own_memory(Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    Tensor& tensor = element[i];
    if (tensor.owner() != nullptr) continue;
    const size_t size = tensor.byte_size();
    if (tensor.dtype() != DType::bytes) {
      Tensor copy = Tensor::empty(tensor.dtype(), tensor.shape());
      if (size != 0) std::memcpy(copy.mutable_data(), tensor.data(), size);
      tensor = std::move(copy);
    } else {
      BufferRef buffer = BufferPool::current().allocate(size);
      std::memcpy(buffer->data(), tensor.data(), size);
      const std::byte* const data = buffer->data();
      tensor = Tensor::view(data, DType::bytes, tensor.shape(), std::move(buffer));
    }
  }
}

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

const CacheEntry* CacheEntries::keep(int64_t i, CacheEntry entry) {
  Fork* fork = &root_;
  for (int level = top_; level > 0; --level) {
    std::atomic<void*>& next = fork->next[digit(i, level)];
    void* const below = next.load(std::memory_order_acquire);
    fork = below != nullptr ? static_cast<Fork*>(below) : publish(next, std::make_unique<Fork>());
  }
  return publish(fork->next[digit(i, 0)], std::make_unique<CacheEntry>(std::move(entry)));
}

std::shared_ptr<const View> view_cache(std::shared_ptr<const View> input, CacheEntries& cache) {
  return std::make_shared<CacheView>(std::move(input), cache);
}

}  // namespace headpond::internal
