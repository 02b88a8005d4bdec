// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/source/slices_internal.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

constexpr size_t kSide = 32, kPlane = kSide * kSide, kPixels = 3 * kPlane;

// A record: a byte for each label, then the planes red, green and blue.
struct Form {
  std::string op;
  std::vector<std::pair<std::string, int>> labels;  // Name and number of classes, in the order of the file.

  size_t record_bytes() const { return labels.size() + kPixels; }
};

void check_records(const std::vector<std::byte>& file, const std::string& path, const Form& form) {
  const size_t each = form.record_bytes(), rest = file.size() % each;
  if (file.empty() || rest != 0) {
    throw Exception(
        Error(ErrorKind::DataLoss, fmt::format("{}: the file ends at offset {}, within the record of {} bytes "
                                               "that begins at offset {}",
                                               path, file.size(), each, file.size() - rest)));
  }
  for (size_t at = 0; at < file.size(); at += each) {
    for (size_t l = 0; l < form.labels.size(); ++l) {
      const auto& [name, classes] = form.labels[l];
      const auto label = static_cast<int>(file[at + l]);
      if (label < classes) continue;
      throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {} {} at offset {}: there are {} classes",
                                                                    path, name, label, at + l, classes)));
    }
  }
}

void to_rows(const std::byte* planes, std::byte* to) {
  for (size_t i = 0; i < kPlane; ++i, to += 3) {
    for (size_t c = 0; c < 3; ++c) to[c] = planes[c * kPlane + i];
  }
}

Dataset cifar(const Form& form, const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::vector<std::byte>> files;
  size_t records = 0;
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
    files.push_back(value_or_throw(read_file(path)));
    check_records(files.back(), path, form);
    records += files.back().size() / form.record_bytes();
  }
  const auto rows = static_cast<int64_t>(records);
  Tensor images = Tensor::empty(DType::u8, {rows, kSide, kSide, 3});
  std::vector<std::vector<uint8_t>> labels(form.labels.size());
  std::byte* to = images.mutable_data();
  for (const auto& file : files) {
    for (size_t at = 0; at < file.size(); at += form.record_bytes(), to += kPixels) {
      for (size_t l = 0; l < labels.size(); ++l) labels[l].push_back(static_cast<uint8_t>(file[at + l]));
      to_rows(&file[at + labels.size()], to);
    }
  }
  std::vector<std::pair<std::string, Tensor>> fields = {{"image", std::move(images)}};
  for (size_t l = 0; l < labels.size(); ++l) {
    fields.emplace_back(form.labels[l].first, Tensor::from(std::span<const uint8_t>(labels[l]), {rows}));
  }
  std::vector<std::string> facts;
  facts.reserve(fields.size());
  for (const auto& [name, tensor] : fields) facts.push_back(internal::facts_of(tensor));
  return internal::slices(form.op, fmt::format("{}", fmt::join(facts, ", ")), folder, fields,
                          fmt::format("'{}'", folder));
}

}  // namespace

Dataset cifar10(const std::string& folder, const CifarOptions& options) {
  const std::vector<std::string> train = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                          "data_batch_4.bin", "data_batch_5.bin"};
  return cifar({"cifar10", {{"label", 10}}}, folder,
               options.train ? train : std::vector<std::string>{"test_batch.bin"});
}

Dataset cifar100(const std::string& folder, const CifarOptions& options) {
  return cifar({"cifar100", {{"coarse_label", 20}, {"label", 100}}}, folder,
               {options.train ? "train.bin" : "test.bin"});
}

}  // namespace headpond
