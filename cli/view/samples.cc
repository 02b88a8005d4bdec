// SPDX-License-Identifier: Apache-2.0
#include "cli/view/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "headpond/dataset/ops/element/kernel_joints.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/tensor/source_names.h"

namespace headpond::cli {
namespace {

using internal::KernelJoints;

constexpr int64_t kMostTiles = 256, kUsualBatch = 32;

// From the source to the last operator, by first inputs.
std::vector<Node::Ref> path_of(const Dataset& dataset) {
  std::vector<Node::Ref> path;
  for (Node::Ref node = dataset.node();; node = node->facts().inputs[0]) {
    path.insert(path.begin(), node);
    if (node->facts().inputs.empty()) return path;
  }
}

// The number after "key=" in a text; 0 if there is none.
int64_t number_after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key + "=");
  if (at == std::string::npos) return 0;
  int64_t value = 0;
  for (size_t i = at + key.size() + 1; i < text.size() && text[i] >= '0' && text[i] <= '9' && value < 1'000'000'000;
       ++i)
    value = value * 10 + (text[i] - '0');
  return value;
}

const KernelJoints* kernels_of(const Node& node) { return dynamic_cast<const KernelJoints*>(&node); }

bool mentions(const Kernel& kernel, std::initializer_list<const char*> words) {
  const std::string title = kernel.facts().title.substr(0, kernel.facts().title.find('('));
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return title.find(word) != std::string::npos; });
}

// What is shown, and how.
struct Shown {
  Node::Ref node;
  Node::Ref map;       // The last operator up to there that has kernels; may be null.
  Node::Ref spectrum;  // The operator whose kernels make spectra, after which there is one for each; null: none.
  int64_t count = 0;
  bool in_batches = false;
  TileReading reading;
  std::vector<std::string> draws;
};

constexpr std::initializer_list<const char*> kSpectra = {"mel", "spectro", "stft", "mfcc"};

void read_map(const KernelJoints& map, TileReading& reading) {
  for (const KernelRef& kernel : map.kernels()) {
    const std::string& title = kernel->facts().title;
    if (const NormalizeOptions* const found = normalization_of(*kernel)) reading.normalization = found;
    for (const char* const option : {"rate", "sample_rate", " to"}) {  // A decoder's, resample's; the last one counts.
      if (const int64_t rate = number_after(title, option)) reading.rate = rate;
    }
    if (mentions(*kernel, kSpectra)) reading.is_transposed = title.find("mels_first=true") != std::string::npos;
    reading.is_spectrum = reading.is_spectrum || mentions(*kernel, kSpectra);
    reading.is_sound = reading.is_sound || mentions(*kernel, {"wav", "sound", "resample"});
  }
}

// Where the fields that `map` names are in what `node`, after it, gives. Fewer if a field is gone, or has another name.
TileRoles roles_at(const Node& map, const Node& node) {
  TileRoles roles;
  const Spec &before = map.spec(), &after = node.spec();
  for (const auto& [index, role] : kernels_of(map)->role_fields()) {
    const std::string& name = before[index].name;
    size_t at = 0;
    while (at < after.size() && after[at].name != name) ++at;
    if (name.empty()) at = after.size() == before.size() && after[index].name.empty() ? index : after.size();
    if (at < after.size()) roles.emplace_back(at, role);
  }
  return roles;
}

bool is_batch(const Node::Ref& node) { return node->facts().role == Role::batch; }

// The nodes up to the one that is shown.
std::vector<Node::Ref> shown_path(const Dataset& dataset, const ViewOptions& options) {
  std::vector<Node::Ref> path = path_of(dataset);
  const auto first_batch = std::find_if(path.begin(), path.end(), is_batch);
  auto end = first_batch == path.begin() ? path.end() : first_batch;
  if (!options.step.empty()) {
    const auto found = std::find_if(path.rbegin(), path.rend(), [&](const auto& node) {
      return options.named != nullptr ? node == options.named : node->facts().op == options.step;
    });
    if (found == path.rend()) headpond::refuse("view", fmt::format("no step '{}'", options.step));
    end = found.base();
  }
  path.erase(end, path.end());
  const bool in_batches = std::any_of(path.begin(), path.end(), is_batch);
  const auto map =
      std::find_if(path.rbegin(), path.rend(), [](const auto& node) { return kernels_of(*node) != nullptr; });
  const bool needs_kernels = options.before || options.draws > 0;
  if (needs_kernels && (map == path.rend() || in_batches)) {
    headpond::refuse("view", fmt::format("no step before the batches has kernels, so {} shows nothing",
                                         options.before ? "--before" : "--draws"));
  }
  // Steps after the map may give fields that nothing is known of.
  const bool stops = map != path.rend() && options.step.empty() &&
                     roles_at(**map, *path.back()).size() < kernels_of(**map)->role_fields().size();
  if (needs_kernels || stops) path.erase(map.base(), path.end());
  return path;
}

int64_t tiles_of(const Dataset& dataset, const ViewOptions& options) {
  if (options.draws > 0) return std::min(options.draws, kMostTiles);
  const std::vector<Node::Ref> path = path_of(dataset);
  const auto batch = std::find_if(path.begin(), path.end(), is_batch);
  const int64_t size = batch == path.end() ? 0 : number_after((*batch)->facts().args, "batch_size");
  const int64_t batches = std::clamp<int64_t>(options.batches, 1, kMostTiles);
  return std::min(batches * (size > 0 ? size : kUsualBatch), kMostTiles);
}

Shown choose(const Dataset& dataset, const ViewOptions& options) {
  Shown shown;
  for (const Node::Ref& node : shown_path(dataset, options)) {
    shown.node = node;
    shown.in_batches = shown.in_batches || is_batch(node);
    const Role role = node->facts().role;
    if (role != Role::map && role != Role::hint) shown.spectrum = nullptr;
    if (kernels_of(*node) == nullptr) {
      if (node->draws() && node->facts().role == Role::map) shown.draws.push_back(node->facts().op);
      continue;
    }
    shown.map = node;
    read_map(*kernels_of(*node), shown.reading);
    const auto& kernels = kernels_of(*node)->kernels();
    if (std::ranges::any_of(kernels, [](const KernelRef& kernel) { return mentions(*kernel, kSpectra); }))
      shown.spectrum = node;
    for (const KernelRef& kernel : kernels_of(*node)->kernels()) {
      if (!kernel->facts().draws.empty()) shown.draws.push_back(kernel->facts().title);
    }
  }
  if (options.before && (shown.reading.is_sound || shown.reading.is_spectrum)) {
    headpond::refuse("view", "no step before the batches has kernels of images, so --before shows nothing");
  }
  if (shown.map != nullptr) shown.reading.roles = roles_at(*shown.map, *shown.node);
  // What is known of the first field of the map is of no other.
  const bool is_first = !shown.reading.roles.empty() && shown.reading.roles[0].second == FieldRole::image;
  if (!is_first) shown.reading = {};
  if (!shown.reading.is_spectrum) shown.spectrum = nullptr;
  shown.reading.spec = shown.node->spec();
  shown.count = tiles_of(dataset, options);
  return shown;
}

void name_tile(uint64_t key, Provenance provenance, Tile& tile) {
  tile.key = key;
  if (provenance.source == 0) return;
  RecordPlace place = place_of(provenance);
  tile.source = std::move(place.source);
  tile.record = static_cast<int64_t>(place.record);
  tile.is_whole = place.is_whole;
}

// Whether `file` lies in the folder of a folder() below `node`.
bool is_in_folder(const Node& node, const std::string& file) {
  const auto has_it = [&](const std::string& folder) {
    return file.starts_with(folder.ends_with('/') ? folder : folder + '/');
  };
  return std::ranges::any_of(nodes_of(node), [&](const Node* below) {
    const auto* const reading = below->facts().op == "folder" ? dynamic_cast<const FileReading*>(below) : nullptr;
    return reading != nullptr && std::ranges::any_of(reading->paths_read(), has_it);
  });
}

// Whether a source below `node` reads the records of `file` itself.
bool reads_itself(const Node& node, const std::string& file) {
  return std::ranges::any_of(nodes_of(node), [&](const Node* below) {
    const auto* const reading = dynamic_cast<const FileReading*>(below);
    return reading != nullptr && reading->reads_contents() && std::ranges::count(reading->paths_read(), file) > 0;
  });
}

// The same of a sample of `node` that could not be made.
void name_failed(const Error& error, const Node& node, Tile& tile) {
  tile.error = error.message();
  ErrorPlace place = error.place();
  tile.key = place.key;
  tile.source = std::move(place.source);
  const bool is_first = !tile.source.empty() && place.record.value_or(0) == 0;
  tile.is_whole = is_first && is_in_folder(node, tile.source) && !reads_itself(node, tile.source);
  if (place.record) tile.record = static_cast<int64_t>(*place.record);
}

// The kernels of one sample, one after the other, so that the image between two of them can be seen.
class Steps {
 public:
  Steps(const Node& node, const KernelJoints& map, const Element& element, const Binding& binding)
      : map_(map), key_(element.key) {
    for (const auto& [index, role] : map.role_fields()) {
      fields_.push_back(element[index]);
      roles_.push_back(role);
    }
    size_t stream = 0;
    for (const KernelRef& kernel : map.kernels())
      keys_.push_back(kernel->facts().draws.empty() ? RandomKey() : node.random_key(binding, stream++));
  }

  /// Runs those that decode and draw nothing.
  Result<void> decode() {
    while (done_ < keys_.size() && map_.kernels()[done_]->facts().draws.empty() &&
           map_.kernels()[done_]->facts().title.starts_with("decode")) {
      HEADPOND_TRY(run_next());
    }
    return {};
  }
  /// Runs those before the first one that makes a spectrum.
  Result<void> run_to_spectrum() {
    while (done_ < keys_.size() && !mentions(*map_.kernels()[done_], kSpectra)) HEADPOND_TRY(run_next());
    return {};
  }
  Result<void> finish() {
    while (done_ < keys_.size()) HEADPOND_TRY(run_next());
    return {};
  }
  /// Corners that move with the image from here on.
  void follow(int64_t width, int64_t height) {
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    fields_.push_back(Tensor::from(std::vector<float>{0, 0, w, 0, 0, h}, {3, 2}));
    roles_.push_back(FieldRole::points);
  }
  const std::vector<Tensor>& fields() const { return fields_; }

 private:
  Result<void> run_next() {
    KernelCall call(fields_, std::span(keys_).subspan(done_, 1), key_, {}, scratch_, roles_);
    HEADPOND_TRY(map_.kernels()[done_]->run(call));
    call.finish();
    ++done_;
    return {};
  }

  const KernelJoints& map_;
  const uint64_t key_;
  std::vector<Tensor> fields_;
  std::vector<FieldRole> roles_;
  std::vector<RandomKey> keys_;
  KernelScratch scratch_;
  size_t done_ = 0;
};

using Corners = std::vector<std::array<double, 2>>;

// The part of a polygon within 0 to `most` of x and y (Sutherland and Hodgman, "Reentrant polygon clipping", 1974).
Corners clipped(Corners corners, const std::array<double, 2>& most) {
  for (const size_t axis : {0, 1}) {
    for (const bool is_upper : {false, true}) {
      const auto inside = [&](const std::array<double, 2>& at) { return is_upper ? most[axis] - at[axis] : at[axis]; };
      Corners kept;
      for (size_t i = 0; i < corners.size(); ++i) {
        const auto &from = corners[i], &to = corners[(i + 1) % corners.size()];
        const double a = inside(from), b = inside(to);
        if (a >= 0) kept.push_back(from);
        if ((a < 0) == (b < 0)) continue;
        const double share = a / (a - b);
        kept.push_back({from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])});
      }
      corners = std::move(kept);
    }
  }
  return corners;
}

// The corners of what is kept, in the picture before: `moved` says where three of that picture's corners went.
Corners kept_part(const Picture& before, const Picture& after, const Tensor& moved) {
  const auto p = moved.as<float>();
  if (p.size() < 6) return {};
  const double w = static_cast<double>(before.width), h = static_cast<double>(before.height);
  const double a = (p[2] - p[0]) / w, b = (p[4] - p[0]) / h, c = (p[3] - p[1]) / w, d = (p[5] - p[1]) / h;
  const double size = a * d - b * c;
  if (size == 0 || !std::isfinite(size)) return {};
  Corners corners;
  for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
    const double dx = static_cast<double>(x * after.width) - p[0], dy = static_cast<double>(y * after.height) - p[1];
    corners.push_back({(d * dx - b * dy) / size, (a * dy - c * dx) / size});
  }
  return clipped(std::move(corners), {w - 1, h - 1});
}

// The sample of the last operator with kernels, made of what that operator gets.
Result<void> show_steps(const Shown& shown, Element element, const ViewOptions& options, Tile& tile) {
  const KernelJoints& map = *kernels_of(*shown.map);
  Steps steps(*shown.map, map, element, {.seed = options.seed, .epoch = static_cast<uint64_t>(tile.epoch)});
  HEADPOND_TRY(steps.decode());
  Picture before(0, 0);
  std::string unused;
  const bool has_picture = !steps.fields().empty() && !is_sound(shown.reading, steps.fields()[0]) &&
                           to_picture(steps.fields()[0], nullptr, before, unused);
  const size_t own = steps.fields().size();
  const bool follows = options.before && has_picture && own < KernelCall::kMaxFields;
  if (follows) steps.follow(before.width, before.height);
  HEADPOND_TRY(steps.finish());
  std::vector<Tensor> values(element.size());
  for (size_t i = 0; i < element.size(); ++i) values[i] = element[i];
  for (size_t k = 0; k < own; ++k) values[map.role_fields()[k].first] = steps.fields()[k];
  Element made{std::move(values)};
  made.key = element.key;
  show(shown.reading, made, tile);
  if (!follows || tile.pictures.empty()) return {};
  const Corners corners = kept_part(before, tile.pictures[0].second, steps.fields().back());
  std::array<double, 2> middle = {};
  for (const auto& corner : corners) {
    for (const size_t axis : {0, 1}) middle[axis] += corner[axis] / static_cast<double>(corners.size());
  }
  // Thick enough that a smaller copy still has it.
  const int64_t thickness = 1 + std::max(before.width, before.height) / 224;
  for (int64_t i = 0; i < thickness; ++i) {
    Corners inner = corners;
    for (auto& corner : inner) {
      for (const size_t axis : {0, 1}) corner[axis] += static_cast<double>(corner[axis] < middle[axis] ? i : -i);
    }
    before.outline(inner, {255, 230, 0});
  }
  tile.pictures.insert(tile.pictures.begin(), {"decoded", std::move(before)});
  return {};
}

// Adds the sound of which the spectrum was made; `element` is what that operator got.
void add_its_sound(const Shown& shown, const Element& element, const ViewOptions& options, Tile& tile) {
  Steps steps(*shown.spectrum, *kernels_of(*shown.spectrum), element,
              {.seed = options.seed, .epoch = static_cast<uint64_t>(tile.epoch)});
  if (steps.run_to_spectrum() && is_sound(shown.reading, steps.fields()[0]))
    add_sound(shown.reading, steps.fields()[0], tile);
}

Element row_of(const Element& batch, int64_t row) {
  std::vector<Tensor> values;
  for (size_t i = 0; i < batch.size(); ++i) {
    const Tensor& field = batch[i];
    if (field.rank() == 0 || field.dim(0) <= row) {
      values.push_back(field);
    } else if (field.dtype() == DType::bytes) {
      values.push_back(Tensor::scalar(field.bytes_at(row)));
    } else {
      const auto bytes = static_cast<int64_t>(field.byte_size()) / field.dim(0);
      values.push_back(Tensor::view(field.data() + row * bytes, field.dtype(), field.shape().row()));
    }
  }
  return Element{std::move(values)};
}

void show_rows(const Shown& shown, const Element& batch, const Tile& named, std::vector<Tile>& tiles) {
  int64_t rows = 1;
  for (size_t i = 0; i < batch.size(); ++i) rows = batch[i].rank() > 0 ? std::max(rows, batch[i].dim(0)) : rows;
  for (int64_t row = 0; row < rows && static_cast<int64_t>(tiles.size()) < shown.count; ++row) {
    Tile tile = named;
    tile.note = fmt::format("row {} of the batch", row);
    show(shown.reading, row_of(batch, row), tile);
    tiles.push_back(std::move(tile));
  }
}

Result<void> show_epochs(const Shown& shown, const ViewOptions& options, std::vector<Tile>& tiles) {
  Sequence sequence(Dataset(shown.map->facts().inputs[0]), {.seed = options.seed});
  auto element = sequence.next();
  if (!element) return element.error().is_end() ? Result<void>() : fail(element.error());
  for (int64_t epoch = 0; epoch < shown.count; ++epoch) {
    Tile tile{.epoch = epoch, .draws = shown.draws};
    name_tile(element->key, element->provenance, tile);
    const auto done = show_steps(shown, *element, options, tile);
    if (done && shown.spectrum == shown.map && shown.spectrum != nullptr) add_its_sound(shown, *element, options, tile);
    if (!done) tile.error = done.error().message();
    tiles.push_back(std::move(tile));
  }
  return {};
}

}  // namespace

Result<std::vector<Tile>> view_tiles(const Dataset& dataset, const ViewOptions& options) {
  const Shown shown = choose(dataset, options);
  std::vector<Tile> tiles;
  if (options.draws > 0) {
    HEADPOND_TRY(show_epochs(shown, options, tiles));
    return tiles;
  }
  Sequence sequence(Dataset(options.before ? shown.map->facts().inputs[0] : shown.node), {.seed = options.seed});
  // What the spectra are made of, one for each.
  std::optional<Sequence> sounds;
  if (shown.spectrum != nullptr)
    sounds.emplace(Dataset(shown.spectrum->facts().inputs[0]), SequenceOptions{.seed = options.seed});
  while (static_cast<int64_t>(tiles.size()) < shown.count && !options.stop.stop_requested()) {
    auto element = sequence.next();
    const auto sound = sounds ? sounds->next() : fail(Error());
    if (!element && element.error().is_end()) break;
    Tile tile{.draws = shown.draws};
    if (!element) {
      name_failed(element.error(), *shown.node, tile);
      tiles.push_back(std::move(tile));
      continue;
    }
    name_tile(element->key, element->provenance, tile);
    if (shown.in_batches) {
      show_rows(shown, *element, tile, tiles);
      continue;
    }
    Result<void> done = {};
    if (options.before) {
      done = show_steps(shown, *element, options, tile);
    } else {
      show(shown.reading, *element, tile);
    }
    if (sound) add_its_sound(shown, *sound, options, tile);
    if (!done) tile.error = done.error().message();
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

}  // namespace headpond::cli
