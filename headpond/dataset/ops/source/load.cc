// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/io/cache/saved_dataset.h"

namespace headpond {
namespace {

using internal::SavedDataset;

class LoadView final : public View {
 public:
  LoadView(std::shared_ptr<CacheStore> store, const Spec& spec, std::string title)
      : store_(std::move(store)), spec_(spec), title_(std::move(title)) {}

  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    Error why;
    const CacheStore::Answer answer = store_->find(i, out, &why);
    if (answer != CacheStore::Answer::value && !why) {
      why = Error(ErrorKind::DataLoss, fmt::format("{}: element {} is missing", store_->folder(), i));
    }
    if (!why) why = internal::check_element(spec_, out);
    if (why) return context.fail(Error(why.kind(), fmt::format("{}: {}", title_, why.message()), why));
    out.key = static_cast<uint64_t>(i);
    return Got::value;
  }

 private:
  const std::shared_ptr<CacheStore> store_;
  const Spec& spec_;
  const std::string title_;
};

class Load final : public Node, public FileReading {
 public:
  Load(std::string path, SavedDataset saved)
      : Node({.op = "load",
              .location = fmt::format("'{}'", path),
              .data = fmt::format("elements={}, id={}", saved.elements, saved.id),
              .spec = saved.spec,
              .slots = saved.elements}),
        path_(std::move(path)),
        saved_(std::move(saved)) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    return std::make_shared<LoadView>(CacheStore::open_to_read(path_, saved_.plan()), spec(), title());
  }
  std::vector<std::string> paths_read() const override { return {path_}; }

 private:
  const std::string path_;
  const SavedDataset saved_;
};

}  // namespace

Dataset load(const std::string& path) {
  auto saved = internal::read_saved(path);
  if (!saved) throw Exception(Error(saved.error().kind(), "load: " + saved.error().message(), saved.error()));
  return Dataset(std::make_shared<Load>(path, std::move(*saved)));
}

}  // namespace headpond
