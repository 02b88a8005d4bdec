// SPDX-License-Identifier: Apache-2.0
// Elements from files. A list of patterns means the files that io/file/glob.h says, each pattern's in the order of
// their names, one pattern's behind the other's; the records of all are one row, in which the position is an element's
// key.
//
// Files are opened, and where that is said looked through, when the source is made: Exception then, with the reader's
// error and the file's name, for one that is missing or damaged so that its records cannot be counted. Names, sizes and
// a checksum of each file's first and last 4 KiB belong to the plan: a state is refused when they have changed. What is
// damaged later is the error of its element, DataLoss with file, record and offset. Files stay mapped; of more than
// 16,384 only some, and the others are opened for each of their records anew, so that data sets of many small files
// are better kept in larger ones (headpond convert).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/patterns.h"
#include "headpond/io/file/compression.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/line_file.h"

namespace headpond {

struct TFRecordOptions {
  std::optional<Compression> compression = std::nullopt;  ///< If given, files of another one are refused.
  /// skip: elements whose payload is damaged are left out, what is behind a damaged length in a file, and with a
  /// warning each files that are not there or cannot be opened, unless that is all of them.
  OnDamage on_damage = OnDamage::fail;
  bool keep_index = true;  ///< In the cache folder (io/record/record_file.h); of at most 16,384 files.
};

/// The records of TFRecord files, one unnamed field of dtype bytes. Plain files have positions: mapped, in any order at
/// no cost, by the index that is made on first use. If one of the files is compressed, all are a stream: in order only,
/// one after the other, in constant memory; a restore then inflates that file up to its place again.
Dataset tfrecord(const Patterns& patterns, const TFRecordOptions& options = {});

/// The lines of texts (io/text/line_file.h), one unnamed field of dtype bytes; gzip and zlib too.
Dataset text_lines(const Patterns& patterns, const LineFileOptions& options = {});

/// The rows of CSV files (io/text/csv.h), a scalar field for each column; gzip and zlib too. Types that are not given
/// follow from the content; files in which they differ are refused.
Dataset csv(const Patterns& patterns, const CsvOptions& options = {});

/// The rows of NumPy's arrays (io/array/npy.h), one unnamed field; the files agree in a row's dtype and shape. Throws
/// too for no files.
Dataset npy(const Patterns& patterns);

/// Records of one length, one unnamed field u8 [record_bytes]. Throws too for a file that ends within a record.
Dataset fixed_length(const Patterns& patterns, const FixedLengthOptions& options);

struct TarOptions {
  /// Which parts of a sample are fields, of dtype bytes, in lower case; a sample without one of them is an error in its
  /// place. None: those of the first sample.
  std::vector<std::string> extensions = {};
  bool allow_missing = false;  ///< A part that a sample lacks is an empty text and no error.
};

/// The samples of tar archives by WebDataset's convention (io/archive/tar.h): fields "__key__", the sample's key, and
/// one per extension with the member's content. Archives are mapped, and their headers read when this is called;
/// Exception with Unimplemented for compressed ones, which have no places to go to, and with InvalidArgument for a key
/// that ends one archive and begins the next.
Dataset tar(const Patterns& patterns, const TarOptions& options = {});

struct FolderOptions {
  std::vector<std::string> extensions =
      {};  ///< Of file names, in any case of letters: {"png", "jpg"}. None: all files.
};

/// The files in the folders of one folder, whose names are the labels (io/file/labelled_folder.h): fields "path", dtype
/// bytes, "file", the content, dtype bytes, and "label", i64, the number of the folder's name in their order. The plan
/// holds names and sizes of all files; contents are read when they are asked for.
Dataset folder(const std::string& path, const FolderOptions& options = {});

}  // namespace headpond
