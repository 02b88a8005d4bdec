// SPDX-License-Identifier: Apache-2.0
// A few elements of a dataset, made on one thread, and what that says of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// Who makes elements.
struct Workers {
  int threads = 1;     ///< Compute.
  int io_threads = 0;  ///< Make elements that wait, if this is declared or detected.
  bool are_waits_declared = false;
  bool are_waits_detected = true;
};

/// What some elements took and were.
struct Tried {
  int64_t asked = 0, holes = 0, failed = 0;
  int64_t holes_below = 0;  ///< Of the holes those below the window of a stream.
  bool is_all = false;      ///< The elements of a stream have ended: there are no more than `asked` below the window.
  double ns = 0;            ///< All of them. In it:
  double blocked_ns = 0;    ///< - waits for something other than a processor;
  double below_ns = 0;      ///< - what is below the window of a stream, if there is one;
  double source_ns = 0;     ///< - a source that gives one element after the other, so on one thread.
  int64_t window = 0;       ///< Of a shuffle of a stream; 0: there is none.
  Node::Ref order = {};     ///< That shuffle,
  uint64_t seed = 0;        ///< and the seed of the first epoch.
  double copy_ns = 0;       ///< To copy `copied` of them, which are large, into memory that nobody has used before.
  int64_t copied = 0;
  int64_t largest = 0;      ///< Memory of an element.
  int64_t most_values = 0;  ///< The values of one, which a batch of them has.
  std::vector<std::string> errors = {};
  std::vector<double> times_ns = {};  ///< Of elements.

  double usual_ns() const;  ///< Their median.
  /// Of elements that were asked for; 1: none was.
  double share_passing() const {
    return asked > 0 ? static_cast<double>(asked - holes) / static_cast<double>(asked) : 1;
  }
  double element_ns() const { return asked > 0 ? ns / static_cast<double>(asked) : 0; }
  /// Until they have given `count` elements.
  double seconds_for(int64_t count, const Workers& workers) const;
  /// Until they have been asked for `count` elements, those that are left out among them.
  double seconds_to_ask(int64_t count, const Workers& workers) const;
  /// To copy `count` elements into the first batches.
  double copy_seconds(int64_t count, int threads) const;

  void add(const Element& element);
  void add_error(const Error& error);

 private:
  double on_threads_ns(double work_ns, const Workers& workers) const;
  double read_by_window(double given) const;
};

/// At most `count` elements: of positions one of each of `count` equal parts of the epoch, the same in each call; else
/// the first ones. Where there is a shuffle of a stream, the first ones below it, and what the operators above it make
/// of these, as it reads much more than it gives at first. Batches have so many `rows`.
Tried try_elements(const Node::Ref& node, uint64_t seed, int64_t count, int64_t rows = 1);

/// Between elements: throws Exception(Cancelled) if the thread's InterruptLook says so.
void stop_if_interrupted();

/// How many elements a shuffle of a stream has read, on average, when it has given so many.
double read_for(double given, int64_t window);

}  // namespace headpond::internal
