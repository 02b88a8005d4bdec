// SPDX-License-Identifier: Apache-2.0
// The Loader, and what writes datasets to disk.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/array_file.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/save.h"
#include "headpond/engine/shards.h"
#include "headpond/train/device/cuda.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/python.h"

namespace headpond::python {
namespace {

// The call of state(), which may write to the disk without the interpreter's lock, and calls that wait until it has
// ended. They take turns. In the child of a fork() none runs, and nobody waits. REQUIRES of each: the interpreter's
// lock.
class Saving {
 public:
  bool is_here() const { return home_.is_here(); }
  bool is_running() const {
    if (!is_here()) return false;
    const MutexLock lock(mu_);
    return running_ > 0;
  }
  /// Threads that already wait go first, but for a short time only: the one that waits may be this thread, in a
  /// signal's handler.
  void give_turn() {
    if (!is_awaited()) return;
    const nb::gil_scoped_release released;
    const auto end = std::chrono::steady_clock::now() + kLookInterval;
    const MutexLock lock(mu_);
    while (waiting_ > 0 && changed_.wait_until(mu_, end)) {
    }
  }
  /// What `save` returns, which runs without that lock. REQUIRES: is_here() and !is_running().
  template <class Save>
  std::string run(Save save) {
    std::optional<nb::gil_scoped_release> released;
    const WhileCalling calling;
    const Counted counted(*this, 1, 0);
    released.emplace();
    return save();
  }
  /// Returns when none runs, or raises what a signal's handler raised.
  void wait() {
    while (is_running()) {
      const Counted counted(*this, 0, 1);  // Also while it waits for the interpreter's lock.
      value(waiting([&]() -> Result<void> {
        while (!is_idle_within(kLookInterval)) {
          if (look_for_interrupt())
            return fail(ErrorKind::Cancelled, "Loader: its wait for state_dict() was interrupted");
        }
        return {};
      }));
    }
  }

 private:
  bool is_awaited() const {
    if (!is_here()) return false;
    const MutexLock lock(mu_);
    return waiting_ > 0;
  }

  class Counted {
   public:
    Counted(Saving& saving, int running, int waiting) : saving_(saving), running_(running), waiting_(waiting) {
      saving_.count(running_, waiting_);
    }
    ~Counted() { saving_.count(-running_, -waiting_); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

   private:
    Saving& saving_;
    const int running_, waiting_;
  };

  void count(int running, int waiting) {
    const MutexLock lock(mu_);
    running_ += running;
    waiting_ += waiting;
    changed_.notify_all();
  }
  bool is_idle_within(std::chrono::nanoseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    const MutexLock lock(mu_);
    while (running_ > 0) {
      if (!changed_.wait_until(mu_, end)) return running_ == 0;
    }
    return true;
  }

  const HomeProcess home_;
  mutable Mutex mu_;
  CondVar changed_;
  int running_ HEADPOND_GUARDED_BY(mu_) = 0;
  int waiting_ HEADPOND_GUARDED_BY(mu_) = 0;
};

// A condition on which a thread waits that the child of a fork() does not have is not destroyed there: that would wait.
struct EndSaving {
  void operator()(Saving* saving) const {
    if (saving->is_here()) delete saving;  // NOLINT(cppcoreguidelines-owning-memory)
  }
};

// Of batches that the program has no more. It may be used again after release().
class Memory {
 public:
  Memory(std::list<Tensor> tensors, std::shared_ptr<Returned> from)
      : tensors_(std::move(tensors)), from_(std::move(from)) {}
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (from_ != nullptr) from_->add(tensors_);
  }
  void release() { tensors_.clear(); }

 private:
  std::list<Tensor> tensors_;
  std::shared_ptr<Returned> from_;
};

// A Loader that Python may drop at any time, on any thread: its threads may need the interpreter's lock to end.
class PythonLoader {
 public:
  /// Delivers this rank's rows of `batches`, which are the same for all ranks.
  PythonLoader(const Dataset& batches, int64_t world_size, int64_t rank, const LoaderOptions& options)
      : batches_(batches),
        dataset_(world_size == 1 && rank == 0 ? batches : batches | distribute(world_size, rank)),
        options_(options),
        keys_(dataset_.spec()),
        returned_(options.pool != nullptr ? std::make_shared<Returned>() : nullptr) {
    open([&]() -> Result<Loader> { return Loader(dataset_, options_); });
  }
  ~PythonLoader() {
    if (returned_ != nullptr) {
      (void)Ending::start([loader = std::move(loader_), ending = ending_, returned = returned_]() mutable {
        loader.reset();
        while (ending != nullptr && !ending->wait(std::chrono::hours(1))) {
        }
        returned->end();  // Only now nobody writes batches.
      });
    } else if (!is_closed_) {
      end_elsewhere(std::move(loader_));
    }
  }
  PythonLoader(const PythonLoader&) = delete;
  PythonLoader& operator=(const PythonLoader&) = delete;

  void restore(const nb::bytes& state) {
    const Changing changing(*this, "load_state_dict");
    const std::string given(state.c_str(), state.size());
    const std::string own = converted(given, forms(), dataset_);
    open([&] { return Loader::restored(dataset_, options_, own); });
    const internal::SavedRun saved = value(internal::read_state(own));
    epoch_ = static_cast<int64_t>(saved.state.epoch);
    index_ = saved.state.index - 1;
    left_ = -1;
  }

  // None at the end.
  Any next() {
    return given([&] { return loader_->next(); });
  }
  /// The same of the epoch `epoch`; as begin_epoch() gave it.
  Any next_of(int64_t epoch) {
    if (epoch_left() != epoch) return nb::none();
    left_ = -1;  // After an exception, the rest of the epoch is still delivered.
    Any batch = given([&] { return loader_->next_in_epoch(); });
    if (!batch.is_none()) left_ = epoch;
    return batch;
  }
  Any try_next() {
    if (saving_->is_running()) raise(Error(ErrorKind::DeadlineExceeded, "Loader: another thread is in state_dict()"));
    return given([&] { return loader_->try_next(); });
  }
  void next_epoch() {
    const Changing changing(*this, "next_epoch");
    refuse_if_closed();
    (void)waiting([&]() -> Result<void> {
      loader_->next_epoch();
      return {};
    });
    index_ = -1;
    left_ = -1;
    if (const int64_t left = epoch_left(); left >= 0) epoch_ = left;
  }
  /// Goes to the begin of this epoch, but where the rest of it comes next anyway: after a restore.
  void set_epoch(int64_t epoch) {
    const Changing changing(*this, "set_epoch");
    refuse_if_closed();
    if (epoch < 0 || (options_.epochs >= 0 && epoch >= options_.epochs)) {
      raise(Error(ErrorKind::InvalidArgument,
                  fmt::format("Loader: set_epoch({}): epochs={} has none of this number", epoch, options_.epochs)));
    }
    if (epoch_left() == epoch && left_ < 0) return;
    const std::string begin =
        internal::save({.epoch = static_cast<uint64_t>(epoch), .index = 0, .position = {}}, dataset_, options_.seed);
    value(waiting([&] { return loader_->restore(begin); }));
    epoch_ = epoch;
    index_ = left_ = -1;
  }
  /// The epoch whose batches a loop takes now: the rest of one that was restored, else the next one. What an earlier
  /// loop left is dropped. -1: no epoch is left.
  int64_t begin_epoch() {
    if (left_ >= 0 && left_ == epoch_left()) next_epoch();
    return epoch_left();
  }
  // Returns when its threads have ended, or raises what a signal's handler raised; they then end later.
  void close() {
    saving_->wait();
    begin_close();
    const auto answer = waiting([ending = ending_]() -> Result<void> {
      while (!ending->wait(kLookInterval)) {
        if (look_for_interrupt()) return fail(ErrorKind::Cancelled, "Loader: close() was interrupted");
      }
      return {};
    });
    value(answer);
  }
  // Waits for nobody.
  void begin_close() {
    refuse_if_in_use("close");
    if (!std::exchange(is_closed_, true)) ending_ = Ending::start([loader = loader_] { loader->close(); });
  }

  /// Of the batch that comes next; -1: none comes.
  int64_t epoch_left() const {
    Loader::Epochs epochs = loader_->epochs();
    const auto first = epochs.begin();
    return first == epochs.end() ? -1 : (*first).index();
  }
  int64_t epoch() const { return epoch_; }
  int64_t index() const { return index_; }
  /// Epoch and index of the last batch, and the state after it.
  nb::typed<nb::tuple, int64_t, int64_t, nb::bytes> state() const {
    saving_->give_turn();
    saving_->wait();
    refuse_beside_another("state_dict");
    const int64_t epoch = epoch_, index = index_;  // Nothing changes them until the state is there.
    const std::string own = saved_state();
    const bool is_whole = dataset_.node() == batches_.node();
    const std::string state = is_whole ? own : converted(own, {dataset_}, batches_);
    return nb::make_tuple(epoch, index, nb::bytes(state.data(), state.size()));
  }
  LoaderStats stats() const {
    return asked([](const Loader& loader) { return loader.stats(); });
  }
  Verdict diagnose() const {
    return asked([](const Loader& loader) { return loader.diagnose(); });
  }
  void pause() {
    refuse_if_waiting("pause");
    loader_->pause();
  }
  std::optional<Memory> returned() {
    std::list<Tensor> tensors = returned_ != nullptr ? returned_->take() : std::list<Tensor>();
    if (tensors.empty()) return std::nullopt;
    return Memory(std::move(tensors), returned_);
  }

 private:
  // While a call that replaces what next() reads gives the lock up.
  class Changing {
   public:
    Changing(PythonLoader& loader, const char* call) : loader_(loader) {
      loader.refuse_if_waiting(call);
      loader.changing_ = call;
      loader.caller_ = std::this_thread::get_id();
    }
    ~Changing() { loader_.changing_ = nullptr; }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

   private:
    PythonLoader& loader_;
  };

  template <class Make>
  void open(Make make) {
    auto made = value(waiting([&]() -> Result<std::shared_ptr<Loader>> {
      try {
        Result<Loader> loader = make();
        if (!loader) return fail(loader.error());
        return std::make_shared<Loader>(*std::move(loader));
      } catch (const Exception& error) {
        return fail(error.error());
      }
    }));
    loader_.swap(made);
    is_closed_ = false;
    if (saving_ == nullptr || !saving_->is_here()) saving_.reset(new Saving);
    const nb::gil_scoped_release released;
    made.reset();  // What was there.
  }

  // Releases the interpreter's lock, as it may write to the disk; calls that change the Loader wait for it.
  std::string saved_state() const {
    if (!saving_->is_here()) raise(HomeProcess::error("Loader"));
    return saving_->run([this] { return loader_->state(); });
  }

  // Without the lock. Another thread may load a state meanwhile.
  template <class Call>
  std::invoke_result_t<Call, const Loader&> asked(Call call) const {
    std::shared_ptr<const Loader> kept = loader_;
    const nb::gil_scoped_release released;
    auto answer = call(*kept);
    kept.reset();
    return answer;
  }

  // Another thread of Python may be in a call, without the lock. The Loader itself refuses a second next().
  void refuse_if_waiting(const char* call) const {
    saving_->wait();
    refuse_if_in_use(call);
  }
  void refuse_if_in_use(const char* call) const {
    const char* const saving = saving_->is_running() ? "state_dict" : nullptr;
    if (const char* const other = changing_ != nullptr ? changing_ : waiting_ > 0 ? "next" : saving) {
      raise(Error(ErrorKind::FailedPrecondition, fmt::format("Loader: {}(): another thread is in {}()", call, other)));
    }
  }

  // The same, but for a signal's handler, which the thread that waits runs.
  void refuse_beside_another(const char* call) const {
    if (caller_ != std::this_thread::get_id()) refuse_if_waiting(call);
  }

  void refuse_if_closed() const {
    if (is_closed_) raise(Error(ErrorKind::Cancelled, "Loader: it was closed"));
  }

  // What a state may be of: `batches_`, and its rows as a program for several ranks has them.
  std::vector<Dataset> forms() const {
    std::vector<Dataset> all{batches_};
    const Spec& spec = batches_.spec();
    if (std::all_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return field.shape.rank() > 0; }))
      all.push_back(batches_ | distribute(1, 0));
    return all;
  }

  // The state of one of the datasets `of`, which deliver elements of the same numbers, as one of `dataset`. A state of
  // another dataset stays as it is: whoever restores it says what differs.
  static std::string converted(const std::string& state, const std::vector<Dataset>& of, const Dataset& dataset) {
    for (const Dataset& one : of) {
      const auto saved = internal::read_state(state, one);
      if (saved) return internal::save(saved->state, dataset, saved->seed);
    }
    return state;
  }

  template <class Next>
  Any given(Next next) {
    saving_->wait();
    refuse_if_closed();
    if (changing_ != nullptr) refuse_if_waiting("next");
    struct Count {
      int& waiting;
      ~Count() { --waiting; }
    };
    if (waiting_++ == 0) caller_ = std::this_thread::get_id();
    const Count count{waiting_};
    Result<Batch> batch = waiting(next);
    cut_tracebacks_of_this_thread(batch ? nullptr : &batch.error());
    if (at_end(batch)) return nb::none();
    Batch own = value(std::move(batch));
    epoch_ = own.epoch();
    index_ = own.index();
    return keys_.value_of(std::move(own).element(), returned_);
  }

  const Dataset batches_, dataset_;
  const LoaderOptions options_;
  const Keys keys_;
  const std::shared_ptr<Returned> returned_;  // Null: memory of arrays that are gone may be used again.
  std::shared_ptr<Loader> loader_;
  int64_t epoch_ = 0, index_ = -1;  // Of the last batch.
  int64_t left_ = -1;               // The epoch that a loop left before its end; -1: none.
  int waiting_ = 0;                 // Calls of next(); changed with the interpreter's lock, as is:
  const char* changing_ = nullptr;  // The call that replaces what next() reads;
  std::thread::id caller_;          // and the thread that is in one of them, or was in the last one.
  bool is_closed_ = false;
  std::shared_ptr<Ending> ending_;             // Of close().
  std::unique_ptr<Saving, EndSaving> saving_;  // Of loader_, in its process.
};

// The batches of one epoch of a Loader, or all that are left. Each step is one call of C++, without a frame of Python.
// After an exception it goes on, as the Loader does.
class Batches {
 public:
  /// `loader`: Python's, which lives as long as this. `convert`: what becomes of a batch; None: nothing. `epoch` below
  /// 0: all.
  Batches(nb::object loader, nb::object core, nb::object convert, int64_t epoch)
      : loader_(std::move(loader)),
        core_(std::move(core)),
        convert_(std::move(convert)),
        batches_(nb::cast<PythonLoader*>(core_)),
        epoch_(epoch) {}

  // Nothing at the end.
  nb::object next() {
    if (batches_ == nullptr) return {};
    nb::object batch = epoch_ < 0 ? batches_->next() : batches_->next_of(epoch_);
    if (batch.is_none()) return {};
    return convert_.is_none() ? batch : convert_(batch);
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(loader_.ptr());
    Py_VISIT(core_.ptr());
    Py_VISIT(convert_.ptr());
    return 0;
  }
  void clear() {
    batches_ = nullptr;
    loader_.reset();
    core_.reset();
    convert_.reset();
  }

 private:
  nb::object loader_, core_, convert_;
  PythonLoader* batches_;  // Of core_.
  const int64_t epoch_;
};

PyObject* next_batch(PyObject* self) noexcept {
  try {
    return nb::inst_ptr<Batches>(self)->next().release().ptr();
  } catch (nb::python_error& raised) {
    raised.restore();
  } catch (const Exception& error) {
    set_error(error.error());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

int traverse_batches(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Batches>(self)->traverse(visit, arg) : 0;
}

int clear_batches(PyObject* self) noexcept {
  nb::inst_ptr<Batches>(self)->clear();
  return 0;
}

PyType_Slot batches_slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                               {Py_tp_iternext, reinterpret_cast<void*>(next_batch)},
                               {Py_tp_traverse, reinterpret_cast<void*>(traverse_batches)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_batches)},
                               {0, nullptr}};

Dict stats_of(const PythonLoader& loader) {
  const LoaderStats stats = loader.stats();
  Dict all;
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

void make_loader(PythonLoader* self, const Dataset& dataset, int64_t world_size, int64_t rank, int64_t epochs,
                 uint64_t seed, int threads, int io_threads, std::optional<int64_t> memory, int64_t run_ahead,
                 bool consumer_helps, std::optional<bool> deterministic, const std::string& quarantine,
                 bool pin_threads, std::optional<int> pinned_for) {
  LoaderOptions options{.epochs = epochs, .seed = seed};
  options.threads = threads;
  options.io_threads = io_threads;
  options.memory = memory;
  options.run_ahead = run_ahead;
  options.consumer_helps = consumer_helps;
  options.deterministic = deterministic;
  options.quarantine = quarantine;
  options.pin_threads = pin_threads;
  if (pinned_for) options.pool = value(waiting([&] { return pinned_pool(*pinned_for); }));
  new (self) PythonLoader(dataset, world_size, rank, options);
}

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

}  // namespace

void add_loader(nb::module_& module) {
  nb::class_<Memory>(module, "Memory").def("release", &Memory::release);
  nb::class_<PythonLoader>(module, "Loader")
      .def("__init__", make_loader, nb::arg("dataset"), nb::kw_only(), nb::arg("world_size"), nb::arg("rank"),
           nb::arg("epochs"), nb::arg("seed"), nb::arg("threads"), nb::arg("io_threads"), nb::arg("memory").none(),
           nb::arg("run_ahead"), nb::arg("consumer_helps"), nb::arg("deterministic").none(), nb::arg("quarantine"),
           nb::arg("pin_threads"), nb::arg("pinned_for").none())
      .def("next", &PythonLoader::next)
      .def("try_next", &PythonLoader::try_next)
      .def("next_epoch", &PythonLoader::next_epoch)
      .def("set_epoch", &PythonLoader::set_epoch)
      .def("begin_epoch", &PythonLoader::begin_epoch)
      .def("close", &PythonLoader::close)
      .def("begin_close", &PythonLoader::begin_close)
      .def("restore", &PythonLoader::restore)
      .def("state", &PythonLoader::state)
      .def("stats", stats_of)
      .def("diagnose", &PythonLoader::diagnose)
      .def("pause", &PythonLoader::pause)
      .def("returned", &PythonLoader::returned)
      .def_prop_ro("epoch_left", &PythonLoader::epoch_left)
      .def_prop_ro("epoch", &PythonLoader::epoch)
      .def_prop_ro("index", &PythonLoader::index);
  nb::class_<Batches>(module, "Batches", nb::type_slots(batches_slots))
      .def(nb::init<nb::object, nb::object, nb::object, int64_t>(), nb::arg("loader"), nb::arg("core"),
           nb::arg("convert").none(), nb::arg("epoch"));
  module.def("write_shards", written_shards);
  module.def("write_npy", written_array);
  module.def("save", saved);
}

}  // namespace headpond::python
