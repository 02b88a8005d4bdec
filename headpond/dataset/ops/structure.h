// SPDX-License-Identifier: Apache-2.0
// Operators that choose, number and join elements without looking into them. If the input has positions and no holes,
// they compute positions, and have positions themselves. Over a filter or a stream they must count elements, and are
// streams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

/// The first `count` elements; all if `count` is negative.
Step take(int64_t count);
/// All but the first `count` elements; none if `count` is negative.
Step skip(int64_t count);
/// Elements index, index + num_shards, ... Throws unless 0 <= index < num_shards. If it is known that there are
/// elements but none for this shard, a Loader refuses it, FailedPrecondition: programs that train together would wait
/// for ever for the one that has no batch. Not where a dataset has elements without this one, as concatenate and the
/// function of flat_map make it, or pad_to_cardinality; and a Sequence gives none.
Step shard(int64_t num_shards, int64_t index);
/// Element i is element indices[i] of the input, which has positions and no holes. An index may occur several times;
/// from the second time on keys differ. Throws for an index that the input does not have.
Step select(std::vector<int64_t> indices);
/// The input, which has `count` elements, or no end if `count` is negative. Another number is an error,
/// FailedPrecondition: if the input knows its number, it is thrown when that is known, else it takes the place of the
/// first element too many, or of the end. An element that failed counts.
Step assert_cardinality(int64_t count);
/// The input, followed by as many padding elements as it takes to have `cardinality` elements, so that each rank has as
/// many batches: zeros and empty texts. A field `mask_key` (bool), after the others, is true for elements of the input.
/// Throws for an input whose number of elements is not known, or is larger, when that is known; for a field of unknown
/// dimensions; and if there is a field of that name. With elements that fail there may be fewer.
Step pad_to_cardinality(int64_t cardinality, const std::string& mask_key = "valid");
Step pad_to_cardinality(int64_t, internal::ListOfNames) = delete;
/// The input. At the end of a pipeline `buffer_size`, if above 0, is the most elements that a Loader makes ahead,
/// unless LoaderOptions::run_ahead is set. Else it is accepted for pipelines that were written for tf.data and changes
/// nothing: each stage runs ahead as far as it must. Throws for a size below -1.
Step prefetch(int64_t buffer_size = -1);
/// Puts a field "index" (i64) before the others: start, start + 1, ... Throws if there is a field of that name.
Step enumerate(int64_t start = 0);
/// The input `count` times; without end if `count` is negative. For the input each round is an epoch of its own (epoch
/// e of n rounds has epochs e n, e n + 1, ... of the input), and from the second round on keys differ. Without end: an
/// input that is known to be empty stays empty; a round without an element is an error, FailedPrecondition, followed by
/// the end.
Step repeat(int64_t count = -1);
/// The elements of all inputs, one input after the other. Names, dtypes and ranks must agree; a dimension in which they
/// differ is unknown.
Dataset concatenate(const std::vector<Dataset>& inputs);
Step concatenate(Dataset second);
/// Elements with the fields of one element of each input, until one input ends. The rest of the longer inputs is left
/// out, without an error or a warning; assert_cardinality() before zip() notices an input that is too short. If an
/// input fails, the elements of the others in that row are dropped too, so that the inputs stay in step; of several
/// errors in a row the first one is given. Throws if two fields have the same name.
Dataset zip(const std::vector<Dataset>& inputs);

}  // namespace headpond
