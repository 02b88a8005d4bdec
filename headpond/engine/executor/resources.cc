// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/executor/resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "headpond/base/status.h"
#include "headpond/engine/executor/memory_budget_internal.h"
#include "headpond/engine/executor/shared_threads_internal.h"

namespace headpond {
namespace {

constexpr int kMostThreads = 4096;

const ResourcesOptions& checked(const ResourcesOptions& options) {
  const auto refused = [](const std::string& what) {
    throw Exception(Error(ErrorKind::InvalidArgument, "Resources: " + what));
  };
  if (options.threads > kMostThreads)
    refused(fmt::format("threads={}: must be at most {}", options.threads, kMostThreads));
  if (options.memory < 1) refused(fmt::format("memory={}: must be at least 1 byte", options.memory));
  return options;
}

}  // namespace

int64_t default_memory(uint64_t usable) {
  return static_cast<int64_t>(std::min(uint64_t{1} << 30, std::max(usable / 2, uint64_t{1})));
}

Resources::Resources(const ResourcesOptions& options)
    : threads_(checked(options).threads < 0 ? cpu_count() : options.threads),
      shared_threads_(std::make_shared<internal::SharedThreads>(threads_)),
      shared_memory_(std::make_shared<internal::SharedMemory>(options.memory, options.pool)) {}
Resources::~Resources() = default;

int64_t Resources::memory() const { return shared_memory_->bytes; }
int64_t Resources::memory_in_use() const {
  return std::max(shared_memory_->pool.stats().bytes_in_use, shared_memory_->ready.load(std::memory_order_relaxed));
}
int Resources::running() const { return shared_threads_->running(); }

}  // namespace headpond
