// SPDX-License-Identifier: Apache-2.0
// A progress bar in tqdm's shape:
//   train:  42%|████▏     | 789/1875 [00:43<00:59, 18.13it/s, loss=0.312]
// On a terminal the line is redrawn in place, at most ten times a second. Elsewhere (a file, a CI log) a whole line is
// written every ten seconds. Either way a last line is written at the end. The bar has no colours, so that NO_COLOR
// holds at all times, and no escape sequences.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/engine/verdict/verdict.h"

namespace headpond {

/// One `name=value` at the line's end.
struct ProgressValue {
  std::string name;
  double value;
};

/// The figures of a line.
struct ProgressLine {
  std::string description = {};
  int64_t done = 0;
  int64_t total = -1;  ///< < 1: unknown.
  double elapsed_s = 0;
  double rate = 0;  ///< Iterations a second; 0: not known yet.
  std::vector<ProgressValue> values = {};
  std::string note = {};  ///< After the values.
};

/// The line, without a newline. The bar fills `columns` (a longer line is cut), or has ten cells iff `columns` is 0.
/// A line with more done than its total is written as if the total were unknown.
std::string format_progress(const ProgressLine& line, int columns = 0);

/// For ProgressOptions::note: "wait=3%, cpu_bound:map"; "wait=3%" without a reason.
std::string progress_note(const Verdict& verdict);

struct ProgressOptions {
  std::string description = {};
  int64_t total = -1;
  bool enabled = true;                           ///< False: nothing is ever written.
  std::optional<bool> terminal = {};             ///< Default: whether stderr is one that can redraw a line.
  int columns = 0;                               ///< 0: the terminal's width, asked at each redraw.
  std::chrono::milliseconds redraw_every{100};   ///< On a terminal.
  std::chrono::milliseconds line_every{10'000};  ///< Elsewhere.
  std::function<std::string()> note = {};  ///< Asked when a line is written, at most once a second, and at the end.
  std::function<void(std::string_view text)> sink = {};  ///< Default: stderr.
  std::function<int64_t()> clock = now_ns;
};

/// Counts iterations and shows them. The rate is smoothed as tqdm's is (exponential average, 0.3 for the newest
/// stretch); the last line has the average over the whole run. Not thread-safe: one thread at a time.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress() { close(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `count` more are done. Costs a clock read unless a line is due.
  void update(int64_t count = 1);
  /// The values of all following lines; they are formatted only when a line is written.
  void set_values(std::vector<ProgressValue> values) { values_ = std::move(values); }
  /// Writes the last line. Later calls of anything do nothing.
  void close();

 private:
  void draw(int64_t now, double rate, bool last);

  const ProgressOptions options_;
  const bool terminal_;
  const int64_t interval_ns_;
  const int64_t start_ns_;

  bool open_;
  int64_t done_ = 0;
  int64_t drawn_ns_;        // The last draw, or the start.
  int64_t drawn_done_ = 0;  // Work that was done then.
  double mean_count_ = 0;   // Exponential averages of iterations and seconds between draws; their bias towards the
  double mean_s_ = 0;       // initial 0 is the same, so that their quotient has none.
  size_t drawn_width_ = 0;
  std::vector<ProgressValue> values_;
  std::string note_;
  int64_t noted_ns_;  // When it was asked.
};

}  // namespace headpond
