// SPDX-License-Identifier: Apache-2.0
// What writes datasets to disk.
#include <fmt/format.h>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/dataset/ops/element/kernel_joints.h"
#include "headpond/dataset/ops/lengths.h"
#include "headpond/engine/array_file.h"
#include "headpond/engine/save.h"
#include "headpond/engine/shards.h"
#include "nanobind/stl/string.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

Dict written_shards(const Dataset& dataset, const std::string& folder, const std::string& name, int64_t shards,
                    const std::string& format, const std::string& compression, bool resume,
                    const std::string& made_from, int threads, uint64_t seed) {
  ShardOptions options{.folder = folder, .name = name, .shards = shards};
  if (format != "tfrecord" && format != "tar")
    refuse("write_shards", fmt::format("no format '{}': tfrecord, tar", format));
  if (compression != "none" && compression != "gzip")
    refuse("write_shards", fmt::format("no compression '{}': none, gzip", compression));
  if (format == "tar") options.format = ShardFormat::tar;
  if (compression == "gzip") options.compression = Compression::gzip;
  options.resume = resume;
  options.made_from = made_from;
  options.threads = threads;
  options.seed = seed;
  options.progress = [](int64_t) { return !is_interrupted() && !look_for_interrupt(); };
  const ShardReport report = value(waiting([&]() -> Result<ShardReport> {
    try {
      return write_shards(dataset, options);
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
  Dict all;
  nb::list paths;
  for (const Shard& shard : report.shards) paths.append(shard.path);
  all["paths"] = paths;
  all["records"] = report.records;
  all["bytes"] = report.bytes;
  all["resumed_from"] = report.resumed_from;
  return all;
}

Dict written_array(const Dataset& dataset, const std::string& path, bool resume, const std::string& made_from,
                   int threads, uint64_t seed) {
  const ArrayFileOptions options{
      .resume = resume, .made_from = made_from, .threads = threads, .seed = seed, .progress = [](int64_t) {
        return !is_interrupted() && !look_for_interrupt();
      }};
  const ArrayFileReport report = value(waiting([&]() -> Result<ArrayFileReport> {
    try {
      return write_npy(dataset, path, options);
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
  Dict all;
  all["rows"] = report.rows;
  all["bytes"] = report.bytes;
  all["resumed_from"] = report.resumed_from;
  return all;
}

int64_t saved(const Dataset& dataset, const std::string& path, int threads, uint64_t seed) {
  return value(waiting([&]() -> Result<int64_t> {
    try {
      return save(dataset, path, {.threads = threads, .seed = seed});
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
}

// `made`: the dataset with the lengths; of one kernel on `field`, which may read less than all of each file.
void write_lengths_of(const Dataset& source, const Dataset& made, const std::string& field, const std::string& path) {
  value(waiting([&]() -> Result<bool> {
    try {
      const auto* const map = dynamic_cast<const internal::KernelJoints*>(made.node().get());
      const Step all = [&made](const Dataset&) { return made; };
      const auto written = map != nullptr && map->kernels().size() == 1
                               ? write_lengths(source, map->kernels()[0], path, field)
                               : write_lengths(source, all, path);
      return written ? Result<bool>(true) : fail(written.error());
    } catch (const Exception& error) {
      return fail(error.error());
    }
  }));
}

}  // namespace

void add_writers(nb::module_& module) {
  module.def("write_shards", written_shards);
  module.def("write_npy", written_array);
  module.def("write_lengths", write_lengths_of);
  module.def("save", saved);
}

}  // namespace headpond::python
