// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/convert/convert_csv.h"
#include "headpond/base/crc32c.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/plan/named_fields.h"

namespace headpond::cli {
namespace {

Dataset idx_samples(const std::vector<std::string>& words) {
  return words.size() == 2 ? idx(words[0], words[1]) : plan::renamed(idx(words[0]), {"data"});
}

Dataset folder_samples(const std::vector<std::string>& words) {
  const std::string root = words[0] + (words[0].ends_with('/') ? "" : "/");
  return folder(words[0]) | map("path", [root](std::string_view path) { return std::string(path.substr(root.size())); },
                                {.name = "below the folder"});
}

struct Archives {
  std::vector<std::string> extensions = {};        // Each one that any sample has.
  std::vector<std::vector<size_t>> parts_of = {};  // For each sample of all archives, which of them it has.
  std::unordered_map<std::string, const std::string*> archive_of = {};  // For each key.

  void add(const TarSample& sample) {
    std::vector<size_t>& parts = parts_of.emplace_back();
    for (const auto& part : sample.parts) {
      const auto known = std::find(extensions.begin(), extensions.end(), part.extension);
      parts.push_back(static_cast<size_t>(known - extensions.begin()));
      if (known == extensions.end()) extensions.push_back(part.extension);
    }
  }
  // Samples of one archive have different keys anyway.
  void add_key(const std::string& key, const std::string& path) {
    const auto [first, is_new] = archive_of.try_emplace(key, &path);
    if (is_new) return;
    throw Exception(Error(
        ErrorKind::InvalidArgument,
        fmt::format("sample '{}' is in {} and in {}, and readers of archives refuse a key that occurs twice; convert "
                    "archives by themselves, each with its --name, or --to tfrecord",
                    key, *first->second, path)));
  }
};

Dataset tar_samples(const std::vector<std::string>& words, bool for_examples) {
  const auto paths = value_or_throw(expand_files(words));
  Archives found;
  for (const std::string& path : paths) {
    const auto file = value_or_throw(MappedFile::open(path));
    const auto samples = value_or_throw(group_tar(value_or_throw(index_tar(file->bytes(), path)), path));
    if (const auto whole = file->check(); !whole) throw Exception(whole.error());
    for (const TarSample& sample : samples.samples) {
      found.add(sample);
      if (!for_examples) found.add_key(sample.key, path);
    }
  }
  const auto parts_of = std::make_shared<const std::vector<std::vector<size_t>>>(std::move(found.parts_of));
  const auto is_there = [parts_of](int64_t sample, size_t field) {  // Field 0 is the key.
    const std::vector<size_t>& parts = (*parts_of)[static_cast<size_t>(sample)];
    return field == 0 || std::find(parts.begin(), parts.end(), field - 1) != parts.end();
  };
  const Dataset samples = tar(words, {.extensions = found.extensions, .allow_missing = true});
  if (samples.node()->slots() != static_cast<int64_t>(parts_of->size())) {
    throw Exception(
        Error(ErrorKind::InvalidArgument, "an input file changed while it was looked at: it has other samples now"));
  }
  return with_presence(samples, "parts", is_there);
}

Result<Element> wav_sample(std::string_view path) {
  const std::string name(path);
  const auto content = read_file(name);
  if (!content) return fail(content.error());
  const auto info = wav_info(*content, content->size(), {}, name);
  if (!info) return fail(info.error());
  const std::string file_name = std::filesystem::path(name).filename().string();
  const std::string_view bytes(reinterpret_cast<const char*>(content->data()), content->size());
  return Element(Tensor::scalar(std::string_view(file_name)), Tensor::scalar(bytes),
                 Tensor::scalar(int64_t{info->rate}), Tensor::scalar(int64_t{info->channels}),
                 Tensor::scalar(info->frames));
}

Dataset wav_samples(const std::vector<std::string>& words) {
  const auto paths = value_or_throw(expand_files(words));
  uint32_t sizes = 0;
  for (const std::string& path : paths) {
    const std::string facts = fmt::format("{} {}\n", path, value_or_throw(MappedFile::open(path))->bytes().size());
    sizes = crc32c_extend(sizes, std::as_bytes(std::span(facts)));
  }
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  const auto count = static_cast<int64_t>(views.size());
  const Spec spec = {
      {"name", bytes, {}}, {"file", bytes, {}}, {"sample_rate", i64, {}}, {"channels", i64, {}}, {"frames", i64, {}}};
  return from_tensor_slices(Tensor::from(std::span<const std::string_view>(views), {count})) |
         map(wav_sample, {.output = spec, .name = fmt::format("wav file, sizes={:08x}", sizes)});
}

template <class From>
Tensor widened(const Tensor& tensor) {
  const auto values = tensor.as<From>();
  const std::vector<int64_t> wide(values.begin(), values.end());
  return Tensor::from(std::span<const int64_t>(wide), tensor.shape());
}

// The tensor in a form that an Example can hold.
Tensor listed(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::i8:
      return widened<int8_t>(tensor);
    case DType::i16:
      return widened<int16_t>(tensor);
    case DType::u16:
      return widened<uint16_t>(tensor);
    case DType::i32:
      return widened<int32_t>(tensor);
    case DType::u8:
      return tensor.rank() == 0 ? widened<uint8_t>(tensor) : tensor;
    default:
      return tensor;
  }
}

std::string text_of(const Tensor& scalar) {
  if (scalar.dtype() == DType::bytes) return std::string(scalar.bytes_at(0));
  if (scalar.dtype() == DType::f32) return fmt::format("{}", scalar.as<float>()[0]);
  if (scalar.dtype() == DType::f64) return fmt::format("{}", scalar.as<double>()[0]);
  return fmt::format("{}", listed(scalar).as<int64_t>()[0]);
}

bool has_presence(const Spec& spec) {
  return !spec.empty() && spec.back().name.empty() && spec.back().dtype == u8 && spec.back().shape.rank() == 1;
}

// The fields of samples, and which a sample has.
struct Fields {
  explicit Fields(const Spec& all) : spec(all), is_partial(has_presence(all)) {
    if (is_partial) spec.pop_back();
  }
  bool has(const Element& sample, size_t field) const {
    return !is_partial || sample[spec.size()].as<uint8_t>()[field] != 0;
  }
  std::optional<size_t> find(std::string_view name) const {
    const auto found =
        std::find_if(spec.begin(), spec.end(), [&](const FieldSpec& field) { return field.name == name; });
    return found == spec.end() ? std::nullopt : std::optional(static_cast<size_t>(found - spec.begin()));
  }

  Spec spec;
  bool is_partial;
};

// The ending of a file's name, in lower case; "file" without one. If other members of the sample use it, such as "cls",
// it follows the name: "file.cls".
std::string ending_of_file(const std::string& name, const std::vector<std::string>& endings) {
  std::string ending = std::filesystem::path(name).extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (ending.size() < 2) return "file";
  const bool is_taken =
      ending != ".file" && std::find(endings.begin(), endings.end(), ending.substr(1)) != endings.end();
  return is_taken ? "file" + ending : ending.substr(1);
}

// How samples become members of an archive.
class Members {
 public:
  // Throws Exception for fields whose names are no parts' of one sample.
  explicit Members(const Spec& spec);
  Result<std::string> of(const Element& sample) const;

 private:
  Fields fields_;
  std::optional<size_t> key_, file_, file_name_;  // A file keeps the ending of its own name.
  std::vector<std::string> endings_;              // For each field, what follows the key in the member's name.
};

// Whether a reader of the archive finds the sample as it was meant: so many parts, all of this key.
Result<void> check_members(const Result<TarIndex>& index, const std::string& key, size_t count) {
  if (!index) return fail(index.error());
  const auto samples = group_tar(*index, "sample " + key);
  if (!samples) return fail(samples.error());
  const bool is_one = samples->samples.size() == 1 && samples->samples[0].key == key;
  if (is_one && samples->samples[0].parts.size() == count) return {};
  return fail(ErrorKind::InvalidArgument,
              count == 0 ? fmt::format("sample {}: it has no part; an archive has no samples without parts", key)
                         : fmt::format("sample {}: its field names cannot be parts of a sample", key));
}

// The same of names alone, before there is a sample.
void check_names(const Spec& spec, const std::vector<std::string>& endings) {
  TarIndex all;
  for (size_t f = 0; f < spec.size(); ++f) {
    if (spec[f].name == kKeyField) continue;
    const TarMember member = {.name = "0." + endings[f]};
    all.members.push_back(member);
    if (check_members(TarIndex{.members = {member}}, "0", 1)) continue;
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("field '{}' cannot be a part of a sample in an archive: no name ends in '.{}'",
                                      spec[f].name, endings[f])));
  }
  const auto samples = group_tar(all, "names of fields, which a reader takes in lower case");
  if (!samples) throw Exception(samples.error());
}

Members::Members(const Spec& spec) : fields_(spec), key_(fields_.find(kKeyField)) {
  if (!fields_.is_partial) {
    file_ = fields_.find("file");
    file_name_ = fields_.find("path") ? fields_.find("path") : fields_.find("name");
    if (!file_name_) file_.reset();
  }
  const bool has_cls = fields_.find("cls").has_value();
  for (const FieldSpec& field : fields_.spec) {
    const bool is_integer = field.dtype != bytes && field.dtype != f32 && field.dtype != f64;
    const bool is_class = field.name == "label" && field.shape.rank() == 0 && is_integer && !has_cls;
    endings_.push_back(is_class ? "cls" : field.shape.rank() > 0 ? field.name + ".npy" : field.name);
  }
  check_names(fields_.spec, endings_);
}

Result<std::string> Members::of(const Element& sample) const {
  const std::string key = key_ ? text_of(sample[*key_]) : fmt::format("{:08}", sample.key);
  std::string members;
  size_t count = 0;
  for (size_t f = 0; f < fields_.spec.size(); ++f) {
    if (f == key_ || !fields_.has(sample, f)) continue;
    auto content = sample[f].rank() > 0 ? npy_bytes(sample[f]) : Result<std::string>(text_of(sample[f]));
    if (!content) return content;
    const std::string ending = f == file_ ? ending_of_file(text_of(sample[*file_name_]), endings_) : endings_[f];
    HEADPOND_TRY(append_tar_member(members, fmt::format("{}.{}", key, ending), *content));
    ++count;
  }
  HEADPOND_TRY(check_members(index_tar(std::as_bytes(std::span(members)), "sample " + key), key, count));
  return members;
}

}  // namespace

std::string words_refusal(const std::string& from, const std::vector<std::string>& words) {
  if (from == "idx") {
    return words.empty() || words.size() > 2 ? "convert --from idx takes IMAGES and LABELS, or one file" : "";
  }
  if (from == "folder")
    return words.size() != 1 ? "convert --from folder takes one folder, whose subfolders are the labels" : "";
  return words.empty() ? fmt::format("convert --from {} takes files or patterns", from) : "";
}

Dataset convert_samples(const std::string& from, const std::vector<std::string>& words, bool for_examples) {
  if (from == "idx") return idx_samples(words);
  if (from == "csv") return csv_samples(words, for_examples);
  if (from == "folder") return folder_samples(words);
  if (from == "tar") return tar_samples(words, for_examples);
  return wav_samples(words);
}

Dataset with_presence(const Dataset& samples, const std::string& what, std::function<bool(int64_t, size_t)> is_there) {
  Spec spec = samples.spec();
  const size_t fields = spec.size();
  spec.push_back({"", u8, {static_cast<int64_t>(fields)}});
  const auto add = [fields, is_there = std::move(is_there)](const Element& sample) {
    std::vector<uint8_t> there(fields);
    for (size_t f = 0; f < fields; ++f) there[f] = is_there(static_cast<int64_t>(sample.key), f) ? 1 : 0;
    Element with = sample;
    with.append(Tensor::from(std::span<const uint8_t>(there), {static_cast<int64_t>(fields)}));
    return with;
  };
  return samples | map(add, {.output = spec, .name = "present " + what});
}

Dataset as_examples(const Dataset& samples) {
  for (const FieldSpec& field : samples.spec()) {
    if (field.dtype != f64) continue;
    throw Exception(
        Error(ErrorKind::Unimplemented, fmt::format("'{}' has numbers that the 32 bits of an Example's floats "
                                                    "cannot hold; --to tar keeps them",
                                                    field.name)));
  }
  const auto to_example = [fields = Fields(samples.spec())](const Element& sample) -> Result<std::string> {
    std::vector<NamedTensor> features;
    for (size_t f = 0; f < fields.spec.size(); ++f) {
      const bool is_empty = sample[f].dtype() == bytes && sample[f].rank() == 0 && sample[f].bytes_at(0).empty();
      const bool is_there = fields.is_partial ? fields.has(sample, f) : !is_empty;
      if (is_there) features.push_back({fields.spec[f].name, listed(sample[f])});
    }
    return make_example(features);
  };
  return samples | map(to_example, {.name = "example", .version = 2});
}

Dataset as_tar_members(const Dataset& samples) {
  const auto to_members = [members = Members(samples.spec())](const Element& sample) { return members.of(sample); };
  return samples | map(to_members, {.name = "tar members", .version = 2});
}

}  // namespace headpond::cli
