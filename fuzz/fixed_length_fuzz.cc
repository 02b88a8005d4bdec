// SPDX-License-Identifier: Apache-2.0
// Records of one length from any bytes. The first four bytes choose record, header, footer and hop; the result must be
// the records of these sizes, then the end, or DataLoss iff the rest begins a record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/io/record/fixed_length.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

constexpr size_t kOptionBytes = 4;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kOptionBytes) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(kOptionBytes);
  const headpond::FixedLengthOptions options{
      .record_bytes = data[0] + 1U, .header_bytes = data[1], .footer_bytes = data[2], .hop_bytes = data[3]};
  const uint64_t hop = options.hop_bytes == 0 ? options.record_bytes : options.hop_bytes;
  headpond::FixedLengthReader reader(headpond::make_memory_reader("fuzz", bytes), options);
  const uint64_t around = options.header_bytes + options.footer_bytes;
  const uint64_t body = bytes.size() < around ? 0 : bytes.size() - around;
  for (uint64_t begin = 0; begin + options.record_bytes <= body; begin += hop) {
    const auto record = reader.next();
    require(record && *record &&
            std::ranges::equal(**record, bytes.subspan(options.header_bytes + begin, options.record_bytes)));
  }
  const auto end = reader.next();
  require(!end || !*end);
  const uint64_t records = body < options.record_bytes ? 0 : (body - options.record_bytes) / hop + 1;
  require(reader.position() == static_cast<int64_t>(records));
  const uint64_t covered = records == 0 ? 0 : (records - 1) * hop + std::max(hop, options.record_bytes);
  require(end.has_value() == (bytes.size() >= around && body <= covered));
  require(end || end.error().kind() == headpond::ErrorKind::DataLoss);
  return 0;
}
