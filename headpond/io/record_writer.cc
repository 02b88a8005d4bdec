// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record_writer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/system_internal.h"

namespace headpond {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr size_t kGatheredBytes = size_t{64} << 10;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

class RecordWriter::State {
 public:
  State(internal::Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<void> append(std::span<const std::byte> payload) {
    HEADPOND_TRY(usable("append"));
    const uint64_t length = payload.size();
    const uint32_t length_crc = masked_crc32c(bytes_of(length)), payload_crc = masked_crc32c(payload);
    for (const auto part : {bytes_of(length), bytes_of(length_crc), payload, bytes_of(payload_crc)}) {
      gathered_.insert(gathered_.end(), part.begin(), part.end());
    }
    return gathered_.size() < kGatheredBytes ? Result<void>() : write_out();
  }

  Result<void> flush() {
    HEADPOND_TRY(usable("flush"));
    return write_out();
  }

  Result<void> close() {
    if (!file_) return {};
    Result<void> done = error_ ? Result<void>(fail(error_)) : write_out();
    if (done) done = kept(internal::sync_file(file_, path_));
    auto closed = kept(internal::close_file(file_, path_));
    return done ? closed : done;
  }

  const std::string& path() const { return path_; }

 private:
  Result<void> usable(const char* action) const {
    if (error_) return fail(error_);
    if (!file_) return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {} after close", path_, action));
    return {};
  }

  Result<void> write_out() {
    auto written = kept(internal::write_all(file_, gathered_, path_));
    gathered_.clear();
    return written;
  }

  Result<void> kept(Result<void> result) {
    if (!result) error_ = result.error();
    return result;
  }

  internal::Descriptor file_;
  const std::string path_;
  std::vector<std::byte> gathered_;
  Error error_;
};

RecordWriter::RecordWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

RecordWriter::~RecordWriter() {
  if (auto closed = close(); !closed) log(LogLevel::error, closed.error().to_string());
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::open(const std::string& path) {
  auto file = internal::open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return fail(std::move(file).error());
  return std::unique_ptr<RecordWriter>(new RecordWriter(std::make_unique<State>(std::move(*file), path)));
}

Result<void> RecordWriter::append(std::span<const std::byte> payload) { return state_->append(payload); }
Result<void> RecordWriter::flush() { return state_->flush(); }
Result<void> RecordWriter::close() { return state_->close(); }
const std::string& RecordWriter::path() const { return state_->path(); }

}  // namespace headpond
