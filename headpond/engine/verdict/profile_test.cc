// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/verdict/profile.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// In their second epoch, from the program to the sources: a stage that computes, above one that reads.
LoaderStats stats_of() {
  StageStats map{.name = "map|map|batch", .units = 1, .elements = 32};
  map.operators = {{.op = "map", .ns = 1000, .cpu_ns = 1000, .bytes = 8},
                   {.op = "map", .ns = 3000, .cpu_ns = 2000, .bytes = 8}};
  map.totals = {.make = {.tasks = 10, .wall_ns = 4e9, .cpu_ns = 3e9, .blocked_ns = 1e9}, .elements = 320, .takes = 10};
  StageStats read{.name = "read", .units = 32, .elements = 32, .unit_bytes = 3};
  read.totals = {.open = {.tasks = 320, .wall_ns = 1e9, .cpu_ns = 0, .blocked_ns = 1e9}, .elements = 320, .takes = 320};
  read.totals.read_bytes = 7000;
  LoaderStats stats;
  stats.stages = {map, read};
  return stats;
}

std::vector<std::string> names_of(const ProfileOptions& options) {
  std::vector<std::string> names;
  const auto rows = profile_of(stats_of(), options);
  EXPECT_TRUE(rows);
  for (const ProfileRow& row : *rows) names.push_back(row.name);
  return names;
}

TEST(Profile, AStagesTimeIsDividedAsItsSamplesWere) {
  const auto rows = profile_of(stats_of(), {.view = ProfileView::scope}).value();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "read") << "a stage without measured operators is one";
  EXPECT_EQ(rows[0].blocked_s, 1);
  EXPECT_EQ(rows[0].depth, 2);
  EXPECT_EQ(rows[0].calls, 320) << "of all epochs, as the times are";
  EXPECT_EQ(rows[0].bytes, 960);
  EXPECT_EQ(rows[1].self_s, 1);
  EXPECT_EQ(rows[1].cpu_s, 1);
  EXPECT_EQ(rows[1].blocked_s, 0);
  EXPECT_EQ(rows[2].self_s, 3);
  EXPECT_EQ(rows[2].total_s, 4);
  EXPECT_EQ(rows[2].cpu_s, 2);
  EXPECT_EQ(rows[2].blocked_s, 1);
  EXPECT_EQ(rows[2].share, 0.6);
  EXPECT_EQ(rows[2].calls, 320);
  EXPECT_EQ(rows[2].bytes, 2560);
}

TEST(Profile, SaysWhatOperatorsWereBlockedIn) {
  LoaderStats stats = stats_of();
  stats.stages[0].operators[0].seen = {.runs = 9};
  stats.stages[0].operators[1].seen = {.runs = 5, .locked = 3, .sleeps = 1};
  stats.stages[1].seen = {.reads = 2};
  const auto rows = profile_of(stats, {.view = ProfileView::scope}).value();
  EXPECT_EQ(blocked_in(rows[0].seen), "file 100 % of 2") << "a stage without measured operators";
  EXPECT_EQ(blocked_in(rows[1].seen), "") << "it computes";
  EXPECT_EQ(blocked_in(rows[2].seen), "lock 75 % of 4");
  EXPECT_THAT(to_string(rows), HasSubstr("lock 75 % of 4\n"));
  const auto by_name = profile_of(stats, {.view = ProfileView::op}).value();
  EXPECT_EQ(by_name[0].seen.runs, 14) << "both maps";
}

TEST(Profile, WhatAStageReadIsDividedAsItsSamplesWere) {
  LoaderStats stats = stats_of();
  stats.stages[0].totals.read_bytes = 4000;
  const auto read = [&](ProfileView view) {
    std::vector<double> all;
    const auto rows = profile_of(stats, {.view = view});
    for (const ProfileRow& row : *rows) all.push_back(row.read_bytes);
    return all;
  };
  EXPECT_THAT(read(ProfileView::scope), ElementsAre(7000, 4000, 0)) << "no sample saw it: its first operator did";
  stats.stages[0].operators[0].read_bytes = 10;
  stats.stages[0].operators[1].read_bytes = 30;
  EXPECT_THAT(read(ProfileView::scope), ElementsAre(7000, 1000, 3000));
  EXPECT_THAT(read(ProfileView::op), ElementsAre(4000, 7000));
  EXPECT_THAT(read(ProfileView::stage), ElementsAre(4000, 7000));
  EXPECT_THAT(to_string(profile_of(stats).value()), HasSubstr("11000\n")) << "of all";
}

TEST(Profile, RowsHaveTheMemoryOfTheirOperators) {
  LoaderStats stats = stats_of();
  stats.memory = {{"idx", "read", 1, 10},          {"read", "read", 2, 20}, {"map", "map|map|batch", 3, 30},
                  {"map", "map|map|batch", 4, 40}, {"cache", "", 5, 50},    {"take_while", "", 0, 0}};
  const auto peaks = [&](const ProfileOptions& options) {
    std::vector<std::string> all;
    const auto rows = profile_of(stats, options);
    for (const ProfileRow& row : *rows) {
      all.push_back(row.name + " " + std::to_string(row.held_bytes) + " " + std::to_string(row.peak_bytes));
    }
    return all;
  };
  EXPECT_THAT(peaks({.view = ProfileView::scope}), ElementsAre("read 3 30", "map 3 30", "map 4 40", "cache 5 50"));
  EXPECT_THAT(peaks({.view = ProfileView::op, .order_by = ProfileOrder::peak}),
              ElementsAre("map 7 70", "cache 5 50", "read 3 30"));
  EXPECT_THAT(peaks({.view = ProfileView::stage, .order_by = ProfileOrder::peak}),
              ElementsAre("map|map|batch 7 70", "cache 5 50", "read 3 30"));
}

// What batch puts into place has no sample, but memory.
TEST(Profile, AnOperatorWithoutASampleHasItsOwnMemory) {
  LoaderStats stats = stats_of();
  stats.stages[1].operators = {{.op = "idx", .ns = 1}, {.op = "decode", .ns = 2}};
  stats.memory = {{"idx", "read", 1, 10},           {"frozen", "read", 0, 0},        {"crop", "read", 2, 20},
                  {"decode", "read", 3, 30},        {"map", "map|map|batch", 4, 40}, {"map", "map|map|batch", 5, 50},
                  {"batch", "map|map|batch", 6, 60}};
  std::vector<std::string> all;
  const auto rows = profile_of(stats, {.view = ProfileView::scope}).value();
  for (const ProfileRow& row : rows) {
    all.push_back(row.name + " " + std::to_string(row.held_bytes) + " " + std::to_string(row.peak_bytes));
  }
  EXPECT_THAT(all, ElementsAre("idx 1 10", "crop 2 20", "decode 3 30", "map 4 40", "map 5 50", "batch 6 60"));
  const auto stages = profile_of(stats, {.view = ProfileView::stage}).value();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].peak_bytes, 150) << "a stage's row has all of its memory";
}

TEST(Profile, OperatorsOfOneNameAreOne) {
  const auto rows = profile_of(stats_of(), {.view = ProfileView::op}).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "map");
  EXPECT_EQ(rows[0].self_s, 4);
  EXPECT_EQ(rows[0].calls, 640);
}

TEST(Profile, RowsAreOrderedAndLeftOut) {
  EXPECT_THAT(names_of({.view = ProfileView::stage}), ElementsAre("map|map|batch", "read"));
  EXPECT_THAT(names_of({.view = ProfileView::op, .order_by = ProfileOrder::calls}), ElementsAre("map", "read"));
  EXPECT_THAT(names_of({.view = ProfileView::scope, .min_ms = 1500}), ElementsAre("map"));
  EXPECT_THAT(names_of({.view = ProfileView::scope, .max_depth = 1}), ElementsAre("map", "map"));
  EXPECT_THAT(names_of({.view = ProfileView::scope, .show = "^r"}), ElementsAre("read"));
  EXPECT_THAT(names_of({.view = ProfileView::scope, .hide = "^r"}), ElementsAre("map", "map"));
  EXPECT_EQ(profile_of(stats_of(), {.show = "("}).error().kind(), ErrorKind::InvalidArgument);
}

TEST(Profile, TitlesTellOperatorsOfAKindApart) {
  LoaderStats stats = stats_of();
  for (StageStats& stage : stats.stages) {
    for (size_t i = 0; i < stage.operators.size(); ++i)
      stage.operators[i].title = stage.name + "(" + std::to_string(i) + ")";
  }
  const auto titles = [&](ProfileView view) {
    std::vector<std::string> all;
    const auto rows = profile_of(stats, {.view = view}).value();
    for (const ProfileRow& row : rows) {
      if (row.name == "map") all.push_back(row.title);
    }
    return all;
  };
  EXPECT_THAT(titles(ProfileView::scope), testing::ElementsAre("map|map|batch(0)", "map|map|batch(1)"));
  EXPECT_THAT(titles(ProfileView::op), testing::ElementsAre("")) << "both in one row";
}

TEST(Profile, IsATableAndAnArray) {
  const auto rows = profile_of(stats_of()).value();
  EXPECT_THAT(to_string(rows), HasSubstr("80.0 %"));
  EXPECT_THAT(to_string(rows), HasSubstr("4.00 s"));
  EXPECT_THAT(to_string(rows), HasSubstr("\nall "));
  const std::string some = to_string(profile_of(stats_of(), {.show = "map"}).value());
  EXPECT_THAT(some, testing::AllOf(HasSubstr("\nthese "), Not(HasSubstr("\nall "))));
  LoaderStats idle = stats_of();
  idle.stages[1].totals = {};
  const auto shown = profile_of(idle, {.show = "map"}).value();
  EXPECT_LT(shown.size(), profile_of(idle).value().size()) << "control: a row without time is left out";
  EXPECT_THAT(to_string(shown, /*are_all=*/false), HasSubstr("\nthese "));
  JsonWriter json;
  write_profile(json, rows);
  EXPECT_THAT(std::string(json.text()), HasSubstr(R"({"name":"map","stage":"map|map|batch","depth":0,"calls":640,)"));
  EXPECT_THAT(std::string(json.text()), HasSubstr(R"("seen":{"runs":0,"locked":0,)"));
  EXPECT_THAT(std::string(json.text()), HasSubstr(R"(},"title":""}])"));
  EXPECT_THAT(profile_of({}).value(), testing::IsEmpty());
}

}  // namespace
}  // namespace headpond
