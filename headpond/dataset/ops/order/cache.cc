// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>

#include "headpond/base/mutex.h"
#include "headpond/dataset/ops/order.h"
#include "headpond/dataset/ops/order/cache_entries_internal.h"
#include "headpond/dataset/ops/order/cache_sequence_internal.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

Node::Facts facts_of(const Node::Ref& input) {
  Node::Facts facts = internal::facts_over(input, "cache", "", input->spec());
  facts.replays = facts.kind == Kind::stream;
  facts.role = Role::store;
  return facts;
}

// The only operator that synchronises: all threads share the cached elements, which are no part of its state.
class Cache final : public Node {
 public:
  explicit Cache(const Node::Ref& input) : Node(facts_of(input)) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (kind() == Kind::stream) return Node::bind(binding);
    auto view = view_of(input(), {.seed = binding.seed, .observer = binding.observer});
    return internal::view_cache(std::move(view), cache_of(entries_, binding.seed, slots()));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return internal::iterate_cache(input(), {binding.seed, 0}, feed, cache_of(sequences_, binding.seed));
  }

 private:
  template <class Store>
  using BySeed = std::map<uint64_t, std::unique_ptr<Store>>;
  template <class Store, class... Args>
  Store& cache_of(BySeed<Store>& by_seed, uint64_t seed, Args... args) const {
    MutexLock lock(mu_);
    std::unique_ptr<Store>& cache = by_seed[seed];
    if (!cache) cache = std::make_unique<Store>(args...);
    return *cache;
  }

  mutable Mutex mu_;  // Guards the maps; the caches synchronise themselves.
  mutable BySeed<internal::CacheEntries> entries_;
  mutable BySeed<internal::CacheSequence> sequences_;
};

}  // namespace

Step cache() {
  return [](const Dataset& input) {
    if (input.kind() != Kind::stream && input.node()->slots() == kEndless) {
      internal::refuse("cache", "an input without an end cannot be cached; limit it with take()");
    }
    return Dataset(std::make_shared<Cache>(input.node()));
  };
}

}  // namespace headpond
