// SPDX-License-Identifier: Apache-2.0
// What holds the memory of a process, at one moment, against what the operating system says that it takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/cpu.h"
#include "headpond/base/json.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/tensor/buffer.h"

namespace headpond {

struct MemoryUse {
  std::string who = {};  ///< "map", "held by the program", "queue/shuffle", "free blocks", ...
  int64_t bytes = 0;
};

/// A Loader, and the name under which it is watched.
struct NamedStats {
  std::string name = {};
  LoaderStats stats = {};
};

/// The uses add up to `now`'s proportional set size less `idle`'s:
/// - operators, each with the blocks that it allocated: "map", "map_1"; of a named pipeline "train/map";
/// - "held by the program": batches that next() gave;
/// - `queues`, as they are given;
/// - "other tensors": blocks that no operator allocated, but for those of `queues`;
/// - "free blocks": kept for later elements;
/// - "mapped files": pages of files beyond those of `idle`, in which a RunLog leaves out data that was mapped by then;
/// - "outside": all else, below 0 if blocks are not written yet.
/// Those of nothing are left out, but for the last one. `tensors`: of BufferPool::shared().
std::vector<MemoryUse> memory_uses(const std::vector<NamedStats>& pipelines, const std::vector<MemoryUse>& queues,
                                   const BufferPoolStats& tensors, const MemoryInfo& now, const MemoryInfo& idle);

/// An array.
void write_memory(JsonWriter& json, const std::vector<MemoryUse>& uses);

/// Their sum without "outside": what is known of it.
int64_t explained_bytes(const std::vector<MemoryUse>& uses);

}  // namespace headpond
