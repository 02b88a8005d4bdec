// SPDX-License-Identifier: Apache-2.0
#include "python/src/exception_owner.h"

#include <pthread.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headpond::python {
namespace {

// As long as the Error has it. The first reference is the Error's, the others are this entry's.
struct Kept {
  PyObject* exception;
  std::vector<const ExceptionOwner*> owners;  // Not empty when made; each takes itself out at its end.
  bool is_hidden = false;

  bool has(const ExceptionOwner* owner) const { return std::ranges::find(owners, owner) != owners.end(); }
};

struct Owner {
  std::vector<Kept*> kept;  // A collection asks each owner: none looks at the others' entries.
  std::vector<std::weak_ptr<ExceptionOwner>> others;
  bool is_hidden = false;
};

// All that the owners and their entries have is under the one mutex, as threads without the interpreter's lock let go
// of errors. Nobody who has it waits for that lock: the collector asks for the mutex.
struct AllKept {
  Mutex mu;
  std::unordered_map<const ExceptionOwner*, Owner> owners HEADPOND_GUARDED_BY(mu);

  void add(Kept& one, const ExceptionOwner* owner) HEADPOND_REQUIRES(mu) {
    if (one.has(owner)) return;
    one.owners.push_back(owner);
    owners.at(owner).kept.push_back(&one);
    if (one.owners.size() > 1) Py_INCREF(one.exception);
  }
};

AllKept& kept();
void lock_all() HEADPOND_NO_THREAD_SAFETY_ANALYSIS { kept().mu.lock(); }
void unlock_all() HEADPOND_NO_THREAD_SAFETY_ANALYSIS { kept().mu.unlock(); }

// Never destroyed, as threads may outlive static objects. A fork() waits until no thread is in it: the child does not
// have that thread.
AllKept& kept() {
  static auto* const all = new AllKept;
  [[maybe_unused]] static const int registered = pthread_atfork(lock_all, unlock_all, unlock_all);
  return *all;
}

// With the interpreter's lock or without, before the Error's reference goes.
void forget(Kept* entry) {
  const std::unique_ptr<Kept> gone(entry);
  {
    AllKept& all = kept();
    MutexLock lock(all.mu);
    for (const ExceptionOwner* const owner : gone->owners) std::erase(all.owners.at(owner).kept, entry);
  }
  for (size_t i = 1; i < gone->owners.size(); ++i) drop(gone->exception);
}

}  // namespace

ExceptionOwner::ExceptionOwner() {
  AllKept& all = kept();
  MutexLock lock(all.mu);
  all.owners.try_emplace(this);
}

ExceptionOwner::~ExceptionOwner() {
  std::vector<PyObject*> dropped;
  {
    AllKept& all = kept();
    MutexLock lock(all.mu);
    const auto own = all.owners.find(this);
    for (Kept* const one : own->second.kept) {
      std::erase(one->owners, this);
      if (!one->owners.empty()) dropped.push_back(one->exception);
    }
    all.owners.erase(own);
  }
  for (PyObject* const exception : dropped) drop(exception);
}

void ExceptionOwner::share_with(const std::shared_ptr<ExceptionOwner>& other) {
  AllKept& all = kept();
  MutexLock lock(all.mu);
  Owner& own = all.owners.at(this);
  std::erase_if(own.others, [&](const auto& one) {
    return one.expired() || (!one.owner_before(other) && !other.owner_before(one));
  });
  own.others.push_back(other);
  for (Kept* const one : own.kept) all.add(*one, other.get());
}

void ExceptionOwner::hide() {
  AllKept& all = kept();
  MutexLock lock(all.mu);
  Owner& own = all.owners.at(this);
  own.is_hidden = true;
  for (Kept* const one : own.kept) one->is_hidden = true;
}

Error ExceptionOwner::keep(const Error& error) {
  const Ref own = std::const_pointer_cast<PyObject>(std::static_pointer_cast<const PyObject>(error.host_object()));
  if (own == nullptr) return error;
  auto made = std::make_unique<Kept>(Kept{own.get(), {}});
  std::vector<std::shared_ptr<ExceptionOwner>> others;  // The last that has one of them destroys it: not in the mutex.
  {
    AllKept& all = kept();
    MutexLock lock(all.mu);
    const Owner& has = all.owners.at(this);
    if (has.is_hidden) return error;
    for (const auto& one : has.others) {
      if (auto other = one.lock()) others.push_back(std::move(other));
    }
    all.add(*made, this);
    for (const auto& other : others) all.add(*made, other.get());
  }
  keep_whole(own.get());
  return error.with_host_object(Ref(own.get(), [own, entry = made.release()](PyObject*) { forget(entry); }));
}

int ExceptionOwner::visit(visitproc visit, void* arg) const {
  std::vector<PyObject*> exceptions;
  {
    AllKept& all = kept();
    MutexLock lock(all.mu);
    for (const Kept* const one : all.owners.at(this).kept) {
      if (!one->is_hidden) exceptions.push_back(one->exception);
    }
  }
  for (PyObject* const exception : exceptions) Py_VISIT(exception);
  return 0;
}

}  // namespace headpond::python
