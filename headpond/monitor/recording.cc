// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/recording.h"

#include "headpond/base/clock.h"
#include "headpond/base/mutex.h"

namespace headpond {
namespace {

struct Recordings {
  Mutex mu;
  int count HEADPOND_GUARDED_BY(mu) = 0;
  bool has_started HEADPOND_GUARDED_BY(mu) = false;  // The trace was not on before.
};

// Never destroyed: one may end while the program ends.
Recordings& recordings() {
  static auto* const instance = new Recordings;
  return *instance;
}

}  // namespace

Recording::Recording(size_t events_per_thread, trace::Keep keep) : began_ns_(now_ns()) {
  Recordings& all = recordings();
  MutexLock lock(all.mu);
  ++all.count;
  if (trace::enabled()) return;
  trace::start(events_per_thread, keep);
  all.has_started = true;
}

Recording::~Recording() {
  Recordings& all = recordings();
  MutexLock lock(all.mu);
  if (--all.count > 0 || !all.has_started) return;
  trace::stop();
  all.has_started = false;
}

std::vector<trace::ThreadEvents> Recording::events() const {
  std::vector<trace::ThreadEvents> threads = trace::collect();
  for (trace::ThreadEvents& thread : threads)
    std::erase_if(thread.events, [this](const auto& event) { return event.start_ns + event.length_ns < began_ns_; });
  return threads;
}

}  // namespace headpond
