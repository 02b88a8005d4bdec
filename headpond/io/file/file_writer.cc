// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/file_writer.h"

#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <fcntl.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/file/system_internal.h"

namespace headpond {

class FileWriter::State {
 public:
  State(internal::UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<void> write(std::span<const std::byte> bytes) try {
    constexpr size_t kGatheredBytes = 64 * 1024;
    if (error_) return fail(error_);
    if (!file_) return fail(ErrorKind::FailedPrecondition, fmt::format("{}: write after close", path_));
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
    return gathered_.size() < kGatheredBytes ? Result<void>() : write_out();
  } catch (const std::bad_alloc&) {
    return kept(fail(current_exception_error()));
  }

  bool is_open() const { return static_cast<bool>(file_); }

  Result<void> close() {
    if (!file_) return error_ ? Result<void>(fail(error_)) : Result<void>();
    if (!error_) (void)write_out();
    if (!error_) (void)kept(internal::sync_file(file_, path_));
    const auto closed = internal::close_file(file_, path_);
    return error_ ? Result<void>(fail(error_)) : kept(closed);
  }

 private:
  Result<void> write_out() {
    auto written = kept(internal::write_all(file_, gathered_, path_));
    gathered_.clear();
    return written;
  }
  Result<void> kept(Result<void> result) {
    if (!result) error_ = result.error();
    return result;
  }

  internal::UniqueFd file_;
  const std::string path_;
  std::vector<std::byte> gathered_;
  Error error_;
};

FileWriter::FileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

FileWriter::~FileWriter() {
  if (!state_->is_open()) return;  // Then close() has reported its error.
  try {
    if (const auto closed = state_->close(); !closed) log(LogLevel::error, closed.error().to_string());
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "a file may not be whole: out of memory");
  }
}

Result<std::unique_ptr<FileWriter>> FileWriter::open(const std::string& path) {
  auto file = internal::open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return fail(std::move(file).error());
  return std::unique_ptr<FileWriter>(new FileWriter(std::make_unique<State>(std::move(*file), path)));
}

Result<void> FileWriter::write(std::string_view bytes) { return state_->write(std::as_bytes(std::span(bytes))); }
Result<void> FileWriter::close() { return state_->close(); }

class FileAppender::State {
 public:
  State(internal::UniqueFd appended, std::string of, bool stream)
      : file(std::move(appended)), path(std::move(of)), is_stream(stream) {}
  const internal::UniqueFd file;
  const std::string path;
  const bool is_stream;
};

FileAppender::FileAppender(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileAppender::FileAppender(FileAppender&& other) noexcept = default;
FileAppender& FileAppender::operator=(FileAppender&& other) noexcept = default;
FileAppender::~FileAppender() = default;

Result<FileAppender> FileAppender::open(const std::string& path) {
  const auto facts = internal::examine_path(path);
  const bool is_stream = facts && facts->is_stream;
  auto file = internal::open_file(path, O_WRONLY | O_APPEND | (is_stream ? 0 : O_CREAT | O_NONBLOCK));
  if (!file) return fail(std::move(file).error());
  if (!is_stream) HEADPOND_TRY(internal::regular_file_size(*file, path));
  return FileAppender(std::make_unique<State>(std::move(*file), path, is_stream));
}

Result<void> FileAppender::append(std::string_view bytes) {
  return internal::write_all(state_->file, std::as_bytes(std::span(bytes)), state_->path);
}
bool FileAppender::is_stream() const { return state_->is_stream; }
Result<void> FileAppender::sync() { return internal::sync_file(state_->file, state_->path); }

Result<void> rename_file(const std::string& from, const std::string& to) {
  HEADPOND_TRY(internal::rename_path(from, to));
  const auto folder = std::filesystem::path(to).parent_path();
  return internal::sync_folder(folder.empty() ? "." : folder.string());
}

Result<uint64_t> digest_of_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return fail(file.error());
  const auto bytes = (*file)->bytes();
  const uint64_t digest = XXH3_64bits(bytes.data(), bytes.size());
  HEADPOND_TRY((*file)->check());
  return digest;
}

}  // namespace headpond
