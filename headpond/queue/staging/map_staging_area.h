// SPDX-License-Identifier: Apache-2.0
// A staging area whose elements have keys, and can be put and taken some components at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/queue/staging/staging_area.h"

namespace headpond {

struct Keyed {
  int64_t key;
  Element element;
};

namespace internal {
class MapStagingState;
}

/// A handle, thread-safe, with errors as StagingArea has. A key is incomplete until all of its components have been
/// put. Then it is complete, and counts for the capacity, until all of its components have been taken. Bytes count from
/// the first component on.
///
/// `indices` select components; they must rise, else InvalidArgument. No indices select all components or, in a put of
/// a named element, those that it names. A call that fails changes nothing.
///
/// A call that can be served is served; calls that wait for the same key are served in order of arrival. A call that
/// has to wait does not hold up others: a put without room does not keep out the component that completes another key.
class MapStagingArea {
 public:
  using Keyed = headpond::Keyed;

  /// `ordered`: get() without a key takes the smallest key; otherwise the one that was complete first (in TensorFlow:
  /// any). Throws as StagingArea does.
  explicit MapStagingArea(StagingOptions options, bool ordered = false);

  /// Waits until the bytes fit under the memory limit and, if this call completes the key, until there is room under
  /// the capacity. InvalidArgument, at once, for a component that this key has already. ResourceExhausted for a key
  /// that alone would be above the memory limit.
  Result<void> put(int64_t key, Element element, const std::vector<int64_t>& indices = {}, Wait wait = {}) const;
  /// Takes components of `key`, or without a key of the first one; waits until it is complete. The other components
  /// stay; with its last component the key is gone. InvalidArgument for a component that has been taken.
  Result<Keyed> get(std::optional<int64_t> key = {}, const std::vector<int64_t>& indices = {}, Wait wait = {}) const;
  /// Returns the same, but the components stay.
  Result<Element> peek(int64_t key, const std::vector<int64_t>& indices = {}, Wait wait = {}) const;

  int64_t size() const;             ///< Complete keys, also those of which some components were taken.
  int64_t incomplete_size() const;  ///< Keys that lack components.
  int64_t bytes() const;            ///< Bytes of payload of both.
  void clear() const;               ///< Drops all keys; waiting puts continue.

  int64_t waiting_puts() const;  ///< Calls that wait now.
  int64_t waiting_gets() const;  ///< Gets and peeks that wait now.
  StagingStats stats() const;
  const std::string& name() const;

 private:
  std::shared_ptr<internal::MapStagingState> state_;
};

}  // namespace headpond
