// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/train/device/device_memory_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostWaste = 2;  // A block serves a request of at least half of its size.

}  // namespace

Result<std::shared_ptr<void>> DeviceMemory::allocate(size_t bytes) {
  const size_t size = std::max(size_t{1}, bytes);
  Block block = take_free(size);
  if (block.data == nullptr) {
    auto taken = take_new(size);
    if (!taken) return fail(taken.error());
    block = *taken;
  }
  return std::shared_ptr<void>(block.data, [memory = shared_from_this(), block](void*) { memory->give_back(block); });
}

DeviceMemory::Block DeviceMemory::take_free(size_t bytes) {
  MutexLock lock(mu_);
  auto best = free_.end();
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    const bool fits = block->size >= bytes && block->size / kMostWaste <= bytes;
    if (fits && (best == free_.end() || block->size <= best->size)) best = block;
  }
  if (best == free_.end()) return {nullptr, 0};
  const Block block = *best;
  free_.erase(best);
  return block;
}

Result<DeviceMemory::Block> DeviceMemory::take_new(size_t bytes) {
  auto data = stream_->allocate(bytes);
  if (data) return Block{*data, bytes};
  std::vector<Block> others;
  {
    MutexLock lock(mu_);
    others.swap(free_);
  }
  if (others.empty()) return fail(data.error());
  for (const Block& block : others) stream_->free(block.data);
  data = stream_->allocate(bytes);
  if (!data) return fail(data.error());
  return Block{*data, bytes};
}

void DeviceMemory::give_back(Block block) noexcept {
  const bool is_ordered = static_cast<bool>(stream_->after_program());
  void* too_many = block.data;
  {
    MutexLock lock(mu_);
    if (!is_closed_ && is_ordered && most_free_ > 0) {
      too_many = nullptr;
      if (free_.size() >= most_free_) {
        too_many = free_.front().data;
        free_.erase(free_.begin());
      }
      free_.push_back(block);
    }
  }
  if (too_many != nullptr) stream_->free(too_many);
}

void DeviceMemory::close() noexcept {
  std::vector<Block> blocks;
  {
    MutexLock lock(mu_);
    is_closed_ = true;
    blocks.swap(free_);
  }
  for (const Block& block : blocks) stream_->free(block.data);
}

}  // namespace headpond::internal
