// SPDX-License-Identifier: Apache-2.0
// NumPy as the oracle, both ways.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "headpond/io/array/npy.h"
#include "headpond/io/array/npz.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

// 77: neither Python is there and has NumPy.
int oracle(const std::string& verb, const std::string& folder) {
  int code = 77;
  for (const char* python : {HEADPOND_PYTHON, "/usr/bin/python3"}) {
    const int status =
        std::system((std::string(python) + " " HEADPOND_ORACLES "/npys.py " + verb + " '" + folder + "'").c_str());
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 77 && code != 126 && code != 127) return code;  // The shell's two: no such program.
  }
  std::puts("skipped: no python3-numpy");
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true") ADD_FAILURE() << "python3-numpy is missing";
  return 77;
}

std::string line(const Tensor& array) {
  std::string hex;
  for (size_t i = 0; i < array.byte_size(); ++i) hex += fmt::format("{:02x}", static_cast<uint8_t>(array.data()[i]));
  return fmt::format("{} {} {}", name(array.dtype()), fmt::join(array.shape().dims(), ","), hex);
}

std::vector<std::string> lines_at(const std::string& path) {
  const auto content = test::get_file(path);
  std::istringstream text(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  std::vector<std::string> lines;
  for (std::string one; std::getline(text, one);) lines.push_back(one);
  return lines;
}

TEST(NpyOracle, ReadsWhatNumPyWrites) {
  const test::TempFolder folder;
  const int code = oracle("write", folder.path());
  if (code == 77) GTEST_SKIP() << "no python3-numpy; with CI=true this is a failure";
  ASSERT_EQ(code, 0);
  const auto expected = lines_at(folder.file("arrays.list"));
  ASSERT_EQ(expected.size(), 96U);
  const auto stored = read_npz(folder.file("stored.npz")).value(),
             deflated = read_npz(folder.file("deflated.npz")).value();
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string path = folder.file(std::to_string(i) + ".npy");
    const auto array = read_npy(path);
    ASSERT_TRUE(array) << array.error();
    EXPECT_EQ(line(*array), expected[i]);
    for (const auto& archive : {stored, deflated}) {
      EXPECT_EQ(archive.at(i).first, "a" + std::to_string(i));
      EXPECT_EQ(line(archive.at(i).second), expected[i]);
    }
    const auto rows = NpyFile::open(path);
    for (int64_t row = 0; rows && row < (*rows)->size(); ++row) {
      EXPECT_EQ(line((*rows)->at(row).value()), line(array->row(row)));
    }
  }
}

TEST(NpyOracle, NumPyReadsWhatIsWritten) {
  const test::TempFolder folder;
  std::string list;
  size_t number = 0;
  for (const DType dtype : {boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64}) {
    for (const Shape& shape : {Shape(), Shape{4}, Shape{2, 3}, Shape{2, 0}}) {
      Tensor array = Tensor::empty(dtype, shape);
      for (size_t i = 0; i < array.byte_size(); ++i) {
        array.mutable_data()[i] = dtype == boolean ? std::byte(i & 1) : static_cast<std::byte>(i % 60);
      }
      ASSERT_TRUE(write_npy(folder.file(std::to_string(number++) + ".npy"), array));
      list += line(array) + '\n';
    }
  }
  test::put_file(folder.file("arrays.list"), test::to_bytes(list));
  const int code = oracle("check", folder.path());
  if (code == 77) GTEST_SKIP() << "no python3-numpy; with CI=true this is a failure";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace headpond
