// SPDX-License-Identifier: Apache-2.0
// Scenario 12: damaged and unusual files under each policy.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "corpus.h"
#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/record_frame.h"
#include "headpond/io/record/record_writer.h"
#include "odd_files.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kFiles = 4, kRows = 16;
const Spec kDecoded = {{"number", i64, {}}, {"head", f32, {kHead}}};

// The records of four files: their numbers say whether one is planted.
struct Corpus {
  std::vector<Payload> records = {};
  std::string folder = {};
  std::string path(int64_t file, bool clean) const {
    return folder + (clean ? "/clean-" : "/odd-") + std::to_string(file) + ".tfrecord";
  }
  size_t in_file() const { return records.size() / kFiles; }
};

Corpus make_corpus(const Run& run) {
  Corpus corpus{.folder = run.place};
  const int64_t count = run.full ? 8000 : 2000;
  for (int64_t i = 0; i < count; ++i) corpus.records.push_back(plain_payload(i));
  size_t at = 7;
  for (const int64_t twin : {0, 1}) {
    const auto forms = planted_payloads(0).size();
    for (size_t form = 0; form < forms; ++form, at += static_cast<size_t>(count) / 50) {
      corpus.records[at] = planted_payloads(static_cast<int64_t>(at))[form];
    }
    at += static_cast<size_t>(twin) + 11;
  }
  return corpus;
}

void write_corpus(const Corpus& corpus) {
  for (const bool clean : {false, true}) {
    for (int64_t file = 0; file < kFiles; ++file) {
      const auto out = value_or_throw(RecordWriter::open(corpus.path(file, clean)));
      for (size_t i = static_cast<size_t>(file) * corpus.in_file();
           i < static_cast<size_t>(file + 1) * corpus.in_file(); ++i) {
        const std::string& bytes = corpus.records[i].bytes;
        value_or_throw(out->append(
            clean && corpus.records[i].form != "plain" ? plain_payload(static_cast<int64_t>(i)).bytes : bytes));
      }
      value_or_throw(out->close());
    }
  }
}

// What a driver in another language needs: where each record is, what it is, and what it decodes to (heads.f32).
void describe(const Corpus& corpus, JsonWriter& figures) {
  std::ofstream heads(corpus.folder + "/heads.f32", std::ios::binary);
  figures.key("records").begin_array();
  size_t offset = 0;
  for (size_t i = 0; i < corpus.records.size(); ++i) {
    const Payload& payload = corpus.records[i];
    if (i % corpus.in_file() == 0) offset = 0;
    figures.begin_object().member("form", payload.form).member("decodes", payload.decodes);
    figures.member("file", corpus.path(static_cast<int64_t>(i / corpus.in_file()), false));
    figures.member("record", i % corpus.in_file()).member("offset", offset).end_object();
    offset += 16 + payload.bytes.size();
    heads.write(reinterpret_cast<const char*>(payload.head.data()), sizeof(payload.head));
  }
  figures.end_array().key("frames").begin_array();
  for (const DamagedFile& file : write_damaged_files(corpus.folder + "/frames")) {
    figures.begin_object().member("kind", file.kind).member("path", file.path).member("record", file.record);
    figures.member("offset", file.offset).member("is_error", file.is_error);
    member(figures, "readable", file.readable);
    figures.end_object();
  }
  figures.end_array();
}

Result<Element> decode(std::string_view record) {
  int64_t number = 0;
  std::memcpy(&number, record.data() + 1, sizeof(number));
  const auto file = std::as_bytes(std::span(record.substr(1 + sizeof(number))));
  Tensor head = Tensor::empty(f32, {kHead});
  if (record[0] == 'W') {
    if (auto info = decode_wav(file, {.desired_samples = kHead}); !info) {
      return fail(info.error());
    } else {
      std::ranges::copy(info->samples.as<float>(), head.mutable_as<float>().begin());
    }
    if (auto whole = decode_wav(file); !whole) return fail(whole.error());
  } else {
    auto image = decode_image(file, {.channels = 3});
    if (!image) return fail(image.error());
    const auto pixels = image->pixels.as<uint8_t>();
    for (size_t i = 0; i < kHead; ++i) head.mutable_as<float>()[i] = pixels[i * static_cast<size_t>(kApart)];
  }
  return Element{Tensor::scalar(number), head};
}

Dataset decoded(const Corpus& corpus, bool clean = false) {
  std::vector<std::string> paths;
  for (int64_t file = 0; file < kFiles; ++file) paths.push_back(corpus.path(file, clean));
  return tfrecord(paths) | map(decode, {.output = kDecoded, .name = "decode"});
}

const OnErrorOptions kSkip = {.policy = OnErrorPolicy::skip};

// How far decoded values are from what was drawn: sounds by the farthest, images by the mean of each.
struct Distances {
  double sound = 0, image = 0;

  void add(const Payload& drawn, std::span<const float> found) {
    double most = 0, sum = 0;
    for (size_t i = 0; i < kHead; ++i) {
      const double apart = std::abs(static_cast<double>(found[i]) - drawn.head[i]);
      most = std::max(most, apart);
      sum += apart;
    }
    if (drawn.bytes[0] == 'W') {
      sound = std::max(sound, most);
    } else {
      image = std::max(image, sum / kHead);
    }
  }
};

// What skip leaves out, by the quarantine file, and whether all others have the reference's values.
void skipping(const Corpus& corpus, JsonWriter& figures) {
  const std::string file = corpus.folder + "/bad.jsonl";
  Loader loader(decoded(corpus) | on_error(kSkip) | batch(kRows), {.quarantine = file});
  std::set<int64_t> seen;
  Distances distances;
  for (const Batch& batch : loader) {
    for (int64_t row = 0; row < batch[0].dim(0); ++row) {
      const int64_t number = batch[0].as<int64_t>()[static_cast<size_t>(row)];
      seen.insert(number);
      distances.add(corpus.records[static_cast<size_t>(number)],
                    batch[1].as<float>().subspan(static_cast<size_t>(row * kHead), kHead));
    }
  }
  std::vector<std::string> left_out, planted, unplaced;
  for (const QuarantineEntry& entry : value_or_throw(read_quarantine(file)).entries) {
    left_out.push_back(entry.source + " " + std::to_string(entry.record.value_or(-1)));
    if (entry.offset.value_or(-1) < 0 || entry.cause.find("decode") == std::string::npos || !entry.position)
      unplaced.push_back(entry.cause);
  }
  size_t odd = 0;
  for (size_t i = 0; i < corpus.records.size(); ++i) {
    odd += corpus.records[i].form == "plain" ? 0 : 1;
    if (corpus.records[i].decodes) continue;
    planted.push_back(corpus.path(static_cast<int64_t>(i / corpus.in_file()), false) + " " +
                      std::to_string(i % corpus.in_file()));
    if (seen.contains(static_cast<int64_t>(i))) unplaced.push_back("delivered: " + corpus.records[i].form);
  }
  figures.member("planted", odd + 6).member("farthest", distances.sound).member("images_apart", distances.image);
  figures.member("delivered", seen.size());
  figures.member("decodable", corpus.records.size() - planted.size());
  member(figures, "left_out", left_out);
  member(figures, "undecodable", planted);
  member(figures, "unplaced", unplaced);
}

// The first error under fail, in the words of next() and of the quarantine file.
void failing(const Corpus& corpus, JsonWriter& figures) {
  const std::string file = corpus.folder + "/failed.jsonl";
  Loader loader(decoded(corpus) | on_error({.policy = OnErrorPolicy::fail}) | batch(kRows), {.quarantine = file});
  auto batch = loader.next();
  while (batch) batch = loader.next();
  size_t first = 0;
  while (corpus.records[first].decodes) ++first;
  uint64_t offset = 0;
  for (size_t i = 0; i < first; ++i) offset += 16 + corpus.records[i].bytes.size();
  const auto entries = value_or_throw(read_quarantine(file)).entries;
  figures.key("failing").begin_object().member("error", batch.error().to_string());
  figures.member("file", corpus.path(0, false)).member("record", first).member("offset", offset);
  figures.member("written_offset", entries.empty() ? -1 : entries[0].offset.value_or(-1));
  figures.member("written_record", entries.empty() ? -1 : entries[0].record.value_or(-1));
  figures.member("written_key", entries.empty() ? -1 : entries[0].position.value_or(-1)).end_object();
}

void substituting(const Corpus& corpus, JsonWriter& figures) {
  const OnErrorOptions options = {
      .policy = OnErrorPolicy::substitute,
      .substitute = Element::named(
          {{"number", Tensor::scalar(int64_t{-1})}, {"head", Tensor::from(std::vector<float>(kHead), {kHead})}})};
  bool exact = true;
  size_t position = 0;
  Loader loader(decoded(corpus) | on_error(options) | batch(kRows));
  for (const Batch& batch : loader) {
    for (const int64_t number : batch[0].as<int64_t>()) {
      const bool decodes = corpus.records[position].decodes;
      exact = exact && number == (decodes ? static_cast<int64_t>(position) : -1);
      ++position;
    }
  }
  figures.member("substitutes_exact", exact && position == corpus.records.size());
}

// Seconds of an epoch, and the longest step.
std::pair<double, double> epoch_s(const Corpus& corpus, bool clean) {
  std::filesystem::remove(corpus.folder + "/timed.jsonl");
  Loader loader(decoded(corpus, clean) | on_error(kSkip) | batch(kRows),
                {.quarantine = corpus.folder + "/timed.jsonl"});
  const int64_t began = now_ns();
  double longest = 0;
  for (int64_t last = began; loader.next(); last = now_ns()) longest = std::max(longest, ms_since(last) / 1e3);
  return {ms_since(began) / 1e3, longest};
}

void times(const Corpus& corpus, JsonWriter& figures) {
  std::vector<double> clean, odd;
  double longest = 0;
  for (int round = -1; round < 9; ++round) {
    const auto without = epoch_s(corpus, true), with = epoch_s(corpus, false);
    longest = std::max(longest, with.second);
    if (round < 0) continue;
    clean.push_back(without.first);
    odd.push_back(with.first);
  }
  member(figures, "clean_s", clean);
  member(figures, "odd_s", odd);
  figures.member("longest_stall_s", longest);
}

void resuming(const Corpus& corpus, JsonWriter& figures) {
  const Dataset dataset = decoded(corpus) | on_error(kSkip) | batch(kRows);
  Loader whole(dataset);
  const uint64_t expected = rest_of(whole, 0);
  bool exact = true;
  for (const int at : {1, 13, 40, 77, 110}) exact = exact && resumed(dataset, at, {}, {.threads = 1}).sum == expected;
  const auto length = dataset.cardinality();
  figures.member("resumes_exact", exact).member("length", length ? std::to_string(*length) : "unknown");
}

std::vector<int64_t> numbers_in(const std::vector<std::string>& paths, OnDamage policy, std::string& error) {
  std::vector<int64_t> numbers;
  try {
    Loader loader(tfrecord(paths, {.on_damage = policy, .keep_index = false}) |
                  map(decode, {.output = kDecoded, .name = "decode"}) | batch(1));
    for (auto batch = loader.next(); !at_end(batch); batch = loader.next()) {
      if (batch) {
        numbers.push_back((*batch)[0].item<int64_t>());
      } else if (error.empty()) {
        error = batch.error().to_string();
      }
    }
  } catch (const Exception& thrown) {
    error = thrown.what();
  }
  return numbers;
}

// The records of a good file and of the damaged one.
void frames_under(const DamagedFile& file, const std::string& good, OnDamage policy, JsonWriter& figures) {
  std::string error;
  const auto numbers = numbers_in({good, file.path}, policy, error);
  const size_t of_good = std::min<size_t>(50, numbers.size());
  const std::vector<int64_t> rest(numbers.begin() + static_cast<std::ptrdiff_t>(of_good), numbers.end());
  figures.key(policy == OnDamage::fail ? "fail" : "skip").begin_object().member("error", error);
  figures.member("good", of_good).member("as_planted", rest == file.readable).end_object();
}

// Files of its own: those of the corpus are shared with other modes.
std::string own_frames(const Run& run) { return run.place + "/own_frames"; }

void frames(const Run& run, JsonWriter& figures) {
  figures.key("frames").begin_array();
  const LogLines log;
  for (const DamagedFile& file : write_damaged_files(own_frames(run))) {
    figures.begin_object().member("kind", file.kind).member("path", file.path).member("record", file.record);
    figures.member("offset", file.offset).member("is_error", file.is_error);
    member(figures, "readable", file.readable);
    for (const OnDamage policy : {OnDamage::fail, OnDamage::skip})
      frames_under(file, own_frames(run) + "/good.tfrecord", policy, figures);
    std::string error;
    figures.member("alone", numbers_in({file.path}, OnDamage::fail, error).size());
    figures.end_object();
  }
  figures.end_array();
  member(figures, "log", log.lines());
}

// The control: a reader that tries a damaged record again and never goes on.
void stuck(const Run& run) {
  const DamagedFile file = write_damaged_files(own_frames(run))[0];
  const auto mapped = value_or_throw(MappedFile::open(file.path));
  for (uint64_t offset = 0; offset < mapped->bytes().size();) {
    if (auto frame = read_frame(mapped->bytes(), offset, file.path)) offset = frame->next_offset;
  }
}

}  // namespace

void damaged_files(const Run& run, JsonWriter& figures) {
  if (run.control()) return stuck(run);
  const Corpus corpus = make_corpus(run);
  if (run.mode == "corpus") {
    write_corpus(corpus);
    return describe(corpus, figures);
  }
  if (run.mode == "limited") {
    Loader loader(decoded(corpus) | on_error({.max_errors = 3}) | batch(kRows));
    rest_of(loader, 0);
    return;
  }
  skipping(corpus, figures);
  failing(corpus, figures);
  substituting(corpus, figures);
  times(corpus, figures);
  resuming(corpus, figures);
  frames(run, figures);
}

}  // namespace headpond::scenarios
