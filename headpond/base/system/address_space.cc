// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/system/address_space.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace headpond::internal {
namespace {

constexpr uint64_t kArenaBytes = uint64_t{64} << 20;
constexpr int kArenasPerProcessor = 8;  // Of glibc by itself.

bool environment_limits_arenas() {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return std::getenv("MALLOC_ARENA_MAX") != nullptr ||
         (tunables != nullptr && std::string_view(tunables).find("glibc.malloc.arena_max=") != std::string_view::npos);
}

}  // namespace

std::optional<uint64_t> address_space_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::optional<int> arenas_within(uint64_t limit, int processors) {
  const uint64_t arenas = std::max<uint64_t>(limit / 8 / kArenaBytes, 1);
  if (arenas >= static_cast<uint64_t>(std::max(processors, 1)) * kArenasPerProcessor) return std::nullopt;
  return static_cast<int>(arenas);
}

void limit_malloc_arenas() {
#if defined(__GLIBC__)
  static std::once_flag once;
  std::call_once(once, [] {
    const auto limit = address_space_limit();
    if (!limit || environment_limits_arenas()) return;
    // Those of the machine, as malloc counts them: no control group's quota.
    const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    if (const auto arenas = arenas_within(*limit, processors)) (void)mallopt(M_ARENA_MAX, *arenas);
  });
#endif
}

uint64_t thread_stack_bytes() {
  pthread_attr_t defaults;
  size_t bytes = 0;
  if (pthread_attr_init(&defaults) != 0) return 0;
  (void)pthread_attr_getstacksize(&defaults, &bytes);
  (void)pthread_attr_destroy(&defaults);
  return bytes;
}

int threads_with_stacks(int wanted) {
  const auto limit = address_space_limit();
  const uint64_t stack = thread_stack_bytes();
  if (!limit || stack == 0) return wanted;
  return static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(wanted), std::max<uint64_t>(*limit / 4 / stack, 1)));
}

}  // namespace headpond::internal
