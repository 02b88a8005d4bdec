// SPDX-License-Identifier: Apache-2.0
// The rows of a CSV file by their numbers (docs/formats/csv.md). Source: RFC 4180; beyond it, lines may end with "\r",
// and bytes are kept as they are, without an encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// A column that is asked for. A cell is missing iff it is empty or one of CsvOptions::na_values; of a column of dtype
/// bytes only a cell without quotes can be.
struct CsvColumn {
  std::string name;                          ///< In the header. Without a header any name.
  std::optional<DType> dtype = {};           ///< Not f16 or bf16; nullopt: from the content, see CsvFile.
  std::optional<Tensor> default_value = {};  ///< A scalar of `dtype` for missing cells, which else are errors.
};

struct CsvOptions {
  char delimiter = ',';
  char quote = '"';                            ///< 0: none.
  char comment = 0;                            ///< A row that begins with it is passed over; 0: none.
  bool header = true;                          ///< The first row holds the names of the columns.
  bool skip_bom = true;                        ///< Not to take the bytes ef bb bf for text where they begin the file.
  std::vector<CsvColumn> columns = {};         ///< In the order of the fields; empty: all, from the content. Without a
                                               ///< header as many as the cells of a row, in their order.
  std::vector<std::string> na_values = {};     ///< As "NA". An empty cell is missing anyway.
  uint64_t max_row_bytes = uint64_t{1} << 30;  ///< Of one row, its end included; of the header too.
  uint64_t max_columns = 100'000;              ///< Of the file.
  uint64_t max_inflated_bytes = uint64_t{1} << 30;  ///< Of a compressed file, all of which lies in memory, and of the
                                                    ///< places of its rows.
};

/// Opened in one pass that finds all rows, 8 bytes each, and the types that are not given. Of a column whose cells, but
/// the missing ones, are numbers: i64 iff all are integers and none is missing, else f32, or f64 if one is whole and
/// beyond 2^24, however it is written, or beyond f32, or 0 only as f32; a missing cell is NaN. Of all others, and of
/// numbers beyond i64 or f64: bytes, a missing cell is empty. Of a column of missing cells only: f32. Thread-safe. What
/// is appended later is not seen.
class CsvFile {
 public:
  /// As LineFile::open(), gzip and zlib too. InvalidArgument, with file, row, line and offset, iff a quote is not
  /// closed or something follows it, a row has another number of cells than the first, a column is not there, or its
  /// name twice; ResourceExhausted iff a row or the header is too long, or the first has too many cells. Throws
  /// Exception(InvalidArgument) for options that contradict themselves.
  static Result<std::unique_ptr<CsvFile>> open(const std::string& path, const CsvOptions& options = {});
  /// The same of `content`, which outlive the object; `name` is for error texts.
  static Result<std::unique_ptr<CsvFile>> over(std::string name, std::span<const std::byte> content,
                                               const CsvOptions& options = {});
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  /// What read() gives: scalars.
  const Spec& fields() const;
  /// Rows, without the header, comments and empty lines.
  int64_t size() const;
  /// Row i, from 0. Field k goes to places[k] if that is not null and its dtype is not bytes (at any alignment), else
  /// to out[k], as ExampleParser::parse() has it. OutOfRange iff there is no such row; InvalidArgument, with file, row,
  /// line, offset and column, iff a cell is missing without a default, or is no number of its dtype or beyond it;
  /// DataLoss iff the file became shorter meanwhile. When it fails, anything may be written.
  Result<void> read(int64_t i, std::span<std::byte* const> places, std::span<Tensor> out) const;
  /// DataLoss iff the file became shorter meanwhile, which read() says of each row by itself.
  Result<void> check() const;
  const std::string& path() const;

 private:
  class State;
  explicit CsvFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
