// SPDX-License-Identifier: Apache-2.0
// headpond cache ls, headpond cache rm: what caches on disk have, and their removal.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include "cli/in_words.h"
#include "cli/session.h"
#include "cli/text_table.h"
#include "cli/verbs/verbs.h"
#include "headpond/io/cache/cache_folder.h"

namespace headpond::cli {
namespace {

struct CacheFlags {
  std::vector<std::string> words;
  bool all = false;
  std::optional<double> older_than = {};
};

[[noreturn]] void refuse(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

// The operator right below the cache; lines with # are no operators.
std::string title_of(const CacheInfo& cache) {
  if (cache.plan.empty()) return "(its plan file is damaged)";
  std::string last;
  for (size_t begin = 0; begin < cache.plan.size();) {
    const size_t end = std::min(cache.plan.find('\n', begin), cache.plan.size());
    if (cache.plan[begin] != '#') last = cache.plan.substr(begin, end - begin);
    begin = end + 1;
  }
  return last;
}

std::string size_of(uint64_t bytes) {
  if (bytes < uint64_t{10} << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string filled(const CacheInfo& cache) {
  const int64_t known = cache.elements + cache.holes;
  if (cache.complete || cache.slots < 0) return fmt::format("{}", known);
  return fmt::format("{} of {}", known, cache.slots);
}

std::string date_of(int64_t ns) {
  const std::time_t seconds = ns / 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

double age_days(const CacheInfo& cache) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return static_cast<double>(now_ns - cache.used_ns) * 1e-9 / 86'400;
}

void write_cache(JsonWriter& json, const CacheInfo& cache) {
  json.begin_object().member("key", cache.key).member("plan", cache.plan).member("bytes", cache.bytes);
  json.member("elements", cache.elements).member("holes", cache.holes).key("slots");
  if (cache.slots < 0) {
    json.value(nullptr);
  } else {
    json.value(cache.slots);
  }
  json.member("complete", cache.complete).member("used_ns", cache.used_ns).end_object();
}

void write_caches(JsonWriter& json, const std::string& name, const std::vector<CacheInfo>& caches) {
  json.key(name).begin_array();
  for (const CacheInfo& cache : caches) write_cache(json, cache);
  json.end_array();
}

Result<Report> list(Session& session, const CacheFlags& flags) {
  if (flags.words.size() != 1) refuse("cache ls: name one folder of caches");
  const auto caches = list_caches(flags.words[0]);
  if (!caches) return fail(caches.error());
  std::vector<std::vector<std::string>> rows;
  uint64_t bytes = 0;
  for (const CacheInfo& cache : *caches) {
    bytes += cache.bytes;
    rows.push_back({cache.key, size_of(cache.bytes), filled(cache), cache.complete ? "yes" : "no",
                    date_of(cache.used_ns), title_of(cache)});
  }
  if (!rows.empty()) {
    std::string table = format_table({{"key"},
                                      {.head = "size", .right = true},
                                      {.head = "elements", .right = true},
                                      {"complete"},
                                      {"last used"},
                                      {"last operator"}},
                                     rows);
    table.pop_back();
    session.say(table);
  }
  session.set_seed(0);
  session.say(fmt::format("{}, {}", in_words(caches->size(), "cache"), size_of(bytes)));
  return Report{.members = [caches = *caches, folder = flags.words[0]](JsonWriter& json) {
    json.member("folder", folder);
    write_caches(json, "caches", caches);
  }};
}

// Caches whose keys begin with the words after the first one. Throws for a word that fits none or several.
std::vector<CacheInfo> named(const std::vector<CacheInfo>& caches, const std::vector<std::string>& words) {
  std::vector<CacheInfo> found;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty()) refuse(fmt::format("cache rm: {}: a key is empty; --all removes all caches", words[0]));
    const auto fits = [&](const CacheInfo& cache) { return cache.key.starts_with(words[i]); };
    const auto count = std::count_if(caches.begin(), caches.end(), fits);
    if (count != 1) {
      const std::string what = count == 0 ? "there is no cache" : fmt::format("{} caches begin with", count);
      refuse(fmt::format("cache rm: {}: {} {}", words[0], what, words[i]));
    }
    const CacheInfo& one = *std::find_if(caches.begin(), caches.end(), fits);
    const auto is_it = [&one](const CacheInfo& other) { return other.key == one.key; };
    if (std::none_of(found.begin(), found.end(), is_it)) found.push_back(one);
  }
  return found;
}

std::vector<CacheInfo> chosen(const std::vector<CacheInfo>& caches, const CacheFlags& flags) {
  const int ways = (flags.words.size() > 1 ? 1 : 0) + (flags.all ? 1 : 0) + (flags.older_than ? 1 : 0);
  if (flags.words.empty() || ways != 1) {
    refuse("cache rm: name a folder of caches, and either keys, --all or --older-than DAYS");
  }
  if (flags.all) return caches;
  if (!flags.older_than) return named(caches, flags.words);
  std::vector<CacheInfo> old;
  std::copy_if(caches.begin(), caches.end(), std::back_inserter(old),
               [&](const CacheInfo& cache) { return age_days(cache) >= *flags.older_than; });
  return old;
}

Result<Report> remove(Session& session, const CacheFlags& flags) {
  const auto caches = flags.words.empty() ? Result<std::vector<CacheInfo>>() : list_caches(flags.words[0]);
  if (!caches) return fail(caches.error());
  const std::vector<CacheInfo> removed = chosen(*caches, flags);
  uint64_t bytes = 0;
  for (const CacheInfo& cache : removed) {
    HEADPOND_TRY(remove_cache(flags.words[0], cache.key));
    session.say(fmt::format("removed {}: {}", cache.key, title_of(cache)));
    bytes += cache.bytes;
  }
  session.set_seed(0);
  session.say(fmt::format("{} removed, {}", in_words(removed.size(), "cache"), size_of(bytes)));
  return Report{.members = [removed, folder = flags.words[0]](JsonWriter& json) {
    json.member("folder", folder);
    write_caches(json, "removed", removed);
  }};
}

}  // namespace

Verb cache_ls_verb() {
  const auto flags = std::make_shared<CacheFlags>();
  return {.path = "cache ls",
          .what = "list the caches on disk in a folder: sizes, elements, last use, what they are made of",
          .declare = [flags](Flags& to) { to.words("DIR", flags->words, "a folder that a pipeline's cache names"); },
          .run = [flags](Session& session) { return list(session, *flags); },
          .takes_files = true,
          .takes_one = true};
}

Verb cache_rm_verb() {
  const auto flags = std::make_shared<CacheFlags>();
  const auto declare = [flags](Flags& to) {
    to.words("DIR [KEY...]", flags->words,
             "a folder of caches, and which to remove, by the first letters of their keys");
    to.flag("all", flags->all, "remove all caches in the folder");
    to.option_from(0, "older-than DAYS", flags->older_than, "remove caches that were not used for at least DAYS days");
  };
  return {.path = "cache rm",
          .what = "remove caches from a folder; runs that use them go on",
          .declare = declare,
          .run = [flags](Session& session) { return remove(session, *flags); },
          .takes_files = true};
}

}  // namespace headpond::cli
