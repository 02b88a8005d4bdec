// SPDX-License-Identifier: Apache-2.0
// The records of a gzip file by number: of any bytes that begin like gzip, and of any bytes compressed, unchanged and
// with right checksums. They must be those that a reader finds in order, as far as both come, and all of them where the
// file is whole.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fuzz/mended.h"
#include "headpond/base/crc32c.h"
#include "headpond/io/inflated/chunk_sizes.h"
#include "headpond/io/record/gzip_records.h"
#include "headpond/io/record/record_reader.h"

namespace {

using headpond::ErrorKind;
using headpond::fuzz::Bytes;
using headpond::internal::GzipRecords;

constexpr size_t kBlockBytes = 64;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

// One file a process, which is removed when it ends.
class OnDisk {
 public:
  OnDisk() {
    const int fd = mkstemp(name_.data());
    require(fd >= 0 && close(fd) == 0);
  }
  ~OnDisk() { (void)std::remove(name_.c_str()); }
  OnDisk(const OnDisk&) = delete;
  OnDisk& operator=(const OnDisk&) = delete;
  const std::string& put(std::span<const std::byte> bytes) const {
    std::FILE* const file = std::fopen(name_.c_str(), "wb");
    require(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
    require(std::fclose(file) == 0);
    return name_;
  }

 private:
  std::string name_ = "/tmp/gzip_records_fuzz_XXXXXX";
};

// With a block, where a point may lie, for each kBlockBytes.
Bytes compressed(Bytes bytes) {
  z_stream stream = {};
  require(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes to(deflateBound(&stream, bytes.size()) + 16 * (bytes.size() / kBlockBytes + 2));
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = static_cast<uInt>(to.size());
  for (size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data() + at);
    stream.avail_in = static_cast<uInt>(std::min(kBlockBytes, bytes.size() - at));
    require(deflate(&stream, Z_FULL_FLUSH) == Z_OK);
  }
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  to.resize(to.size() - stream.avail_out);
  require(deflateEnd(&stream) == Z_OK);
  return to;
}

std::vector<uint32_t> in_order(std::span<const std::byte> file, headpond::RecordCounts& counts) {
  const auto reader = headpond::RecordReader::over(
      "fuzz", file, {.on_damage = headpond::OnDamage::skip, .compression = headpond::Compression::gzip});
  std::vector<uint32_t> records;
  while (reader) {
    const auto payload = (*reader)->next();
    if (!payload || !*payload) break;
    records.push_back(headpond::crc32c(**payload));
  }
  if (reader) counts = (*reader)->counts();
  return records;
}

std::vector<uint32_t> by_number(const GzipRecords& file) {
  std::vector<uint32_t> records;
  uint64_t least = 0;
  for (int64_t i = 0; i < file.size(); ++i) {
    const auto record = file.at(i, i % 2 == 0);
    const auto offset = file.offset_of(i);
    require(record && offset && *offset >= least);
    least = *offset + 16;
    if (!record->damage) records.push_back(headpond::crc32c(std::as_bytes(std::span(record->payload))));
    require(!record->damage || record->damage.kind() == ErrorKind::DataLoss);
  }
  return records;
}

void read(std::span<const std::byte> bytes) {
  static const OnDisk disk;
  const std::string& path = disk.put(bytes);
  headpond::RecordCounts counts;
  const std::vector<uint32_t> expected = in_order(bytes, counts);
  for (const bool allow_damaged_end : {false, true}) {
    const auto file = GzipRecords::open(path, {.keep_index = false, .allow_damaged_end = allow_damaged_end});
    if (!file) {
      require(file.error().kind() == ErrorKind::DataLoss || file.error().kind() == ErrorKind::Unimplemented ||
              file.error().kind() == ErrorKind::ResourceExhausted);
      continue;
    }
    require(allow_damaged_end || (*file)->is_whole());
    const std::vector<uint32_t> found = by_number(**file);
    const auto common = static_cast<ptrdiff_t>(std::min(found.size(), expected.size()));
    require(std::equal(found.begin(), found.begin() + common, expected.begin()));
    if ((*file)->is_whole()) require(found.size() == expected.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headpond::internal::chunk_bytes = 100;
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  if (size > 2 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8) read(bytes);
  read(compressed({bytes.begin(), bytes.end()}));
  read(compressed(headpond::fuzz::mended_records(bytes)));
  return 0;
}
