// SPDX-License-Identifier: Apache-2.0
// For tests of convert: input files, and what comes out.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/convert_samples.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_writer.h"
#include "tests/test_files.h"

namespace headpond::test {

/// The first field of each element, or its error.
inline std::vector<std::string> texts(const Dataset& dataset) {
  std::vector<std::string> all;
  Sequence sequence(dataset);
  for (auto next = sequence.next(); !at_end(next); next = sequence.next()) {
    all.emplace_back(next ? std::string((*next)[size_t{0}].bytes_at(0)) : next.error().to_string());
  }
  return all;
}

/// "name=content" of each member of an archive.
inline std::vector<std::string> members(const std::string& archive) {
  std::vector<std::string> found;
  const auto index = index_tar(std::as_bytes(std::span(archive)), "test");
  EXPECT_TRUE(index) << archive << index.error();
  if (!index) return found;
  for (const TarMember& member : index->members) {
    found.push_back(member.name + "=" + archive.substr(member.offset, member.size));
  }
  return found;
}

/// The members of all samples, one archive after the other, as in a shard. A reader finds as many samples in it as the
/// dataset has.
inline std::vector<std::string> members_of(const Dataset& samples) {
  std::string archive;
  const auto all = texts(cli::as_tar_members(samples));
  for (const std::string& one : all) archive += one;
  const auto grouped = group_tar(index_tar(std::as_bytes(std::span(archive)), "test").value(), "test");
  EXPECT_EQ(grouped ? grouped->samples.size() : 0, all.size()) << (grouped ? Error() : grouped.error());
  return members(archive);
}

using Contents = std::vector<std::pair<std::string, std::string>>;

inline void put_tar(const std::string& path, const Contents& contents) {
  std::string archive;
  for (const auto& [name, content] : contents) ASSERT_TRUE(append_tar_member(archive, name, content));
  put_file(path, to_bytes(archive));
}

/// The error of `build`; empty if there is none.
template <class Build>
std::string refusal(Build build) {
  try {
    build();
    return "";
  } catch (const Exception& e) {
    return e.error().to_string();
  }
}

}  // namespace headpond::test
