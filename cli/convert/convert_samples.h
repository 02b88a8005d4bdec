// SPDX-License-Identifier: Apache-2.0
// What `headpond convert` reads, and how one sample becomes the bytes that it writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// What is wrong with the words of a line, or "".
std::string words_refusal(const std::string& from, const std::vector<std::string>& words);

/// The field that names a sample.
inline constexpr std::string_view kKeyField = "__key__";

/// What the files `words` of the kind `from` hold, a sample an element, with names for all fields:
/// - idx: "image" and "label", or "data" of one file;
/// - folder: "path" below it, "file" and "label";
/// - tar: "__key__" and a field for each extension that any sample has, with_presence();
/// - csv: a field for each column, with_presence(), as cli/convert/convert_csv.h says;
/// - wav: "name" of the file, "file", "sample_rate", "channels" and "frames", the header checked.
/// No name or path of this machine's folders is in a sample. REQUIRES: words_refusal() is "". Throws Exception with the
/// reader's error; InvalidArgument, with file and column, iff they are `for_examples` and a column is f64; with both
/// archives, or with file and row, iff they are not and a key occurs twice or a row cannot be a sample of an archive.
Dataset convert_samples(const std::string& from, const std::vector<std::string>& words, bool for_examples = false);

/// `samples` with one more field, without a name, u8 [fields]: 1 for each field that the sample has, 0 for what is
/// missing, whatever its value is. `is_there` takes the sample's key and the field's number, from any thread. `what` is
/// for the plan.
Dataset with_presence(const Dataset& samples, const std::string& what, std::function<bool(int64_t, size_t)> is_there);

/// Each sample as one scalar of dtype bytes: a tf.train.Example (integers as int64, u8 as one value of bytes), without
/// what is missing; of a folder, without a file that has no byte. Throws Exception, Unimplemented, for f64 fields.
Dataset as_examples(const Dataset& samples);
/// The same as members of a tar archive: "<key>.<field>", arrays as .npy, numbers as text, an integer "label" as .cls
/// unless a field has that name. The key is "__key__", else the sample's number with eight digits. Of samples without
/// presence "file" has the ending of its "path" or "name", in lower case; behind "file." if other members have it. What
/// is missing is left out; what is empty is a member. A sample without any member, or whose members would not be read
/// back as such, is an error in its place. Throws Exception, InvalidArgument, for names that cannot be those of one
/// sample's members.
Dataset as_tar_members(const Dataset& samples);

}  // namespace headpond::cli
