// SPDX-License-Identifier: Apache-2.0
// What makes tensors of files, and files of tensors, without memory at each of its allocations in turn.
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/array/npz.h"
#include "headpond/io/example/example.h"
#include "headpond/io/example/example_schema.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/json/json_lines.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/memory/sweep.h"

namespace headpond::test {
namespace {

TEST_F(Sweep, CsvFile) {
  const std::string path = put("c", "number,\"text\"\n1,\"a \"\"quoted\"\" word, and so on\"\n2.5,x\n");
  sweep([&]() -> Result<std::string> {
    const auto file = CsvFile::open(path);
    if (!file) return fail(file.error());
    std::string seen;
    for (int64_t i = 0; i < (*file)->size(); ++i) {
      std::array<Tensor, 2> row;
      HEADPOND_TRY((*file)->read(i, {}, row));
      for (const Tensor& cell : row) seen += sum_of(cell);
    }
    return seen;
  });
}

TEST_F(Sweep, JsonParser) {
  const std::string text =
      R"({"n": 1.5, "s": "a \u00e9 that is longer than sixteen bytes", "l": [[1, 2], [3, 4]], "x": {"y": []}})";
  sweep([&]() -> Result<std::string> {
    const JsonParser parser({{.key = "n", .dtype = f64},
                             {.key = "s", .dtype = bytes},
                             {.key = "l", .dtype = i32, .shape = {kUnknown, 2}},
                             {.key = "none", .dtype = u8, .default_value = Tensor::scalar(uint8_t{7})}});
    const auto parsed = parser.parse(text);
    if (!parsed) return fail(parsed.error());
    std::string seen = parser.describe();
    for (const Tensor& tensor : *parsed) seen += sum_of(tensor);
    return seen;
  });
}

Tensor ramp(const Shape& shape) {
  Tensor tensor = Tensor::empty(f32, shape);
  const auto values = tensor.mutable_as<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

TEST_F(Sweep, Npy) {
  const std::string path = folder_.file("a.npy");
  sweep(
      [&]() -> Result<std::string> {
        HEADPOND_TRY(write_npy(path, ramp({3, 2})));
        const auto whole = read_npy(path);
        if (!whole) return fail(whole.error());
        const auto file = NpyFile::open(path);
        if (!file) return fail(file.error());
        const auto row = (*file)->at(1);
        return row ? Result<std::string>(sum_of(*whole) + sum_of(*row)) : fail(row.error());
      },
      {.check = [&] { EXPECT_EQ(folder_.count(), 1U); }});
}

TEST_F(Sweep, Npz) {
  for (const char* name : {"stored", "deflated"}) {
    const auto content = get_file(std::string(HEADPOND_CORPUS "/npz/") + name);
    sweep([&]() -> Result<std::string> {
      const auto arrays = read_npz(content, "a.npz");
      if (!arrays) return fail(arrays.error());
      std::string seen;
      for (const auto& [key, array] : *arrays) seen += key + sum_of(array);
      return seen;
    });
  }
}

const std::vector<NamedTensor> kFeatures = {
    {"image", Tensor::scalar(std::string_view("0123"))}, {"label", Tensor::scalar(int64_t{3})}, {"list", ramp({5})}};

TEST_F(Sweep, MakeExample) {
  sweep([]() -> Result<std::string> {
    const auto message = make_example(kFeatures);
    return message ? Result<std::string>(sum_of(*message)) : fail(message.error());
  });
  const std::vector<NamedSteps> lists = {{"steps", {ramp({2}), ramp({3})}}};
  sweep([&]() -> Result<std::string> {
    const auto message = make_sequence_example(kFeatures, lists);
    return message ? Result<std::string>(sum_of(*message)) : fail(message.error());
  });
}

TEST_F(Sweep, ExampleParser) {
  const std::string message = make_example(kFeatures).value();
  sweep([&]() -> Result<std::string> {
    const ExampleParser parser({{.key = "image", .dtype = u8, .shape = {4}},
                                {.key = "label", .dtype = i64},
                                {.key = "list", .kind = FeatureKind::VarLen}});
    const auto parsed = parser.parse(std::as_bytes(std::span(message)));
    if (!parsed) return fail(parsed.error());
    std::string seen = parser.describe();
    for (const Tensor& tensor : *parsed) seen += sum_of(tensor);
    const auto known = describe_example(std::as_bytes(std::span(message)));
    return known ? Result<std::string>(seen + std::to_string(known->size())) : fail(known.error());
  });
}

TEST_F(Sweep, AnExampleGoesToItsPlacesWithoutAllocations) {
  const std::string message = make_example(kFeatures).value();
  const ExampleParser parser(
      {{.key = "image", .dtype = u8, .shape = {4}}, {.key = "label", .dtype = i64}, {.key = "list", .shape = {5}}});
  std::array<std::byte, 32> row = {};
  const std::array<std::byte*, 3> targets = {row.data(), row.data() + 4, row.data() + 12};
  const auto swept = sweep([&]() -> Result<std::string> {
    HEADPOND_TRY(parser.parse(std::as_bytes(std::span(message)), targets, {}));
    return std::string();
  });
  EXPECT_EQ(swept.allocations, 0);
}

TEST_F(Sweep, Idx) {
  const std::string path = folder_.file("i");
  sweep(
      [&]() -> Result<std::string> {
        HEADPOND_TRY(write_idx(path, ramp({3, 4})));
        const auto tensor = read_idx(path);
        return tensor ? Result<std::string>(sum_of(*tensor)) : fail(tensor.error());
      },
      {.check = [&] { EXPECT_EQ(folder_.count(), 1U); }});
  const auto packed = gzip(get_file(path));
  sweep([&]() -> Result<std::string> {
    const auto tensor = read_idx(make_memory_reader("i.gz", packed));
    return tensor ? Result<std::string>(sum_of(*tensor)) : fail(tensor.error());
  });
}

TEST_F(Sweep, Wav) {
  sweep([]() -> Result<std::string> {
    const auto file = encode_wav(Tensor::from<float>(std::array{0.5F, -0.5F}, {2, 1}), 8000);
    if (!file) return fail(file.error());
    const auto wav = decode_wav(*file);
    return wav ? Result<std::string>(sum_of(wav->samples)) : fail(wav.error());
  });
}

TEST_F(Sweep, Png) {
  for (const char* name : {"type2_8bit", "type6_16bit_interlaced", "type3_4bit", "text_and_gamma"}) {
    const auto content = get_file(std::string(HEADPOND_CORPUS "/png/") + name);
    for (const int channels : {0, 1}) {
      sweep([&]() -> Result<std::string> {
        const auto image = decode_png(content, {.channels = channels});
        if (!image) return fail(image.error());
        const auto again = encode_png(image->pixels);
        return again ? Result<std::string>(sum_of(image->pixels) + sum_of(*again)) : fail(again.error());
      });
    }
  }
}

// An image for which there was no memory is resized again by the same worker.
TEST_F(Sweep, Resize) {
  const KernelRef kernel = resize({3, 5});
  Tensor image = Tensor::empty(u8, {17, 11, 1});
  for (size_t i = 0; i < image.byte_size(); ++i) image.mutable_data()[i] = static_cast<std::byte>(i * 7);
  sweep([&]() -> Result<std::string> {
    KernelScratch scratch;
    const auto resized = [&]() -> Result<std::string> {
      Tensor field = image;
      const RandomKey key;
      KernelCall call({&field, 1}, {&key, 1}, 0, {}, scratch);
      HEADPOND_TRY(kernel->run(call));
      call.finish();
      return sum_of(field);
    };
    try {
      return resized();
    } catch (const std::bad_alloc&) {
      return resized();
    }
  });
}

}  // namespace
}  // namespace headpond::test
