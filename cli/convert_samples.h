// SPDX-License-Identifier: Apache-2.0
// What `headpond convert` reads, and how one sample becomes the bytes that it writes.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// What is wrong with the words of a line, or "".
std::string words_refusal(const std::string& from, const std::vector<std::string>& words);

/// What the files `words` of the kind `from` hold, a sample an element, with names for all fields:
/// - idx: "image" and "label", or "data" of one file;
/// - folder: "path" below it, "file" and "label";
/// - tar: "__key__" and a field for each extension that any sample has;
/// - csv: a field for each column, whose type follows from all files: i64, f32, f64 or bytes;
/// - wav: "name" of the file, "file", "sample_rate", "channels" and "frames", the header checked.
/// No name or path of this machine's folders is in a sample. REQUIRES: words_refusal() is "". Throws Exception with the
/// reader's error; InvalidArgument, with file and column, iff they are `for_examples` and a column is f64.
Dataset convert_samples(const std::string& from, const std::vector<std::string>& words, bool for_examples = false);

/// Each sample as one scalar of dtype bytes: a tf.train.Example (integers as int64, u8 as one value of bytes), or its
/// members in a tar archive: "<key>.<field>", arrays as .npy, numbers as text, labels as .cls, a file with the ending
/// of its own name. The key is "__key__", else the sample's number with eight digits; a sample whose members would not
/// be read back as such is an error in its place. Missing cells, which are NaN, INT64_MIN and empty texts, are left
/// out; a file without a byte is a member. Throws Exception, Unimplemented, for f64 fields as Examples.
Dataset as_examples(const Dataset& samples);
Dataset as_tar_members(const Dataset& samples);

}  // namespace headpond::cli
