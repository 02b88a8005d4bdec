// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;

TEST(FileWriter, WritesPiecesOfAnySize) {
  const test::TempFolder folder;
  const std::string path = folder.file("x");
  test::put_file(path, test::to_bytes("old content"));
  auto writer = FileWriter::open(path).value();
  std::string all;
  for (const size_t size : {0, 1, 1000, 70'000, 5}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    EXPECT_TRUE(writer->write(piece));
    all += piece;
  }
  EXPECT_TRUE(writer->close());
  EXPECT_TRUE(writer->close());
  EXPECT_EQ(test::get_file(path), test::to_bytes(all));
  EXPECT_EQ(writer->write("more").error().kind(), ErrorKind::FailedPrecondition);
  writer.reset();
  EXPECT_EQ(test::get_file(path), test::to_bytes(all));
}

TEST(FileWriter, KeepsItsFirstError) {
  const test::TempFolder folder;
  for (const char* const call : {"write", "fsync"}) {
    auto writer = FileWriter::open(folder.file("x")).value();
    EXPECT_TRUE(writer->write("something"));
    {
      const internal::FaultInjection fault(
          [&](std::string_view name) { return internal::Fault{.error = name == call ? ENOSPC : 0}; });
      const auto closed = writer->close();
      ASSERT_FALSE(closed) << call;
      EXPECT_EQ(closed.error().kind(), ErrorKind::ResourceExhausted);
      EXPECT_THAT(closed.error().message(), HasSubstr(folder.file("x")));
    }
    EXPECT_FALSE(writer->close()) << call << ": it is not whole, however often it is asked";
    EXPECT_FALSE(writer->write("more"));
  }
  EXPECT_EQ(FileWriter::open(folder.file("none/x")).error().kind(), ErrorKind::NotFound);
}

TEST(FileAppender, AppendsToWhatIsThere) {
  const test::TempFolder folder;
  test::put_file(folder.file("a"), test::to_bytes("old\n"));
  auto one = FileAppender::open(folder.file("a")).value(), two = FileAppender::open(folder.file("a")).value();
  EXPECT_TRUE(one.append("first\n"));
  EXPECT_TRUE(two.append("second\n"));
  EXPECT_TRUE(one.append("third\n"));
  EXPECT_TRUE(one.sync());
  EXPECT_EQ(test::get_file(folder.file("a")), test::to_bytes("old\nfirst\nsecond\nthird\n"));
  EXPECT_TRUE(FileAppender::open(folder.file("new")));
  EXPECT_EQ(test::get_file(folder.file("new")).size(), 0U);
}

TEST(FileAppender, CanGoOnAfterAnError) {
  const test::TempFolder folder;
  auto file = FileAppender::open(folder.file("a")).value();
  for (const std::string_view failing : {"write", "fsync"}) {
    const internal::FaultInjection fault(
        [&](std::string_view call) { return internal::Fault{.error = call == failing ? ENOSPC : 0}; });
    const auto appended = failing == "write" ? file.append("x") : file.sync();
    ASSERT_FALSE(appended) << failing;
    EXPECT_EQ(appended.error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_THAT(appended.error().message(), HasSubstr(folder.file("a")));
  }
  EXPECT_TRUE(file.append("y"));
  EXPECT_EQ(test::get_file(folder.file("a")), test::to_bytes("y"));
  EXPECT_EQ(FileAppender::open(folder.file("none/a")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(FileAppender::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
}

TEST(RenameFile, ReplacesTheOther) {
  const test::TempFolder folder;
  test::put_file(folder.file("a"), test::to_bytes("new"));
  test::put_file(folder.file("b"), test::to_bytes("old"));
  EXPECT_TRUE(rename_file(folder.file("a"), folder.file("b")));
  EXPECT_EQ(test::get_file(folder.file("b")), test::to_bytes("new"));
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(rename_file(folder.file("a"), folder.file("b")).error().kind(), ErrorKind::NotFound);
}

TEST(DigestOfFile, IsXxh3) {
  const test::TempFolder folder;
  test::put_file(folder.file("none"), {});
  EXPECT_EQ(digest_of_file(folder.file("none")).value(), 0x2d06800538d394c2U) << "xxhsum -H3 of nothing";
  test::put_file(folder.file("a"), test::to_bytes("a"));
  EXPECT_EQ(digest_of_file(folder.file("a")).value(), 0xe6c632b61e964e1fU) << "xxhsum -H3 of a";
  EXPECT_EQ(digest_of_file(folder.file("b")).error().kind(), ErrorKind::NotFound);
}

}  // namespace
}  // namespace headpond
