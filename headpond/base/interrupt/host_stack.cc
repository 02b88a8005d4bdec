// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/interrupt/host_stack.h"

#include <memory>
#include <utility>

#include "headpond/base/mutex.h"

namespace headpond {
namespace {

struct Host {
  Mutex mu;
  std::shared_ptr<const HostStack> stack HEADPOND_GUARDED_BY(mu);
};

// Never destroyed: threads may look while the program ends.
Host& host() {
  static auto* const one = new Host;
  return *one;
}

}  // namespace

void set_host_stack(HostStack stack) {
  auto next = stack ? std::make_shared<const HostStack>(std::move(stack)) : nullptr;
  const MutexLock lock(host().mu);
  host().stack.swap(next);
}

void log_host_stack(uint64_t thread, const std::string& name) {
  std::shared_ptr<const HostStack> stack;
  {
    const MutexLock lock(host().mu);
    stack = host().stack;
  }
  if (stack == nullptr) return;
  try {
    (*stack)(thread, name);
  } catch (...) {  // The log has what is known without it.
  }
}

}  // namespace headpond
