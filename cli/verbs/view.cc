// SPDX-License-Identifier: Apache-2.0
// headpond view: what the network will get, as pictures.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/in_words.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "cli/view/page.h"
#include "cli/view/samples.h"
#include "headpond/io/file/file.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

struct ViewFlags {
  std::vector<std::string> files;
  std::string out, step;
  int64_t batches = 1, draws = 0;
  bool before = false;
};

void declare(Flags& flags, ViewFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.option_from(1, "batches N", to.batches, "show the samples of N batches, at most 256 samples (default: 1)");
  flags.option(
      "out DIR", to.out,
      "write sheet.png and view.html there (default: the folder of --logdir, else a new one in headpond-runs/)");
  flags.option("step NAME", to.step, "show what this step gives: an operator, or a step's name");
  flags.flag("before", to.before, "also show the decoded image, with the outline of what is kept of it");
  flags.option_from(1, "draws N", to.draws, "show the first sample as N epochs would augment it");
}

void write_tile(JsonWriter& json, const Tile& tile) {
  json.begin_object();
  if (tile.source.empty()) {
    json.member("source", nullptr).member("record", nullptr);
  } else {
    json.member("source", tile.source).member("record", tile.record);
  }
  if (tile.key) {
    json.member("key", *tile.key);
  } else {
    json.member("key", nullptr);
  }
  json.member("epoch", tile.epoch).key("draws").begin_array();
  for (const std::string& draw : tile.draws) json.value(draw);
  json.end_array()
      .member("shape", tile.shape)
      .member("min", tile.min)
      .member("max", tile.max)
      .member("mean", tile.mean);
  if (!tile.error.empty()) json.member("error", tile.error);
  if (!tile.note.empty()) json.member("note", tile.note);
  json.end_object();
}

Result<void> write_text(const std::string& path, const std::string& text) {
  return write_file_atomically(path, {std::as_bytes(std::span(text.data(), text.size()))});
}

Result<Report> view(Session& session, const ViewFlags& flags) {
  const std::string file = only_file("view", flags.files);
  const plan::PlanFile plan = plan::read_plan_file(file);
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan.seed.value_or(0);
  session.set_seed(seed);
  Node::Ref named;
  for (const auto& [name, dataset] : plan.named) named = name == flags.step ? dataset.node() : named;
  auto tiles = view_tiles(plan.dataset, {.seed = seed,
                                         .batches = flags.batches,
                                         .step = flags.step,
                                         .named = named,
                                         .before = flags.before,
                                         .draws = flags.draws,
                                         .stop = session.stop()});
  if (!tiles) return fail(tiles.error());
  std::string folder = flags.out;
  if (folder.empty()) {
    auto own = session.folder();
    if (!own) return fail(own.error());
    folder = *own;
  }
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  const std::vector<std::string> files = {folder + "/sheet.png", folder + "/view.html"};
  const auto sheet = encoded(sheet_of(*tiles));
  if (!sheet) return fail(sheet.error());
  HEADPOND_TRY(write_file_atomically(files[0], {*sheet}));
  const auto page = page_of(*tiles, fmt::format("{}, seed {}", std::filesystem::path(file).filename().string(), seed));
  if (!page) return fail(page.error());
  HEADPOND_TRY(write_text(files[1], *page));
  session.say(fmt::format("{}: {} and {}", in_words(tiles->size(), "sample"), files[0], files[1]));
  return Report{.exit_code = kOk, .members = [tiles = std::move(*tiles), files](JsonWriter& json) {
                  json.key("tiles").begin_array();
                  for (const Tile& tile : tiles) write_tile(json, tile);
                  json.end_array().key("files").begin_array();
                  for (const std::string& name : files) json.value(name);
                  json.end_array();
                }};
}

}  // namespace

Verb view_verb() {
  const auto flags = std::make_shared<ViewFlags>();
  return {.path = "view",
          .what = "show samples of a pipeline as pictures: sheet.png, and view.html with captions and sounds",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return view(session, *flags); },
          .default_seed = "the file's, else 0"};
}

}  // namespace headpond::cli
