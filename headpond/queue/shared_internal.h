// SPDX-License-Identifier: Apache-2.0
// What the objects of queues, staging areas and barriers share: names, sharing by name, what happens when the
// last handle is destroyed, and exceptions that become errors.
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
#include "headpond/base/thread.h"
#include "headpond/tensor/dtype.h"
#include "headpond/tensor/shape.h"

namespace headpond::internal {

/// Calls `call`; an exception, such as std::bad_alloc, becomes the Result's error. `call` has put back what it took.
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

/// Compares a shared store with what was asked for: throws Exception(InvalidArgument) at the first difference.
struct Agreement {
  std::string store;  ///< "shared queue 'all'"

  template <class T>
  void on(std::string_view what, const T& has, const T& given) const {
    if (has == given) return;
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("{} has {} {}, but was asked for with {}", store, what, has, given)));
  }
  /// Compares options with dtypes, shapes and names.
  template <class Options>
  void on_components(const Options& has, const Options& given) const {
    on("dtypes", text_of(has.dtypes), text_of(given.dtypes));
    on("shapes", text_of(has.shapes), text_of(given.shapes));
    on("names", fmt::to_string(fmt::join(has.names, ",")), fmt::to_string(fmt::join(given.names, ",")));
  }
};

/// What handles hold: when the last one is destroyed, state.abandon() is called. A call that may wait holds
/// handle->shared_from_this(), which keeps the state alive but does not count as a handle.
template <class State>
std::shared_ptr<State> handle_to(std::shared_ptr<State> state) {
  State* const raw = state.get();
  // A std::weak_ptr keeps this deleter alive, so it must let go of the state itself.
  return {raw, [kept = std::move(state)](State* abandoned) mutable {
            if (abandoned->home.is_here()) {
              abandoned->abandon();
              kept.reset();
            } else {  // Destroying it would need locks that may be held for ever.
              (void)new std::shared_ptr<State>(std::move(kept));
            }
          }};
}

/// Calls `call(state)` while the state is kept alive; an exception becomes an error.
template <class State, class Call>
auto call_on(const std::shared_ptr<State>& handle, Call call) {
  using Outcome = decltype(call(*handle));
  if (!handle->home.is_here()) return Outcome(fail(HomeProcess::error(handle->label())));
  const std::shared_ptr<State> alive = handle->shared_from_this();
  return or_error([&] { return call(*alive); });
}

/// All shared stores of one type. A State is made from State::Options, which have a name and a shared_name. The
/// instance is never destroyed, since threads may outlive main().
template <class State>
class Stores {
 public:
  static Stores& instance() {
    static auto* const instance = new Stores;
    return *instance;
  }

  /// Returns a new store, or the existing one of that shared name, whose options must agree. A store without a name is
  /// called `type`, `type`_1, and so on.
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
