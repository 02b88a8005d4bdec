// SPDX-License-Identifier: Apache-2.0
// Preparing in the training loop against preparing once. Nuclei images and their masks become samples for interactive
// segmentation (preprocess_once/sample.h) in three ways, whose bytes are equal:
//
//   straightforward   decoded and measured in the loop, on its thread      preprocess_once/straightforward.cc
//   operators         in the loop too, by a dataset that a Loader runs     preprocess_once/operators.cc
//   tfrecord          written once, and read back by a Loader              preprocess_once/records.cc
//
// An article that trains such a network got from 2.4 images/s to 50 by the last one. Here the loop does nothing but
// read each byte, one image a step, and the files are in the system's memory from the round before.
//
// --data DIR: other pictures; --images N: the first so many; --rounds N; --json: the figures as one JSON object.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "examples/preprocess_once/measure.h"

namespace hp = headpond;
using preprocess_once::Measured;

namespace {

struct Arguments {
  preprocess_once::MeasureOptions options;
  bool json = false, understood = true;
};

Arguments parse(int argc, char** argv) {
  Arguments to;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (flag == "--json") {
      to.json = true;
    } else if (flag == "--data" && value != nullptr) {
      to.options.data = argv[++i];
    } else if (flag == "--images" && value != nullptr) {
      to.options.images = std::atoll(argv[++i]);
    } else if (flag == "--rounds" && value != nullptr) {
      to.options.rounds = std::atoll(argv[++i]);
    } else {
      to.understood = false;
    }
  }
  return to;
}

void print(const Measured& m) {
  std::printf("%d images with %d masks%s, %d clicks inside and %d outside\n", static_cast<int>(m.images),
              static_cast<int>(m.masks), m.is_drawn ? " (drawn)" : "", preprocess_once::kClicks,
              preprocess_once::kClicks);
  std::printf("                 images/s\n");
  std::printf("straightforward  %8.1f\n", m.straightforward);
  std::printf("operators        %8.1f  %7.1fx   (by one thread %.1f)\n", m.operators, m.operators_gain, m.one_thread);
  std::printf("tfrecord         %8.1f  %7.1fx   (from memory %.1f; the loop waits %.0f %% of its time)\n", m.records,
              m.records_gain, m.in_memory, 100 * m.records_wait);
  std::printf("distance maps of an image: %.3f ms by each pixel and click, %.3f ms in linear time, %.1fx\n",
              m.brute_force_ms, m.linear_ms, m.distances_gain);
  std::printf("written once in %.2f s, %.1f MB; memory after each round", m.write_s,
              1e-6 * static_cast<double>(m.record_bytes));
  for (const double mib : m.rss_mib) std::printf(" %.0f", mib);
  std::printf(" MiB\nthe samples of all ways are %s\n", m.bytes_equal ? "equal" : "NOT equal");
}

void print_json(const Measured& m) {
  hp::JsonWriter json;
  json.begin_object().key("images_per_s").begin_object().member("straightforward", m.straightforward);
  json.member("operators", m.operators).member("tfrecord", m.records).member("operators_one_thread", m.one_thread);
  json.member("in_memory", m.in_memory).end_object();
  json.key("speedup").begin_object().member("operators", m.operators_gain).member("tfrecord", m.records_gain);
  json.member("distance_maps", m.distances_gain).end_object();
  json.key("distance_maps_ms").begin_object().member("brute_force", m.brute_force_ms);
  json.member("linear", m.linear_ms).end_object();
  json.member("images", m.images).member("masks", m.masks).member("clicks", 2 * preprocess_once::kClicks);
  json.member("drawn", m.is_drawn).member("write_s", m.write_s).member("record_bytes", m.record_bytes);
  json.member("wait_share", m.records_wait).key("rss_mib").begin_array();
  for (const double mib : m.rss_mib) json.value(mib);
  json.end_array().member("bytes_equal", m.bytes_equal).end_object();
  std::printf("%s\n", std::string(json.text()).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (!arguments.understood) {
    std::fprintf(stderr, "usage: preprocess_once [--data DIR] [--images N] [--rounds N] [--json]\n");
    return 2;
  }
  const auto measured = preprocess_once::measure(arguments.options);
  if (!measured) {
    std::fprintf(stderr, "%s\n", measured.error().to_string().c_str());
    return 1;
  }
  arguments.json ? print_json(*measured) : print(*measured);
  return measured->bytes_equal ? 0 : 1;
}
