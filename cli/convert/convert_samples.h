// SPDX-License-Identifier: Apache-2.0
// The samples that `headpond convert` reads, and the bytes that it writes for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// What is wrong with the words of the command line, or "".
std::string words_refusal(const std::string& from, const std::vector<std::string>& words);

/// The field that names a sample.
inline constexpr std::string_view kKeyField = "__key__";

/// The samples in the files `words` of the kind `from`, one an element, with a name for each field:
/// - idx: "image" and "label", or "data" of one file;
/// - folder: "path" relative to it, "file" and "label";
/// - tar: "__key__" and a field for each extension that any sample has, with_presence();
/// - csv: a field for each column, with_presence(), as cli/convert/convert_csv.h says;
/// - wav: "name" of the file, "file", "sample_rate", "channels" and "frames", the header checked.
/// No sample contains a name or path of this machine's folders. REQUIRES: words_refusal() is "". Throws Exception with
/// the reader's error; InvalidArgument, with file and column, iff they are `for_examples` and a column is f64; with
/// both archives, or file and row, iff they are not and a key occurs twice or a row cannot be an archive's sample.
Dataset convert_samples(const std::string& from, const std::vector<std::string>& words, bool for_examples = false);

/// `samples` with one more, unnamed field u8 [fields]: 1 for each field that the sample has, 0 for a missing field,
/// whatever its value is. `is_there` takes the sample's key and the field's number; any thread calls it. `what` is for
/// the plan.
Dataset with_presence(const Dataset& samples, const std::string& what, std::function<bool(int64_t, size_t)> is_there);

/// Each sample as one scalar of dtype bytes: a tf.train.Example (integers as int64, u8 as one value of bytes) without
/// the missing fields; an empty file of a folder is missing, too. Throws Exception(Unimplemented) for f64 fields.
Dataset as_examples(const Dataset& samples);
/// The same as members of a tar archive: "<key>.<field>", arrays as .npy, numbers as text, an integer "label" as .cls
/// unless a field has that name. The key is "__key__", else the sample's number with eight digits. In samples without
/// presence "file" gets the ending of its "path" or "name", in lower case; after "file." if another member has it.
/// Missing fields are left out; empty ones are members. A sample without members, or with members that would not be
/// read back as its own, is an error in its place. Throws Exception(InvalidArgument) for names that cannot be members
/// of one sample.
Dataset as_tar_members(const Dataset& samples);

}  // namespace headpond::cli
