// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "headpond/base/checksum/zlib_sums.h"
#include "headpond/codec/image/png/png_inflate_internal.h"

namespace headpond::png_internal {
namespace {

constexpr size_t kHistory = size_t{32} << 10;
constexpr size_t kAhead = size_t{64} << 10;
constexpr size_t kJoined = size_t{64} << 10;
constexpr size_t kSymbols = 286, kDistances = 30;  // Fixed codes have two more each, which no stream may use.
constexpr uint32_t kBlockEnd = CodeEntry::kOther, kUnused = CodeEntry::kOther | CodeEntry::kInvalid;

constexpr std::array<uint32_t, 288> kSymbolMeanings = [] {
  std::array<uint32_t, 288> meanings{};
  for (uint32_t i = 0; i < 256; ++i) meanings[i] = CodeEntry::kLiteral | i << 16;
  meanings[256] = kBlockEnd;
  uint32_t base = 3;
  for (uint32_t i = 257; i < 285; ++i) {
    const uint32_t extra = i < 265 ? 0 : (i - 261) / 4;
    meanings[i] = base << 16 | extra;
    base += 1U << extra;
  }
  meanings[285] = 258U << 16;
  meanings[286] = meanings[287] = kUnused;
  return meanings;
}();

constexpr std::array<uint32_t, 32> kDistanceMeanings = [] {
  std::array<uint32_t, 32> meanings{};
  uint32_t base = 1;
  for (uint32_t i = 0; i < 30; ++i) {
    const uint32_t extra = i < 4 ? 0 : i / 2 - 1;
    meanings[i] = base << 16 | extra;
    base += 1U << extra;
  }
  meanings[30] = meanings[31] = kUnused;
  return meanings;
}();

constexpr std::array<uint32_t, 19> kLengthMeanings = [] {
  std::array<uint32_t, 19> meanings{};
  for (uint32_t i = 0; i < 19; ++i) meanings[i] = i << 16;
  return meanings;
}();

// Writes two bytes, also for one literal.
inline void put(uint32_t literals, CodeBits& in, uint8_t*& out) {
  in.drop(CodeEntry::all_bits(literals));
  out[0] = static_cast<uint8_t>(literals >> 16);
  out[1] = static_cast<uint8_t>(literals >> 24);
  out += CodeEntry::literals(literals);
}

// May write 16 bytes too many. REQUIRES: length is at least 3.
inline void copy_match(uint8_t* to, size_t distance, size_t length) {
  const uint8_t* from = to - distance;
  uint8_t* const end = to + length;
  if (distance == 1) {
    std::memset(to, *from, length);
    return;
  }
  const size_t step = std::min<size_t>(distance, 8);  // So far a word has its right bytes already.
  for (; to < end; from += step, to += step) {
    uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(to, &word, sizeof word);
  }
}

}  // namespace

Inflater::Inflater(std::span<const std::byte> stream, uint64_t total, size_t most, NextPart next)
    : total_(total),
      capacity_(static_cast<size_t>(std::min<uint64_t>(total, kHistory + std::max(kAhead, most))) + kSlack + 1),
      memory_(std::make_unique_for_overwrite<uint8_t[]>(capacity_)),
      next_(std::move(next)),
      has_more_(next_ != nullptr) {
  in_.at = reinterpret_cast<const uint8_t*>(stream.data());
  in_.end = in_.at + stream.size();
}

const uint8_t* Inflater::take(size_t size) {
  while (end_ - at_ < size) {
    if (!fill()) return nullptr;
  }
  const uint8_t* const taken = &memory_[at_];
  at_ += size;
  return taken;
}

bool Inflater::is_whole() {
  while (step_ != Step::end) {
    if (!fill()) return false;
  }
  return produced_ == total_ && at_ == end_;
}

// More bytes, or the end.
bool Inflater::fill() {
  if (is_refused_ || step_ == Step::end) return false;
  make_room();
  const size_t before = end_;
  bool is_good = true;
  while (is_good && step_ != Step::end && memory_.get() + end_ < limit()) {
    if (is_low()) join_parts();
    is_good = step();
  }
  adler_ = adler32_extend(adler_, std::as_bytes(std::span(&memory_[before], end_ - before)));
  produced_ += end_ - before;
  is_good = is_good && produced_ <= total_ && (step_ != Step::end || finish());
  is_refused_ = !is_good;
  return is_good;
}

void Inflater::make_room() {
  const size_t gone = std::min(at_, end_ > kHistory ? end_ - kHistory : 0);
  if (gone == 0) return;
  std::memmove(memory_.get(), &memory_[gone], end_ - gone);
  at_ -= gone;
  end_ -= gone;
}

// Moves the unread bytes of the stream to the start of `joined_`, and appends the next parts.
void Inflater::join_parts() {
  in_.at -= in_.count / 8;  // Bytes that were read ahead.
  in_.count %= 8;
  in_.bits = in_.peek(in_.count);
  auto joined = static_cast<size_t>(in_.end - in_.at);
  if (joined_ == nullptr) joined_ = std::make_unique_for_overwrite<uint8_t[]>(kJoined);
  if (joined > 0) std::memmove(joined_.get(), in_.at, joined);
  while (has_more_ && joined < kJoined) {
    if (part_.empty()) part_ = next_();
    has_more_ = !part_.empty();
    const size_t size = std::min(part_.size(), kJoined - joined);
    if (size > 0) std::memcpy(&joined_[joined], part_.data(), size);
    part_ = part_.subspan(size);
    joined += size;
  }
  in_.at = joined_.get();
  in_.end = in_.at + joined;
}

bool Inflater::step() {
  switch (step_) {
    case Step::stream_head:
      return read_stream_head();
    case Step::block_head:
      return read_block_head();
    case Step::stored:
      return take_stored();
    case Step::codes:
      return take_symbols();
    case Step::end:
      break;
  }
  return true;
}

// zlib refuses what reaches further back than the head announces.
bool Inflater::read_stream_head() {
  in_.refill();
  const uint32_t method = in_.take(8), flags = in_.take(8);
  const bool has_dictionary = (flags & 0x20) != 0;
  if ((method & 15) != 8 || method >> 4 > 7 || has_dictionary || (method << 8 | flags) % 31 != 0) return false;
  if ((uint64_t{256} << (method >> 4)) < std::min<uint64_t>(total_, kHistory)) return false;
  step_ = Step::block_head;
  return !in_.is_beyond();
}

bool Inflater::read_block_head() {
  in_.refill();
  is_last_ = in_.take(1) != 0;
  const uint32_t kind = in_.take(2);
  if (kind == 0) return read_lengths();
  step_ = Step::codes;
  if (kind == 2) return read_codes();
  if (kind == 3 || in_.is_beyond()) return false;
  if (is_fixed_) return true;
  std::array<uint8_t, 288> lengths;
  for (size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = static_cast<uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
  std::array<uint8_t, 32> far_lengths;
  far_lengths.fill(5);
  is_fixed_ = true;
  return symbols_.build(lengths, kSymbolMeanings, false) && distances_.build(far_lengths, kDistanceMeanings, false);
}

// Of a stored block: its size, and that inverted.
bool Inflater::read_lengths() {
  if (!in_.align() || in_.end - in_.at < 4) return false;
  stored_ = size_t{in_.at[0]} | size_t{in_.at[1]} << 8;
  const size_t inverted = size_t{in_.at[2]} | size_t{in_.at[3]} << 8;
  in_.at += 4;
  step_ = Step::stored;
  return (stored_ ^ inverted) == 0xffff;
}

bool Inflater::read_codes() {
  constexpr std::array<uint8_t, 19> kOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  in_.refill();
  const size_t symbols = in_.take(5) + 257, distances = in_.take(5) + 1, codes = in_.take(4) + 4;
  if (symbols > kSymbols || distances > kDistances) return false;
  std::array<uint8_t, 19> code_lengths = {};
  for (size_t i = 0; i < codes; ++i) {
    in_.refill();
    code_lengths[kOrder[i]] = static_cast<uint8_t>(in_.take(3));
  }
  CodeTable<7, 0> table;
  if (!table.build(code_lengths, kLengthMeanings, false)) return false;
  std::array<uint8_t, kSymbols + kDistances> lengths = {};
  for (size_t i = 0; i < symbols + distances;) {
    in_.refill();
    const uint32_t entry = table.first(in_), value = entry >> 16;
    in_.drop(CodeEntry::all_bits(entry));
    if (value < 16) {
      lengths[i++] = static_cast<uint8_t>(value);
      continue;
    }
    const size_t count = value == 16 ? 3 + in_.take(2) : value == 17 ? 3 + in_.take(3) : 11 + in_.take(7);
    if (count > symbols + distances - i || (value == 16 && i == 0)) return false;
    if (value == 16) std::fill_n(&lengths[i], count, lengths[i - 1]);
    i += count;
  }
  is_fixed_ = false;
  const auto all = std::span<const uint8_t>(lengths);
  return lengths[256] != 0 && !in_.is_beyond() && symbols_.build(all.first(symbols), kSymbolMeanings, false) &&
         distances_.build(all.subspan(symbols, distances), kDistanceMeanings, true);
}

// To the end of the block, or to the limit.
bool Inflater::take_symbols() {
  CodeBits in = in_;
  uint8_t* out = memory_.get() + end_;
  uint8_t* const stop = limit();
  const uint8_t* const last = has_more_ ? in.end - kTurn : in.end;
  bool is_good = true;
  while (out < stop && in.at <= last) {
    in.refill();
    uint32_t entry = symbols_.first(in);
    for (int i = 0; i < 3 && CodeEntry::is_literal(entry); ++i) {  // They leave enough bits for a look-up.
      put(entry, in, out);
      entry = symbols_.first(in);
    }
    in.refill();
    if ((entry & CodeEntry::kSubtable) != 0) entry = symbols_.second(in, entry);
    if (CodeEntry::is_literal(entry)) {
      put(entry, in, out);
      continue;
    }
    const size_t length = CodeEntry::value(entry, in.bits);
    in.drop(CodeEntry::all_bits(entry));
    if ((entry & CodeEntry::kOther) != 0) {
      is_good = (entry & CodeEntry::kInvalid) == 0;
      step_ = is_last_ ? Step::end : Step::block_head;
      break;
    }
    uint32_t back = distances_.first(in);
    if ((back & CodeEntry::kSubtable) != 0) back = distances_.second(in, back);
    const size_t distance = CodeEntry::value(back, in.bits);
    in.drop(CodeEntry::all_bits(back));
    is_good = (back & CodeEntry::kOther) == 0 && distance <= static_cast<size_t>(out - memory_.get());
    if (!is_good) break;
    copy_match(out, distance, length);
    out += length;
  }
  in_ = in;
  end_ = static_cast<size_t>(out - memory_.get());
  return is_good && !in_.is_beyond();
}

bool Inflater::take_stored() {
  const auto there = static_cast<size_t>(in_.end - in_.at);
  size_t size = std::min(stored_, static_cast<size_t>(limit() - memory_.get()) - end_);
  if (there < size && !has_more_) return false;
  size = std::min(size, there);
  if (size > 0) std::memcpy(&memory_[end_], in_.at, size);
  in_.at += size;
  end_ += size;
  stored_ -= size;
  if (stored_ == 0) step_ = is_last_ ? Step::end : Step::block_head;
  return true;
}

// The checksum is the last thing of the stream.
bool Inflater::finish() {
  if (is_low()) join_parts();
  if (!in_.align() || in_.end - in_.at != 4) return false;
  uint32_t sum = 0;
  for (int i = 0; i < 4; ++i) sum = sum << 8 | in_.at[i];
  return sum == adler_;
}

}  // namespace headpond::png_internal
