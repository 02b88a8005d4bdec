// SPDX-License-Identifier: Apache-2.0
// No function of this room makes one name of a list of two: see base/list_of_names.h.
#include "headpond/io/array/idx.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/array/npz.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/labelled_folder.h"
#include "headpond/io/file/locked_file.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/line_file.h"
#include "headpond/io/text/text_lines.h"

namespace headpond {
namespace {

// A template, so that a call that does not compile is false. Text: const char*.
template <class Text>
constexpr bool kAnyTakesTwo =
    requires(Text a) {
      open_file_reader({a, a});
    } ||  //
    requires(Text a) {
      open_file_reader({a, a}, 1);
    } ||  //
    requires(Text a) {
      open_stream_reader({a, a});
    } ||  //
    requires(Text a) {
      read_file({a, a});
    } ||  //
    requires(Text a) {
      read_file({a, a}, 1);
    } ||  //
    requires(Text a) {
      write_file_atomically({a, a}, {});
    } ||
    requires(Text a) {
      rename_file({a, a}, "b");
    } ||  //
    requires(Text a) {
      rename_file("b", {a, a});
    } ||  //
    requires(Text a) {
      rename_file({a, a}, {a, a});
    } ||  //
    requires(Text a) {
      make_folders({a, a});
    } ||  //
    requires(Text a) {
      expand_files({{a, a}});
    } ||  //
    requires(Text a) {
      digest_of_file({a, a});
    } ||  //
    requires(Text a) {
      list_labelled_folder({a, a});
    } ||  //
    requires(Text a) {
      read_idx({a, a});
    } ||  //
    requires(Text a) {
      read_idx_pair({a, a}, "b");
    } ||  //
    requires(Text a) {
      read_idx_pair("b", {a, a});
    } ||  //
    requires(Text a) {
      read_idx_pair({a, a}, {a, a});
    } ||  //
    requires(Text a) {
      write_idx({a, a}, Tensor());
    } ||  //
    requires(Text a) {
      read_npy({a, a});
    } ||  //
    requires(Text a) {
      write_npy({a, a}, Tensor());
    } ||  //
    requires(Text a) {
      read_npz({a, a});
    } ||  //
    requires(Text a) {
      record_index_path({a, a});
    };

template <class File, class Text, class... Options>
constexpr bool kOpensTwo = requires(Text a, Options... options) {
  File::open({a, a}, options...);
};
template <class File, class Text, class... Options>
constexpr bool kOpensOne = requires(Text a, Options... options) { File::open(a, options...); };
template <class File, class... Options>
constexpr bool kOpensOneName = kOpensOne<File, const char*, Options...> && !kOpensTwo<File, const char*, Options...>;

static_assert(!kAnyTakesTwo<const char*>);
static_assert(kOpensOneName<FileWriter> && kOpensOneName<LockedFile> && kOpensOneName<MappedFile>);
static_assert(kOpensOneName<NpyFile> && kOpensOneName<RecordFile> && kOpensOneName<RecordReader>);
static_assert(kOpensOneName<RecordWriter> && kOpensOneName<RecordWriter, RecordWriterOptions>);
static_assert(kOpensOneName<CsvFile> && kOpensOneName<CsvFile, CsvOptions>);
static_assert(kOpensOneName<LineFile> && kOpensOneName<TextLines>);
static_assert(kOpensOneName<FixedLengthFile, FixedLengthOptions> &&
              kOpensOneName<FixedLengthReader, FixedLengthOptions>);

}  // namespace
}  // namespace headpond
