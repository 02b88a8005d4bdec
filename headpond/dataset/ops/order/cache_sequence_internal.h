// SPDX-License-Identifier: Apache-2.0
// The cache of a stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/dataset/node.h"

namespace headpond::internal {

/// The elements from the first one up to the last one that was read, or to the first error. Thread-safe.
class CacheSequence {
 public:
  /// value; end iff the input ended there; pending: not cached.
  Got get(int64_t i, Element& out) const;
  /// Keeps `element` if it is the next one, and then adds its size to `bytes`. Returns whether element i is kept now.
  bool keep(int64_t i, const Element& element, std::atomic<int64_t>& bytes);
  /// The input ended after element `count` - 1; counts only if all of them are cached.
  void end(int64_t count);

 private:
  mutable Mutex mu_;
  std::vector<Element> elements_ HEADPOND_GUARDED_BY(mu_);
  bool complete_ HEADPOND_GUARDED_BY(mu_) = false;
};

struct CacheContent;

/// Gives the cached elements, then those of `input`, which is opened only then and is read from its beginning. From the
/// first element that is not cached, the input is read in each epoch: errors are never cached, nor elements that find
/// no room. The state is one number.
std::unique_ptr<Iterator> iterate_cache(const Node& input, const Binding& binding, Feed& feed, CacheContent& content);

}  // namespace headpond::internal
