// SPDX-License-Identifier: Apache-2.0
// Elements on disk, by their positions: a folder that several processes fill and read at the same time. The cache
// operator (dataset/ops/order.h) keeps elements in one. The format: docs/formats/cache.md. Not for users.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// The description of how the elements of a cache are made.
struct CachePlan {
  /// All that decides the elements' bytes. Another text is another cache, in a folder of its own.
  std::string text;
  int64_t slots = -1;  ///< Positions from 0 to slots - 1; -1: not known before the end.
};

/// The folder of one cache. Every element has a checksum, so neither a kill at any moment nor a damaged file makes it
/// give wrong bytes: what is not whole counts as missing. Nothing is synced to the disk; after a power failure the
/// elements that had not reached it are missing. Thread-safe.
class CacheStore {
 public:
  /// The cache of this plan in `folder`, which is made if need be. In a process, stores of the same folder and plan are
  /// one object. A cache that begins empty beside others says so in the log, as information: an upstream step or the
  /// data may have changed. If the folder cannot be written, elements are only read, and the first keep() says so in
  /// the log. `most_bytes`: keeps nothing more once the cache's files have so many bytes; below 0: no limit. That of
  /// the first open() of an object.
  static std::shared_ptr<CacheStore> open(const std::string& folder, const CachePlan& plan, int64_t most_bytes = -1);
  /// The same, but makes and changes nothing, and keep() does nothing.
  static std::shared_ptr<CacheStore> open_to_read(const std::string& folder, const CachePlan& plan);
  ~CacheStore();
  CacheStore(const CacheStore&) = delete;
  CacheStore& operator=(const CacheStore&) = delete;

  /// missing: not there. end: there is no element at this position or after it. damaged: it is there, but its bytes are
  /// not those that were written; the log names file and offset, and the next keep() replaces it.
  enum class Answer : uint8_t { missing, value, hole, end, damaged };
  /// value: `out`, which was empty, is the element. Its larger fields lie in the mapped file, which lives as long as
  /// they. The first look at an element in a process verifies its checksum. `why`, unless null, tells a damage.
  Answer find(int64_t position, Element& out, Error* why = nullptr);
  /// Writes the answer for a position unless it is there. After an error of the system (a full disk), the log has one
  /// warning, and this object keeps nothing more. The same if the folder was removed, as soon as a new file is needed:
  /// until then elements go into the removed files.
  void keep(int64_t position, const Element& element);
  void keep_hole(int64_t position);
  void keep_end(int64_t position);

  /// False once nothing can be kept any more; error() tells why.
  bool keeps() const;
  Error error() const;
  /// Syncs what is kept to the disk.
  Result<void> sync() const;
  const std::string& folder() const;  ///< The folder of this cache: "DIR/0123...".

 private:
  struct State;
  explicit CacheStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

namespace internal {
inline constexpr std::string_view kCachePlanFile = "plan";
inline constexpr std::string_view kCacheFilesFile = "files";
inline constexpr std::string_view kPlanFileStart = "headpond cache 1\n";
/// kPlanFileStart, "slots=", the number and a newline, the plan's text.
std::string plan_file_text(const CachePlan& plan);
/// The name of the folder of a plan's cache: 32 hexadecimal digits.
std::string cache_name(std::string_view plan_text);
}  // namespace internal

}  // namespace headpond
