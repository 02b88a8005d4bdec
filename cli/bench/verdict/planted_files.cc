// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/verdict/planted_files.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "headpond/base/random.h"
#include "headpond/io/file/file.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::cli {
namespace {

constexpr int64_t kRecordBytes = 512 << 10;

std::string make_folder() {
  std::string path = std::filesystem::temp_directory_path() / "headpond-planted-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path);
  return path;
}

// Digits at random: each is a code of its own, so that inflating them takes long.
std::string record(int64_t number) {
  std::string text;
  for (uint64_t i = 0; std::ssize(text) < kRecordBytes; ++i) {
    text += fmt::format("{:016x}", mix(static_cast<uint64_t>(number), i));
  }
  return text;
}

// The bytes of a TFRecord file with one batch.
std::vector<std::byte> batch_in(const std::string& folder, int64_t rows) {
  const std::string path = folder + "/batch";
  const auto writer = value_or_throw(RecordWriter::open(path));
  for (int64_t row = 0; row < rows; ++row) value_or_throw(writer->append(record(row)));
  value_or_throw(writer->close());
  return value_or_throw(read_file(path));
}

// `bytes` as blocks of the format deflate, complete in themselves: files may hold them again and again.
std::string deflated(std::span<const std::byte> bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string blocks(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(blocks.data());
  stream.avail_out = static_cast<uInt>(blocks.size());
  deflate(&stream, Z_FULL_FLUSH);
  blocks.resize(blocks.size() - stream.avail_out);
  deflateEnd(&stream);
  return blocks;
}

// What follows the blocks of `count` times `bytes`: an empty last block, and a checksum.
std::string trailer(std::span<const std::byte> bytes, int64_t count) {
  const auto size = static_cast<z_off_t>(bytes.size());
  const uLong one = adler32(1, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(size));
  uLong all = 1;
  for (int64_t i = 0; i < count; ++i) all = adler32_combine(all, one, size);
  std::string text("\x03\0", 2);
  for (int i = 3; i >= 0; --i) text += static_cast<char>(all >> (8 * i));
  return text;
}

}  // namespace

PlantedFiles::PlantedFiles(int64_t batches, int64_t rows, int files, bool zlib) : folder_(make_folder()) {
  const std::vector<std::byte> bytes = batch_in(folder_, rows);
  const std::string blocks =
      zlib ? deflated(bytes) : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (int i = 0; i < files; ++i) {
    const int64_t count = batches * (i + 1) / files - batches * i / files;
    paths_.push_back(fmt::format("{}/{:02}.tfrecord{}", folder_, i, zlib ? ".z" : ""));
    std::ofstream out(paths_.back(), std::ios::binary);
    if (zlib) out << "\x78\x01";
    for (int64_t k = 0; k < count; ++k) out << blocks;
    if (zlib) out << trailer(bytes, count);
    out.close();
    if (!out) throw std::system_error(errno, std::generic_category(), paths_.back());
  }
}

PlantedFiles::~PlantedFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace headpond::cli
