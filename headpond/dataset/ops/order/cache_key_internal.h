// SPDX-License-Identifier: Apache-2.0
// What a cache on disk belongs to.
#pragma once

#include <cstdint>

#include "headpond/dataset/node.h"
#include "headpond/dataset/ops/order/cache_places_internal.h"
#include "headpond/io/cache/cache_store.h"

namespace headpond::internal {

/// Throws Exception(InvalidArgument) if `input` calls a function without a name: nobody could notice that it changed.
/// `op` is for the error. Opens no file.
void check_can_be_kept(const std::string& op, const Node& input);

struct CacheKeyOptions {
  uint64_t seed = 0;
  bool in_order = false;      ///< Elements are numbered in their order, errors included, not by position.
  bool compare_times = true;  ///< A file that was written again counts as another one.
};
/// All that decides the elements of `input` in epoch 0: its plan, with the names and versions of functions; names,
/// sizes and digests of its data, and when it was written; its spec; and the seed, if anything in it draws random
/// numbers. Also of the files that datasets of flat_map and interleave read: these are made once for it, all of them if
/// one of the first 16 reads a file. May open files and throw Exception; InvalidArgument for more than 100,000 of them.
/// `places`, unless null: where the files lie, if their times are compared.
CachePlan cache_plan(const Node::Ref& input, const CacheKeyOptions& options, FilePlaces* places = nullptr);

/// Whether elements of `node` depend on the run's seed.
bool depends_on_seed(const Node& node);

}  // namespace headpond::internal
