// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headpond/io/file/byte_window_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kRoom = 64 * 1024, kMostAtOnce = size_t{1} << 20;

}  // namespace

// Bytes move to the front when they fill less than half of the memory, so each moves once or twice in total.
void ByteWindow::make_room() {
  const size_t size = end_ - begin_;
  if (size == 0) begin_ = end_ = 0;  // Memory that was touched is used again.
  if (end_ < room_.size()) return;
  if (begin_ > 0 && size <= room_.size() / 2) {
    std::memmove(room_.data(), room_.data() + begin_, size);
  } else {
    const size_t wanted = std::max(2 * size, kRoom) - size;
    const uint64_t left = std::clamp<uint64_t>(reader_->left_at_most(), 1, wanted);
    if (begin_ > 0) std::memmove(room_.data(), room_.data() + begin_, size);
    begin_ = 0;
    end_ = size;
    room_.resize(std::max(room_.size(), size + static_cast<size_t>(left)));
  }
  begin_ = 0;
  end_ = size;
}

Result<bool> ByteWindow::more() try {
  make_room();
  const size_t most = std::max(kMostAtOnce, (end_ - begin_) / 16);
  const auto got = reader_->read({room_.data() + end_, std::min(room_.size() - end_, most)});
  if (!got) return fail(got.error());
  end_ += *got;
  return *got > 0;
} catch (const std::bad_alloc&) {
  return fail(no_memory(
      fmt::format("{}: out of memory, with {} bytes in memory from offset {} on", name(), bytes().size(), offset_)));
}

Result<bool> ByteWindow::until(uint64_t count) {
  while (bytes().size() < count) {
    if (auto got = more(); !got || !*got) return got;
  }
  return true;
}

Result<uint64_t> ByteWindow::skip(uint64_t count) {
  uint64_t skipped = 0;
  while (true) {
    const auto here = static_cast<size_t>(std::min<uint64_t>(count - skipped, bytes().size()));
    drop(here);
    skipped += here;
    if (skipped == count) return skipped;
    const auto got = more();
    if (!got) return fail(got.error());
    if (!*got) return skipped;
  }
}

}  // namespace headpond::internal
