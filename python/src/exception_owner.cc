// SPDX-License-Identifier: Apache-2.0
#include "python/src/exception_owner.h"

#include <algorithm>
#include <list>
#include <utility>

namespace headpond::python {
namespace {

// As long as the Error has it. Each owner shows the collector one reference: the first one that of the Error, each
// other one a reference of this entry's.
struct Kept {
  PyObject* exception;
  std::vector<const ExceptionOwner*> owners;
  bool is_hidden = false;

  bool has(const ExceptionOwner* owner) const { return std::ranges::find(owners, owner) != owners.end(); }
};

// Nobody who has its mutex waits for the interpreter's lock: the collector asks for it.
struct AllKept {
  Mutex mu;
  std::list<Kept> all HEADPOND_GUARDED_BY(mu);
};

AllKept& kept() {
  static auto* const all = new AllKept;  // Never destroyed, as threads may outlive static objects.
  return *all;
}

// With the interpreter's lock or without, before the Error's reference goes.
void forget(std::list<Kept>::iterator entry) {
  PyObject* const exception = entry->exception;
  size_t references = 0;
  {
    MutexLock lock(kept().mu);
    if (!entry->owners.empty()) references = entry->owners.size() - 1;
    kept().all.erase(entry);
  }
  for (; references > 0; --references) drop(exception);
}

}  // namespace

ExceptionOwner::~ExceptionOwner() {
  std::vector<PyObject*> dropped;
  {
    MutexLock lock(kept().mu);
    for (Kept& one : kept().all) {
      if (std::erase(one.owners, this) > 0 && !one.owners.empty()) dropped.push_back(one.exception);
    }
  }
  for (PyObject* const exception : dropped) drop(exception);
}

void ExceptionOwner::share_with(const std::shared_ptr<ExceptionOwner>& other) {
  if (other == nullptr) {
    is_hidden_ = true;
  } else {
    std::erase_if(others_, [&](const auto& one) { return one.expired() || one.lock() == other; });
    others_.push_back(other);
  }
  MutexLock lock(kept().mu);
  for (Kept& one : kept().all) {
    if (!one.has(this)) continue;
    one.is_hidden = one.is_hidden || is_hidden_;
    if (other == nullptr || one.has(other.get())) continue;
    Py_INCREF(one.exception);
    one.owners.push_back(other.get());
  }
}

Error ExceptionOwner::keep(const Error& error) {
  const Ref own = std::const_pointer_cast<PyObject>(std::static_pointer_cast<const PyObject>(error.host_object()));
  if (own == nullptr || is_hidden_) return error;
  keep_whole(own.get());
  Kept entry{own.get(), {this}};
  for (const auto& one : others_) {
    const std::shared_ptr<ExceptionOwner> other = one.lock();
    if (other == nullptr) continue;
    Py_INCREF(own.get());
    entry.owners.push_back(other.get());
  }
  std::list<Kept> made;
  made.push_back(std::move(entry));
  const auto place = made.begin();
  {
    MutexLock lock(kept().mu);
    kept().all.splice(kept().all.end(), made);
  }
  return error.with_host_object(Ref(own.get(), [own, place](PyObject*) { forget(place); }));
}

int ExceptionOwner::visit(visitproc visit, void* arg) const {
  std::vector<PyObject*> exceptions;
  {
    MutexLock lock(kept().mu);
    for (const Kept& one : kept().all) {
      if (!one.is_hidden && one.has(this)) exceptions.push_back(one.exception);
    }
  }
  for (PyObject* const exception : exceptions) Py_VISIT(exception);
  return 0;
}

}  // namespace headpond::python
