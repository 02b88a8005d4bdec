// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/system_internal.h"

namespace headpond::internal {
namespace {

std::atomic<const FaultInjection::Hook*> g_hook = nullptr;

Fault fault(std::string_view call) {
  const FaultInjection::Hook* hook = g_hook.load(std::memory_order_acquire);
  return hook == nullptr ? Fault{} : (*hook)(call);
}

// Runs `body`, a system call (negative and errno on failure), until no signal interrupts it.
template <class Body>
auto call(std::string_view name, Body body) -> decltype(body(Fault{})) {
  while (true) {
    const Fault injected = fault(name);
    errno = injected.error;
    const auto result = injected.error != 0 ? -1 : body(injected);
    if (result >= 0 || errno != EINTR) return result;
  }
}

ErrorKind kind_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::NotFound;
    case EIO:
    case EREMOTEIO:
    case EBADMSG:
    case EUCLEAN:
      return ErrorKind::DataLoss;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ENOLCK:
    case EAGAIN:
      return ErrorKind::ResourceExhausted;
    case ETIMEDOUT:
      return ErrorKind::DeadlineExceeded;
    default:
      return ErrorKind::FailedPrecondition;
  }
}

FileFacts facts_of(const struct stat& status) {
  return {status.st_dev,
          status.st_ino,
          static_cast<uint64_t>(status.st_size),
          nanoseconds_since_1970(status.st_mtim.tv_sec, status.st_mtim.tv_nsec),
          nanoseconds_since_1970(status.st_ctim.tv_sec, status.st_ctim.tv_nsec),
          S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode)};
}

tl::unexpected<Error> failure(std::string_view action, const std::string& path) {
  return fail(system_error(action, path, errno));
}

}  // namespace

int64_t nanoseconds_since_1970(int64_t seconds, int64_t nanoseconds) {
  int64_t all = 0;
  const bool fits =
      !__builtin_mul_overflow(seconds, int64_t{1'000'000'000}, &all) && !__builtin_add_overflow(all, nanoseconds, &all);
  return fits ? all : seconds < 0 ? INT64_MIN : INT64_MAX;
}

Error system_error(std::string_view action, const std::string& path, int error_number) {
  const char* name = strerrorname_np(error_number);
  return Error::of_system(
      kind_of(error_number),
      fmt::format("cannot {} {}: {} ({})", action, path, std::generic_category().message(error_number),
                  name != nullptr ? name : "unknown error number"),
      error_number);
}

Result<UniqueFd> open_file(const std::string& path, int flags) {
  UniqueFd file(call("open", [&](Fault) { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); }));
  if (!file) return failure("open", path);
  return file;
}

Result<UniqueFd> duplicate(int fd, const std::string& name) {
  UniqueFd file(call("dup", [&](Fault) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }));
  if (!file) return failure("open", name);
  return file;
}

Result<FileFacts> examine_regular(const UniqueFd& file, const std::string& path) {
  struct stat status = {};
  if (call("fstat", [&](Fault) { return ::fstat(file.get(), &status); }) < 0) return failure("examine", path);
  if (S_ISDIR(status.st_mode)) return fail(ErrorKind::FailedPrecondition, fmt::format("{} is a folder", path));
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::FailedPrecondition, fmt::format("{} is not a file", path));
  return facts_of(status);
}

Result<uint64_t> regular_file_size(const UniqueFd& file, const std::string& path) {
  const auto facts = examine_regular(file, path);
  if (!facts) return fail(facts.error());
  return facts->size;
}

Result<FileFacts> examine(const UniqueFd& file, const std::string& path) {
  struct stat status = {};
  if (call("fstat", [&](Fault) { return ::fstat(file.get(), &status); }) < 0) return failure("examine", path);
  return facts_of(status);
}

Result<FileFacts> examine_path(const std::string& path) {
  struct stat status = {};
  if (call("stat", [&](Fault) { return ::stat(path.c_str(), &status); }) < 0) return failure("examine", path);
  return facts_of(status);
}

Result<std::optional<uint64_t>> size_unless_folder_in(const UniqueFd& folder, const char* name,
                                                      const std::string& path) {
  struct stat status = {};
  if (call("stat", [&](Fault) { return ::fstatat(folder.get(), name, &status, 0); }) < 0) {
    return failure("examine", path);
  }
  if (S_ISDIR(status.st_mode)) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::FailedPrecondition, fmt::format("{} is not a file", path));
  return static_cast<uint64_t>(status.st_size);
}

Result<FileFacts> examine_in(const UniqueFd& folder, const char* name, const std::string& path) {
  struct stat status = {};
  if (call("stat", [&](Fault) { return ::fstatat(folder.get(), name, &status, 0); }) < 0) {
    return failure("examine", path);
  }
  return facts_of(status);
}

Result<std::span<const std::byte>> map_file(const UniqueFd& file, uint64_t size, const std::string& path) {
  if (size == 0) return std::span<const std::byte>();
  void* at = nullptr;
  const int mapped = call("mmap", [&](Fault) {
    at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    return at == MAP_FAILED ? -1 : 0;
  });
  if (mapped < 0) return failure("map", path);
  return std::span<const std::byte>(static_cast<const std::byte*>(at), size);
}

Result<size_t> read_some(const UniqueFd& file, std::span<std::byte> to, const std::string& path) {
  const ssize_t got =
      call("read", [&](Fault injected) { return ::read(file.get(), to.data(), std::min(to.size(), injected.bytes)); });
  if (got < 0) return failure("read", path);
  count_read(static_cast<uint64_t>(got));
  return static_cast<size_t>(got);
}

Result<bool> read_exactly(const UniqueFd& file, std::span<std::byte> to, const std::string& path) {
  const ssize_t got = call("read", [&](Fault injected) {
    std::byte beyond = {};  // A byte that arrives here shows that the file is longer.
    const std::array<iovec, 2> parts = {iovec{to.data(), std::min(to.size(), injected.bytes)}, iovec{&beyond, 1}};
    return ::readv(file.get(), parts.data(), injected.bytes > to.size() ? 2 : 1);
  });
  if (got < 0) return failure("read", path);
  count_read(static_cast<uint64_t>(got));
  return std::cmp_equal(got, to.size());
}

Result<size_t> read_at(const UniqueFd& file, uint64_t offset, std::span<std::byte> to, const std::string& path) {
  size_t all = 0;
  while (all < to.size()) {
    const auto rest = to.subspan(all);
    const ssize_t got = call("pread", [&](Fault injected) {
      return ::pread(file.get(), rest.data(), std::min(rest.size(), injected.bytes), static_cast<off_t>(offset + all));
    });
    if (got < 0) return failure("read", path);
    if (got == 0) break;
    count_read(static_cast<uint64_t>(got));
    all += static_cast<size_t>(got);
  }
  return all;
}

Result<void> seek_to(const UniqueFd& file, uint64_t offset, const std::string& path) {
  const off_t at = call("lseek", [&](Fault) { return ::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET); });
  if (at < 0) return failure("seek in", path);
  return {};
}

Result<void> write_all(const UniqueFd& file, std::span<const std::byte> from, const std::string& path) {
  while (!from.empty()) {
    const ssize_t put = call("write", [&](Fault injected) {
      return ::write(file.get(), from.data(), std::min(from.size(), injected.bytes));
    });
    if (put < 0) return failure("write", path);
    from = from.subspan(static_cast<size_t>(put));
  }
  return {};
}

Result<void> write_at(const UniqueFd& file, uint64_t offset, std::span<const std::byte> from, const std::string& path) {
  while (!from.empty()) {
    const ssize_t put = call("pwrite", [&](Fault injected) {
      return ::pwrite(file.get(), from.data(), std::min(from.size(), injected.bytes), static_cast<off_t>(offset));
    });
    if (put < 0) return failure("write", path);
    from = from.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return {};
}

Result<void> truncate_file(const UniqueFd& file, uint64_t size, const std::string& path) {
  if (call("ftruncate", [&](Fault) { return ::ftruncate(file.get(), static_cast<off_t>(size)); }) < 0) {
    return failure("cut", path);
  }
  return {};
}

Result<void> sync_file(const UniqueFd& file, const std::string& path) {
  // EINVAL: a pipe or a device, which cannot be synced.
  if (call("fsync", [&](Fault) { return ::fsync(file.get()); }) < 0 && errno != EINVAL) return failure("sync", path);
  return {};
}

Result<void> close_file(UniqueFd& file, const std::string& path) {
  // Not repeated after a signal: Linux has closed the file by then.
  const Fault injected = fault("close");
  int result = ::close(file.release());
  if (injected.error != 0) {
    errno = injected.error;
    result = -1;
  }
  if (result < 0 && errno != EINTR) return failure("close", path);
  return {};
}

Result<std::optional<std::string>> read_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length =
      call("readlink", [&](Fault) { return ::readlink(path.c_str(), target.data(), target.size()); });
  if (length < 0 && (errno == EINVAL || errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (length < 0) return failure("read the link", path);
  target.resize(static_cast<size_t>(length));
  return target;
}

Result<std::optional<uint32_t>> mode_of(const std::string& path) {
  struct stat status = {};
  const int done = call("stat", [&](Fault) { return ::stat(path.c_str(), &status); });
  if (done < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (done < 0) return failure("examine", path);
  return status.st_mode;
}

Result<void> touch_file(const std::string& path) {
  if (call("utimensat", [&](Fault) { return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }) < 0) {
    return failure("set the time of", path);
  }
  return {};
}

Result<void> change_mode(const UniqueFd& file, uint32_t mode, const std::string& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) == 0 && (status.st_mode & 0777) == mode) return {};  // Some file systems refuse it.
  if (call("fchmod", [&](Fault) { return ::fchmod(file.get(), mode); }) < 0) return failure("set the mode of", path);
  return {};
}

Result<UniqueFd> make_unique_file(std::string& path) {
  const std::string stem = path.substr(0, path.size() - 6);
  // mkstemp does the same, but with a mode that ignores the umask.
  UniqueFd file(call("open", [&](Fault) {
    int made = -1;
    for (int tries = 0; tries < 100 && made < 0 && (tries == 0 || errno == EEXIST); ++tries) {
      path = stem + fmt::format("{:06x}", entropy() & 0xffffff);
      made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return made;
  }));
  if (!file) return failure("make the file", path);
  return file;
}

Result<void> make_unique_folder(std::string& path) {
  const std::string pattern = path;
  const int made = call("mkdtemp", [&](Fault) {
    path = pattern;
    return ::mkdtemp(path.data()) == nullptr ? -1 : 0;
  });
  if (made < 0) return failure("make the folder", pattern);
  return {};
}

Result<void> rename_path(const std::string& from, const std::string& to) {
  if (call("rename", [&](Fault) { return std::rename(from.c_str(), to.c_str()); }) < 0) {
    return failure(fmt::format("rename {} to", from), to);
  }
  return {};
}

Result<void> sync_folder(const std::string& folder) {
  auto opened = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail(std::move(opened).error());
  return sync_file(*opened, folder);
}

Result<std::vector<FolderEntry>> list_folder(const std::string& folder) {
  DIR* opened = nullptr;
  const int has_opened = call("opendir", [&](Fault) {
    opened = ::opendir(folder.c_str());
    return opened == nullptr ? -1 : 0;
  });
  if (has_opened < 0) return failure("list", folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opened, ::closedir);
  std::vector<FolderEntry> all;
  while (true) {
    const dirent* entry = nullptr;
    const int done = call("readdir", [&](Fault) {
      errno = 0;
      entry = ::readdir(entries.get());
      return entry == nullptr && errno != 0 ? -1 : 0;
    });
    if (done < 0) return failure("list", folder);
    if (entry == nullptr) return all;
    if (entry->d_name[0] == '.') continue;
    struct stat status = {};
    const bool is_unknown = entry->d_type == DT_UNKNOWN;
    const bool is_folder = is_unknown ? ::fstatat(::dirfd(opened), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                                            S_ISDIR(status.st_mode)
                                      : entry->d_type == DT_DIR;
    all.push_back({entry->d_name, is_folder});
  }
}

Result<void> make_folders(const std::string& path) {
  const int made = call("mkdir", [&](Fault) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    errno = error.value();
    return error ? -1 : 0;
  });
  if (made < 0) return failure("make the folder", path);
  return {};
}

Result<LockState> try_lock_file(const UniqueFd& file, const std::string& path) {
  if (call("flock", [&](Fault) { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) >= 0) return LockState::taken;
  if (errno == EWOULDBLOCK) return LockState::elsewhere;
  if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) return LockState::unknown;
  return failure("lock", path);
}

Result<FileLock> lock_file(const std::string& path, const std::stop_token& stop) {
  auto file = open_file(path, O_RDWR | O_CREAT);
  if (!file) return fail(std::move(file).error());
  while (true) {
    const auto state = try_lock_file(*file, path);
    if (!state) return fail(state.error());
    if (*state != LockState::elsewhere) return FileLock{std::move(*file), *state == LockState::taken};
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, fmt::format("stopped while waiting for {}", path));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int injected_error(std::string_view call) { return fault(call).error; }

FaultInjection::FaultInjection(Hook hook) : hook_(std::move(hook)) { g_hook.store(&hook_, std::memory_order_release); }

FaultInjection::~FaultInjection() { g_hook.store(nullptr, std::memory_order_release); }

}  // namespace headpond::internal
