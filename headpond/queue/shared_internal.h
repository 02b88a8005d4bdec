// SPDX-License-Identifier: Apache-2.0
// What queues and the other stores have in common behind their handles: names, sharing by name, the last handle's end,
// and exceptions that become errors.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/tensor/dtype.h"
#include "headpond/tensor/shape.h"

namespace headpond::internal {

/// Memory that the system refuses, or a padded batch beyond all memory, is an error like any other: the store goes on,
/// and what was taken is in it again.
template <class Call>
auto or_error(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception&) {
    return fail(current_exception_error());
  }
}

inline std::string text_of(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += shape.to_string();
  return text;
}

inline std::string text_of(const std::vector<DType>& dtypes) {
  std::string text;
  for (const DType dtype : dtypes) text.append(headpond::name(dtype)).append(" ");
  return text;
}

/// Throws Exception(InvalidArgument) at the first thing in which a shared store is not what was asked for.
struct Agreement {
  std::string store;  ///< "shared queue 'all'"

  template <class T>
  void on(std::string_view what, const T& has, const T& given) const {
    if (has == given) return;
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("{} has {} {}, but was asked for with {}", store, what, has, given)));
  }
  /// Of options with dtypes, shapes and names.
  template <class Options>
  void on_components(const Options& has, const Options& given) const {
    on("dtypes", text_of(has.dtypes), text_of(given.dtypes));
    on("shapes", text_of(has.shapes), text_of(given.shapes));
    on("names", fmt::to_string(fmt::join(has.names, ",")), fmt::to_string(fmt::join(given.names, ",")));
  }
};

/// What handles hold: when the last one goes, state.abandon() is called. A call that may wait holds
/// handle->shared_from_this(), which keeps the state but is no handle.
template <class State>
std::shared_ptr<State> handle_to(std::shared_ptr<State> state) {
  State* const raw = state.get();
  // What is weakly known by its name lets its deleter live on, so this one gives up what it holds.
  return {raw, [kept = std::move(state)](State* abandoned) mutable {
            abandoned->abandon();
            kept.reset();
          }};
}

/// Makes `call(state)` behind a handle; what it throws is an error.
template <class State, class Call>
auto call_on(const std::shared_ptr<State>& handle, Call call) {
  const std::shared_ptr<State> alive = handle->shared_from_this();
  return or_error([&] { return call(*alive); });
}

/// The handles of one type of store; a State is made from State::Options, which have a name and a shared_name. Never
/// destroyed, for threads that outlive main.
template <class State>
class Stores {
 public:
  static Stores& instance() {
    static auto* const instance = new Stores;
    return *instance;
  }

  /// A new one, or the one of that shared name, if it agrees. One that nobody named is called `type`, `type`_1, ...
  std::shared_ptr<State> find_or_make(typename State::Options options, std::string_view type) {
    MutexLock lock(mu_);
    std::erase_if(shared_, [](const auto& entry) { return entry.second.expired(); });
    if (const auto known = shared_.find(options.shared_name); known != shared_.end()) {
      if (auto existing = known->second.lock()) {
        existing->must_agree(options);
        return existing;
      }
    }
    const std::string shared_name = options.shared_name;
    if (options.name.empty()) options.name = shared_name;
    if (options.name.empty()) {
      options.name = unnamed_ == 0 ? std::string(type) : fmt::format("{}_{}", type, unnamed_);
      ++unnamed_;
    }
    auto fresh = handle_to(std::make_shared<State>(std::move(options)));
    if (!shared_name.empty()) shared_.insert_or_assign(shared_name, fresh);
    return fresh;
  }

 private:
  Mutex mu_;
  int64_t unnamed_ HEADPOND_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::weak_ptr<State>, std::less<>> shared_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
