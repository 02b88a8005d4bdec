// SPDX-License-Identifier: Apache-2.0
// A record file from any bytes, unchanged and with right checksums, compressed or not; read at once, in small pieces
// and compressed by zlib; failing and skipping. All ways must agree, also in their counts. For damaged compressed bytes
// they are compared as far as both come: how much of the last block is inflated depends on the pieces.
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fuzz/mended.h"
#include "headpond/base/crc32c.h"
#include "headpond/io/record/record_reader.h"

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
  std::vector<uint32_t> records = {};
  bool is_damaged = false;
  bool is_compressed = false;
  bool is_open = true;
  headpond::RecordCounts counts = {};
};

Seen read(const headpond::Result<std::unique_ptr<headpond::RecordReader>>& reader) {
  Seen seen;
  if (!reader) {
    const ErrorKind kind = reader.error().kind();
    if (kind != ErrorKind::DataLoss && kind != ErrorKind::Unimplemented) __builtin_trap();
    seen.is_damaged = true;
    seen.is_open = false;
    return seen;
  }
  seen.is_compressed = (*reader)->compression() != headpond::Compression::none;
  while (true) {
    const auto payload = (*reader)->next();
    seen.is_damaged = !payload || (*reader)->counts().last;
    if (!payload && payload.error().kind() != ErrorKind::DataLoss &&
        payload.error().kind() != ErrorKind::ResourceExhausted) {
      __builtin_trap();
    }
    seen.counts = (*reader)->counts();
    if (!payload || !*payload) return seen;
    seen.records.push_back(headpond::crc32c(**payload));
  }
}

// For a stream the number of lost bytes is unknown, but not whether there are any.
bool counts_agree(const Seen& a, const Seen& b) {
  return a.counts.records == b.counts.records && a.counts.damaged == b.counts.damaged &&
         (a.counts.lost_bytes > 0) == (b.counts.lost_bytes > 0);
}

std::vector<std::byte> packed(std::span<const std::byte> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<std::byte> to(size);
  if (compress2(reinterpret_cast<Bytef*>(to.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_BEST_SPEED) != Z_OK) {
    __builtin_trap();
  }
  to.resize(size);
  return to;
}

bool agree(const Seen& a, const Seen& b) {
  if (a.is_damaged != b.is_damaged || a.is_compressed != b.is_compressed) return false;
  const size_t common = std::min(a.records.size(), b.records.size());
  if (a.records.size() != b.records.size() && !(a.is_damaged && a.is_compressed)) return false;
  return std::equal(a.records.begin(), a.records.begin() + static_cast<ptrdiff_t>(common), b.records.begin());
}

void read_each_way(std::span<const std::byte> bytes) {
  for (const auto on_damage : {headpond::OnDamage::fail, headpond::OnDamage::skip}) {
    const headpond::RecordReaderOptions options = {
        .on_damage = on_damage, .max_record_bytes = 1 << 20, .max_inflated_bytes = 1 << 22};
    const Seen whole = read(headpond::RecordReader::over("fuzz", bytes, options));
    const Seen pieces = read(headpond::RecordReader::over(std::make_unique<Pieces>(bytes), options));
    if (!agree(whole, pieces) || (!whole.is_compressed && !counts_agree(whole, pieces))) __builtin_trap();
    if (!whole.is_open || whole.is_compressed || bytes.empty()) continue;
    Seen inflated = read(headpond::RecordReader::over("fuzz", packed(bytes), options));
    inflated.is_compressed = false;
    if (!agree(whole, inflated) || !counts_agree(whole, inflated)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  read_each_way(bytes);
  read_each_way(headpond::fuzz::mended_records(bytes));
  return 0;
}
