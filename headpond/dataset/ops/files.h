// SPDX-License-Identifier: Apache-2.0
// Sources of files. Patterns mean the files that io/file/glob.h says: those of a pattern in the order of their names,
// one pattern after the other. The records of all files have consecutive numbers, which are position and key of the
// elements, unless `num_parallel_reads` asks for another order.
//
// A source finds and counts its files when a Sequence or a Loader is made of it, the Loader on many threads at once;
// check() in dataset.h does it, too. Both throw Exception, with the reader's error and the file's name, for a file that
// is missing, or so damaged that its records cannot be counted. Only a source whose fields follow from the content
// looks at its first file already when it is made: npy, idx, csv unless all dtypes are given, and tar without
// extensions. How many records each file has is kept in the cache folder (docs/formats/record_index.md): next time a
// file that has not changed is opened only when one of its records is asked for; if it has changed by then its records
// are DataLoss. An error of the system that may pass (a network file system that does not answer) counts only after
// several tries within a second, also while records are read.
//
// Names relative to the pattern's folder, sizes and a checksum of each file's first and last 4 KiB are part of what a
// state belongs to: once they have changed, older states are refused; that a folder moved does not matter. A record
// that turns out to be damaged later is the error of its element, DataLoss with file, record and offset. Files stay
// mapped, and where their records are is kept in the cache folder, too. A source keeps at most 32,768 files
// open, all sources together 40,000; the others are opened again when a record of them is asked for. Many small files
// are better kept in fewer large ones (headpond convert).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/patterns.h"
#include "headpond/io/compression/compression.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/line_file.h"

namespace headpond {

struct TFRecordOptions {
  std::optional<Compression> compression = std::nullopt;  ///< If given, files compressed otherwise are refused.
  /// skip: leaves out records with a damaged payload (counted in LoaderStats::defects; a warning for the first, 10th,
  /// 100th, ... of a file, of zlib one with their number) and, each with a warning, the rest of a file after a damaged
  /// length, and files that do not exist or cannot be opened, unless these are all files. None of it is an error for
  /// on_error. fail: a damaged payload is an error in place of its record; a damaged length is an error when the file
  /// is opened, or, in a file of zlib, when reading comes to it. A compressed file that is cut counts as one with a
  /// damaged length.
  OnDamage on_damage = OnDamage::fail;
  bool keep_index = true;  ///< Keep counts and the index of each file in the cache folder (io/record/record_file.h).
  /// TensorFlow's order for this number: a record of each of so many files in turn, as interleave gives them
  /// (nested.h); -1: of 16. nullopt: one file after the other. It changes nothing but the order: all cores read in any
  /// case, and keys are those of the order without it. But for zlib: keys differ, and one thread inflates all files;
  /// interleave() over a dataset for each file inflates several at once. A record that is left out still has its turn.
  std::optional<int64_t> num_parallel_reads = std::nullopt;
};

/// The records of TFRecord files, as one unnamed field of dtype bytes. Uncompressed files are mapped and have
/// positions, by an index that is kept in the cache folder (docs/formats/record_index.md). So have those of gzip: the
/// first pass inflates each of them once, and then about 1 MiB at a time, as for text_lines. If `compression` is zlib,
/// or a pattern ends with .z or .zz, all files are a stream, read one after the other in constant memory, whatever
/// their compression; a restore inflates its file again up to the saved position. A zlib file among others is an error.
Dataset tfrecord(const Patterns& patterns, const TFRecordOptions& options = {});

struct TextLinesSourceOptions {
  int64_t skip_header_lines = 0;  ///< Lines of each file; this and the next four: see LineFileOptions.
  bool skip_bom = false;
  uint64_t max_line_bytes = LineFileOptions().max_line_bytes;
  uint64_t max_inflated_bytes = LineFileOptions().max_inflated_bytes;
  bool keep_index = true;
  std::optional<int64_t> num_parallel_reads = std::nullopt;  ///< See TFRecordOptions.
};

/// The lines of texts (io/text/line_file.h), as one unnamed field of dtype bytes; also compressed with gzip or zlib. A
/// gzip file of at least 256 KiB is inflated a chunk of about 1 MiB at a time; chunks stay in memory while they take at
/// most half of LoaderOptions::memory. A shuffled order over more than that inflates a chunk for nearly each line.
Dataset text_lines(const Patterns& patterns, const TextLinesSourceOptions& options = {});

/// The rows of CSV files (io/text/csv.h), with a scalar field for each column; also compressed, as for text_lines.
/// Types that are not given follow from the content; files whose types differ are refused.
Dataset csv(const Patterns& patterns, const CsvOptions& options = {});

/// The rows of NumPy's arrays (io/array/npy.h), as one unnamed field. All files have rows of the same dtype and shape.
/// Throws also if there are no files.
Dataset npy(const Patterns& patterns);

struct FixedLengthSourceOptions {
  uint64_t record_bytes;  ///< This and the next three as in FixedLengthOptions.
  uint64_t header_bytes = 0;
  uint64_t footer_bytes = 0;
  uint64_t hop_bytes = 0;
  std::optional<int64_t> num_parallel_reads = std::nullopt;  ///< See TFRecordOptions.
  Compression compression = Compression::none;               ///< See FixedLengthOptions: never guessed.
};

/// Records of one length, as one unnamed field u8 [record_bytes]. Throws also for a file that ends within a record. A
/// compressed file is inflated as a whole, and stays in memory while it is open.
Dataset fixed_length(const Patterns& patterns, const FixedLengthSourceOptions& options);

struct TarOptions {
  /// The parts of a sample that become fields of dtype bytes, in lower case; a sample that lacks one is an error.
  /// Empty: those of the first sample.
  std::vector<std::string> extensions = {};
  bool allow_missing = false;  ///< A part that a sample lacks is an empty text, not an error.
};

/// The samples of tar archives in WebDataset's convention (io/archive/tar.h): a field "__key__" with the sample's key,
/// and a field for each extension with the member's content. Archives are mapped. Errors: Unimplemented for compressed
/// archives, which have no random access, and InvalidArgument for a sample that is split between two archives.
Dataset tar(const Patterns& patterns, const TarOptions& options = {});

struct FolderOptions {
  /// Endings of file names, in upper or lower case, with or without a dot: {"png", ".jpg"}. Empty: all files.
  std::vector<std::string> extensions = {};
  bool allow_empty = false;  ///< No such file is a dataset without elements, not an error.
};

/// The files in the subfolders of a folder, whose names are the labels (io/file/labelled_folder.h). Fields: "path"
/// (dtype bytes), "file" (the content, dtype bytes) and "label" (i64, the index of the subfolder's name in sorted
/// order). Names and sizes of all files are part of the plan; a file's content is read when its element is asked for.
/// No file is an error, NotFound, which says what was looked for.
Dataset folder(const std::string& path, const FolderOptions& options = {});
void folder(internal::ListOfNames, const FolderOptions& = {}) = delete;

struct ListFilesOptions {
  bool shuffle = true;              ///< In another order in each epoch; false: sorted, of all patterns together.
  std::string name = "list_files";  ///< Name of the shuffle's random numbers.
};

/// The names of files, as one unnamed field of dtype bytes; no file is opened. They are found when a Sequence or a
/// Loader is made of it; then no match is an error, NotFound, and so is a name that does not exist: each name that is
/// no pattern is looked up, one after the other. This is slow for many names on a network file system; a pattern needs
/// one directory listing. A state belongs to the files' own names, without folders.
Dataset list_files(const Patterns& patterns, const ListFilesOptions& options = {});

/// tf.data's load: the elements that save() (engine/save.h) wrote into the folder `path`, in that order; with
/// positions, and mapped. Reads the dataset's description when it is made; throws Exception: NotFound iff there is
/// none, DataLoss iff it is damaged. A damaged element is DataLoss with file and offset. A save() into the same folder
/// does not change this dataset, but removes its elements: make another one.
Dataset load(const std::string& path);
void load(internal::ListOfNames) = delete;

}  // namespace headpond
