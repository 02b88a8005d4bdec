// SPDX-License-Identifier: Apache-2.0
// headpond bench: measures Headpond and its peers in turn on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>

#include "cli/bench/bench_report.h"
#include "cli/bench/benches.h"
#include "cli/bench/children/bench_costs.h"
#include "cli/bench/children/python_bench.h"
#include "cli/bench/consume.h"
#include "cli/session.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/log.h"
#include "headpond/monitor/recording.h"
#include "headpond/monitor/run/trace_options.h"
#include "headpond/plan/suggestion.h"

namespace headpond::cli {
namespace {

struct BenchFlags {
  std::vector<std::string> names;
  bool list = false, check = false, trace = false;
  int64_t rounds = 0;
  double seconds = 0;
  std::string peers = "on", without_stats, python = "python3", peer_python;
  std::vector<int> cpus;
};

struct Entry {
  const char* name;
  const char* what;
  Bench (*make)(const BenchSetup&);  // Null: this build has no libtorch, or the Python package makes it.
  bool is_only_if_named = false;     // It takes minutes of other programs.
  std::string (*lacks)(const BenchSetup&, const BenchFlags&) = nullptr;  // What it needs and is not here; "": nothing.
  bool is_python() const { return std::string_view(name).starts_with("python."); }
  bool lacks_torch() const { return make == nullptr && !is_python(); }
};

std::string trace_cost_lacks(const BenchSetup& setup, const BenchFlags&) {
  return setup.is_traced ? "times without a trace, which --trace and --logdir record always" : "";
}

std::string stats_cost_lacks(const BenchSetup& setup, const BenchFlags&) {
  if (!program_without_stats(setup).empty()) return "";
  return "this program built without counting: cmake --preset release -B build/no_stats -DHEADPOND_STATS=OFF && "
         "ninja -C build/no_stats headpond_cli, or --without-stats PROGRAM";
}

const Entry kOfImagesAndSound[] = {
    {"sound.slot", "WAV files of a second to float, against open, read and convert", sound_slot_bench},
    {"sound.logmel", "log-mel spectra of clips, against the same kernel in a loop", sound_logmel_bench},
    {"jpeg.train", "JPEG files to normalized crops, against libjpeg-turbo's decoding of the crops", jpeg_train_bench},
    {"png.decode", "PNG files to pixels in a batch, against libpng alone", png_decode_bench},
    {"kernels.calls", "each kernel of images and sounds alone", kernels_calls_bench},
    {"pixels.resize", "the resize of one image", pixels_resize_bench},
    {"pixels.raw", "stored images to crops, against the same kernels in a loop", pixels_raw_bench},
    {"cifar.memory", "small images in memory to crops, against the same kernels in a loop", cifar_memory_bench},
};

const Entry kOfCosts[] = {
    {"trace.cost", "what a trace adds to engine.tiny, loader.mnist and queue.handoff", trace_cost_bench, true,
     trace_cost_lacks},
    {"stats.cost", "what counting adds to them, against this program built with HEADPOND_STATS=OFF", stats_cost_bench,
     true, stats_cost_lacks},
};

const Entry kOfPython[] = {
    {"python.ready", "a batch that is ready, in Python, against torchdata's nodes", nullptr, true},
    {"python.handoff", "a batch that another thread has made, in Python, against other libraries", nullptr, true},
    {"python.first", "a fresh process of Python to its first batch, against NumPy alone", nullptr, true},
    {"python.import", "importing the Python package", nullptr, true},
    {"python.mnist", "digits by a Loader in Python, by C++, by NumPy's own loop, by other libraries", nullptr, true},
    {"python.lock", "functions of Python on threads, against one thread and a plain loop", nullptr, true},
};

std::vector<Entry> entries() {
  const TorchBenches torch = torch_benches();
  std::vector<Entry> all = {
      {"rng.normal", "normal floats, per instruction set, against std", rng_normal_bench},
      {"queue.handoff", "elements through a queue, against other queues", queue_handoff_bench},
      {"queue.many", "tensors of rows through a queue", queue_many_bench},
      {"queue.wake", "how long a sleeping dequeue takes to return, against a raw futex", queue_wake_bench},
      {"queue.idle", "CPU time of a sleeping dequeue", queue_idle_bench},
      {"mnist.sleep", "a training fed by 1 to 64 sleeping producers or a Loader, against a prepared batch",
       torch.mnist_sleep},
      {"blstm.step", "a training step with a queue or a Loader, against batches made in the step", torch.blstm_step},
      {"loader.mnist", "digits by a Loader, by a hand-written loop, by torch::data", loader_mnist_bench},
      {"loader.wait", "wait time as a Loader counts it, against a stopwatch", loader_wait_bench},
      {"verdict.faults", "pipelines with known mistakes: what diagnose() finds, and the gains it forecasts",
       verdict_faults_bench},
      {"record.scan", "TFRecords with both checksums, against loops that only read", record_scan_bench},
      {"record.mnist", "digits from TFRecords by a Loader, against a hand-written loop over memory",
       record_mnist_bench},
      {"record.gzip", "gzip files, against zlib", record_gzip_bench},
      {"engine.overlap", "batches that take 90 ms to prepare, for a step of 50 ms", engine_overlap_bench},
      {"train.overlap", "evaluations in a training: inputs kept, inputs made anew, no overlap", train_overlap_bench},
      {"train.resume", "a training that goes on from its checkpoint, against one that was not ended",
       train_resume_bench},
      {"engine.tiny", "elements that cost nothing", engine_tiny_bench},
      {"engine.grid", "a Loader with no settings, against 12 settings", engine_grid_bench},
      {"ops.flat_map", "datasets of elements one after the other, against a hand-written loop", ops_flat_map_bench},
      {"ops.interleave", "16 datasets of elements in turn, against a hand-written loop", ops_interleave_bench},
      {"ops.bucket", "sequences batched by length, against a hand-written loop", ops_bucket_bench},
      {"order.shuffle", "the cost of a shuffled position", order_shuffle_bench},
      {"order.state", "the size of a saved state, saving, restoring", order_state_bench},
      {"order.cost", "delivery in order, against first ready", order_cost_bench},
      {"order.skew", "delivery in order when 1 % of the samples cost 100 times as much", order_skew_bench},
      {"source.open", "first batch and epoch of one file and of many", source_open_bench},
      {"cache.warm", "batches from a full cache in memory and on disk, against a loop that copies rows",
       cache_warm_bench}};
  all.insert(all.end(), std::begin(kOfImagesAndSound), std::end(kOfImagesAndSound));
  all.insert(all.end(), std::begin(kOfCosts), std::end(kOfCosts));
  all.insert(all.end(), std::begin(kOfPython), std::end(kOfPython));
  return all;
}

constexpr double kBriefSeconds = 0.1;

void declare(Flags& flags, BenchFlags& to) {
  flags.words("[NAME...]", to.names,
              "benches to run, as --list names them, or 'python.*' (default: all but *.cost and python.*)");
  flags.flag("list", to.list, "only list the benches");
  flags.option_from(1, "rounds", to.rounds, "rounds of each bench (default: 5; mnist.sleep: 7)");
  flags.option_from(0, "seconds S", to.seconds, "start no round of a bench later than S seconds after its first round");
  flags.choice("peers", to.peers, {"on", "off"}, "whether to measure other libraries too");
  flags.cpus("cpu", to.cpus, "run on these CPUs only, as 0,2-3");
  flags.option("python PROGRAM", to.python,
               "a Python with the package headpond, for python.* (default: python3, or the one that runs headpond)");
  flags.option("peer-python PROGRAM", to.peer_python, "a Python with peers that --python lacks");
  flags.flag("trace", to.trace, "record a trace meanwhile, as a RunLog does, and drop it: shows what tracing costs");
  flags.option("without-stats PROGRAM", to.without_stats,
               "for stats.cost: headpond built without counting (default: build/no_stats/headpond)");
  flags.flag("check", to.check, "exit with code 3 if a target is missed");
}

[[noreturn]] void refuse_bench(const std::string& text) { throw Exception(Error(ErrorKind::InvalidArgument, text)); }

// "python.*" is all that begin with "python.".
bool is_named(const Entry& entry, const std::string& name) {
  const std::string_view group = std::string_view(name).substr(0, name.size() - 1);
  return entry.name == name || (name.ends_with(".*") && std::string_view(entry.name).starts_with(group));
}

std::vector<Entry> chosen(const BenchFlags& flags) {
  auto all = entries();
  if (flags.names.empty()) {
    std::erase_if(all, std::mem_fn(&Entry::is_only_if_named));
    return all;
  }
  std::vector<Entry> found;
  for (const std::string& name : flags.names) {
    const size_t before = found.size();
    std::ranges::copy_if(all, std::back_inserter(found), [&](const Entry& entry) { return is_named(entry, name); });
    if (found.size() > before) continue;
    const std::string meant = plan::did_you_mean(name, bench_names());
    refuse_bench(
        fmt::format("no bench '{}'{}{} `headpond bench --list`", name, meant, meant.empty() ? "; see" : " See"));
  }
  return found;
}

std::vector<int> pinned(const std::vector<int>& cpus) {
  if (cpus.empty()) return allowed_cpus();
  if (!pin_this_thread(cpus)) refuse_bench(fmt::format("the system refuses to run on CPU {}", fmt::join(cpus, ",")));
  return cpus;
}

struct Finished {
  Bench bench;
  BenchResult result;
};

// Unimplemented: what it needs is not here. With --logdir `log` is opened for it, in a folder of its name; what runs in
// other processes has none.
Result<Bench> made(const Entry& entry, BenchSetup setup, Session& session, const BenchFlags& flags,
                   std::optional<SessionLog>& log) {
  if (entry.is_python())
    return python_bench(entry.name, {.python = flags.python,
                                     .peer_python = flags.peer_python,
                                     .peers = setup.peers,
                                     .cpus = setup.cpus,
                                     .seconds = flags.seconds,
                                     .rounds = flags.rounds,
                                     .stop = session.stop(),
                                     .say = [&](std::string_view line) { session.say(line); }});
  std::string lacks = entry.lacks != nullptr ? entry.lacks(setup, flags) : "";
  if (entry.lacks_torch()) lacks = "libtorch, which this build does not have";
  if (!lacks.empty()) return fail(ErrorKind::Unimplemented, fmt::format("bench {}: needs {}", entry.name, lacks));
  if (!session.common().logdir.empty()) {
    auto opened = SessionLog::open(session, entry.name);
    if (!opened) return fail(opened.error());
    setup.log = log.emplace(std::move(*opened)).get();
  }
  return entry.make(setup);
}

struct Outcome {
  std::vector<Finished> all;
  std::vector<std::pair<std::string, Error>> skipped;  // They need what is not here.
  std::vector<RunFiles> files;                         // With --logdir.
  Error failed;  // Of the first bench that ended by an error; the others ran all the same.
};

Result<Finished> run_one(Bench bench, const Session& session, const BenchOptions& options) {
  auto result = run_bench(bench, options);
  if (!result) return fail(result.error());
  if (bench.consume == kXorName) result->consume_ns_per_kib = xor_ns_per_kib();
  session.say(format_bench(bench, *result));
  if (result->interrupted) return fail(ErrorKind::Cancelled, bench.name + ": a stop was requested");
  return Finished{std::move(bench), *std::move(result)};
}

// Closes the log of a bench, and prints the verdicts that its table has not. Most rounds are too short for a reason.
void end(const Session& session, const SessionLog& log, const Bench& bench, Outcome& outcome) {
  log.end();
  std::vector<PipelineRecord> pipelines = log->pipelines();
  std::erase_if(pipelines, [](const PipelineRecord& one) { return one.verdict.code == ReasonCode::none; });
  if (!bench.verdicts) say_verdicts(session, pipelines);
  outcome.files.push_back(log->files());
}

Result<Outcome> run_all(Session& session, const BenchFlags& flags, const std::vector<Entry>& list) {
  BenchSetup setup{.peers = flags.peers == "on",
                   .cpus = pinned(flags.cpus),
                   .seed = session.common().seed,
                   .without_stats = flags.without_stats,
                   .is_traced = flags.trace || !session.common().logdir.empty()};
  if (flags.seconds > 0 && flags.seconds < kBriefSeconds)
    setup.items /= 100;  // Enough to see that it runs, not to measure: on a busy machine a peer gets few turns.
  if (setup.peers && !HEADPOND_WITH_ONETBB)
    session.say("this build has no oneTBB: targets that compare with it are not measured");
  const BenchOptions options{
      .rounds = flags.rounds, .seconds = flags.seconds, .stop = session.stop(), .say = [&](std::string_view line) {
        session.say(line);
      }};
  Outcome outcome;
  for (const Entry& entry : list) {
    std::optional<SessionLog> run_log;
    const auto bench = made(entry, setup, session, flags, run_log);
    if (!bench && bench.error().kind() == ErrorKind::Unimplemented) {
      outcome.skipped.emplace_back(entry.name, bench.error());
      if (list.size() > 1) session.say("skipped: " + bench.error().message());
      continue;
    }
    auto done = bench ? run_one(*bench, session, options) : Result<Finished>(fail(bench.error()));
    if (run_log && bench) end(session, *run_log, *bench, outcome);
    if (done) {
      outcome.all.push_back(*std::move(done));
      continue;
    }
    if (list.size() == 1 || done.error().kind() == ErrorKind::Cancelled) return fail(done.error());
    log(LogLevel::error, fmt::format("bench {}: {}", entry.name, done.error().to_string()));
    if (!outcome.failed) outcome.failed = done.error();
  }
  if (outcome.all.empty()) return fail(outcome.failed ? outcome.failed : outcome.skipped.back().second);
  return outcome;
}

// One object for one bench that was asked for, however many there are figures of.
void write_members(JsonWriter& json, const std::string& folder, const Outcome& outcome, bool one) {
  const std::vector<Finished>& all = outcome.all;
  if (!outcome.files.empty()) write_files(json, folder, outcome.files);
  const bool pass =
      std::all_of(all.begin(), all.end(), [](const Finished& one) { return passes(one.bench, one.result); });
  if (one) return write_bench(json, all[0].bench, all[0].result);
  json.key("benches").begin_array();
  for (const auto& [bench, result] : all) {
    json.begin_object();
    write_bench(json, bench, result);
    json.end_object();
  }
  json.end_array().member("pass", pass && !outcome.failed);
  json.key("skipped").begin_array();
  for (const auto& [name, why] : outcome.skipped)
    json.begin_object().member("name", name).member("why", why.message()).end_object();
  json.end_array();
  if (outcome.failed) write_error(json, outcome.failed);
}

Result<Report> list_benches(const Session& session) {
  for (const Entry& entry : entries()) {
    session.say(fmt::format("{:<14} {}{}", entry.name, entry.what, entry.lacks_torch() ? " (needs libtorch)" : ""));
  }
  return Report{.members = [](JsonWriter& json) {
    json.key("benches").begin_array();
    for (const Entry& entry : entries()) json.value(entry.name);
    json.end_array();
  }};
}

Result<Report> run(Session& session, const BenchFlags& flags) {
  if (flags.list) return list_benches(session);
  const auto list = chosen(flags);
  std::optional<Recording> recording;
  if (flags.trace) recording.emplace(TraceOptions().events_per_thread);
  const auto outcome = run_all(session, flags, list);
  if (!outcome) return fail(outcome.error());
  if (!outcome->files.empty()) announce(session, session.common().logdir, outcome->files);
  const bool agree =
      std::ranges::all_of(outcome->all, [](const Finished& one) { return one.result.digest_equal.value_or(true); });
  const bool pass =
      std::ranges::all_of(outcome->all, [](const Finished& one) { return passes(one.bench, one.result); });
  const bool has_all = flags.names.empty() || outcome->skipped.empty();  // A target that was not measured is not met.
  return Report{.exit_code = bench_exit_code(agree && !outcome->failed, pass && has_all, flags.check),
                .members = [outcome = *outcome, folder = session.common().logdir,
                            one = list.size() == 1](JsonWriter& json) { write_members(json, folder, outcome, one); }};
}

}  // namespace

int bench_exit_code(bool outputs_agree, bool targets_met, bool check) {
  if (!outputs_agree) return kFailed;
  return check && !targets_met ? kTargetMissed : kOk;
}

std::vector<std::string> bench_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) names.emplace_back(entry.name);
  names.emplace_back("python.*");
  return names;
}

Verb bench_verb() {
  const auto flags = std::make_shared<BenchFlags>();
  return {.path = "bench",
          .what = "measure Headpond's speed next to other libraries",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "7",
          .default_logdir = kNoFolder,
          .writes_none = [flags] { return std::string(flags->list ? "with --list" : ""); }};
}

}  // namespace headpond::cli
