// SPDX-License-Identifier: Apache-2.0
// headpond run: delivers the elements of a pipeline file by a Loader.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/in_words.h"
#include "cli/session.h"
#include "cli/verbs/loader_bar.h"
#include "cli/verbs/replay.h"
#include "cli/verbs/run_digest.h"
#include "cli/verbs/run_outputs.h"
#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
#include "headpond/dataset/batch_rows.h"
#include "headpond/dataset/migrate/migrate.h"
#include "headpond/engine/loader.h"
#include "headpond/io/file/file.h"
#include "headpond/plan/element_json.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

struct RunFlags {
  std::vector<std::string> files;
  int threads = -1;
  std::optional<int64_t> memory;
  std::string state_in, state_out, migrate_from, if_refused = "fail", order_out, quarantine, replay;
  std::optional<int64_t> epochs, limit;
  bool digest = false, print = false;
};

void declare(Flags& flags, RunFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.option_from(0, "threads", to.threads, "compute threads; 0: the calling thread only (default: all CPUs)");
  flags.bytes("memory", to.memory, "memory for elements that are prepared ahead, as 64M or 2G (default: 1G)");
  flags.option("epochs", to.epochs, "epochs in total, also after --state-in; below 0: without end (default: 1)");
  flags.option_from(0, "limit", to.limit, "stop after N elements; a batch counts as one");
  flags.option("state-in FILE", to.state_in, "resume from this state");
  flags.option("migrate-from FILE.toml", to.migrate_from,
               "the pipeline file that the state belongs to, if it has changed since");
  flags.choice("if-refused", to.if_refused, {"fail", "restart_epoch", "next_epoch"},
               "if the state's epoch cannot go on exactly: report an error, begin it again, or begin the next one");
  flags.option("state-out FILE", to.state_out, "when the run ends, save the state to resume from");
  flags.option("order-out FILE", to.order_out, "write a line 'epoch index key' for each element");
  flags.option("quarantine FILE", to.quarantine, "append a line for each bad element that a step on_error met");
  flags.option("replay QUARANTINE", to.replay,
               "read the elements listed in this quarantine file again; print each, or its error");
  flags.flag("digest", to.digest, "print one digest of all elements");
  flags.flag("print", to.print, "print each element as a line of JSON");
}

// The process's peak memory, sampled: reading it takes a while.
class PssPeak {
 public:
  uint64_t bytes() {
    sample();
    return bytes_;
  }
  void sample_if_due() {
    if (now_ns() >= next_ns_) sample();
  }

 private:
  void sample() {
    constexpr int64_t kInterval = 50'000'000, kShare = 50;
    const int64_t begin = now_ns();
    bytes_ = std::max(bytes_, memory_info().pss);
    const int64_t end = now_ns();
    next_ns_ = end + std::max(kInterval, kShare * (end - begin));
  }
  uint64_t bytes_ = 0;
  int64_t next_ns_ = 0;
};

struct Totals {
  int64_t elements = 0, batches = 0, bytes = 0;
  double seconds = 0;
  std::string digest = {};  // Empty unless --digest.
  bool are_batches = false;
  size_t state_bytes = 0;
  LoaderStats stats = {};
  uint64_t pss_peak = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// How often elements were batched: 2 for batches of batches. The operators after one that batches see whole batches.
int64_t batch_depth(const Node& node) {
  const int64_t below = node.facts().inputs.empty() ? 0 : batch_depth(node.input());
  switch (node.facts().role) {
    case Role::batch:
      return below + 1;
    case Role::rebatch:
      return std::max<int64_t>(below, 1);
    case Role::unbatch:
      return std::max<int64_t>(below - 1, 0);
    default:
      return below;
  }
}

// Counts, prints and digests what is delivered.
class Sink {
 public:
  Sink(const Session& session, const Dataset& dataset, const RunFlags& flags)
      : spec_(dataset.spec()), batches_(batch_depth(*dataset.node()) > 0) {
    if (flags.print) elements_ = session.element_output();
    totals_.are_batches = batches_;
    if (flags.digest) digest_ = std::make_unique<RunDigest>();
  }

  Result<void> open_order(const std::string& path) {
    if (path.empty()) return {};
    order_file_.reset(std::fopen(path.c_str(), "w"));
    if (!order_file_) return fail(file_error("open", path, errno));
    order_ = {order_file_.get(), "write", path};
    return {};
  }

  Result<void> take(const Batch& batch) {
    const Element& element = batch.element();
    ++totals_.batches;
    totals_.elements += batches_ ? rows_of_batch(spec_, element) : 1;
    for (size_t i = 0; i < element.size(); ++i) totals_.bytes += static_cast<int64_t>(element[i].byte_size());
    if (digest_) digest_->add(element);
    if (order_) HEADPOND_TRY(order_->write(fmt::format("{} {} {}\n", batch.epoch(), batch.index(), element.key)));
    if (elements_) HEADPOND_TRY(elements_->write(plan::element_json(spec_, element, batch.epoch(), batch.index())));
    return {};
  }

  // While next() hangs: what was delivered reaches the files, but for a pipe that nobody reads.
  void save() {
    for (const std::optional<TextOutput>* const output : {&elements_, &order_}) {
      if (!*output || ftrylockfile((*output)->file) != 0) continue;
      std::FILE* const file = (*output)->file;
      pollfd ready{.fd = fileno(file), .events = POLLOUT, .revents = 0};
      if (poll(&ready, 1, 0) > 0 && (ready.revents & POLLOUT) != 0) (void)std::fflush(file);
      funlockfile(file);
    }
  }

  Result<Totals> finish() {
    if (elements_) HEADPOND_TRY(elements_->flush());
    if (order_) HEADPOND_TRY(order_->flush());
    if (digest_) totals_.digest = digest_->text();
    return totals_;
  }

 private:
  const Spec spec_;
  const bool batches_;
  std::unique_ptr<RunDigest> digest_;
  File order_file_;
  std::optional<TextOutput> elements_, order_;
  Totals totals_;
};

// Reports what happens to each step of the old plan.
Result<std::string> migrated(const std::string& state, const plan::PlanFile& plan, const Session& session,
                             const RunFlags& flags) {
  const IfRefused if_refused = flags.if_refused == "restart_epoch" ? IfRefused::restart_epoch
                               : flags.if_refused == "next_epoch"  ? IfRefused::next_epoch
                                                                   : IfRefused::fail;
  auto migration = migrate(state, plan::read_plan_file(flags.migrate_from).dataset, plan.dataset, if_refused);
  if (!migration) return fail(migration.error());
  if (!session.common().quiet) put_on_stderr(to_string(*migration));
  return std::move(migration->state);
}

Result<Loader> open_loader(const plan::PlanFile& plan, const Session& session, const RunFlags& flags, uint64_t seed) {
  LoaderOptions options{
      .epochs = flags.epochs.value_or(1), .seed = seed, .threads = flags.threads, .quarantine = flags.quarantine};
  if (flags.memory) options.memory = *flags.memory;
  if (flags.state_in.empty()) return Loader(plan.dataset, options);
  const auto file = read_file(flags.state_in);
  if (!file) return fail(file.error());
  Result<std::string> state = std::string(reinterpret_cast<const char*>(file->data()), file->size());
  if (!flags.migrate_from.empty()) state = migrated(*state, plan, session, flags);
  auto loader = state ? Loader::restored(plan.dataset, options, *state) : Result<Loader>(fail(state.error()));
  if (!loader)
    return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {}", flags.state_in, with_causes(loader.error())));
  return loader;
}

// Delivers until the end, the limit, an error or Ctrl-C.
Result<void> deliver(Loader& loader, Sink& sink, const RunFlags& flags, const Session& session, PssPeak& pss) {
  ProgressOptions shown = loader_bar(session, loader, "run", flags.limit.value_or(-1));
  shown.enabled = shown.enabled && !flags.print;  // The elements show how far it is.
  Progress bar(std::move(shown));
  for (int64_t given = 0; !flags.limit || given < *flags.limit; ++given) {
    if (session.stop().stop_requested()) break;
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error().kind(), fmt::format("{}: {}", flags.files[0], with_causes(batch.error())));
    HEADPOND_TRY(sink.take(*batch));
    pss.sample_if_due();
    bar.update();
  }
  return {};
}

// Saves what `sink` and `log`, which may be null, have if the program hangs when it is interrupted.
class LastWords {
 public:
  LastWords(Interrupt& interrupt, Sink& sink, RunLog* log) : interrupt_(interrupt) {
    interrupt_.set_last_words([&sink, log] {
      sink.save();
      if (log != nullptr) (void)log->close();
    });
  }
  ~LastWords() { interrupt_.set_last_words({}); }
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  Interrupt& interrupt_;
};

Result<Totals> run_loader(Session& session, const plan::PlanFile& plan, const RunFlags& flags, uint64_t seed) {
  Sink sink(session, plan.dataset, flags);
  PssPeak pss;
  const auto log = SessionLog::open_if_named(session);
  if (!log) return fail(log.error());
  auto loader = open_loader(plan, session, flags, seed);
  if (!loader) return fail(loader.error());
  HEADPOND_TRY(sink.open_order(flags.order_out));
  const LastWords words(session.interrupt(), sink, *log ? (*log)->get() : nullptr);
  RunLog::Watch watched;
  if (*log) watched = (**log)->watch(*loader);
  const int64_t begin = now_ns();
  const auto delivered = deliver(*loader, sink, flags, session, pss);
  const int64_t end = now_ns();
  watched.reset();
  if (*log) (*log)->end();
  auto totals = sink.finish();
  HEADPOND_TRY(delivered);
  if (!totals) return totals;
  const std::string state = loader->state();
  totals->seconds = static_cast<double>(end - begin) * 1e-9;
  totals->state_bytes = state.size();
  totals->stats = loader->stats();
  totals->pss_peak = pss.bytes();
  if (!flags.state_out.empty()) HEADPOND_TRY(write_file_atomically(flags.state_out, {std::as_bytes(std::span(state))}));
  return totals;
}

double wait_share(const Totals& totals) {
  return totals.seconds > 0 ? std::min(1.0, static_cast<double>(totals.stats.wait_ns) * 1e-9 / totals.seconds) : 0;
}

void write_members(JsonWriter& json, const Totals& totals) {
  json.member("elements", totals.elements).member("batches", totals.batches).member("bytes", totals.bytes);
  json.member("seconds", totals.seconds).key("digest");
  if (totals.digest.empty()) {
    json.value(nullptr);
  } else {
    json.value(totals.digest);
  }
  json.member("state_bytes", totals.state_bytes).member("wait_share", wait_share(totals));
  json.member("peak_budget_bytes", totals.stats.memory_peak).member("pss_peak_bytes", totals.pss_peak);
  json.key("bad_elements").begin_array();
  for (const FailedCounts& one : totals.stats.failed) {
    json.begin_object().member("operator", one.op).member("failed", one.failed);
    json.member("skipped", one.skipped).member("substituted", one.substituted).key("step");
    if (one.step) {
      json.value(*one.step);
    } else {
      json.value(nullptr);
    }
    json.end_object();
  }
  json.end_array();
  json.member("defects", totals.stats.defects);
  json.member("threads", totals.stats.threads).member("io_threads", totals.stats.io_threads);
}

// Or may have one: in a dataset that a function makes.
bool has_on_error(const Node& node) {
  const std::vector<Node::Ref>& inputs = node.facts().inputs;
  return node.facts().decides_in_order || node.facts().makes_datasets ||
         std::any_of(inputs.begin(), inputs.end(), [](const Node::Ref& input) { return has_on_error(*input); });
}

std::string summary(const Totals& totals) {
  std::string text = in_words(totals.elements, "element");
  if (totals.are_batches) {
    text = fmt::format("{} ({})", in_words(totals.batches, "batch", "batches"), in_words(totals.elements, "sample"));
  }
  text += fmt::format(", {} in {:.3f} s, {:.1f} % of it waiting; state: {}", in_words(totals.bytes, "byte"),
                      totals.seconds, 100 * wait_share(totals), in_words(totals.state_bytes, "byte"));
  int64_t skipped = 0, substituted = 0;
  for (const FailedCounts& one : totals.stats.failed) {
    skipped += one.skipped;
    substituted += one.substituted;
  }
  if (skipped + substituted > 0) text += fmt::format("; bad: {} skipped, {} substituted", skipped, substituted);
  if (totals.stats.defects > 0) text += fmt::format("; {} defects of files passed over", totals.stats.defects);
  return totals.digest.empty() ? text : text + "\ndigest " + totals.digest;
}

Result<void> check_files(const Session& session, const plan::PlanFile& plan, const RunFlags& flags) {
  return check_outputs({{"--state-out", flags.state_out, "the file of --state-in"},
                        {"--order-out", flags.order_out},
                        {"--quarantine", flags.quarantine},
                        {"--json", session.json_on_stdout() ? "" : session.common().json}},
                       {{"the pipeline file", flags.files[0]},
                        {"the file of --migrate-from", flags.migrate_from},
                        {"the file of --state-in", flags.state_in},
                        {"the file of --replay", flags.replay}},
                       plan.dataset);
}

Result<Report> run(Session& session, const RunFlags& flags) {
  if (!flags.migrate_from.empty() && flags.state_in.empty()) {
    throw Exception(Error(ErrorKind::InvalidArgument, "--migrate-from needs --state-in"));
  }
  const bool runs = flags.digest || !flags.state_in.empty() || !flags.state_out.empty() || !flags.order_out.empty() ||
                    !flags.quarantine.empty() || flags.epochs;
  if (!flags.replay.empty() && runs) {
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              "--replay takes no --digest, --epochs, --order-out, --quarantine, --state-in or --state-out"));
  }
  const plan::PlanFile plan = plan::read_plan_file(only_file("run", flags.files));
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan.seed.value_or(0);
  session.set_seed(seed);
  if (const auto checked = check_files(session, plan, flags); !checked) throw Exception(checked.error());
  if (!flags.replay.empty()) return replay(session, plan.dataset, flags.replay, flags.limit);
  if (!flags.quarantine.empty() && !has_on_error(*plan.dataset.node())) {
    log(LogLevel::warning, fmt::format("{}: nothing will be written, as no step is on_error", flags.quarantine));
  }
  const auto totals = run_loader(session, plan, flags, seed);
  if (!totals) return fail(totals.error());
  if (session.interrupt().requested()) return fail(ErrorKind::Cancelled, "interrupted");
  if (!flags.print) {
    session.say(summary(*totals));
  } else if (!session.common().quiet) {
    put_on_stderr(summary(*totals) + "\n");
  }
  return Report{.members = [totals = *totals](JsonWriter& json) { write_members(json, totals); }};
}

}  // namespace

const std::string& only_file(const std::string& verb, const std::vector<std::string>& words) {
  if (words.size() != 1) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("{0} needs one pipeline file, FILE.toml; see `headpond {0} --help`", verb)));
  }
  return words[0];
}

Verb run_verb() {
  const auto flags = std::make_shared<RunFlags>();
  return {.path = "run",
          .what = "deliver the elements of a pipeline file: count, print or digest them, stop and resume",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0",
          .has_progress = true,
          .default_logdir = kNoFolder};
}

}  // namespace headpond::cli
