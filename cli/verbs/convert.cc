// SPDX-License-Identifier: Apache-2.0
// headpond convert: prepares data once, as shards of TFRecord or tar.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/convert/convert_inputs.h"
#include "cli/convert/convert_samples.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/engine/shards.h"
#include "headpond/monitor/progress.h"

namespace headpond::cli {
namespace {

struct ConvertFlags {
  std::vector<std::string> words;
  std::string from, to = "tfrecord", out, name = "data", compression = "none";
  int64_t shards = 1;
  int threads = -1;
  bool resume = false;
};

void declare(Flags& flags, ConvertFlags& to) {
  flags.words("INPUT", to.words, "files, patterns or a folder, as --from says");
  flags.choice("from", to.from, {"idx", "folder", "csv", "tar", "wav"}, "what the input is");
  flags.choice("to", to.to, {"tfrecord", "tar"}, "what is written [tfrecord]");
  flags.option("out", to.out, "the folder for the shards, made if need be");
  flags.option("name", to.name, "of the data set: NAME-00000-of-00004.tfrecord [data]");
  flags.option("shards", to.shards, "how many files [1]");
  flags.choice("compression", to.compression, {"none", "gzip"}, "of tfrecord shards [none]");
  flags.option("threads", to.threads, "that prepare; 0: none but this one [as many as processors]");
  flags.flag("resume", to.resume, "goes on where an interrupted run of the same line stopped");
}

struct Outcome {
  ShardReport report;
  double seconds = 0;
};

void write_members(JsonWriter& json, const Outcome& outcome) {
  json.member("records", outcome.report.records).member("bytes", outcome.report.bytes);
  json.key("shards").begin_array();
  for (const Shard& shard : outcome.report.shards) {
    json.begin_object().member("path", shard.path).member("records", shard.records);
    json.member("digest", fmt::format("{:016x}", shard.digest)).end_object();
  }
  json.end_array();
  json.member("seconds", outcome.seconds).member("resumed_from", outcome.report.resumed_from);
}

std::string summary(const Outcome& outcome) {
  const ShardReport& report = outcome.report;
  std::string text = fmt::format("{} records, {} bytes in {} shards, in {:.3f} s", report.records, report.bytes,
                                 report.shards.size(), outcome.seconds);
  if (report.resumed_from > 0) text += fmt::format("; {} records were there", report.resumed_from);
  for (const Shard& shard : report.shards) {
    text += fmt::format("\n  {}  {} records  {:016x}", shard.path, shard.records, shard.digest);
  }
  return text;
}

// Unimplemented would be taken for a wrong line.
Error of_data(const Error& error) {
  if (error.kind() != ErrorKind::Unimplemented) return error;
  return error.cause() == nullptr ? Error(ErrorKind::InvalidArgument, error.message())
                                  : Error(ErrorKind::InvalidArgument, error.message(), *error.cause());
}

// What is wrong with files is no wrong line: an error here, where they throw.
Result<Dataset> open_records(const ConvertFlags& flags) try {
  const bool is_tar = flags.to == "tar";
  const Dataset samples = convert_samples(flags.from, flags.words, !is_tar);
  return is_tar ? as_tar_members(samples) : as_examples(samples);
} catch (const Exception& e) {
  return fail(of_data(e.error()));
}

// The error of a resume tells both plans; iff the inputs are other ones, this run's are in it but once.
Error with_reason(const Error& error, const std::string& inputs) {
  const size_t first = error.message().find(inputs);
  const bool is_other = first != std::string::npos && error.message().find(inputs, first + 1) == std::string::npos;
  return is_other ? Error(error.kind(), "an input file changed: " + error.message()) : error;
}

void check(const ConvertFlags& flags) {
  const auto refuse = [](const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); };
  if (flags.from.empty()) refuse("convert needs --from: idx, folder, csv, tar or wav");
  if (flags.out.empty()) refuse("convert needs --out, a folder");
  if (const std::string why = words_refusal(flags.from, flags.words); !why.empty()) refuse(why);
}

Result<ShardReport> write(const Session& session, const ConvertFlags& flags, const Dataset& records,
                          const std::string& inputs) {
  Progress bar({.description = "convert", .total = records.node()->slots(), .enabled = session.progress()});
  int64_t shown = 0;
  auto report =
      write_shards(records, {.folder = flags.out,
                             .name = flags.name,
                             .shards = flags.shards,
                             .format = flags.to == "tar" ? ShardFormat::tar : ShardFormat::tfrecord,
                             .compression = flags.compression == "gzip" ? Compression::gzip : Compression::none,
                             .resume = flags.resume,
                             .made_from = inputs,
                             .threads = flags.threads,
                             .progress = [&](int64_t done) {
                               bar.update(done - std::exchange(shown, done));
                               return !session.stop().stop_requested();
                             }});
  bar.close();
  if (!report) return fail(of_data(with_reason(report.error(), inputs)));
  return report;
}

Result<Report> run(const Session& session, const ConvertFlags& flags) {
  check(flags);
  const int64_t begin = now_ns();
  const auto files = input_files(flags.from, flags.words);
  if (const std::string why = output_refusal(flags.from, flags.words, files, flags.out, flags.name); !why.empty()) {
    throw Exception(Error(ErrorKind::InvalidArgument, why));
  }
  const std::string inputs = inputs_line(files);
  const auto records = open_records(flags);
  if (!records) return fail(records.error());
  auto report = write(session, flags, *records, inputs);
  if (!report) return fail(report.error());
  if (const std::string now = inputs_line(files); now != inputs) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("an input file changed while it was read: it was\n{}\nand is now\n{}", inputs, now));
  }
  const Outcome outcome = {std::move(*report), static_cast<double>(now_ns() - begin) * 1e-9};
  session.say(summary(outcome));
  return Report{.members = [outcome](JsonWriter& json) { write_members(json, outcome); }};
}

}  // namespace

Verb convert_verb() {
  const auto flags = std::make_shared<ConvertFlags>();
  return {.path = "convert",
          .what = "prepares data once: IDX, folders, CSV, tar or WAV as shards of TFRecord or tar",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); }};
}

}  // namespace headpond::cli
