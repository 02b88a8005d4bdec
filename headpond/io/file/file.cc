// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "headpond/io/file/file_span_internal.h"
#include "headpond/io/file/replacement_internal.h"
#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

using internal::UniqueFd;

class FileReader final : public ByteReader {
 public:
  FileReader(UniqueFd file, std::string path, uint64_t size, uint64_t offset)
      : file_(std::move(file)), path_(std::move(path)), size_(size), offset_(offset) {}

  Result<size_t> read(std::span<std::byte> to) override {
    const uint64_t wanted = std::min<uint64_t>(to.size(), size_ - offset_);
    if (wanted == 0) return 0;
    internal::FileSpan span("read", traced_path_.get(), offset_);
    auto got = internal::read_some(file_, to.first(wanted), path_);
    if (!got) return got;
    if (*got == 0) {
      return fail(
          ErrorKind::DataLoss,
          fmt::format("{} shrank while it was read: {} bytes when opened, now it ends at {}", path_, size_, offset_));
    }
    span.set_bytes(*got);
    offset_ += *got;
    return got;
  }
  uint64_t left_at_most() const override { return size_ - offset_; }
  const std::string& name() const override { return path_; }

 private:
  const UniqueFd file_;
  const std::string path_;
  internal::TracedPath traced_path_{path_};
  const uint64_t size_;
  uint64_t offset_;
};

class StreamReader final : public ByteReader {
 public:
  StreamReader(UniqueFd file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Result<size_t> read(std::span<std::byte> to) override {
    if (to.empty()) return 0;
    return internal::read_some(file_, to, name_);
  }
  uint64_t left_at_most() const override { return UINT64_MAX; }
  const std::string& name() const override { return name_; }

 private:
  const UniqueFd file_;
  const std::string name_;
};

class JoinedReader final : public ByteReader {
 public:
  JoinedReader(std::span<const std::byte> start, std::unique_ptr<ByteReader> rest)
      : start_(start.begin(), start.end()), rest_(std::move(rest)) {}
  Result<size_t> read(std::span<std::byte> to) override {
    if (given_ == start_.size()) return rest_->read(to);
    const size_t count = std::min(to.size(), start_.size() - given_);
    std::copy_n(start_.begin() + static_cast<ptrdiff_t>(given_), count, to.begin());
    given_ += count;
    return count;
  }
  uint64_t left_at_most() const override {
    const uint64_t rest = rest_->left_at_most(), start = start_.size() - given_;
    return rest > UINT64_MAX - start ? UINT64_MAX : rest + start;
  }
  const std::string& name() const override { return rest_->name(); }

 private:
  const std::vector<std::byte> start_;
  size_t given_ = 0;
  const std::unique_ptr<ByteReader> rest_;
};

class MemoryReader final : public ByteReader {
 public:
  MemoryReader(std::string name, std::span<const std::byte> bytes) : name_(std::move(name)), bytes_(bytes) {}

  Result<size_t> read(std::span<std::byte> to) override {
    const size_t count = std::min(to.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, to.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }
  uint64_t left_at_most() const override { return bytes_.size(); }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_;
  std::span<const std::byte> bytes_;
};

}  // namespace

Result<size_t> read_fully(ByteReader& reader, std::span<std::byte> to) {
  size_t total = 0;
  while (total < to.size()) {
    auto got = reader.read(to.subspan(total));
    if (!got) return got;
    if (*got == 0) break;
    total += *got;
  }
  return total;
}

Result<std::unique_ptr<ByteReader>> open_file_reader(const std::string& path) { return open_file_reader(path, 0); }

Result<std::unique_ptr<ByteReader>> open_file_reader(const std::string& path, uint64_t offset) {
  internal::FileSpan span("open", internal::TracedPath(path).get(), offset);
  // Without O_NONBLOCK opening a pipe without a writer would block for ever.
  auto file = internal::open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(std::move(file).error());
  auto size = internal::regular_file_size(*file, path);
  if (!size) return fail(std::move(size).error());
  span.set_bytes(*size);
  if (offset > *size) {
    return fail(ErrorKind::DataLoss, fmt::format("{} has {} bytes: nothing is at offset {}", path, *size, offset));
  }
  if (offset > 0) HEADPOND_TRY(internal::seek_to(*file, offset, path));
  return std::make_unique<FileReader>(std::move(*file), path, *size, offset);
}

std::unique_ptr<ByteReader> make_memory_reader(std::string name, std::span<const std::byte> bytes) {
  return std::make_unique<MemoryReader>(std::move(name), bytes);
}

Result<std::unique_ptr<ByteReader>> open_stream_reader(const std::string& path) {
  const bool standard_input = path == "-";
  auto file =
      standard_input ? internal::duplicate(STDIN_FILENO, "standard input") : internal::open_file(path, O_RDONLY);
  if (!file) return fail(std::move(file).error());
  return std::make_unique<StreamReader>(std::move(*file), standard_input ? "standard input" : path);
}

std::unique_ptr<ByteReader> make_joined_reader(std::span<const std::byte> start, std::unique_ptr<ByteReader> rest) {
  return std::make_unique<JoinedReader>(start, std::move(rest));
}

Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t limit) {
  auto reader = open_file_reader(path);
  if (!reader) return fail(std::move(reader).error());
  const uint64_t size = (*reader)->left_at_most();
  if (size > limit) {
    return fail(ErrorKind::ResourceExhausted, fmt::format("{} has {} bytes, the limit is {}", path, size, limit));
  }
  std::vector<std::byte> bytes(size);
  HEADPOND_TRY(read_fully(**reader, bytes));
  return bytes;
}

Result<bool> read_file_of_size(const std::string& path, std::span<std::byte> to) {
  const auto file = internal::open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(file.error());
  return internal::read_exactly(*file, to, path);
}

Result<FileHead> read_file_head(const std::string& path, std::span<std::byte> to) {
  const auto file = internal::open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(file.error());
  const auto size = internal::regular_file_size(*file, path);
  if (!size) return fail(size.error());
  const auto wanted = to.first(std::min<uint64_t>(to.size(), *size));
  const auto got = internal::read_at(*file, 0, wanted, path);
  if (!got) return fail(got.error());
  if (*got < wanted.size()) {
    return fail(ErrorKind::DataLoss,
                fmt::format("{} shrank while it was read: {} bytes when opened, now it ends at {}", path, *size, *got));
  }
  return FileHead{.bytes = *got, .file_bytes = *size};
}

Result<void> write_file_atomically(const std::string& path, std::initializer_list<std::span<const std::byte>> pieces) {
  return internal::replace_file(path, {pieces.begin(), pieces.size()}, 0, true);
}

Result<void> make_folders(const std::string& path) { return internal::make_folders(path); }

Error file_error(std::string_view action, const std::string& path, int error_number) {
  return internal::system_error(action, path, error_number);
}

Result<std::string> cache_folder() {
  // By the XDG specification, a relative path counts as not set.
  const auto absolute = [](const char* variable) -> const char* {
    const char* value = std::getenv(variable);
    return value != nullptr && value[0] == '/' ? value : nullptr;
  };
  if (const char* cache = absolute("XDG_CACHE_HOME")) return std::string(cache) + "/headpond";
  if (const char* home = absolute("HOME")) return std::string(home) + "/.cache/headpond";
  return fail(ErrorKind::FailedPrecondition,
              "no cache folder: neither XDG_CACHE_HOME nor HOME holds an absolute path; set one of them");
}

}  // namespace headpond
