// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npz.h"

#include <fmt/format.h>

#include <new>
#include <unordered_set>

#include "headpond/io/array/npy.h"
#include "headpond/io/array/zip_internal.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond {
namespace {

using Arrays = std::vector<std::pair<std::string, Tensor>>;
constexpr std::string_view kSuffix = ".npy";

Result<void> check(const std::vector<internal::ZipMember>& members, std::string_view name, uint64_t limit) {
  std::unordered_set<std::string_view> names;
  for (const internal::ZipMember& member : members) {
    if (!names.insert(member.name).second) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("{}: npz: member {} occurs twice", name, internal::quoted_name(member.name)));
    }
    if (member.size > limit) {
      return fail(ErrorKind::ResourceExhausted,
                  fmt::format("{}: npz: its arrays have more bytes than the limit", name));
    }
    limit -= member.size;
  }
  return {};
}

Result<Tensor> read_member(std::span<const std::byte> content, const internal::ZipMember& member,
                           std::string_view name) {
  const std::string shown = fmt::format("{}, member {}", name, internal::quoted_name(member.name));
  if (!member.is_deflated) {
    const auto stored = internal::stored_content(content, member, name);
    if (!stored) return fail(stored.error());
    return read_npy(*stored, shown);
  }
  const auto inflated = internal::unzip(content, member, name);
  if (!inflated) return fail(inflated.error());
  return read_npy(*inflated, shown);
}

}  // namespace

Result<Arrays> read_npz(std::span<const std::byte> content, std::string_view name, uint64_t limit) try {
  auto members = internal::index_zip(content, name);
  if (!members) return fail(members.error());
  std::erase_if(*members, [](const internal::ZipMember& member) { return !member.name.ends_with(kSuffix); });
  HEADPOND_TRY(check(*members, name, limit));
  Arrays arrays;
  for (const internal::ZipMember& member : *members) {
    auto array = read_member(content, member, name);
    if (!array) return fail(std::move(array).error());
    arrays.emplace_back(member.name.substr(0, member.name.size() - kSuffix.size()), std::move(*array));
  }
  return arrays;
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(name));
}

Result<Arrays> read_npz(const std::string& path, uint64_t limit) {
  const auto file = MappedFile::open(path);
  if (!file) return fail(file.error());
  auto arrays = read_npz((*file)->bytes(), path, limit);
  internal::count_read((*file)->bytes().size());
  HEADPOND_TRY((*file)->check());
  return arrays;
}

}  // namespace headpond
