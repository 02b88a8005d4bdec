// SPDX-License-Identifier: Apache-2.0
// Which iterators are opened before they are asked for: the next epoch, and the next part of an operator that gives one
// part after the other. An executor opens them when there is nothing else to do; take() waits for the thread that opens
// what it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/executor/work_source_internal.h"

namespace headpond::internal {

/// An iterator that is expected to be asked for.
struct Prefetch {
  const Node* node = nullptr;
  Binding binding = {};
  uint64_t epoch = 0;  ///< The program's, in which it will be asked for.
  int height = 0;      ///< Height of the node: a lower one is needed before the one that contains it.
  std::unique_ptr<Iterator> iterator = nullptr;  ///< Null until it was opened.
  /// Sources that were opened for it: by the thread that opens it, and later by those that read from it.
  std::vector<std::shared_ptr<WorkSource>> sources HEADPOND_GUARDED_BY(engine_state) = {};
};

/// All functions under the engine's lock. What they return holds iterators, whose ends take the lock: destroy it
/// without the lock.
class Prefetcher {
 public:
  using Dropped = std::vector<Prefetch>;

  /// `node` bound so will be asked for in this epoch. What was expected of the same node before is dropped: it did not
  /// come, because a part that is left early has no next one. What is being opened for it now goes on, and is not
  /// opened again.
  [[nodiscard]] Dropped expect(uint64_t epoch, const Node& node, const Binding& binding)
      HEADPOND_REQUIRES(engine_state);
  /// The program is in this epoch now. What was expected of others is dropped, by finish() if it is being opened now.
  [[nodiscard]] Dropped begin_epoch(uint64_t epoch) HEADPOND_REQUIRES(engine_state);
  uint64_t epoch() const HEADPOND_REQUIRES(engine_state) { return epoch_; }

  /// There is something to open, and room for it.
  bool has_next() const HEADPOND_REQUIRES(engine_state);
  /// What is to be opened now; one at a time. It stays where it is until finish(). Null if there is no memory: the
  /// consumer opens it then. REQUIRES: has_next().
  Prefetch* begin() HEADPOND_REQUIRES(engine_state);
  /// Null: opening failed; the consumer opens it again and gets the error.
  [[nodiscard]] Dropped finish(std::unique_ptr<Iterator> iterator) HEADPOND_REQUIRES(engine_state);

  /// The iterator and its sources, if it was opened before; else its `iterator` is null. If it is being opened now, by
  /// another thread, waits for that and gives the lock up meanwhile. `is_opening`: the calling thread is inside begin()
  /// and finish().
  [[nodiscard]] Prefetch take(const Node& node, const Binding& binding, bool is_opening, EngineLock& lock)
      HEADPOND_REQUIRES(engine_state);
  /// Nobody waits in take() any more.
  void stop() HEADPOND_REQUIRES(engine_state);
  /// All that was opened.
  [[nodiscard]] Dropped take_all() HEADPOND_REQUIRES(engine_state);

  /// The one that `source` was opened for; null: the program has asked for it.
  Prefetch* owner_of(const WorkSource& source) HEADPOND_REQUIRES(engine_state);

 private:
  template <class IsStale>
  Dropped withdraw(IsStale is_stale) HEADPOND_REQUIRES(engine_state);

  std::vector<Prefetch> expected_ HEADPOND_GUARDED_BY(engine_state);
  std::vector<Prefetch> opened_ HEADPOND_GUARDED_BY(engine_state);
  Dropped dropped_ HEADPOND_GUARDED_BY(engine_state);  // Empty: room for what finish() drops.
  std::unique_ptr<Prefetch> opening_ HEADPOND_GUARDED_BY(engine_state);
  bool is_withdrawn_ HEADPOND_GUARDED_BY(engine_state) = false;  // `opening_`: finish() drops it.
  CondVar finished_;
  uint64_t epoch_ HEADPOND_GUARDED_BY(engine_state) = 0;
  bool stopped_ HEADPOND_GUARDED_BY(engine_state) = false;
};

}  // namespace headpond::internal
