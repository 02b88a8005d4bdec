// SPDX-License-Identifier: Apache-2.0
// Functions that run a dataset at once, one element after the other on the calling thread, and return a value.
#pragma once

#include <cstdint>
#include <functional>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/sequence.h"

namespace headpond {

/// Given the state and the next element, returns the next state. May throw.
using ReduceFunction = std::function<Result<Element>(const Element& state, const Element& element)>;

/// The state after the last element, `initial` if there is none. Fails with the first error: of an element, or of the
/// function; with InvalidArgument for a state of other dtypes or shapes than `initial`, and for a dataset or a number
/// of epochs without an end. Throws where a Sequence throws.
Result<Element> reduce(const Dataset& dataset, const Element& initial, const ReduceFunction& function,
                       const SequenceOptions& options = {});

/// The only element. Fails with its error, or with InvalidArgument if there is none or more than one. Throws where a
/// Sequence throws.
Result<Element> get_single_element(const Dataset& dataset, const SequenceOptions& options = {});

/// The element at position `i` of epoch `epoch`. Fails with its error; with InvalidArgument for a dataset without
/// positions or a position that it does not have, with NotFound for one that a filter left empty. A batch with a row
/// that fails is an error here. Throws where a Sequence throws.
Result<Element> at(const Dataset& dataset, int64_t i, uint64_t seed = 0, uint64_t epoch = 0);

}  // namespace headpond
