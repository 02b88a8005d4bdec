// SPDX-License-Identifier: Apache-2.0
// A check before a run: what it needs, how well it mixes, what is likely to be wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/engine/loader_options.h"

namespace headpond {

struct CheckOptions {
  LoaderOptions loader = {};  ///< Options of the run that is planned.
  int64_t elements = 64;      ///< To be made for the check, spread over the epoch; 0: none.
  std::string label = "";     ///< A scalar field with the class, for CheckReport::label; "": none. See LabelMix.
};

/// The effect of an operator that changes the order on an epoch. Computed from its order alone, for at most about a
/// million positions; no element is read. Of the order of a stream, whose end nobody knows, at most 20 windows.
struct OrderQuality {
  std::string op;           ///< "shuffle(window=100)".
  int64_t rows = 1;         ///< Of each element that it moves: more than 1 if it moves whole batches.
  double displacement = 0;  ///< The mean of |position after - position before|, of what it moves.
  int64_t span = 0;         ///< The largest.
  /// 3 x displacement / number of elements. 1: as a full shuffle. 0: as stored. None of a stream.
  std::optional<double> reach = {};
  /// The variance over batches of how many rows come from each tenth of the source, divided by that of random draws
  /// without replacement. 1: as mixed as can be. Large: batches of neighbours. None of a stream; of whole batches none
  /// if nobody knows how many rows they have, or if another order mixed the rows before.
  std::optional<double> mix = {};
};

/// How the classes of CheckOptions::label are spread over batches, of elements as the run gives them: at most 4,096 are
/// made for it, in whole batches that are evenly spread over the epoch; of batches of more than 2,048 elements with
/// positions the first 2,048 of two.
struct LabelMix {
  std::string field;
  int64_t batches = 0, classes = 0;  ///< How many were seen.
  /// The variance of class counts in batches, divided by that of random draws without replacement. 1: as mixed as can
  /// be. Large: batches have few classes. Near 0: classes take turns. Not known of fewer than two batches.
  std::optional<double> mix = {};
};

struct MemoryPart {
  std::string what;
  int64_t bytes = 0;
};

/// Operators from the source on that give the same in every epoch.
struct Prepared {
  std::string op;  ///< The last of them.
  int64_t bytes = 0;
  double seconds = 0;  ///< To make an epoch of them once, on all threads.
};

struct CheckReport {
  std::string spec = {};                        ///< Fields of what the Loader delivers.
  std::optional<int64_t> cardinality = {};      ///< Elements of an epoch. Unknown: nullopt. kEndless: no end.
  int64_t tried = 0, left_out = 0, failed = 0;  ///< Elements, and those of them that a filter left out, that failed.
  std::vector<std::string> errors = {};         ///< Errors of elements that failed: where, and why. At most eight.
  double element_ns = 0;                        ///< Time of one thread for one element below the batches.
  /// Memory that the run will use, and what for; empty if no element was made and its size is not fixed.
  std::vector<MemoryPart> memory = {};
  /// Size of the sources' mapped files, all of them: as much as the process may show besides, once all was
  /// asked for. The system takes such pages back where it needs memory, so they are no part of `memory`.
  int64_t mapped_bytes = 0;
  /// Until the first batch; from then on, until all is ready that is made ahead while the program works on it. A
  /// shuffle of a stream reads much more than it gives until its window is full, and that is in both.
  std::optional<double> first_batch_s = {}, fill_s = {};
  std::optional<Prepared> prepared = {};  ///< Prepared once, as a cache or by convert.
  std::vector<OrderQuality> orders = {};
  std::optional<LabelMix> label = {};
  std::vector<std::string> findings = {};  ///< In sentences, with what to do.

  int64_t memory_bytes() const;
  std::string to_string() const;  ///< For people.
};

/// Opens the dataset's files, and makes at most options.elements elements, and those for options.label, on the calling
/// thread. Throws Exception for what keeps a Loader from starting, and for a label that is no field with one value.
CheckReport check(const Dataset& dataset, const CheckOptions& options);

}  // namespace headpond
