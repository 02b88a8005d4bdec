// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file_span_internal.h"
#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

using internal::FileFacts;
constexpr size_t kStartBytes = 4096;

uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

uint32_t start_crc(std::span<const std::byte> bytes) {
  return crc32c(bytes.first(std::min(bytes.size(), kStartBytes)));
}

}  // namespace

class MappedFile::State {
 public:
  State(std::string path, FileFacts facts, std::span<const std::byte> bytes)
      : path_(std::move(path)), facts_(facts), bytes_(bytes) {
    if (bytes_.empty()) return;
    guard_.emplace(bytes_);
    start_crc_ = start_crc(bytes_);
  }
  ~State() {
    if (bytes_.empty()) return;
    guard_.reset();
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool lost() const { return guard_ && guard_->lost(); }

  Result<void> check() const {
    const bool was_lost = lost();  // First: earlier reads must be complete before the system is asked.
    const auto now = internal::examine_path(path_);
    const bool is_this = now && now->is_same_file(facts_);
    if (is_this && now->size < facts_.size) {
      return fail(ErrorKind::DataLoss, fmt::format("{} shrank while it was read: {} bytes when opened, {} now", path_,
                                                   facts_.size, now->size));
    }
    const bool is_other = is_this && now->modified_ns != facts_.modified_ns && start_crc(bytes_) != start_crc_;
    if (was_lost || lost()) {
      return fail(Error::of_system(
          ErrorKind::DataLoss, fmt::format("{}: a part could not be read: the file shrank, or the disk failed", path_),
          EIO));
    }
    if (is_other) return fail(ErrorKind::DataLoss, fmt::format("{} was rewritten while it was read", path_));
    return {};
  }

  Result<bool> is_longer() const {
    if (auto whole = check(); !whole) return fail(std::move(whole).error());
    const auto now = internal::examine_path(path_);
    return now && now->is_same_file(facts_) && now->size > facts_.size;
  }

  const std::string path_;
  const FileFacts facts_;
  const std::span<const std::byte> bytes_;

 private:
  std::optional<internal::MappingGuard> guard_;
  uint32_t start_crc_ = 0;
};

MappedFile::MappedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedFile::~MappedFile() = default;

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  internal::FileSpan span("open", internal::TracedPath(path).get(), 0);
  auto file = internal::open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(std::move(file).error());
  const auto facts = internal::examine_regular(*file, path);
  if (!facts) return fail(facts.error());
  span.set_bytes(facts->size);
  return of(*file, *facts, path);
}

Result<std::unique_ptr<MappedFile>> MappedFile::of(const internal::UniqueFd& file, const FileFacts& facts,
                                                   const std::string& path) {
  auto bytes = internal::map_file(file, facts.size, path);
  if (!bytes) return fail(std::move(bytes).error());
  return std::unique_ptr<MappedFile>(new MappedFile(std::make_unique<State>(path, facts, *bytes)));
}

std::span<const std::byte> MappedFile::bytes() const { return state_->bytes_; }
const std::string& MappedFile::path() const { return state_->path_; }
int64_t MappedFile::modified_ns() const { return state_->facts_.modified_ns; }
int64_t MappedFile::changed_ns() const { return state_->facts_.changed_ns; }
bool MappedFile::lost() const { return state_->lost(); }
Result<void> MappedFile::check() const { return state_->check(); }

// After a cut, bytes up to the end of the page read as zeros, and later pages are missing, which touching the last page
// reveals. So the system must be asked only for bytes that end in the last page.
Result<void> MappedFile::check_read(std::span<const std::byte> read) const {
  bool must_ask = false;
  if (!read.empty() && read.back() == std::byte{0}) {
    const std::span<const std::byte> all = bytes();
    (void)*static_cast<const volatile std::byte*>(&all.back());
    const auto last = static_cast<uint64_t>(&read.back() - all.data());
    must_ask = last / page_bytes() == (all.size() - 1) / page_bytes();
  }
  return must_ask || lost() ? check() : Result<void>();
}

Result<std::unique_ptr<MappedFile>> MappedFile::grown() const {
  const auto longer = state_->is_longer();
  if (!longer) return fail(longer.error());
  if (!*longer) return nullptr;
  auto now = open(state_->path_);
  const bool is_this = now && (*now)->state_->facts_.is_same_file(state_->facts_);
  return is_this && (*now)->bytes().size() > bytes().size() ? std::move(now) : nullptr;
}

void MappedFile::will_need(uint64_t offset, uint64_t length) const {
  const std::span<const std::byte> all = bytes();
  if (offset >= all.size() || length == 0) return;
  const uint64_t begin = offset & ~(page_bytes() - 1), end = offset + std::min(length, all.size() - offset);
  ::madvise(const_cast<std::byte*>(all.data()) + begin, end - begin, MADV_WILLNEED);
}

}  // namespace headpond
