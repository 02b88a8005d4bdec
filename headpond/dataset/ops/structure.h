// SPDX-License-Identifier: Apache-2.0
// Operators that choose, count and join elements without looking into them. Over positions without holes they are
// arithmetic: positions stay. Over filter, or a stream, they must count, so what they give has an order only.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond {

/// The first `count` elements; all if it is negative.
Step take(int64_t count);
/// All but the first `count`; none if it is negative.
Step skip(int64_t count);
/// Elements index, index + num_shards, ... Throws unless 0 <= index < num_shards.
Step shard(int64_t num_shards, int64_t index);
/// A field "index" (i64) in front: start, start + 1, ... Throws if there is a field of that name.
Step enumerate(int64_t start = 0);
/// The input `count` times; without an end if it is negative. Each round is an epoch of its own for what is below it
/// (epoch e of n rounds gives it epochs e n, e n + 1, ...), and its keys are others from the second one on. Without an
/// end: an input known to be empty gives an empty one; a round without an element is an error, FailedPrecondition, and
/// then the end.
Step repeat(int64_t count = -1);
/// `first`, then `second`. Names, dtypes and ranks must agree; a dimension in which they differ is unknown.
Dataset concatenate(const std::vector<Dataset>& inputs);
Step concatenate(Dataset second);
/// One element of each, side by side, until one ends. An error in one takes its whole row: the others lose theirs too,
/// so that they stay in step; of two errors in a row the first is given. Throws if two fields have one name.
Dataset zip(const std::vector<Dataset>& inputs);

}  // namespace headpond
