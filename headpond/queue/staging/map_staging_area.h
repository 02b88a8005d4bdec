// SPDX-License-Identifier: Apache-2.0
// A staging area whose elements have keys, and may be put and taken a few components at a time.
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

/// A handle, thread-safe, as StagingArea; so are its errors. A key is incomplete until each of its components has been
/// put; from then on it is inside until each has been taken, and counts for the capacity. Bytes count from the first
/// component on.
///
/// `indices` choose components: rising, none twice, else InvalidArgument; none given are all, and in a put of a named
/// element they are those of its names. A call that fails changes nothing.
///
/// A call that can go on does so; calls that wait for the same thing come in order of arrival, and one that cannot go
/// on holds up no other: a put for which there is no room does not keep out the component that completes a key.
class MapStagingArea {
 public:
  using Keyed = headpond::Keyed;

  /// `ordered`: get() without a key takes the smallest; else that which was complete first (TensorFlow: any). Throws
  /// as StagingArea.
  explicit MapStagingArea(StagingOptions options, bool ordered = false);

  /// Waits while the bytes would be above the memory limit or, if it makes the key complete, `capacity` keys are
  /// inside. InvalidArgument, at once, for a component that was put before under this key, which is still here.
  /// ResourceExhausted for a key that alone would be above the memory limit.
  Result<void> put(int64_t key, Element element, const std::vector<int64_t>& indices = {}, Wait wait = {}) const;
  /// Takes components of `key` once it is complete, or without a key of the first one inside. The others remain; the
  /// key is gone with its last one. InvalidArgument for a component that has been taken.
  Result<Keyed> get(std::optional<int64_t> key = {}, const std::vector<int64_t>& indices = {}, Wait wait = {}) const;
  /// The same, and takes nothing.
  Result<Element> peek(int64_t key, const std::vector<int64_t>& indices = {}, Wait wait = {}) const;

  int64_t size() const;             ///< Complete keys, those included of which components were taken.
  int64_t incomplete_size() const;  ///< Keys of which components are yet to be put.
  int64_t bytes() const;            ///< The payload of both.
  void clear() const;               ///< Drops both; puts that wait go on.

  int64_t waiting_puts() const;  ///< Calls that wait at this moment.
  int64_t waiting_gets() const;  ///< Likewise, peeks counted in.
  const std::string& name() const;

 private:
  std::shared_ptr<internal::MapStagingState> state_;
};

}  // namespace headpond
