// SPDX-License-Identifier: Apache-2.0
// The promises that every dataset keeps, checked with the engine: see headpond/testing.h.
#pragma once

#include <string>

#include "headpond/dataset/testing/contract.h"

namespace headpond {

/// "" iff Loaders with 0, 1, ... options.threads threads deliver what a Sequence delivers: the same bytes, errors and
/// states, also when some elements take longer than others, when the consumer pauses, and when a Loader with another
/// number of threads goes on from a state. Else the first violation, in words. One thread at a time for one dataset.
/// Throws nothing.
std::string loader_violation(const Dataset& dataset, const ContractOptions& options = {});

/// sequence_violation, then loader_violation: the first violation, or "".
std::string contract_violation(const Dataset& dataset, const ContractOptions& options = {});

/// The same for an operator over each kind of input: `input` itself; its elements without positions; with holes, a
/// third of them left out; and none of its elements. The operator may refuse streams and holes by an exception while
/// the pipeline is built; then they are not checked. The violation names the input.
std::string contract_violation(const Step& op, const Dataset& input, const ContractOptions& options = {});

}  // namespace headpond
