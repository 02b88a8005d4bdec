// SPDX-License-Identifier: Apache-2.0
// The Loader, and what writes datasets to disk.
#include <fmt/format.h>

#include <utility>

#include "headpond/engine/loader.h"
#include "headpond/engine/save.h"
#include "headpond/engine/shards.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

// A Loader that Python may drop at any time: its threads may need the interpreter's lock to end.
class PythonLoader {
 public:
  PythonLoader(const Dataset& dataset, const LoaderOptions& options)
      : dataset_(dataset), options_(options), keys_(dataset.spec()) {
    open([&]() -> Result<Loader> { return Loader(dataset_, options_); });
  }
  ~PythonLoader() {
    const nb::gil_scoped_release released;
    loader_.reset();
  }
  PythonLoader(const PythonLoader&) = delete;
  PythonLoader& operator=(const PythonLoader&) = delete;

  void restore(const nb::bytes& state) {
    refuse_if_waiting("load_state_dict");
    const std::string copy(state.c_str(), state.size());
    open([&] { return Loader::restored(dataset_, options_, copy); });
  }

  // None at the end.
  nb::object next() {
    return given([&] { return loader_->next(); });
  }
  nb::object next_in_epoch() {
    return given([&] { return loader_->next_in_epoch(); });
  }
  nb::object try_next() {
    return given([&] { return loader_->try_next(); });
  }
  void next_epoch() {
    refuse_if_waiting("next_epoch");
    index_ = -1;
    (void)waiting([&]() -> Result<void> {
      loader_->next_epoch();
      return {};
    });
  }
  void close() {
    refuse_if_waiting("close");
    const nb::gil_scoped_release released;
    loader_->close();
  }

  /// Of the batch that comes next; -1: none comes.
  int64_t epoch_left() {
    Loader::Epochs epochs = loader_->epochs();
    const auto first = epochs.begin();
    return first == epochs.end() ? -1 : (*first).index();
  }
  int64_t epoch() const { return epoch_; }
  int64_t index() const { return index_; }
  nb::bytes state() const {
    const std::string state = [&] {
      const nb::gil_scoped_release released;
      return loader_->state();
    }();
    return nb::bytes(state.data(), state.size());
  }
  LoaderStats stats() const { return loader_->stats(); }

 private:
  template <class Make>
  void open(Make make) {
    auto made = waiting([&]() -> Result<std::unique_ptr<Loader>> {
      try {
        Result<Loader> loader = make();
        if (!loader) return fail(loader.error());
        auto kept = std::make_unique<Loader>(*std::move(loader));
        loader_.swap(kept);  // What was there ends without the lock.
        return kept;
      } catch (const Exception& error) {
        return fail(error.error());
      }
    });
    (void)value(std::move(made));
  }

  // Another thread of Python may be in next(), without the lock. The Loader itself refuses a second next().
  void refuse_if_waiting(const char* call) const {
    if (waiting_ > 0)
      raise(Error(ErrorKind::FailedPrecondition, fmt::format("Loader: {}(): another thread is in next()", call)));
  }

  template <class Next>
  nb::object given(Next next) {
    struct Count {
      int& waiting;
      ~Count() { --waiting; }
    };
    ++waiting_;
    const Count count{waiting_};
    Result<Batch> batch = waiting(next);
    if (at_end(batch)) return nb::none();
    Batch own = value(std::move(batch));
    epoch_ = own.epoch();
    index_ = own.index();
    return keys_.value_of(std::move(own).element());
  }

  const Dataset dataset_;
  const LoaderOptions options_;
  const Keys keys_;
  std::unique_ptr<Loader> loader_;
  int64_t epoch_ = 0, index_ = -1;  // Of the last batch.
  int waiting_ = 0;                 // Calls of next(); changed with the interpreter's lock.
};

nb::dict stats_of(const PythonLoader& loader) {
  const LoaderStats stats = [&] {
    const nb::gil_scoped_release released;
    return loader.stats();
  }();
  nb::dict all;
  all["batches"] = stats.batches;
  all["waits"] = stats.waits;
  all["wait_ns"] = stats.wait_ns;
  all["first_wait_ns"] = stats.first_wait_ns;
  all["helped"] = stats.helped;
  all["memory_in_use"] = stats.memory_in_use;
  all["memory_peak"] = stats.memory_peak;
  all["threads"] = stats.threads;
  all["io_threads"] = stats.io_threads;
  all["inline_now"] = stats.inline_now;
  all["defects"] = stats.defects;
  nb::list stages;
  for (const StageStats& stage : stats.stages) {
    nb::dict one;
    one["name"] = stage.name;
    one["blocking"] = stage.blocking;
    one["units"] = stage.units;
    one["elements"] = stage.elements;
    one["element_ns"] = stage.element_ns;
    one["unit_ns"] = stage.unit_ns;
    one["target"] = stage.target;
    one["ahead"] = stage.ahead;
    one["ready"] = stage.ready;
    one["mean_ready"] = stage.mean_ready;
    stages.append(one);
  }
  all["stages"] = stages;
  return all;
}

void make_loader(PythonLoader* self, const Dataset& dataset, int64_t epochs, uint64_t seed, int threads, int io_threads,
                 std::optional<int64_t> memory, int64_t run_ahead, bool consumer_helps,
                 std::optional<bool> deterministic, const std::string& quarantine, bool pin_threads) {
  LoaderOptions options{.epochs = epochs, .seed = seed};
  options.threads = threads;
  options.io_threads = io_threads;
  options.memory = memory;
  options.run_ahead = run_ahead;
  options.consumer_helps = consumer_helps;
  options.deterministic = deterministic;
  options.quarantine = quarantine;
  options.pin_threads = pin_threads;
  new (self) PythonLoader(dataset, options);
}

nb::dict written_shards(const Dataset& dataset, const std::string& folder, const std::string& name, int64_t shards,
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
  nb::dict all;
  nb::list paths;
  for (const Shard& shard : report.shards) paths.append(shard.path);
  all["paths"] = paths;
  all["records"] = report.records;
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

}  // namespace

void add_loader(nb::module_& module) {
  nb::class_<PythonLoader>(module, "Loader")
      .def("__init__", make_loader, nb::arg("dataset"), nb::kw_only(), nb::arg("epochs"), nb::arg("seed"),
           nb::arg("threads"), nb::arg("io_threads"), nb::arg("memory").none(), nb::arg("run_ahead"),
           nb::arg("consumer_helps"), nb::arg("deterministic").none(), nb::arg("quarantine"), nb::arg("pin_threads"))
      .def("next", &PythonLoader::next)
      .def("next_in_epoch", &PythonLoader::next_in_epoch)
      .def("try_next", &PythonLoader::try_next)
      .def("next_epoch", &PythonLoader::next_epoch)
      .def("close", &PythonLoader::close)
      .def("restore", &PythonLoader::restore)
      .def("state", &PythonLoader::state)
      .def("stats", stats_of)
      .def_prop_ro("epoch_left", &PythonLoader::epoch_left)
      .def_prop_ro("epoch", &PythonLoader::epoch)
      .def_prop_ro("index", &PythonLoader::index);
  module.def("write_shards", written_shards);
  module.def("save", saved);
}

}  // namespace headpond::python
