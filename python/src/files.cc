// SPDX-License-Identifier: Apache-2.0
// Files of records, read and written without a dataset, Examples, PNG files, lists of files, and the digit set.
#include <cstring>
#include <list>
#include <span>

#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/labelled_folder.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/train/articles/digits/digits.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/arguments.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

Compression compression_of(const std::string& name) {
  if (name == "gzip") return Compression::gzip;
  if (name == "zlib") return Compression::zlib;
  if (name != "none")
    throw Exception(Error(ErrorKind::InvalidArgument, "no compression '" + name + "': none, gzip, zlib"));
  return Compression::none;
}

struct Writer {
  RecordWriter& get() const {
    if (writer == nullptr) throw Exception(Error(ErrorKind::FailedPrecondition, "RecordWriter: it was discarded"));
    return *writer;
  }
  std::unique_ptr<RecordWriter> writer;
};

void make_writer(Writer* self, const std::string& path, const std::string& mode, const std::string& compression,
                 int level) {
  RecordWriterOptions options{.compression = compression_of(compression), .level = level};
  if (mode == "in_place") {
    options.mode = WriteMode::in_place;
  } else if (mode == "append") {
    options.mode = WriteMode::append;
  } else if (mode != "replace") {
    throw Exception(Error(ErrorKind::InvalidArgument, "no mode '" + mode + "': replace, in_place, append"));
  }
  new (self) Writer{value(RecordWriter::open(path, options))};
}

// Of what has bytes in one piece.
class Bytes {
 public:
  /// Throws nb::type_error for anything else; what the object itself raises as it is.
  explicit Bytes(nb::handle payload) {
    if (PyObject_GetBuffer(payload.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) {
      if (!was_raised(PyExc_BufferError)) clear_only(PyExc_TypeError);
      const bool is_text = PyUnicode_Check(payload.ptr()) != 0;
      refuse_type("append()", "payload", payload, is_text ? "bytes: text.encode() makes them of a text" : "bytes");
    }
    if (view_.itemsize == 1) return;
    PyBuffer_Release(&view_);
    refuse_type("append()", "payload", payload, "bytes: array.tobytes() makes them of an array");
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::span<const std::byte> all() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

void append_record(Writer& self, nb::handle payload) { value(self.get().append(Bytes(payload).all())); }

struct Reader {
  std::unique_ptr<RecordReader> reader;
  bool is_used = false;
};

void make_reader(Reader* self, const std::string& path, const std::string& on_damage) {
  RecordReaderOptions options;
  if (on_damage == "skip") {
    options.on_damage = OnDamage::skip;
  } else if (on_damage != "fail") {
    throw Exception(Error(ErrorKind::InvalidArgument, "no policy '" + on_damage + "': fail, skip"));
  }
  new (self) Reader{value(RecordReader::open(path, options))};
}

nb::bytes next_record(Reader& self) {
  const OneAtATime used(self.is_used, "RecordReader");
  auto record = [&] {
    const WithoutLock released;
    return self.reader->next();
  }();
  const auto found = value(std::move(record));
  if (!found) throw nb::stop_iteration();
  return nb::bytes(found->data(), found->size());
}

// Of a dict: `Named` is a key, which lies in `keys`, and what `made` makes of its value.
template <class Named, class Make>
std::vector<Named> named_of(const Dict& given, std::list<std::string>& keys, Make made) {
  std::vector<Named> all;
  for (auto [key, one] : given) all.push_back({keys.emplace_back(text_of(key)), made(one)});
  return all;
}

Tensor tensor_alone(nb::handle given) { return tensor_of(given); }

std::vector<Tensor> tensors_of(nb::handle steps) {
  std::vector<Tensor> all;
  for (nb::handle step : steps) all.push_back(tensor_of(step));
  return all;
}

nb::bytes made_example(const Dict& features) {
  std::list<std::string> keys;
  const std::string message = value(make_example(named_of<NamedTensor>(features, keys, tensor_alone)));
  return nb::bytes(message.data(), message.size());
}

nb::bytes made_sequence_example(const Dict& context, const Dict& lists) {
  std::list<std::string> keys;
  const auto features = named_of<NamedTensor>(context, keys, tensor_alone);
  const std::string message = value(make_sequence_example(features, named_of<NamedSteps>(lists, keys, tensors_of)));
  return nb::bytes(message.data(), message.size());
}

// The file that `encode` makes of the array.
template <class Encode>
nb::bytes encoded(nb::handle array, Encode encode) {
  const Tensor values = tensor_of(array, {}, Share::always);
  const auto file = [&] {
    const WithoutLock released;
    return encode(values);
  }();
  const std::vector<std::byte> bytes = value(file);
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

nb::bytes png_of(nb::handle image, int level) {
  return encoded(image, [level](const Tensor& pixels) { return encode_png(pixels, level); });
}
nb::bytes jpeg_of(nb::handle image, int quality, bool chroma_downsampling, bool progressive, bool optimize) {
  const JpegEncodeOptions options = {quality, chroma_downsampling, progressive, optimize};
  return encoded(image, [&](const Tensor& pixels) { return encode_jpeg(pixels, options); });
}
nb::bytes wav_of(nb::handle samples, int32_t rate) {
  return encoded(samples, [rate](const Tensor& sound) { return encode_wav(sound, rate); });
}

std::vector<std::string> texts_of(nb::handle names) {
  std::vector<std::string> all;
  for (nb::handle one : names) all.push_back(text_of(one));
  return all;
}

nb::list files_of(const nb::list& patterns) {
  const std::vector<std::string> given = texts_of(patterns);
  const auto found = waiting([&] { return expand_files(std::span(given)); });
  nb::list all;
  for (const std::string& path : value(found)) all.append(to_text(path));
  return all;
}

// (classes, [(path, label, size)])
nb::tuple labelled_files(const std::string& root, const nb::list& extensions) {
  const std::vector<std::string> given = texts_of(extensions);
  const auto listed = waiting([&] { return list_labelled_folder(root, given); });
  const LabelledFolder folder = value(listed);
  nb::list classes, files;
  for (const std::string& name : folder.classes) classes.append(to_text(name));
  for (const LabelledFile& file : folder.files) files.append(nb::make_tuple(to_text(file.path), file.label, file.size));
  return nb::make_tuple(classes, files);
}

std::string drawn_digits(const std::string& folder, int64_t train_images, int64_t test_images) {
  std::stop_source stop;
  const DigitSetOptions options{
      .folder = folder, .train_images = train_images, .test_images = test_images, .stop = stop.get_token()};
  return value(waiting([&] { return digit_set(options); }, &stop)).folder;
}

constexpr const char* kFiles = "def expand_files(patterns: list[str]) -> list[str]";
constexpr const char* kLabelled =
    "def list_labelled_folder(root: str, extensions: list[str]) -> tuple[list[str], list[tuple[str, int, int]]]";

}  // namespace

void add_files(nb::module_& module) {
  nb::class_<Writer>(module, "RecordWriter")
      .def("__init__", make_writer)
      .def("append", append_record, nb::arg("payload"), nb::sig("def append(self, payload: _Buffer) -> None"))
      .def("flush", [](Writer& self) { value(self.get().flush()); })
      .def("close", [](Writer& self) { value(self.get().close()); })
      .def("discard", [](Writer& self) { self.writer.reset(); })
      .def_prop_ro("path", [](const Writer& self) { return self.get().path(); })
      .def_prop_ro("records", [](const Writer& self) { return self.get().records(); });
  nb::class_<Reader>(module, "RecordReader")
      .def("__init__", make_reader)
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> RecordReader"))
      .def("__next__", next_record);
  module.def("make_example", made_example);
  module.def("make_sequence_example", made_sequence_example);
  module.def("encode_png", png_of);
  module.def("encode_jpeg", jpeg_of);
  module.def("encode_wav", wav_of);
  module.def("expand_files", files_of, nb::sig(kFiles));
  module.def("list_labelled_folder", labelled_files, nb::sig(kLabelled));
  module.def("digit_set", drawn_digits);
}

}  // namespace headpond::python
