// SPDX-License-Identifier: Apache-2.0
// One call of the program: human-readable text, the JSON object, the folder for files, requests to stop.
#pragma once

#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "headpond/base/json.h"
#include "headpond/base/mutex.h"
#include "headpond/base/status.h"

namespace headpond::cli {

/// libtorch's matrix library and its threads; "none" and 0 in a program without libtorch.
struct TorchInfo {
  std::string blas = "none";
  int blas_threads = 0;
  int torch_threads = 0;
};
TorchInfo torch_info();

/// The message and the causes that it does not say already, without the kind.
std::string with_causes(const Error& error);

/// A stream that tells why text cannot be written: "cannot write order: No space left on device (ENOSPC)".
struct TextOutput {
  std::FILE* file;     ///< Not owned.
  std::string action;  ///< For errors: "write", or "write the elements to".
  std::string name;    ///< The file, or "stdout".

  /// The text may stay in the stream's buffer: call flush() at the end.
  Result<void> write(std::string_view text) const;
  /// Also an error iff an earlier write to the stream failed.
  Result<void> flush() const;
};

/// Writes to stderr, as far as that can be done: where it is full or closed there is nobody to tell.
void put_on_stderr(std::string_view text);

/// What this build has, by name. "torch" says whether headpond-torch was built.
std::vector<std::pair<std::string, bool>> components();

/// say() and logging are thread-safe; only the verb's thread may call the rest.
class Session {
 public:
  /// `name`: "train mnist".
  Session(std::string name, CommonFlags common, Interrupt& interrupt);

  const CommonFlags& common() const { return common_; }
  /// Sets the seed that the JSON object reports.
  void set_seed(uint64_t seed) { seed_ = seed; }
  std::stop_token stop() const { return interrupt_.token(); }
  Interrupt& interrupt() { return interrupt_; }
  bool json_on_stdout() const { return common_.json == "-"; }
  bool progress() const { return !common_.quiet && !common_.no_progress; }

  /// Prints a line to stdout, or to stderr if the JSON object goes to stdout; prints nothing under --quiet.
  void say(std::string_view line) const;
  /// The first error of say() so far on stdout; on stderr none counts.
  Result<void> all_was_said() const HEADPOND_EXCLUDES(mu_);
  /// For a verb that prints elements: the stream that say() uses.
  TextOutput element_output() const;

  /// The folder of this run's files, created by the first call: --logdir, or headpond-runs/<name>-<n> with the first
  /// free n.
  Result<std::string> folder();

  /// Writes the JSON object if --json was given: the common members, then `members`. Only the first call writes.
  /// Thread-safe.
  Result<void> write_json(const std::function<void(JsonWriter&)>& members) HEADPOND_EXCLUDES(mu_);

 private:
  void write_head(JsonWriter& json) const;

  const std::string name_;
  const CommonFlags common_;
  Interrupt& interrupt_;
  const std::vector<int> affinity_;
  const double load_start_;
  const int64_t start_ns_;
  uint64_t seed_;
  std::string folder_;
  mutable Mutex mu_;
  bool written_ HEADPOND_GUARDED_BY(mu_) = false;
  mutable Result<void> said_ HEADPOND_GUARDED_BY(mu_);
};

/// An error as a JSON member "error".
void write_error(JsonWriter& json, const Error& error);

}  // namespace headpond::cli
