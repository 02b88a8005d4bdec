// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/state.h"

namespace headpond {

uint64_t StateVisitor::visit(uint64_t value) {
  if (!restoring_) {
    for (; value >= 0x80; value >>= 7) saved_.push_back(static_cast<char>(value | 0x80));
    saved_.push_back(static_cast<char>(value));
    return value;
  }
  uint64_t read = 0;
  for (int shift = 0; !failed_ && shift < 64 && !left_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    read |= uint64_t{byte & 0x7FU} << shift;
    if (shift == 63 && byte > 1) break;
    if (byte < 0x80) return read;
  }
  failed_ = true;
  return 0;
}

void StateVisitor::text(std::string& value) {
  uint64_t size = visit(value.size());
  if (!restoring_) {
    saved_ += value;
  } else if (failed_ || size > left_.size()) {
    failed_ = true;
  } else {
    value = left_.substr(0, size);
    left_.remove_prefix(size);
  }
}

}  // namespace headpond
