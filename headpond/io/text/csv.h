// SPDX-License-Identifier: Apache-2.0
// The rows of a CSV file by number (docs/formats/csv.md). Source: RFC 4180; in addition, lines may end with "\r", and
// bytes are passed on without an encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/file/file.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// A requested column. A cell is missing iff it is empty or one of CsvOptions::na_values; in a column of dtype bytes a
/// quoted cell is never missing.
struct CsvColumn {
  std::string name;                          ///< A name in the header. Without a header any name.
  std::optional<DType> dtype = {};           ///< Not f16 or bf16; nullopt: found from the content, see CsvFile.
  std::optional<Tensor> default_value = {};  ///< A scalar of `dtype` for missing cells; without it they are errors.
};

struct CsvOptions {
  char delimiter = ',';
  char quote = '"';      ///< 0: none.
  char comment = 0;      ///< A row that begins with it is skipped; 0: none.
  bool header = true;    ///< The first row has the names of the columns.
  bool skip_bom = true;  ///< Skips the bytes ef bb bf at the start of the file.
  /// In the order of the fields; empty: all columns of the file. Without a header, one for each cell of a row, in
  /// order.
  std::vector<CsvColumn> columns = {};
  std::vector<std::string> na_values = {};     ///< Such as "NA". An empty cell is always missing.
  uint64_t max_row_bytes = uint64_t{1} << 30;  ///< Size of a row, with its end; of the header too.
  uint64_t max_columns = 100'000;              ///< Columns of the file.
  /// Size of a compressed file's text, and the offsets of its rows, 8 bytes each, together.
  uint64_t max_inflated_bytes = uint64_t{1} << 30;
  /// The index of a plain file of at least 64 KiB, in the cache folder (docs/formats/record_index.md).
  bool keep_index = true;
};

/// The options that decide which values a file has, in one line, for a fingerprint: "delimiter=',', quote=34,
/// comment=0, header=true, score default=00000000". A default value stands there as its CRC-32C.
std::string describe(const CsvOptions& options);

namespace internal {
/// The fields of every file that is read with these options; nullopt unless there are columns and each has a dtype.
/// Throws Exception(InvalidArgument) for options that contradict themselves.
std::optional<Spec> fields_said_by(const CsvOptions& options);
}  // namespace internal

/// Opening makes one pass that finds all rows and the types that are not given, or reads what an earlier pass over the
/// same content kept in the cache folder. A row takes 4 bytes of memory, 8 in a file of 4 GiB or more. If all cells of
/// a column that are not missing are numbers: i64 iff all are integers and none is missing; else f32, or f64 if one is
/// an integer beyond 2^24 (however it is written), exceeds f32, or would be 0 only as f32; a missing cell is NaN. Other
/// columns, and numbers beyond i64 or f64: bytes; a missing cell is empty. A column of missing cells only: f32.
/// Thread-safe. Rows that are appended later are not seen.
class CsvFile {
 public:
  /// Like LineFile::open(), gzip and zlib too. InvalidArgument, with file, row, line and offset, iff a quote is not
  /// closed or something follows the closing one, a row has another number of cells than the first, or a column does
  /// not exist or its name is ambiguous; ResourceExhausted iff a row or the header is too long, or the first row has
  /// too many cells. Throws Exception(InvalidArgument) for options that contradict themselves.
  ///
  /// `known`: index() of an earlier object with the same options, used if it belongs to the file's present content.
  static Result<std::unique_ptr<CsvFile>> open(const std::string& path, const CsvOptions& options = {},
                                               std::shared_ptr<const RecordIndex> known = nullptr);
  static void open(internal::ListOfNames, const CsvOptions& = {}) = delete;
  /// The same for `content`, which must outlive the object; `name` is for error messages.
  static Result<std::unique_ptr<CsvFile>> over(std::string name, std::span<const std::byte> content,
                                               const CsvOptions& options = {});
  /// The same for what `content` reads, which is taken as it is and kept in memory as the content of a compressed file.
  static Result<std::unique_ptr<CsvFile>> over(ByteReader& content, const CsvOptions& options = {});
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  /// The fields that read() returns: scalars.
  const Spec& fields() const;
  /// The number of rows, without the header, comments and empty lines.
  int64_t size() const;
  /// Reads row i, from 0. Field k goes to targets[k] (at any alignment) if that is not null and its dtype is not bytes,
  /// else to out[k], as in ExampleParser::parse(). OutOfRange iff there is no such row; InvalidArgument, with file,
  /// row, line, offset and column, iff a cell is missing without a default, or is not a number of its dtype or out of
  /// its range; DataLoss iff the file became shorter, or no whole row is at row i's place any more. After an error the
  /// targets are undefined.
  ///
  /// Of a large gzip file about 1 MiB of text is inflated at a time, and stays in memory. `may_keep`: false: what was
  /// inflated earlier, of any file, makes room.
  Result<void> read(int64_t i, std::span<std::byte* const> targets, std::span<Tensor> out, bool may_keep = true) const;
  /// Where row i begins in the (inflated) text. Errors of inflating it. REQUIRES: 0 <= i < size().
  Result<uint64_t> offset_of(int64_t i) const;
  /// DataLoss iff the file became shorter; read() reports that for its row by itself.
  Result<void> check() const;
  const std::string& path() const;
  /// May outlive this object. Null for a large gzip file.
  std::shared_ptr<const RecordIndex> index() const;
  /// The file as it was indexed; nullopt for a compressed one that is inflated whole and for content in memory.
  std::optional<FileMark> mark() const;
  bool index_was_kept() const;  ///< True iff the index was read from the cache folder, or `known`.

 private:
  class State;
  explicit CsvFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
