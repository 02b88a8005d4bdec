// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/compression/deflate_internal.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/file/replacement_internal.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond {
namespace {

using internal::Deflater;
using internal::DeflateStep;
using internal::FrameState;
constexpr size_t kGatheredBytes = size_t{64} << 10;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// The end of the records of a file whose last one may be torn by a crash.
Result<uint64_t> end_of_records(const MappedFile& file) {
  const auto all = file.bytes();
  uint64_t offset = 0, last = 0, record = 0;
  internal::Frame frame = {};
  while (offset < all.size()) {
    frame = internal::look_at_header(all.data() + offset, all.size() - offset, UINT64_MAX);
    if (frame.state != FrameState::whole) break;
    last = offset;
    offset += internal::kFrameBytes + frame.length;
    ++record;
  }
  const auto rest = all.subspan(offset);
  const bool is_zero = std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
  if (is_zero || frame.state != FrameState::bad_header) {
    const bool is_whole =
        offset == 0 || internal::look_at_frame(all.data() + last, offset - last, UINT64_MAX).state == FrameState::whole;
    HEADPOND_TRY(file.check());
    return is_whole ? offset : last;
  }
  HEADPOND_TRY(file.check());
  const Error cause = internal::frame_error({file.path(), offset, record}, frame, rest);
  return fail(Error(cause.kind(),
                    fmt::format("cannot append after damage that is not a torn tail: {}", cause.message()), cause));
}

}  // namespace

class RecordWriter::State {
 public:
  State(std::string path, const RecordWriterOptions& options) : path_(std::move(path)), options_(options) {}

  ~State() { drop_temp(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Result<void> open() {
    if (options_.compression != Compression::none) {
      auto deflater = Deflater::make(options_.compression, options_.level);
      if (!deflater) return fail(std::move(deflater).error());
      deflater_ = std::move(*deflater);
    }
    is_new_ = options_.mode == WriteMode::replace || !internal::examine_path(path_);
    if (options_.mode == WriteMode::append) return open_to_append();
    if (options_.mode == WriteMode::replace) {
      auto replacement = internal::make_replacement(path_);
      if (!replacement) return fail(std::move(replacement).error());
      file_ = std::move(replacement->file);
      temp_ = std::move(replacement->temp);
      target_ = std::move(replacement->target);
      has_temp_ = !temp_.empty();  // A pipe or a device has none.
      is_new_ = has_temp_;
      return {};
    }
    return take(internal::open_file(path_, O_WRONLY | O_CREAT | O_TRUNC));
  }

  Result<void> append(std::span<const std::byte> payload) {
    HEADPOND_TRY(usable("append"));
    const uint64_t length = payload.size();
    const uint32_t length_crc = masked_crc32c_u64(length), payload_crc = masked_crc32c(payload);
    const size_t before = gathered_.size();
    try {
      for (const auto part : {bytes_of(length), bytes_of(length_crc), payload, bytes_of(payload_crc)}) {
        gathered_.insert(gathered_.end(), part.begin(), part.end());
      }
    } catch (const std::bad_alloc&) {
      gathered_.resize(before);
      return fail(internal::no_memory(fmt::format("{}: no memory for a record of {} bytes", path_, length)));
    }
    ++records_;
    return gathered_.size() < kGatheredBytes ? Result<void>() : write_out(DeflateStep::gather);
  }

  Result<void> flush() {
    HEADPOND_TRY(usable("flush"));
    return write_out(DeflateStep::flush);
  }

  Result<void> close() try {
    if (!file_) return error_ ? Result<void>(fail(error_)) : Result<void>();
    Result<void> done = error_ ? Result<void>(fail(error_)) : write_out(DeflateStep::finish);
    if (done) done = kept(internal::sync_file(file_, name()));
    if (auto closed = kept(internal::close_file(file_, name())); done) done = closed;
    if (done && has_temp_) {
      done = kept(internal::rename_path(temp_, target_));
      has_temp_ = !done;
    }
    drop_temp();
    if (!done || !is_new_) return done;
    const auto folder = std::filesystem::path(target_.empty() ? path_ : target_).parent_path();
    return kept(internal::sync_folder(folder.empty() ? "." : folder.string()));
  } catch (const std::bad_alloc&) {
    return kept(fail(current_exception_error()));
  }

  // A file in mode replace stays as it was.
  Result<void> abandon() {
    if (!has_temp_) return file_ ? close() : Result<void>();
    file_ = {};
    drop_temp();
    return {};
  }

  const std::string& path() const { return path_; }
  uint64_t records() const { return records_; }
  uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  void drop_temp() {
    if (std::exchange(has_temp_, false)) ::unlink(temp_.c_str());
  }

  const std::string& name() const { return temp_.empty() ? path_ : temp_; }

  Result<void> take(Result<internal::UniqueFd> file) {
    if (!file) return fail(std::move(file).error());
    file_ = std::move(*file);
    return {};
  }

  tl::unexpected<Error> cannot_append(Compression to) const {
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: cannot append to a file compressed by {}", path_, to_string(to)));
  }

  Result<void> open_to_append() {
    if (deflater_ != nullptr) return cannot_append(options_.compression);
    // Without O_NONBLOCK opening a pipe without a reader would block for ever.
    HEADPOND_TRY(take(internal::open_file(path_, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK)));
    HEADPOND_TRY(internal::regular_file_size(file_, path_));
    const auto lock = internal::try_lock_file(file_, path_);
    if (!lock) return fail(lock.error());
    if (*lock == internal::LockState::elsewhere) {
      return fail(ErrorKind::FailedPrecondition, fmt::format("{}: another writer appends to it", path_));
    }
    const auto old = MappedFile::open(path_);
    if (!old) return fail(old.error());
    const auto bytes = (*old)->bytes();
    HEADPOND_TRY(unchanged(bytes.size()));
    const auto found = internal::guess_compression(bytes.first(std::min(bytes.size(), internal::kStartBytes)));
    if (found != Compression::none && !internal::is_front_of_header(bytes)) return cannot_append(found);
    const auto end = end_of_records(**old);
    if (!end) return fail(end.error());
    HEADPOND_TRY(unchanged(bytes.size()));
    cut_bytes_ = bytes.size() - *end;
    return cut_bytes_ == 0 ? Result<void>() : internal::truncate_file(file_, *end, path_);
  }

  // Other programs do not take the lock, so this checks that the name still belongs to the open file, which has `size`
  // bytes.
  Result<void> unchanged(uint64_t size) const {
    const auto mine = internal::examine(file_, path_), named = internal::examine_path(path_);
    if (!mine) return fail(mine.error());
    if (!named && named.error().kind() != ErrorKind::NotFound) return fail(named.error());
    if (named && named->is_same_file(*mine) && mine->size == size && named->size == size) return {};
    return fail(ErrorKind::FailedPrecondition, fmt::format("{}: another program changes it", path_));
  }

  Result<void> usable(const char* action) const {
    if (error_) return fail(error_);
    if (!file_) return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {} after close", path_, action));
    return {};
  }

  Result<void> write_out(DeflateStep step) try {
    packed_.clear();
    if (deflater_ != nullptr) deflater_->add(gathered_, step, packed_);
    auto written = kept(internal::write_all(file_, deflater_ != nullptr ? packed_ : gathered_, name()));
    gathered_.clear();
    return written;
  } catch (const std::bad_alloc&) {  // A part of it may be in the compressed stream already.
    return kept(fail(internal::no_memory(fmt::format("{}: no memory to compress", path_))));
  }

  Result<void> kept(Result<void> result) {
    if (!result && !error_) error_ = result.error();
    return result;
  }

  internal::UniqueFd file_;
  const std::string path_;
  const RecordWriterOptions options_;
  bool is_new_ = false;  // The name is new, so the folder must be synced too.
  std::string temp_;     // In mode replace: the name of the file until close().
  std::string target_;   // In mode replace: its name then, which is path_ unless that is a symbolic link.
  bool has_temp_ = false;
  std::unique_ptr<Deflater> deflater_;
  std::vector<std::byte> gathered_, packed_;
  uint64_t records_ = 0, cut_bytes_ = 0;
  Error error_;
};

RecordWriter::RecordWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

RecordWriter::~RecordWriter() {
  try {
    if (auto closed = state_->abandon(); !closed) log(LogLevel::error, closed.error().to_string());
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "a record file may not be whole: out of memory");
  }
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::open(const std::string& path) {
  return open(path, {.mode = WriteMode::in_place});
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::open(const std::string& path, const RecordWriterOptions& options) {
  auto state = std::make_unique<State>(path, options);
  HEADPOND_TRY(state->open());
  return std::unique_ptr<RecordWriter>(new RecordWriter(std::move(state)));
}

Result<void> RecordWriter::append(std::span<const std::byte> payload) { return state_->append(payload); }
Result<void> RecordWriter::flush() { return state_->flush(); }
Result<void> RecordWriter::close() { return state_->close(); }
const std::string& RecordWriter::path() const { return state_->path(); }
uint64_t RecordWriter::records() const { return state_->records(); }
uint64_t RecordWriter::cut_bytes() const { return state_->cut_bytes(); }

}  // namespace headpond
