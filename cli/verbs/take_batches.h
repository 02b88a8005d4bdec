// SPDX-License-Identifier: Apache-2.0
// What verbs share that take batches of a pipeline file as a training does, to say something of the Loader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "headpond/base/status.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/verdict/verdict.h"
#include "headpond/monitor/run/run_record.h"

namespace headpond::cli {

class Session;

struct TakeFlags {
  std::vector<std::string> files;
  double seconds = 10, step_ms = 0;
  int threads = -1;
  std::optional<int64_t> memory;
};
void declare_take(Flags& flags, TakeFlags& to);

struct Taken {
  Verdict verdict;
  LoaderStats stats;
  std::string name = "";  // Of the pipeline in its run.
};
/// Epoch after epoch, with a pause for each step, until the time is over, which also ends a wait, or the verdict is
/// `stalled`. With --logdir the run is captured. `verb`: for errors of usage.
Result<Taken> take_batches(Session& session, const std::string& verb, const TakeFlags& flags);

/// The same; but unless `run` is empty, what the run that wrote its files to this folder says of the pipeline that
/// `choose` returns. FailedPrecondition if that is none. Throws Exception(InvalidArgument) if `flags` name a file too.
Result<Taken> taken_or_of_run(Session& session, const std::string& verb, const TakeFlags& flags, const std::string& run,
                              const PipelineRecord* (*choose)(const std::vector<PipelineRecord>&));

}  // namespace headpond::cli
