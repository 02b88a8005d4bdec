// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/order.h"
#include "headpond/dataset/ops/order/cache_entries_internal.h"
#include "headpond/dataset/ops/order/cache_key_internal.h"
#include "headpond/dataset/ops/order/cache_sequence_internal.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

using internal::CacheContent;

Node::Facts facts_of(const std::string& op, const Node::Ref& input, const CacheOptions& options) {
  Node::Facts facts = facts_over(input, op, "", input->spec());
  if (!options.folder.empty()) {
    facts.location = fmt::format("'{}'{}", options.folder, options.spill ? ", spill" : "");
    internal::check_can_be_kept(op, *input);
    if (options.memory >= 0 && !options.spill) refuse(op, "memory needs spill, as the elements are in a folder");
  } else if (options.spill || options.disk >= 0) {
    refuse(op, fmt::format("{} needs a folder", options.spill ? "spill" : "disk"));
  }
  facts.replays = facts.kind == Kind::stream;
  if (facts.kind != Kind::stream) {
    facts.slots = facts.slots.then([op](int64_t slots) {
      if (slots == kEndless) refuse(op, "an input without an end cannot be cached; limit it with take()");
      return slots;
    });
  }
  facts.role = Role::store;
  return facts;
}

// The only operator that synchronises: all threads share the cached elements, which are no part of its state.
class Cache final : public Node {
 public:
  Cache(const std::string& op, const Node::Ref& input, CacheOptions options)
      : Node(facts_of(op, input, options)), options_(std::move(options)) {}

  void prepare(const ParallelFor&) const override {
    std::error_code error;
    if (options_.folder.empty() || std::filesystem::is_directory(options_.folder, error)) return;
    if (const auto made = make_folders(options_.folder); !made) {
      throw Exception(Error(made.error().kind(), fmt::format("{}: {}", title(), made.error().message()), made.error()));
    }
  }
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (kind() == Kind::stream) return Node::bind(binding);
    auto view = view_of(input(), {.seed = binding.seed, .observer = binding.observer});
    return internal::view_cache(std::move(view), spec(), content_of(binding.seed, false));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return internal::iterate_cache(input(), {binding.seed, 0}, feed, content_of(binding.seed, true));
  }

 private:
  // Where an element fails, those after it have other numbers in order than by position.
  CacheContent& content_of(uint64_t seed, bool in_order) const {
    MutexLock lock(mu_);
    std::unique_ptr<CacheContent>& content = contents_[{seed, in_order}];
    if (content) return *content;
    const bool on_disk = !options_.folder.empty(), in_memory = !on_disk || options_.spill;
    auto made = std::make_unique<CacheContent>();
    made->memory = options_.memory < 0 ? INT64_MAX : options_.memory;
    if (in_memory && in_order) made->sequence = std::make_unique<internal::CacheSequence>();
    if (in_memory && !in_order) made->entries = std::make_unique<internal::CacheEntries>(slots());
    if (on_disk) {
      internal::FilePlaces places;
      CachePlan plan = internal::cache_plan(facts().inputs[0], {seed, in_order, options_.compare_times}, &places);
      plan = internal::plan_of_files(options_.folder, std::move(plan), places);
      made->store = CacheStore::open(options_.folder, plan, options_.disk);
    }
    content = std::move(made);
    return *content;
  }

  const CacheOptions options_;
  mutable Mutex mu_;  // What is kept synchronises itself.
  mutable std::map<std::pair<uint64_t, bool>, std::unique_ptr<CacheContent>> contents_ HEADPOND_GUARDED_BY(mu_);
};

Step cache_step(std::string op, CacheOptions options) {
  return [op = std::move(op), options = std::move(options)](const Dataset& input) {
    return Dataset(std::make_shared<Cache>(op, input.node(), options));
  };
}

}  // namespace

Step cache(CacheOptions options) { return cache_step("cache", std::move(options)); }

Step internal::cache_in(std::string folder) {
  if (folder.empty()) return cache();  // Like tf.data's empty filename: in memory.
  return cache({.folder = std::move(folder)});
}

Step snapshot(std::string path, SnapshotOptions options) {
  if (path.empty()) refuse("snapshot", "path is empty");
  return cache_step("snapshot", {.folder = std::move(path), .compare_times = options.compare_times});
}

}  // namespace headpond
