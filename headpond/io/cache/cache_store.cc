// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/cache_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <xxhash.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/io/cache/cache_index_internal.h"
#include "headpond/io/cache/cache_segments_internal.h"
#include "headpond/io/cache/element_record.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

using internal::CacheKey;
using internal::EntryKind;
using internal::IndexEntry;

constexpr int kMostDamageLines = 10;

CacheKey key_of(std::string_view plan_text) {
  const XXH128_hash_t hash = XXH3_128bits(plan_text.data(), plan_text.size());
  return {hash.low64, hash.high64};
}

uint64_t hash_of_record(std::span<const std::byte> record) { return XXH3_64bits(record.data(), record.size()); }

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t bytes_in(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code none;
    if (entry->path().filename().string().starts_with("data-")) bytes += entry->file_size(none);
  }
  return bytes;
}

// The caches that are in the same folder as this one.
int64_t count_others(const std::string& folder) {
  int64_t others = 0;
  std::error_code error;
  const std::filesystem::path own(folder);
  for (std::filesystem::directory_iterator entry(own.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code none;
    const bool is_cache = std::filesystem::exists(entry->path() / internal::kCachePlanFile, none);
    others += is_cache && entry->path().filename() != own.filename() ? 1 : 0;
  }
  return others;
}

}  // namespace

std::string internal::cache_name(std::string_view plan_text) { return key_of(plan_text).text(); }

std::string internal::plan_file_text(const CachePlan& plan) {
  return fmt::format("{}slots={}\n{}", kPlanFileStart, plan.slots, plan.text);
}

struct CacheStore::State {
  State(const std::string& parent, const CachePlan& made_of, int64_t limit)
      : key(key_of(made_of.text)),
        folder(parent + "/" + key.text()),
        plan_path(fmt::format("{}/{}", folder, internal::kCachePlanFile)),
        most_bytes(limit),
        index(folder, key),
        segments(folder) {}

  // Makes the folder and its plan file. An error leaves a store that only reads.
  Result<void> begin(const CachePlan& made_of) {
    HEADPOND_TRY(make_folders(folder));
    const std::string text = internal::plan_file_text(made_of);
    auto opened = internal::open_file(folder, O_RDONLY | O_DIRECTORY);
    if (!opened) return fail(std::move(opened).error());
    held = std::move(*opened);
    const auto there = read_file(plan_path, text.size());
    begun_with = bytes_in(folder);
    if (::access(folder.c_str(), W_OK) != 0) return fail(file_error("write to", folder, EACCES));
    if (there && text_of(*there) == text) {
      (void)internal::touch_file(plan_path);  // When it was last used, for `headpond cache ls`.
      return {};
    }
    HEADPOND_TRY(write_file_atomically(plan_path, {std::as_bytes(std::span(text))}));
    if (const int64_t others = count_others(folder); others > 0) {
      begins_beside_others = fmt::format(
          "cache {} begins empty; caches of other pipelines, versions or data in the same folder: {}", folder, others);
    }
    return {};
  }
  // False iff somebody removed the cache; perhaps another process has made it again since.
  bool is_there() const {
    if (!held) return false;
    const auto own = internal::examine(held, folder), now = internal::examine_path(folder);
    if (!now && now.error().kind() == ErrorKind::NotFound) return false;
    return !own || !now || now->is_same_file(*own);
  }

  void stop_keeping(const Error& error) {
    if (!keeps.exchange(false)) return;
    {
      const MutexLock lock(mu);
      stopped_by = error;
    }
    log(LogLevel::warning, fmt::format("cache {}: keeps nothing more, other elements are made again each time: {}",
                                       folder, error.to_string()));
  }
  // `cause` may be an error of the system that passes.
  Answer damaged(int64_t position, const IndexEntry& entry, const Error& cause, Error* why) {
    index.unmark_checked(position);
    Error error(ErrorKind::DataLoss,
                fmt::format("cache {}/{}, offset {}: element {} is damaged: {}", folder,
                            internal::CacheSegments::file_name(entry.segment), entry.offset, position, cause.message()),
                cause);
    if (damages.fetch_add(1) < kMostDamageLines) log(LogLevel::warning, error.message());
    if (why != nullptr) *why = std::move(error);
    return Answer::damaged;
  }

  Answer find_value(int64_t position, const IndexEntry& entry, Element& out, Error* why) {
    auto found = segments.read(entry.segment, entry.offset, entry.size);
    if (!found) return damaged(position, entry, found.error(), why);
    const bool is_checked = index.is_checked(position, entry);
    if (is_checked) internal::touch_pages(found->bytes);
    if (!is_checked && hash_of_record(found->bytes) != entry.hash) {
      segments.forget_if_lost(entry.segment);
      return damaged(position, entry, {ErrorKind::DataLoss, "its checksum is wrong"}, why);
    }
    auto element = internal::from_record(found->bytes, found->owner);
    if (segments.forget_if_lost(entry.segment)) {
      return damaged(position, entry, Error::of_system(ErrorKind::DataLoss, "the file shrank, or the disk failed", EIO),
                     why);
    }
    if (!element) return damaged(position, entry, element.error(), why);
    if (!is_checked) index.mark_checked(position, entry);
    out = std::move(*element);
    return Answer::value;
  }

  // Whether it is there, whole, without a word about damage.
  bool has(int64_t position) const {
    const auto entry = index.find(position);
    if (!entry || entry->kind != EntryKind::value) return false;
    const auto found = segments.read(entry->segment, entry->offset, entry->size);
    return found && (index.is_checked(position, *entry) || hash_of_record(found->bytes) == entry->hash);
  }

  bool may_keep(int64_t position) {
    if (cannot_begin) stop_keeping(cannot_begin);
    return keeps.load(std::memory_order_relaxed) && position < internal::kMostPositions && ::getpid() == process;
  }
  bool is_full() const {
    return most_bytes >= 0 && begun_with + segments.appended() >= static_cast<uint64_t>(most_bytes);
  }

  const CacheKey key;
  const std::string folder, plan_path;
  const int64_t most_bytes;
  const pid_t process = ::getpid();  // A forked child would write to the same places.
  internal::CacheIndex index;
  internal::CacheSegments segments;
  std::atomic<bool> keeps = true;
  Error cannot_begin;  // Why nothing can be written; no error: it can. Constant once opened.
  std::atomic<int> damages = 0;
  mutable Mutex mu;
  Error stopped_by HEADPOND_GUARDED_BY(mu);
  internal::UniqueFd held;           // The folder, so that no other one gets its inode.
  uint64_t begun_with = 0;           // Bytes.
  std::string begins_beside_others;  // For the log; "": it doesn't.
};

CacheStore::CacheStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
CacheStore::~CacheStore() = default;

std::shared_ptr<CacheStore> CacheStore::open(const std::string& folder, const CachePlan& plan, int64_t most_bytes) {
  static Mutex mu;
  static std::map<std::string, std::weak_ptr<CacheStore>>* const all =
      new std::map<std::string, std::weak_ptr<CacheStore>>;
  const std::string parent = absolute(folder);
  std::shared_ptr<CacheStore> store;
  {
    const MutexLock lock(mu);
    std::weak_ptr<CacheStore>& known = (*all)[parent + "/" + internal::cache_name(plan.text)];
    if (auto opened = known.lock()) {
      const State& state = *opened->state_;
      if (state.process == ::getpid() && state.is_there()) return opened;
    }
    store.reset(new CacheStore(std::make_unique<State>(parent, plan, most_bytes)));
    if (const auto begun = store->state_->begin(plan); !begun) store->state_->cannot_begin = begun.error();
    known = store;
  }
  const std::string& news = store->state_->begins_beside_others;  // The log's sink may open a cache.
  if (!news.empty()) log(LogLevel::info, news);
  return store;
}

std::shared_ptr<CacheStore> CacheStore::open_to_read(const std::string& folder, const CachePlan& plan) {
  std::shared_ptr<CacheStore> store(new CacheStore(std::make_unique<State>(absolute(folder), plan, -1)));
  store->state_->keeps = false;
  return store;
}

CacheStore::Answer CacheStore::find(int64_t position, Element& out, Error* why) {
  if (position < 0 || position >= internal::kMostPositions) return Answer::missing;
  const auto entry = state_->index.find(position);
  if (!entry) {
    if (why != nullptr) *why = state_->index.open_error(position);
    return Answer::missing;
  }
  if (entry->kind == EntryKind::hole) return Answer::hole;
  if (entry->kind == EntryKind::end) return Answer::end;
  return state_->find_value(position, *entry, out, why);
}

void CacheStore::keep(int64_t position, const Element& element) {
  State& state = *state_;
  if (!state.may_keep(position)) return;
  if (state.has(position)) return;                            // Another thread or process was faster.
  if (!state.index.is_open(position) && !state.is_there()) {  // Another index would refer to data of this one.
    return state.stop_keeping(Error(ErrorKind::FailedPrecondition, "it was removed"));
  }
  if (state.is_full()) {
    return state.stop_keeping(
        Error(ErrorKind::ResourceExhausted, fmt::format("its limit of {} bytes is reached", state.most_bytes)));
  }
  const std::vector<std::byte> record = internal::to_record(element);
  const auto place = state.segments.append(record);
  if (!place) return state.stop_keeping(place.error());
  const IndexEntry entry{EntryKind::value, place->segment, place->offset, record.size(), hash_of_record(record)};
  if (const auto put = state.index.put(position, entry); !put) state.stop_keeping(put.error());
}

void CacheStore::keep_hole(int64_t position) {
  if (!state_->may_keep(position)) return;
  if (const auto put = state_->index.put(position, {.kind = EntryKind::hole}); !put) state_->stop_keeping(put.error());
}

void CacheStore::keep_end(int64_t position) {
  if (!state_->may_keep(position)) return;
  if (const auto put = state_->index.put(position, {.kind = EntryKind::end}); !put) state_->stop_keeping(put.error());
}

bool CacheStore::keeps() const { return state_->keeps.load(std::memory_order_relaxed); }
Error CacheStore::error() const {
  const MutexLock lock(state_->mu);
  return state_->stopped_by;
}

Result<void> CacheStore::sync() const {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(state_->folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    const auto file = internal::open_file(path, O_RDONLY);
    if (!file) return fail(file.error());
    HEADPOND_TRY(internal::sync_file(*file, path));
  }
  if (error) return fail(file_error("read the folder", state_->folder, error.value()));
  return internal::sync_folder(state_->folder);
}

const std::string& CacheStore::folder() const { return state_->folder; }

}  // namespace headpond
