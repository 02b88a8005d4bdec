// SPDX-License-Identifier: Apache-2.0
// headpond convert: prepares data once, as TFRecord or tar shards, or as an array of images.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/convert/convert_images.h"
#include "cli/convert/convert_inputs.h"
#include "cli/convert/convert_samples.h"
#include "cli/in_words.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/array_file.h"
#include "headpond/engine/shards.h"
#include "headpond/monitor/progress.h"

namespace headpond::cli {
namespace {

struct ConvertFlags {
  std::vector<std::string> words;
  std::string from, to = "tfrecord", out, name = "data", compression = "none";
  std::string image;
  int64_t size = 0;
  int64_t jpeg_index = -1;
  int64_t shards = 1;
  int threads = -1;
  bool resume = false;
};

void declare(Flags& flags, ConvertFlags& to) {
  flags.words("INPUT...", to.words, "files, wildcard patterns or a folder, depending on --from (docs/converting.md)");
  flags.choice("from", to.from, {"idx", "folder", "csv", "tar", "wav"}, "format of the input; required");
  flags.choice("to", to.to, {"tfrecord", "tar", "npy"},
               "format of the shards; npy: NAME.npy, the images of a folder, and NAME-labels.npy");
  flags.choice("image", to.image, {"raw", "jpeg", "png"},
               "decode the images of a folder, and store their pixels (raw) or encode them again");
  flags.option_from(1, "size", to.size, "resize an image's shorter side to this, and cut a square out of its middle");
  flags.option_from(0, "jpeg-index", to.jpeg_index,
                    "write an index beside each JPEG, so that crops are decoded sooner: a point every N blocks of 8 "
                    "or 16 pixels; 0: one for each row of blocks");
  flags.option("out DIR", to.out, "folder for the shards, created if it does not exist; required");
  flags.option("name NAME", to.name, "name of the shards, as in NAME-00000-of-00004.tfrecord (default: data)");
  flags.option_from(1, "shards", to.shards, "number of shards (default: 1)");
  flags.choice("compression", to.compression, {"none", "gzip"}, "compression of TFRecord shards");
  flags.option_from(0, "threads", to.threads, "compute threads; 0: the calling thread only (default: all CPUs)");
  flags.flag("resume", to.resume, "continue an interrupted run of the same command line");
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
  std::string text =
      fmt::format("{}, {} in {}, in {:.3f} s", in_words(report.records, "record"), in_words(report.bytes, "byte"),
                  in_words(report.shards.size(), "shard"), outcome.seconds);
  if (report.resumed_from > 0) text += fmt::format("; {} there already", in_words(report.resumed_from, "record"));
  for (const Shard& shard : report.shards) {
    text += fmt::format("\n  {}  {}  {:016x}", shard.path, in_words(shard.records, "record"), shard.digest);
  }
  return text;
}

// Unimplemented would be reported as a wrong command line.
Error of_data(const Error& error) {
  if (error.kind() != ErrorKind::Unimplemented) return error;
  return error.cause() == nullptr ? Error(ErrorKind::InvalidArgument, error.message())
                                  : Error(ErrorKind::InvalidArgument, error.message(), *error.cause());
}

// Wrong files are no wrong command line: what they throw becomes an error here.
Result<Dataset> open_records(const ConvertFlags& flags) try {
  const bool is_tar = flags.to == "tar";
  const bool is_member = is_tar && flags.image != "raw";  // Its name's ending says the format.
  const std::string field = !is_member ? "image" : flags.image == "jpeg" ? "jpg" : flags.image;
  Dataset samples = with_images(convert_samples(flags.from, flags.words, !is_tar),
                                {.image = flags.image, .field = field, .size = flags.size});
  if (flags.jpeg_index >= 0) {
    samples = with_jpeg_index(samples, flags.image.empty() ? "file" : field, flags.jpeg_index);
  }
  return is_tar ? as_tar_members(samples) : as_examples(samples);
} catch (const Exception& e) {
  return fail(of_data(e.error()));
}

// The error of a resume quotes both plans. Iff the inputs differ, it contains this run's inputs only once.
Error with_reason(const Error& error, const std::string& inputs) {
  const size_t first = error.message().find(inputs);
  const bool is_other = first != std::string::npos && error.message().find(inputs, first + 1) == std::string::npos;
  return is_other ? Error(error.kind(), "an input file changed: " + error.message()) : error;
}

void check(const ConvertFlags& flags) {
  const auto refuse = [](const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); };
  if (flags.from.empty()) refuse("convert needs --from: idx, folder, csv, tar or wav; see `headpond convert --help`");
  const bool has_images = flags.to == "npy" || !flags.image.empty();
  if (has_images && flags.from != "folder") refuse("convert takes --image and --to npy with --from folder only");
  if (flags.to == "npy" && flags.size == 0) refuse("convert --to npy needs --size: all rows have one size");
  if (flags.to == "npy" && !flags.image.empty() && flags.image != "raw") refuse("convert --to npy stores pixels only");
  if (flags.size > 0 && !has_images) refuse("convert takes --size with --image or --to npy only");
  const bool may_have_jpegs = flags.from == "folder" && (flags.image.empty() || flags.image == "jpeg");
  if (flags.jpeg_index >= 0 && (!may_have_jpegs || flags.to != "tfrecord")) {
    refuse("convert takes --jpeg-index with --from folder and --to tfrecord only, and with no --image but jpeg");
  }
  if (flags.out.empty()) refuse("convert needs --out, a folder; see `headpond convert --help`");
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

// Two arrays: the images, and their labels in the same order.
Result<ShardReport> write_arrays(const Session& session, const ConvertFlags& flags, const std::string& inputs) try {
  const Dataset images = image_rows(convert_samples(flags.from, flags.words), flags.size);
  const Dataset labels = label_rows(flags.words[0]);
  Progress bar({.description = "convert", .total = images.node()->slots(), .enabled = session.progress()});
  ShardReport report;
  int64_t shown = 0;
  for (const auto& [ending, rows] : {std::pair("", images), std::pair("-labels", labels)}) {
    const std::string path = fmt::format("{}/{}{}.npy", flags.out, flags.name, ending);
    const bool is_shown = *ending == '\0';
    const auto written = write_npy(
        rows, path,
        {.resume = flags.resume, .made_from = inputs, .threads = flags.threads, .progress = [&](int64_t done) {
           if (is_shown) bar.update(done - std::exchange(shown, done));
           return !session.stop().stop_requested();
         }});
    if (!written) return fail(of_data(with_reason(written.error(), inputs)));
    report.shards.push_back({path, written->rows, written->bytes, written->digest});
    report.bytes += written->bytes;
    if (!is_shown && written->rows != report.records) {
      return fail(ErrorKind::FailedPrecondition, "files were added to the folder or removed during the conversion");
    }
    report.records = written->rows;
    if (is_shown) report.resumed_from = written->resumed_from;
  }
  bar.close();
  return report;
} catch (const Exception& e) {
  return fail(of_data(e.error()));
}

Result<ShardReport> write_all(const Session& session, const ConvertFlags& flags, const std::string& inputs) {
  if (flags.to == "npy") return write_arrays(session, flags, inputs);
  const auto records = open_records(flags);
  if (!records) return fail(records.error());
  return write(session, flags, *records, inputs);
}

Result<Report> run(const Session& session, const ConvertFlags& flags) {
  check(flags);
  const int64_t begin = now_ns();
  const auto files = input_files(flags.from, flags.words);
  if (const std::string why = output_refusal(flags.from, flags.words, files, flags.out, flags.name); !why.empty()) {
    throw Exception(Error(ErrorKind::InvalidArgument, why));
  }
  const std::string inputs = inputs_line(files);
  auto report = write_all(session, flags, inputs);
  if (!report) return fail(report.error());
  if (const std::string now = inputs_line(files); now != inputs) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("an input file changed during the conversion: it was\n{}\nand is now\n{}", inputs, now));
  }
  const Outcome outcome = {std::move(*report), static_cast<double>(now_ns() - begin) * 1e-9};
  session.say(summary(outcome));
  return Report{.members = [outcome](JsonWriter& json) { write_members(json, outcome); }};
}

}  // namespace

Verb convert_verb() {
  const auto flags = std::make_shared<ConvertFlags>();
  return {.path = "convert",
          .what = "prepare data once: IDX, folders, CSV, tar or WAV as TFRecord or tar shards, images as an array",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .has_progress = true};
}

}  // namespace headpond::cli
