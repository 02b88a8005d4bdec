// SPDX-License-Identifier: Apache-2.0
// Operators that take each element from one of several datasets, and one that takes elements by weight. Names, dtypes
// and ranks of the datasets must agree; a dimension in which they differ is unknown. The keys of the elements of
// dataset n > 0 are mixed with n, as concatenate does. Weights are finite, not negative, and one is above 0; else the
// functions throw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct SampleFromOptions {
  std::string name = "sample_from_datasets";  ///< Name of its random numbers.
  bool stop_on_empty_dataset = false;         ///< true: the end is where a dataset is drawn that has ended.
};

/// Draws the dataset of each element, by `weights`; without weights all are equally likely. A dataset that has
/// ended is drawn no more, and the log says so, as information. A stream; an error takes the place of an element. For
/// shares that are exact, and for positions, see mix.
Dataset sample_from_datasets(const std::vector<Dataset>& datasets, const std::vector<double>& weights = {},
                             const SampleFromOptions& options = {});

struct ChooseFromOptions {
  bool stop_on_empty_dataset = true;  ///< false: a choice of a dataset that has ended is passed over.
};

/// Takes each element from the dataset whose index `choices` gives, one i64 scalar an element. A stream, which ends
/// with the choices. An index without a dataset is an error, InvalidArgument, that takes the place of its element.
Dataset choose_from_datasets(const std::vector<Dataset>& datasets, const Dataset& choices,
                             const ChooseFromOptions& options = {});

struct MixPhase {
  int64_t from;                 ///< The first position with these weights.
  std::vector<double> weights;  ///< One for each dataset.
};

/// Takes elements in exact shares: of the first i elements, a dataset gave its share within a few elements, whatever i.
/// Which dataset gives element i is a function of i, and so is its position there: dataset 0 has given floor(i w0 / W +
/// 1/2) elements of the first i, and the rest is split among the others in the same way. So the result has positions if
/// all inputs have; holes of a filter take part. It ends where a dataset of weight above 0 has no further element, and
/// the log says which one, as information.
/// Without weights the shares are equal. Weights that are no integers are rounded to multiples of 2^-30 of their sum.
Dataset mix(const std::vector<Dataset>& datasets, const std::vector<double>& weights = {});
/// The same with weights that change at positions. The first phase is from 0, the others follow in order.
Dataset mix(const std::vector<Dataset>& datasets, const std::vector<MixPhase>& schedule);

struct SampleWeightedOptions {
  bool replacement = true;               ///< false: no element is drawn twice.
  std::string name = "sample_weighted";  ///< Name of its random numbers.
};

/// PyTorch's WeightedRandomSampler: `count` elements of the input, which has positions, no holes and as many elements
/// as there are weights, each drawn by its weight, others in each epoch. The result has positions: a draw is computed,
/// with replacement, or the draws are sorted once an epoch. With replacement the key of an element is mixed with its
/// position, so that an element that is drawn twice is augmented in two ways. Without replacement there must be `count`
/// weights above 0.
Step sample_weighted(std::vector<double> weights, int64_t count, const SampleWeightedOptions& options = {});
/// The same for a tensor of dtype f32 or f64.
Step sample_weighted(const Tensor& weights, int64_t count, const SampleWeightedOptions& options = {});

}  // namespace headpond
