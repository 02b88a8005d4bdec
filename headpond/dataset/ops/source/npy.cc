// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npy.h"

#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/source_over_internal.h"
#include "headpond/dataset/views/lending.h"

namespace headpond {
namespace {

constexpr size_t kInline = 16;  // Bytes of a tensor that need no block: to copy them is the cheapest.

class ArrayRows final : public internal::SourceOver<NpyFile> {
 public:
  using SourceOver::SourceOver;
  const FieldSpec& row() const { return file().row(); }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    std::byte* const to = context.allocate_output(out, outputs, row().dtype, row().shape);
    auto read = file().read(i, to);
    return read ? Got::value : context.fail(std::move(read).error());
  }
  bool lend(int64_t i, Element& out, internal::Loan& loan) const override {
    if (internal::row_bytes(row()) <= kInline) return false;
    const std::span<const std::byte> bytes = file().mapped_row(i);
    if (bytes.empty()) return false;
    out.append(Tensor::view(bytes.data(), row().dtype, row().shape));
    loan.add({.memory = bytes, .by = this, .i = i});
    return true;
  }
  bool is_whole(int64_t i) const override { return file().is_whole(i); }
  bool fill(int64_t i, Context&, std::span<std::byte* const> targets) const override {
    return file().read(i, targets[0]).has_value();
  }
  bool fills() const override { return true; }
};

std::unique_ptr<ArrayRows> open(const std::string& path) {
  return std::make_unique<ArrayRows>(value_or_throw(NpyFile::open(path)));
}

}  // namespace

Dataset npy(const Patterns& patterns) {
  const auto first = std::make_shared<internal::FirstFile>([](const std::string& path) { return open(path); },
                                                           internal::first_file_or_throw("npy", patterns.all()));
  if (first->get() == nullptr) refuse("npy", "no files: dtype and shape of a row are unknown");
  const Spec spec = {static_cast<const ArrayRows*>(first->get())->row()};
  const std::string label = to_string(spec);
  const auto open_like_first = [first, label](const std::string& path) -> std::unique_ptr<const internal::SourceFile> {
    if (auto opened = first->take(path)) return opened;
    auto other = open(path);
    if (to_string({other->row()}) == label) return other;
    refuse("npy", fmt::format("rows of {} are {}, of {} {}", first->path(), label, path, to_string({other->row()})));
  };
  return internal::source_files({.op = "npy", .args = label, .spec = spec},
                                {.reader = label, .patterns = patterns.all(), .open = open_like_first});
}

}  // namespace headpond
