// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/replacement_internal.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::get_file;
using test::put_file;
using test::to_bytes;
using testing::HasSubstr;

uint32_t mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

struct Writer {
  const char* name;
  std::function<Result<void>(const std::string& path)> write;
};

Result<void> write_records(const std::string& path) {
  auto writer = RecordWriter::open(path, {.mode = WriteMode::replace});
  if (!writer) return fail(writer.error());
  HEADPOND_TRY((*writer)->append("new"));
  return (*writer)->close();
}

std::vector<Writer> writers() {
  const auto whole = [](const std::string& path) { return write_file_atomically(path, {to_bytes("new")}); };
  return {{"write_file_atomically", whole}, {"RecordWriter", write_records}};
}

class Replacing : public testing::Test {
 protected:
  static bool is_new(const std::string& path) { return get_file(path) != to_bytes("old"); }
  const test::TempFolder folder_;
};

TEST_F(Replacing, KeepsTheModeOfTheOldFile) {
  for (const Writer& writer : writers()) {
    for (const uint32_t mode : {0600U, 0664U, 0444U, 0755U}) {
      const std::string path = folder_.file("a");
      put_file(path, to_bytes("old"));
      ASSERT_EQ(chmod(path.c_str(), mode), 0);
      ASSERT_TRUE(writer.write(path)) << writer.name;
      EXPECT_EQ(mode_of(path), mode) << writer.name;
      EXPECT_TRUE(is_new(path));
      std::filesystem::remove(path);
    }
  }
}

TEST_F(Replacing, GivesANewFileTheModeThatTheUmaskAllows) {
  for (const Writer& writer : writers()) {
    const std::string path = folder_.file(writer.name);
    const mode_t old = umask(027);
    const auto written = writer.write(path);
    umask(old);
    ASSERT_TRUE(written) << written.error();
    EXPECT_EQ(mode_of(path), 0640U);
  }
}

TEST_F(Replacing, FollowsLinksToTheirTargetAndKeepsThem) {
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.name);
    const std::string far = folder_.file("far"), near = folder_.file("near");
    std::filesystem::create_directory(far);
    put_file(far + "/a", to_bytes("old"));
    ASSERT_EQ(chmod((far + "/a").c_str(), 0600), 0);
    std::filesystem::create_symlink("a", far + "/b");  // Relative to its own folder.
    std::filesystem::create_symlink(far + "/b", near);
    ASSERT_TRUE(writer.write(near));
    EXPECT_TRUE(std::filesystem::is_symlink(near));
    EXPECT_TRUE(std::filesystem::is_symlink(far + "/b"));
    EXPECT_TRUE(is_new(far + "/a"));
    EXPECT_EQ(mode_of(far + "/a"), 0600U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(far), {}), 2);
    std::filesystem::remove_all(far);
    ASSERT_EQ(writer.write(near).error().kind(), ErrorKind::NotFound) << "the target's folder does not exist";
    std::filesystem::create_directory(far);
    std::filesystem::create_symlink("c", far + "/b");
    ASSERT_TRUE(writer.write(near));
    EXPECT_TRUE(is_new(far + "/c")) << "a target that does not exist is created";
    std::filesystem::remove_all(far);
    std::filesystem::remove(near);
  }
}

// A reader of a pipe, which exists before the writer.
class PipeReader {
 public:
  explicit PipeReader(const std::string& path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    file_ = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(file_, 0);
  }
  ~PipeReader() { close(file_); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  std::string take() const {
    std::string text(4096, '\0');
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(file_, text.data(), text.size()))));
    return text;
  }
  int file() const { return file_; }

 private:
  int file_ = -1;
};

TEST_F(Replacing, WritesIntoAPipeAndLeavesIt) {
  const std::string path = folder_.file("pipe"), link = folder_.file("link");
  const PipeReader reader(path);
  std::filesystem::create_symlink("pipe", link);
  for (const Writer& writer : writers()) {
    for (const std::string& name : {path, link, fmt::format("/proc/self/fd/{}", reader.file())}) {
      const auto written = writer.write(name);
      ASSERT_TRUE(written) << writer.name << name << written.error();
      EXPECT_TRUE(std::filesystem::is_fifo(path)) << writer.name << name;
      EXPECT_THAT(reader.take(), HasSubstr("new")) << writer.name << name;
    }
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(folder_.count(), 2U);
}

TEST_F(Replacing, AppendsToAPipe) {
  const PipeReader reader(folder_.file("pipe"));
  auto appender = FileAppender::open(folder_.file("pipe"));
  ASSERT_TRUE(appender) << appender.error();
  EXPECT_TRUE(appender->is_stream());
  EXPECT_TRUE(appender->append("new\n"));
  EXPECT_TRUE(appender->sync());
  EXPECT_EQ(reader.take(), "new\n");
}

TEST_F(Replacing, RefusesARingOfLinks) {
  std::filesystem::create_symlink("b", folder_.file("a"));
  std::filesystem::create_symlink("a", folder_.file("b"));
  for (const Writer& writer : writers()) {
    const Error error = writer.write(folder_.file("a")).error();
    EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
    EXPECT_EQ(error.os_error(), ELOOP);
    EXPECT_THAT(error.to_string(), HasSubstr(folder_.file("a")));
  }
}

TEST_F(Replacing, LeavesNoFileWhenTheModeCannotBeSet) {
  put_file(folder_.file("a"), to_bytes("old"));
  std::filesystem::permissions(folder_.file("a"), std::filesystem::perms::owner_read);  // Not that of a new file.
  for (const Writer& writer : writers()) {
    const internal::FaultInjection fault(
        [](std::string_view call) { return internal::Fault{.error = call == "fchmod" ? EPERM : 0}; });
    EXPECT_EQ(writer.write(folder_.file("a")).error().kind(), ErrorKind::FailedPrecondition) << writer.name;
    EXPECT_FALSE(is_new(folder_.file("a")));
    EXPECT_EQ(folder_.count(), 1U);
  }
}

TEST(ReplaceFile, WritesManySmallPiecesWithFewCalls) {
  const test::TempFolder folder;
  const std::vector<std::byte> small = to_bytes("ab"), large = to_bytes("cdefgh");
  const std::vector<std::span<const std::byte>> pieces = {small, small, large, small, {}};
  int writes = 0;
  const internal::FaultInjection hook([&](std::string_view call) {
    writes += call == "write" ? 1 : 0;
    return internal::Fault{};
  });
  ASSERT_TRUE(internal::replace_file(folder.file("a"), pieces, 5, true));
  EXPECT_EQ(writes, 3) << "abab, cdefgh, ab";
  EXPECT_EQ(read_file(folder.file("a")).value(), to_bytes("ababcdefghab"));
  ASSERT_TRUE(internal::replace_file(folder.file("a"), {}, 5, true));
  EXPECT_EQ(read_file(folder.file("a")).value(), to_bytes(""));
}

}  // namespace
}  // namespace headpond
