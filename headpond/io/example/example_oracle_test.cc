// SPDX-License-Identifier: Apache-2.0
// Google's own protobuf as the oracle: what it writes is read, and what is read and written again has its bytes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>

#include "headpond/io/example/example_schema.h"
#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/example/json_example.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::as_message;

// 77: neither Python is there and has a package that can be used; each said why.
int oracle(const std::string& verb, const std::string& path) {
  int code = 77;
  for (const char* python : {HEADPOND_PYTHON, "/usr/bin/python3"}) {
    const int status =
        std::system((std::string(python) + " " HEADPOND_ORACLES "/examples.py " + verb + " '" + path + "'").c_str());
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 77 && code != 126 && code != 127) return code;  // The shell's two: no such program.
  }
  std::puts("skipped: no python3-protobuf");
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true") ADD_FAILURE() << "python3-protobuf is missing";
  return 77;
}

std::vector<std::string> read_records(const std::string& path) {
  const auto bytes = test::get_file(path);
  std::vector<std::string> records;
  for (size_t at = 0; at < bytes.size();) {
    uint32_t length = 0;
    std::memcpy(&length, &bytes.at(at), sizeof length);
    records.emplace_back(reinterpret_cast<const char*>(&bytes.at(at + 4)), length);
    at += 4 + length;
  }
  return records;
}

std::vector<ExampleFeature> all_of(const std::vector<FeatureInfo>& infos, FeatureKind kind) {
  std::vector<ExampleFeature> asked;
  for (const FeatureInfo& info : infos)
    asked.push_back({.key = info.key, .dtype = info.dtype.value_or(f32), .kind = kind});
  return asked;
}

std::string again_example(std::string_view message) {
  const auto infos = describe_example(as_message(message)).value();
  const auto got = ExampleParser(all_of(infos, FeatureKind::VarLen)).parse(as_message(message)).value();
  std::vector<NamedTensor> features;
  for (size_t i = 0; i < infos.size(); ++i) features.push_back({infos[i].key, got[i]});
  return make_example(features).value();
}

// The rows of values, as one tensor each.
std::vector<Tensor> rows(const Tensor& values, const Tensor& row_splits) {
  std::vector<Tensor> all;
  const auto splits = row_splits.as<int64_t>();
  for (size_t i = 0; i + 1 < splits.size(); ++i) {
    const Shape shape = {splits[i + 1] - splits[i]};
    if (values.dtype() == DType::bytes) {
      std::vector<std::string_view> row;
      for (int64_t k = splits[i]; k < splits[i + 1]; ++k) row.push_back(values.bytes_at(k));
      all.push_back(Tensor::from(row, shape));
    } else {
      Tensor row = Tensor::empty(values.dtype(), shape);
      const size_t item = item_size(values.dtype());
      if (row.byte_size() != 0) {
        std::memcpy(row.mutable_data(), values.data() + static_cast<size_t>(splits[i]) * item, row.byte_size());
      }
      all.push_back(std::move(row));
    }
  }
  return all;
}

std::string again_sequence(std::string_view message) {
  const auto info = describe_sequence_example(as_message(message)).value();
  const SequenceExampleParser context(all_of(info.context, FeatureKind::VarLen), {});
  const SequenceExampleParser lists({}, all_of(info.lists, FeatureKind::Ragged));
  const auto features = context.parse(as_message(message)).value();
  const auto values = lists.parse(as_message(message)).value();
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < info.context.size(); ++i) named.push_back({info.context[i].key, features[i]});
  std::vector<NamedSteps> steps;
  for (size_t i = 0; i < info.lists.size(); ++i) {
    steps.push_back({info.lists[i].key, rows(values[2 * i], values[2 * i + 1])});
  }
  return make_sequence_example(named, steps).value();
}

TEST(ExampleOracle, ReadsWhatProtobufWritesAndWritesItsBytes) {
  const test::TempFolder folder;
  const int code = oracle("write", folder.file("a"));
  if (code == 77) GTEST_SKIP() << "no python3-protobuf; with CI=true this is a failure";
  ASSERT_EQ(code, 0);
  const auto records = read_records(folder.file("a"));
  ASSERT_EQ(records.size(), 800U);
  for (size_t i = 0; i < records.size(); i += 2) {
    const std::string_view spelled = std::string_view(records[i]).substr(1),
                           canonical = std::string_view(records[i + 1]).substr(1);
    const std::string again = records[i][0] == 'E' ? again_example(spelled) : again_sequence(spelled);
    ASSERT_EQ(again, canonical) << "message " << i / 2;
  }
}

TEST(ExampleOracle, DecodesProtobufsJsonToItsBytes) {
  const test::TempFolder folder;
  const int code = oracle("json", folder.file("a"));
  if (code == 77) GTEST_SKIP() << "no python3-protobuf; with CI=true this is a failure";
  ASSERT_EQ(code, 0);
  const auto records = read_records(folder.file("a"));
  ASSERT_EQ(records.size(), 400U);
  for (size_t i = 0; i < records.size(); i += 2) {
    const auto message = decode_json_example(std::string_view(records[i]).substr(1));
    ASSERT_TRUE(message) << message.error() << "\n" << records[i];
    ASSERT_EQ(*message, std::string_view(records[i + 1]).substr(1)) << records[i];
  }
}

TEST(ExampleOracle, ProtobufReadsWhatIsWrittenAndHasTheSameBytes) {
  const test::TempFolder folder;
  std::string file;
  const auto put = [&](char kind, const Result<std::string>& message) {
    ASSERT_TRUE(message) << message.error();
    const auto length = static_cast<uint32_t>(message->size() + 1);
    file += std::string(reinterpret_cast<const char*>(&length), 4) + kind + *message;
  };
  uint64_t random = 1;
  const auto next = [&random](uint64_t below) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return (random >> 33) % below;
  };
  const auto tensor = [&](uint64_t kind) {
    const auto count = static_cast<int64_t>(next(5) * next(40));
    if (kind == 0) return Tensor::from(std::vector<std::string_view>(static_cast<size_t>(count), "text"), {count});
    if (kind == 1) return Tensor::from<float>(std::vector<float>(static_cast<size_t>(count), 0.25F), {count});
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    for (int64_t& number : numbers)
      number = static_cast<int64_t>(next(UINT64_MAX) << next(40)) * (next(2) != 0 ? -1 : 1);
    return Tensor::from<int64_t>(numbers, {count});
  };
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> keys(next(12));
    for (size_t k = 0; k < keys.size(); ++k) keys[k] = std::to_string(k) + std::string(next(3) * next(90), 'k');
    std::vector<NamedTensor> features;
    std::vector<NamedSteps> lists;
    for (const std::string& key : keys) {
      features.push_back({key, tensor(next(3))});
      lists.push_back({key, {}});
      for (uint64_t step = next(4), kind = next(3); step > 0; --step) lists.back().steps.push_back(tensor(kind));
    }
    put('E', make_example(features));
    put('S', make_sequence_example(features, lists));
  }
  test::put_file(folder.file("a"), as_message(file));
  const int code = oracle("check", folder.file("a"));
  if (code == 77) GTEST_SKIP() << "no python3-protobuf; with CI=true this is a failure";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace headpond
