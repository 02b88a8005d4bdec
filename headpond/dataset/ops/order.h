// SPDX-License-Identifier: Apache-2.0
// Operators that change the order, or keep elements in memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "headpond/dataset/dataset.h"

namespace headpond {

namespace internal {
Step shuffle_within(int64_t window);
Step cache_in(std::string folder);
}  // namespace internal

struct ShuffleOptions {
  /// tf.data's buffer_size. Below 0: the whole epoch.
  int64_t window = -1;
  bool reshuffle_each_iteration = true;  ///< false: the order of epoch 0 in every epoch.
  std::string name = "shuffle";          ///< Name of its random numbers. Equal names in the input count too.
};

/// Shuffles, with another order in each epoch. The whole epoch, which is the default: every order is as likely as any
/// other. A permutation computes each position (base/permutation.h), so this needs no memory and no time to fill a
/// buffer. Throws over a stream, which has no positions: give a window.
///
/// Within a window: an element moves by less than 2 x window positions, by about half a window on average. If the input
/// has positions, two keyed permutations compute them, of blocks of `window` positions and of the same blocks half a
/// window further: at once and without memory. A stream is sorted by i + 2 x window x u(i). This holds at most 2 x
/// window elements, half of that on average, and a restore reads the held elements again.
Step shuffle(ShuffleOptions options = {});
/// The same within a window. A template, so that shuffle({}) means the options.
template <std::integral Window>
  requires(!std::same_as<Window, bool>)
Step shuffle(Window window) {
  return internal::shuffle_within(std::in_range<int64_t>(window) ? static_cast<int64_t>(window) : kEndless);
}

struct CacheOptions {
  /// Keeps elements on disk, in a folder of their own inside this one, which is made if need be. "": in memory.
  std::string folder = {};
  /// With a folder: keeps elements in memory as long as there is room, and the others on disk.
  bool spill = false;
  /// Most bytes in memory; below 0: as many as the Loader's budget leaves (see cache).
  int64_t memory = -1;
  /// Most bytes on disk, for the elements of this cache; what is more is made again in each epoch. Below 0: no limit.
  int64_t disk = -1;
  /// A file of the input that was written again is another one. false: only if its name, its size, or its first or last
  /// 4 KiB differ, for data that is copied or downloaded again before each run.
  bool compare_times = true;
};

/// Keeps each element of its input from the first time that it is asked for; a later pass, also after a pass that
/// stopped early, makes only what is missing. The input always has epoch 0, so that a cached element equals a new one:
/// random operators in it draw once, and explain() names them. Errors are never kept.
///
/// In memory: a Loader keeps no more elements once half of its memory budget is in use; the others are made again in
/// each epoch, or kept on disk with `spill`. Runs of this Dataset object share the elements.
///
/// On disk (docs/caching.md): programs share the elements, at the same time and one after the other, training and
/// evaluation, whatever is killed. They belong to all that decides their bytes: the operators with their arguments, the
/// names and versions of functions, the files, and, if the input draws random numbers, the seed. When anything of these
/// differs, it is another cache, so a stale element is never given. Throws Exception(InvalidArgument) if the input
/// calls a function without a name, as that could change unnoticed. The folder's error is thrown when a Sequence or a
/// Loader is made. A damaged element is made again, and a full disk or a folder that cannot be written means that other
/// elements are made in each epoch: each with a warning in the log. Only elements at positions below 2^32 are kept.
Step cache(CacheOptions options = {});
/// cache({.folder = folder}). A template, so that cache({}) means the options.
template <std::convertible_to<std::string> Folder>
Step cache(Folder&& folder) {
  return internal::cache_in(std::forward<Folder>(folder));
}

struct SnapshotOptions {
  bool compare_times = true;  ///< See CacheOptions::compare_times.
};
/// tf.data's snapshot, which keeps elements on disk: as cache({.folder = path}), and in the same folders. Unlike in
/// TensorFlow a run that stopped early is used and continued, not thrown away. There are no reader_func and shard_func,
/// as elements have the order of the input, and no compression, as files are mapped.
Step snapshot(std::string path, SnapshotOptions options = {});

}  // namespace headpond
