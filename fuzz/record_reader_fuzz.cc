// SPDX-License-Identifier: Apache-2.0
// A record file from any bytes, compressed or not, at once and in small pieces, failing and skipping: the ways agree.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/record_reader.h"

namespace {

using headpond::ErrorKind;

class Pieces final : public headpond::ByteReader {
 public:
  explicit Pieces(std::span<const std::byte> bytes) : memory_(headpond::make_memory_reader("fuzz", bytes)) {}
  headpond::Result<size_t> read(std::span<std::byte> to) override {
    return memory_->read(to.first(std::min<size_t>(to.size(), 37)));
  }
  uint64_t left_at_most() const override { return UINT64_MAX; }
  const std::string& name() const override { return memory_->name(); }

 private:
  std::unique_ptr<headpond::ByteReader> memory_;
};

struct Seen {
  uint64_t records = 0;
  uint32_t crc = 0;
  bool failed = false;
  bool operator==(const Seen&) const = default;
};

Seen read(headpond::Result<std::unique_ptr<headpond::RecordReader>> reader) {
  Seen seen;
  while (reader) {
    const auto payload = (*reader)->next();
    seen.failed = !payload;
    if (!payload && payload.error().kind() != ErrorKind::DataLoss &&
        payload.error().kind() != ErrorKind::ResourceExhausted) {
      __builtin_trap();
    }
    if (!payload || !*payload) return seen;
    ++seen.records;
    seen.crc = headpond::crc32c_extend(seen.crc, **payload);
  }
  const ErrorKind kind = reader.error().kind();
  if (kind != ErrorKind::DataLoss && kind != ErrorKind::Unimplemented) __builtin_trap();
  seen.failed = true;
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  for (const auto on_damage : {headpond::OnDamage::fail, headpond::OnDamage::skip}) {
    const headpond::RecordReaderOptions options = {
        .on_damage = on_damage, .max_record_bytes = 1 << 20, .max_inflated_bytes = 1 << 22};
    const Seen whole = read(headpond::RecordReader::over("fuzz", bytes, options));
    const Seen pieces = read(headpond::RecordReader::over(std::make_unique<Pieces>(bytes), options));
    if (whole != pieces) __builtin_trap();
  }
  return 0;
}
