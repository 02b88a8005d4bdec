// SPDX-License-Identifier: Apache-2.0
// Files of arrays and tar archives, read and written without a dataset.
#include <algorithm>
#include <optional>
#include <span>

#include "headpond/io/archive/tar.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/array/npz.h"
#include "headpond/io/compression/inflate.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

// Its value, made without the interpreter's lock.
template <class Call>
auto without_lock(Call call) {
  auto answer = [&] {
    const WithoutLock released;
    return call();
  }();
  return value(std::move(answer));
}

Any idx_array(const std::string& path) {
  return array_of(without_lock([&] { return read_idx(path); }));
}

nb::typed<nb::tuple, Any, Any> idx_arrays(const std::string& images, const std::string& labels) {
  IdxPair pair = without_lock([&] { return read_idx_pair(images, labels); });
  return nb::make_tuple(array_of(std::move(pair.images)), array_of(std::move(pair.labels)));
}

Any npy_array(const std::string& path) {
  return array_of(without_lock([&] { return read_npy(path); }));
}

Dict npz_arrays(const std::string& path) {
  Dict all;
  for (auto& [name, tensor] : without_lock([&] { return read_npz(path); })) {
    all[to_text(name)] = array_of(std::move(tensor));
  }
  return all;
}

void write_array(const std::string& path, nb::handle given,
                 Result<void> (*write)(const std::string& path, const Tensor& tensor)) {
  const Tensor tensor = tensor_of(given, {}, Share::always);
  without_lock([&] { return write(path, tensor); });
}

struct Archive {
  std::unique_ptr<TarReader> reader;
  bool is_used = false;
};

void open_archive(Archive* self, const std::string& path) {
  auto reader = without_lock([&]() -> Result<std::unique_ptr<TarReader>> {
    auto file = open_file_reader(path);
    if (!file) return fail(file.error());
    auto bytes = inflate_if_gzip(*std::move(file));
    if (!bytes) return fail(bytes.error());
    return std::make_unique<TarReader>(*std::move(bytes));
  });
  new (self) Archive{std::move(reader)};
}

// As far as there are bytes, whatever a header says of them: each part is as large as all before it.
Result<std::string> content_of(TarReader& reader) {
  constexpr size_t kFirst = 4096, kMost = 1 << 20;
  std::string content;
  while (true) {
    const size_t before = content.size(), part = std::clamp(before, kFirst, kMost);
    content.resize(before + part);
    const auto got = reader.read(std::as_writable_bytes(std::span(content).subspan(before)));
    if (!got) return fail(got.error());
    content.resize(before + *got);
    if (*got < part) return content;
  }
}

struct Member {
  TarMember about;
  std::string content;
};

nb::typed<nb::tuple, nb::str, nb::bytes> next_member(Archive& self) {
  const OneAtATime used(self.is_used, "TarReader");
  const std::optional<Member> member = without_lock([&]() -> Result<std::optional<Member>> {
    auto about = self.reader->next();
    if (!about) return fail(about.error());
    if (!*about) return std::nullopt;
    auto content = content_of(*self.reader);
    if (!content) return fail(content.error());
    return Member{**std::move(about), *std::move(content)};
  });
  if (!member) throw nb::stop_iteration();
  return nb::make_tuple(to_text(member->about.name), nb::bytes(member->content.data(), member->content.size()));
}

constexpr const char* kWriteIdx = "def write_idx(path: str, array: typing.Any) -> None";
constexpr const char* kWriteNpy = "def write_npy_file(path: str, array: typing.Any) -> None";

}  // namespace

void add_array_files(nb::module_& module) {
  module.def("read_idx", idx_array);
  module.def("read_idx_pair", idx_arrays);
  module.def(
      "write_idx", [](const std::string& path, nb::handle array) { write_array(path, array, write_idx); },
      nb::sig(kWriteIdx));
  module.def("read_npy", npy_array);
  module.def("read_npz", npz_arrays);
  module.def(
      "write_npy_file", [](const std::string& path, nb::handle array) { write_array(path, array, write_npy); },
      nb::sig(kWriteNpy));
  nb::class_<Archive>(module, "TarReader")
      .def("__init__", open_archive)
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> TarReader"))
      .def("__next__", next_member)
      .def_prop_ro("skipped",
                   [](Archive& self) {
                     const OneAtATime used(self.is_used, "TarReader");
                     return self.reader->skipped();
                   })
      .def_prop_ro("has_end", [](Archive& self) {
        const OneAtATime used(self.is_used, "TarReader");
        return self.reader->has_end();
      });
}

}  // namespace headpond::python
