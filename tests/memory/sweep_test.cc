// SPDX-License-Identifier: Apache-2.0
// Every reader and writer of files of records, lines and members, without memory at each of its allocations in turn.
#include "tests/memory/sweep.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/memory_test_internal.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/text/line_file.h"
#include "headpond/io/text/text_lines.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::test {
namespace {

static_assert(kMemoryCanBeLimited, "a sanitizer has its own malloc");

constexpr std::string_view kTexts[] = {"one", "", "the third record, longer than a short string is"};

std::vector<std::byte> records(Compression compression) {
  const TempFolder folder;
  auto writer = RecordWriter::open(folder.file("r"), {.compression = compression}).value();
  for (const auto text : kTexts) EXPECT_TRUE(writer->append(text));
  EXPECT_TRUE(writer->close());
  return get_file(folder.file("r"));
}

Result<std::string> read_records(RecordReader& reader) {
  std::string all;
  while (true) {
    const auto record = reader.next();
    if (!record) return fail(record.error());
    if (!*record) return all;
    all += sum_of(**record);
  }
}

TEST_F(Sweep, RecordReader) {
  for (const auto compression : {Compression::none, Compression::gzip, Compression::zlib}) {
    const std::string path = put("r", records(compression));
    sweep([&]() -> Result<std::string> {
      const auto reader = RecordReader::open(path);
      return reader ? read_records(**reader) : fail(reader.error());
    });
  }
}

// The target is the old file or all of the new one, and nothing else is left in its folder.
TEST_F(Sweep, RecordWriter) {
  for (const auto compression : {Compression::none, Compression::gzip}) {
    const auto whole = records(compression);
    const auto old = to_bytes("old");
    const std::string path = folder_.file("w");
    sweep(
        [&]() -> Result<std::string> {
          const auto writer = RecordWriter::open(path, {.compression = compression});
          if (!writer) return fail(writer.error());
          for (const auto text : kTexts) HEADPOND_TRY((*writer)->append(text));
          HEADPOND_TRY((*writer)->close());
          return std::to_string((*writer)->records());
        },
        {.prepare = [&] { put_file(path, old); },
         .check =
             [&] {
               EXPECT_EQ(folder_.count(), 1U);
               const auto found = get_file(path);
               EXPECT_TRUE(found == old || found == whole) << found.size();
             }});
    EXPECT_EQ(get_file(path), whole);
  }
}

TEST_F(Sweep, RecordWriterThatIsDropped) {
  const LogSink before = set_log_sink([](LogLevel, std::string_view) {});
  const std::string path = folder_.file("d");
  for (const auto compression : {Compression::none, Compression::gzip}) {
    sweep([&]() -> Result<std::string> {
      const auto writer = RecordWriter::open(path, {.mode = WriteMode::in_place, .compression = compression});
      if (!writer) return fail(writer.error());
      HEADPOND_TRY((*writer)->append(kTexts[2]));
      return std::string();
    });
  }
  set_log_sink(before);
}

TEST_F(Sweep, RecordWriterThatAppends) {
  auto torn = records(Compression::none);
  torn.pop_back();
  const std::string path = folder_.file("a");
  sweep(
      [&]() -> Result<std::string> {
        const auto writer = RecordWriter::open(path, {.mode = WriteMode::append});
        if (!writer) return fail(writer.error());
        HEADPOND_TRY((*writer)->append("last"));
        HEADPOND_TRY((*writer)->close());
        return std::to_string((*writer)->cut_bytes());
      },
      {.prepare = [&] { put_file(path, torn); },
       .check =
           [&] {
             const auto file = RecordFile::open(path, {.keep_index = false, .allow_damaged_end = true}).value();
             ASSERT_GE(file->size(), 2U);
             EXPECT_EQ(file->at(0).value().size(), kTexts[0].size());
           }});
}

TEST_F(Sweep, RecordFile) {
  const std::string path = put("r", records(Compression::none));
  ASSERT_EQ(setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1), 0);
  for (const bool keep : {false, true}) {
    for (const bool anew : {false, true}) {
      sweep(
          [&]() -> Result<std::string> {
            const auto file = RecordFile::open(path, {.keep_index = keep});
            if (!file) return fail(file.error());
            std::string all;
            for (uint64_t i = 0; i < (*file)->size(); ++i) {
              const auto record = (*file)->at(i);
              if (!record) return fail(record.error());
              all += sum_of(*record);
            }
            const std::array<uint64_t, 2> wanted = {2, 0};
            (*file)->will_need(wanted);
            return all;
          },
          {.prepare = [&] {
            if (anew) std::filesystem::remove_all(folder_.file("cache"));
          }});
    }
  }
}

std::string archive() {
  std::string all;
  for (const std::string name : {"a.txt", "a.cls", "b.txt"}) EXPECT_TRUE(append_tar_member(all, name, name + name));
  EXPECT_TRUE(append_tar_member(all, std::string(150, 'l') + ".txt", ""));
  return all + std::string(tar_end());
}

TEST_F(Sweep, TarIndexAndSamples) {
  const std::string all = archive();
  sweep([&]() -> Result<std::string> {
    const auto index = index_tar(std::as_bytes(std::span(all)), "x.tar");
    if (!index) return fail(index.error());
    const auto groups = group_tar(*index, "x.tar");
    if (!groups) return fail(groups.error());
    std::string seen;
    for (const auto& sample : groups->samples) seen += fmt::format("{} {}, ", sample.key, sample.parts.size());
    return seen;
  });
}

TEST_F(Sweep, TarReader) {
  const std::string path = put("x.tar", archive());
  sweep([&]() -> Result<std::string> {
    auto file = open_file_reader(path);
    if (!file) return fail(file.error());
    TarReader reader(std::move(*file));
    std::string seen;
    while (true) {
      const auto member = reader.next();
      if (!member) return fail(member.error());
      if (!*member) return seen;
      std::vector<std::byte> content((*member)->size);
      const auto got = reader.read(content);
      if (!got) return fail(got.error());
      seen += (*member)->name + sum_of(content);
    }
  });
}

TEST_F(Sweep, TarWriter) {
  sweep([]() -> Result<std::string> {
    std::string all;
    for (const std::string& name : {std::string("a"), std::string(300, 'n')}) {
      HEADPOND_TRY(append_tar_member(all, name, "content"));
    }
    return sum_of(all);
  });
}

const std::string kText = "first\r\n\n" + std::string(300, 'x') + "\nlast";

TEST_F(Sweep, TextLines) {
  const std::string path = put("t", kText);
  sweep([&]() -> Result<std::string> {
    auto lines = TextLines::open(path);
    if (!lines) return fail(lines.error());
    std::string seen;
    while (true) {
      const auto line = lines->next();
      if (!line) return fail(line.error());
      if (!*line) return seen;
      seen += sum_of((*line)->text);
    }
  });
}

TEST_F(Sweep, LineFile) {
  for (const std::string& path : {put("t", kText), put("t.gz", gzip(to_bytes(kText)))}) {
    sweep([&]() -> Result<std::string> {
      const auto file = LineFile::open(path);
      if (!file) return fail(file.error());
      std::string seen;
      for (int64_t i = 0; i < (*file)->size(); ++i) {
        const auto line = (*file)->at(i);
        if (!line) return fail(line.error());
        seen += sum_of(*line);
      }
      return seen;
    });
  }
}

TEST_F(Sweep, FixedLength) {
  const std::string path = put("f", "head1234567890ab");
  const FixedLengthOptions options = {.record_bytes = 3, .header_bytes = 4};
  sweep([&]() -> Result<std::string> {
    const auto file = FixedLengthFile::open(path, options);
    if (!file) return fail(file.error());
    std::array<std::byte, 3> record = {};
    HEADPOND_TRY(file->read(1, record));
    auto reader = FixedLengthReader::open(path, options, 2);
    if (!reader) return fail(reader.error());
    const auto next = reader->next();
    return next ? Result<std::string>(sum_of(record) + sum_of(**next)) : fail(next.error());
  });
}

// Folders are not searched here: glob(3) of glibc 2.36 frees twice where memory ends in it, and libstdc++'s
// directory_iterator ends the program.
TEST_F(Sweep, Names) {
  sweep([]() -> Result<std::string> {
    const auto names = expand_files("shards-of-a-data-set@2");
    return names ? Result<std::string>(names->front() + names->back()) : fail(names.error());
  });
}

TEST_F(Sweep, NoMemoryIsSaidWithoutMemory) {
  ErrorKind kind = ErrorKind::Unknown;
  {
    const FailingAllocation no_memory(1, Failing::from_then_on);
    try {
      throw std::bad_alloc();
    } catch (...) {
      kind = current_exception_error().kind();
    }
  }
  EXPECT_EQ(kind, ErrorKind::ResourceExhausted);
}

}  // namespace
}  // namespace headpond::test
