// SPDX-License-Identifier: Apache-2.0
// Sources of files. Patterns mean the files that io/file/glob.h says: those of a pattern in the order of their names,
// one pattern after the other. The records of all files have consecutive numbers, which are position and key of the
// elements.
//
// A source opens its files when it is made; csv and text_lines read them completely then. It throws Exception, with the
// reader's error and the file's name, for a file that is missing, or so damaged that its records cannot be counted.
// Names, sizes and a checksum of each file's first and last 4 KiB are part of the plan: once they have changed, older
// states are refused. A record that turns out to be damaged later is the error of its element, DataLoss with file,
// record and offset. Files stay mapped. Of more than 16,384 files only some stay open, and the others are opened again
// for each record: better keep many small files in fewer large ones (headpond convert).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/patterns.h"
#include "headpond/io/file/compression.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/line_file.h"

namespace headpond {

struct TFRecordOptions {
  std::optional<Compression> compression = std::nullopt;  ///< If given, files compressed otherwise are refused.
  /// skip: leaves out elements with a damaged payload, the rest of a file after a damaged length, and, each with a
  /// warning, files that do not exist or cannot be opened, unless these are all files.
  OnDamage on_damage = OnDamage::fail;
  bool keep_index = true;  ///< Keep the index in the cache folder (io/record/record_file.h); for at most 16,384 files.
};

/// The records of TFRecord files, as one unnamed field of dtype bytes. Uncompressed files are mapped and have
/// positions, by an index that this call reads from the cache folder, or makes (docs/formats/record_index.md). If one
/// of the files is compressed, all are a stream, read one after the other in constant memory; a restore inflates its
/// file again up to the saved position.
Dataset tfrecord(const Patterns& patterns, const TFRecordOptions& options = {});

/// The lines of texts (io/text/line_file.h), as one unnamed field of dtype bytes; also compressed with gzip or zlib.
Dataset text_lines(const Patterns& patterns, const LineFileOptions& options = {});

/// The rows of CSV files (io/text/csv.h), with a scalar field for each column; also compressed with gzip or zlib. Types
/// that are not given follow from the content; files whose types differ are refused.
Dataset csv(const Patterns& patterns, const CsvOptions& options = {});

/// The rows of NumPy's arrays (io/array/npy.h), as one unnamed field. All files have rows of the same dtype and shape.
/// Throws also if there are no files.
Dataset npy(const Patterns& patterns);

/// Records of one length, as one unnamed field u8 [record_bytes]. Throws also for a file that ends within a record.
Dataset fixed_length(const Patterns& patterns, const FixedLengthOptions& options);

struct TarOptions {
  /// The parts of a sample that become fields of dtype bytes, in lower case; a sample that lacks one is an error.
  /// Empty: those of the first sample.
  std::vector<std::string> extensions = {};
  bool allow_missing = false;  ///< A part that a sample lacks is an empty text, not an error.
};

/// The samples of tar archives in WebDataset's convention (io/archive/tar.h): a field "__key__" with the sample's key,
/// and a field for each extension with the member's content. This call maps the archives and reads their headers. It
/// throws Exception with Unimplemented for compressed archives, which have no random access, and with InvalidArgument
/// for a sample that is split between two archives.
Dataset tar(const Patterns& patterns, const TarOptions& options = {});

struct FolderOptions {
  std::vector<std::string> extensions =
      {};  ///< Of file names, in upper or lower case: {"png", "jpg"}. Empty: all files.
};

/// The files in the subfolders of a folder, whose names are the labels (io/file/labelled_folder.h). Fields: "path"
/// (dtype bytes), "file" (the content, dtype bytes) and "label" (i64, the index of the subfolder's name in sorted
/// order). Names and sizes of all files are part of the plan; a file's content is read when its element is asked for.
Dataset folder(const std::string& path, const FolderOptions& options = {});
void folder(internal::ListOfNames, const FolderOptions& = {}) = delete;

}  // namespace headpond
