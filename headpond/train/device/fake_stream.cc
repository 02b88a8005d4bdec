// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/device/fake_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace headpond {
namespace {

constexpr size_t kBlockAlignment = 256;

}  // namespace

class FakeStream::Copy : public DeviceCopy {
 public:
  Copy(FakeStream& stream, std::chrono::nanoseconds end) : stream_(stream), end_(end) {}
  bool is_done() override { return stream_.now() >= end_; }
  Result<void> wait() override {
    MutexLock lock(stream_.mu_);
    stream_.go_on_to(end_);
    return {};
  }

 private:
  FakeStream& stream_;
  const std::chrono::nanoseconds end_;
};

FakeStream::FakeStream(double bytes_per_s, int64_t memory) : bytes_per_s_(bytes_per_s), memory_(memory) {
  if (!(bytes_per_s > 0) || memory < 1) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("FakeStream: bytes_per_s={}, memory={}: must be above 0", bytes_per_s, memory)));
  }
}

FakeStream::~FakeStream() {
  for (const auto& [block, size] : blocks_) std::free(block);
}

void FakeStream::go_on_to(std::chrono::nanoseconds time) {
  now_ = std::max(now_, time);
  while (!pending_.empty() && pending_.front().end <= now_) {
    for (const Part& part : pending_.front().parts) {
      if (part.bytes > 0) std::memcpy(part.to, part.from, part.bytes);
      copied_ += static_cast<int64_t>(part.bytes);
    }
    pending_.pop_front();
  }
}

void FakeStream::compute(std::chrono::nanoseconds time) {
  MutexLock lock(mu_);
  go_on_to(now_ + time);
}

std::chrono::nanoseconds FakeStream::now() const {
  MutexLock lock(mu_);
  return now_;
}
int64_t FakeStream::bytes_copied() const {
  MutexLock lock(mu_);
  return copied_;
}
int64_t FakeStream::memory_in_use() const {
  MutexLock lock(mu_);
  return in_use_;
}
int64_t FakeStream::allocations() const {
  MutexLock lock(mu_);
  return allocations_;
}

Result<void*> FakeStream::allocate(size_t bytes) {
  MutexLock lock(mu_);
  const int64_t left = memory_ - in_use_;
  void* const block =
      static_cast<int64_t>(bytes) > left
          ? nullptr
          : std::aligned_alloc(kBlockAlignment,
                               std::max(size_t{1}, (bytes + kBlockAlignment - 1) / kBlockAlignment) * kBlockAlignment);
  if (block == nullptr)
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("FakeStream: no memory for {} bytes; {} are left", bytes, left));
  blocks_[block] = bytes;
  in_use_ += static_cast<int64_t>(bytes);
  ++allocations_;
  return block;
}

void FakeStream::free(void* memory) noexcept {
  MutexLock lock(mu_);
  const auto block = blocks_.find(memory);
  if (block == blocks_.end()) return;
  const auto is_into = [&](const Part& part) {
    const auto* const begin = static_cast<const std::byte*>(memory);
    return part.to >= begin && part.to < begin + block->second;
  };
  std::chrono::nanoseconds last = now_;
  for (const Pending& copy : pending_) {
    if (std::ranges::any_of(copy.parts, is_into)) last = copy.end;
  }
  go_on_to(last);
  in_use_ -= static_cast<int64_t>(block->second);
  blocks_.erase(block);
  std::free(memory);
}

Result<std::unique_ptr<DeviceCopy>> FakeStream::copy(std::span<const Part> parts) {
  double bytes = 0;
  for (const Part& part : parts) bytes += static_cast<double>(part.bytes);
  const std::chrono::nanoseconds time(std::llround(bytes * 1e9 / bytes_per_s_));
  MutexLock lock(mu_);
  last_end_ = std::max(now_, last_end_) + time;
  pending_.push_back({{parts.begin(), parts.end()}, last_end_});
  go_on_to(now_);
  return std::make_unique<Copy>(*this, last_end_);
}

Result<void> FakeStream::before_program(DeviceCopy& copy) { return copy.wait(); }

}  // namespace headpond
