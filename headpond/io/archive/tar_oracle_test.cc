// SPDX-License-Identifier: Apache-2.0
// Python's tarfile and libarchive as the oracles, both ways.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "headpond/io/archive/tar_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

int oracle(const std::string& verb, const std::string& path) {
  return std::system((HEADPOND_PYTHON " " HEADPOND_ORACLES "/tars.py " + verb + " '" + path + "'").c_str());
}

// 77: neither Python is there and has libarchive.
int libarchive(const std::string& verb, const std::string& path) {
  int code = 77;
  for (const char* python : {HEADPOND_PYTHON, "/usr/bin/python3"}) {
    const int status = std::system(
        (std::string(python) + " " HEADPOND_ORACLES "/tars.py libarchive-" + verb + " '" + path + "'").c_str());
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 77 && code != 126 && code != 127) return code;  // The shell's two: no such program.
  }
  std::puts("skipped: no python3-libarchive-c");
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true") ADD_FAILURE() << "python3-libarchive-c is missing";
  return 77;
}

std::string line(std::string_view name, std::string_view content) {
  std::string hex;
  for (const char c : name) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<unsigned>(content.size()));
  return fmt::format("{} {} {}\n", hex, content.size(), crc);
}

std::string text(const std::string& path) {
  const auto bytes = test::get_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string listed(std::string_view archive, const TarIndex& index) {
  std::string lines;
  for (const TarMember& member : index.members) lines += line(member.name, test::content_of(archive, member));
  return lines;
}

// Names of each length up to 600, with letters beyond ASCII, and bytes that are no UTF-8.
void put_archive(const test::TempFolder& folder) {
  std::string archive, list;
  for (size_t i = 1; i < 600; i += 7) {
    std::string name = fmt::format("{}/{}", i, std::string(i, 'n')), content((i - 1) * 5, static_cast<char>(i));
    for (size_t at = 50; at + 1 < name.size(); at += 51) name[at] = '/';
    if (i % 3 == 0) name += "\xc3\xa9";
    if (i % 5 == 0) name += "\xe9";
    ASSERT_TRUE(append_tar_member(archive, name, content));
    list += line(name, content);
  }
  archive += tar_end();
  test::put_file(folder.file("a.tar"), std::as_bytes(std::span(archive)));
  test::put_file(folder.file("a.tar.list"), std::as_bytes(std::span(list)));
}

TEST(TarOracle, ReadsWhatPythonWritesInEachFormat) {
  const test::TempFolder folder;
  ASSERT_EQ(oracle("write", folder.path()), 0);
  for (const char* format : {"ustar", "gnu", "pax"}) {
    const std::string archive = text(folder.file(format) + ".tar");
    const auto index = test::index_of(archive);
    ASSERT_TRUE(index) << index.error();
    EXPECT_EQ(listed(archive, *index), text(folder.file(format) + ".list")) << format;
    EXPECT_EQ(index->members.size() + index->skipped, 60U) << format;
    EXPECT_GT(index->skipped, 5U) << format;
  }
}

TEST(TarOracle, PythonReadsWhatIsWritten) {
  const test::TempFolder folder;
  put_archive(folder);
  EXPECT_EQ(oracle("check", folder.file("a.tar")), 0);
}

TEST(TarOracle, ReadsWhatLibarchiveWritesInEachFormat) {
  const test::TempFolder folder;
  const int code = libarchive("write", folder.path());
  if (code == 77) GTEST_SKIP() << "no python3-libarchive-c; with CI=true this is a failure";
  ASSERT_EQ(code, 0);
  for (const char* format : {"ustar", "gnutar", "pax"}) {
    const std::string archive = text(folder.file(format) + ".tar");
    const auto index = test::index_of(archive);
    ASSERT_TRUE(index) << index.error();
    EXPECT_EQ(listed(archive, *index), text(folder.file(format) + ".list")) << format;
    EXPECT_GE(index->members.size(), 27U) << format;
    EXPECT_EQ(index->skipped, 1U) << format;
  }
}

TEST(TarOracle, LibarchiveReadsWhatIsWritten) {
  const test::TempFolder folder;
  put_archive(folder);
  const int code = libarchive("check", folder.file("a.tar"));
  if (code == 77) GTEST_SKIP() << "no python3-libarchive-c; with CI=true this is a failure";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace headpond
