// SPDX-License-Identifier: Apache-2.0
// What a cache on disk belongs to.
#pragma once

#include <cstdint>

#include "headpond/dataset/node.h"
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
/// numbers. May open files and throw Exception.
CachePlan cache_plan(const Node::Ref& input, const CacheKeyOptions& options);

/// Whether elements of `node` depend on the run's seed.
bool depends_on_seed(const Node& node);

}  // namespace headpond::internal
