// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/memory_use.h"

#include <algorithm>
#include <set>
#include <utility>

#include "headpond/monitor/run/unlike_internal.h"

namespace headpond {
namespace {

constexpr const char* kOutside = "outside";

class Uses {
 public:
  void add(std::string who, int64_t bytes) {
    if (bytes <= 0) return;
    sum_ += bytes;
    all_.push_back({std::move(who), bytes});
  }
  std::vector<MemoryUse> of(int64_t all) && {
    all_.push_back({kOutside, all - sum_});
    return std::move(all_);
  }

 private:
  std::vector<MemoryUse> all_;
  int64_t sum_ = 0;
};

int64_t more(uint64_t now, uint64_t idle) { return static_cast<int64_t>(now) - static_cast<int64_t>(idle); }

}  // namespace

std::vector<MemoryUse> memory_uses(const std::vector<NamedStats>& pipelines, const std::vector<MemoryUse>& queues,
                                   const BufferPoolStats& tensors, const MemoryInfo& now, const MemoryInfo& idle) {
  Uses uses;
  int64_t free = tensors.bytes_cached, in_queues = 0, held = 0;
  for (const NamedStats& pipeline : pipelines) {
    std::set<std::string> taken;
    const std::string prefix = pipeline.name.empty() ? "" : pipeline.name + "/";
    for (const OperatorMemory& one : pipeline.stats.memory) {
      uses.add(prefix + internal::unlike(one.op, taken), one.bytes);
    }
    held += pipeline.stats.memory_held;
    free += pipeline.stats.memory_free;
  }
  uses.add("held by the program", held);
  for (const MemoryUse& queue : queues) {
    in_queues += queue.bytes;
    uses.add(queue.who, queue.bytes);
  }
  uses.add("other tensors", tensors.bytes_in_use - in_queues);
  uses.add("free blocks", free);
  uses.add("mapped files", more(now.pss_file, idle.pss_file));
  return std::move(uses).of(more(now.pss, idle.pss));
}

void write_memory(JsonWriter& json, const std::vector<MemoryUse>& uses) {
  json.begin_array();
  for (const MemoryUse& use : uses) json.begin_object().member("who", use.who).member("bytes", use.bytes).end_object();
  json.end_array();
}

int64_t explained_bytes(const std::vector<MemoryUse>& uses) {
  int64_t sum = 0;
  for (const MemoryUse& use : uses) sum += use.who == kOutside ? 0 : use.bytes;
  return sum;
}

}  // namespace headpond
