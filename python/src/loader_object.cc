// SPDX-License-Identifier: Apache-2.0
#include "python/src/loader_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "headpond/base/log.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/run_state.h"

namespace headpond::python {
namespace {

// The state of one of the datasets `of`, which deliver elements of the same numbers, as one of `dataset`. A state of
// another dataset stays as it is: whoever restores it says what differs.
std::string converted(const std::string& state, const std::vector<Dataset>& of, const Dataset& dataset) {
  for (const Dataset& one : of) {
    const auto saved = internal::read_state(state, one);
    if (saved) return internal::save(saved->state, dataset, saved->seed);
  }
  return state;
}

bool has_bytes(const Spec& spec) {
  return std::any_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return field.dtype == DType::bytes; });
}

}  // namespace

// While a call that replaces what next() reads gives the lock up.
class PythonLoader::Changing {
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
void PythonLoader::open(Make make) {
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
  is_closed_ = is_in_epoch_ = gives_at_once_ = false;
  if (saving_ == nullptr || !saving_->is_here()) saving_.reset(new Saving);
  tell_followers();
  const WithoutLock released;
  made.reset();  // What was there.
}

void PythonLoader::tell_followers() {
  std::vector<std::shared_ptr<const LoaderLook>> all;
  std::erase_if(followers_, [&](const auto& one) {
    if (auto look = one.lock()) all.push_back(std::move(look));
    return one.expired();
  });
  const std::shared_ptr<const Loader> now = loader_;
  const WithoutLock released;
  for (const auto& look : all) {
    try {
      (*look)(*now);
    } catch (const std::exception& error) {
      log(LogLevel::warning, std::string("a Loader that was restored is not watched any more: ") + error.what());
    }
  }
}

void PythonLoader::follow(const std::shared_ptr<const LoaderLook>& look, const char* call) {
  refuse_if_waiting(call);
  refuse_if_closed();
  followers_.push_back(look);  // First: another thread may load a state meanwhile.
  (void)asked([&](const Loader& loader) {
    (*look)(loader);
    return true;
  });
}

// Without the lock. Another thread may load a state meanwhile.
template <class Call>
std::invoke_result_t<Call, const Loader&> PythonLoader::asked(Call call) const {
  std::shared_ptr<const Loader> kept = loader_;
  const WithoutLock released;
  auto answer = call(*kept);
  kept.reset();
  return answer;
}

// While a call of next() is in progress.
class PythonLoader::InNext {
 public:
  explicit InNext(PythonLoader& loader) : loader_(loader) {
    loader.saving_->wait();
    loader.refuse_if_closed();
    if (loader.changing_ != nullptr) loader.refuse_if_waiting("next");
    if (loader.waiting_++ == 0) loader.caller_ = std::this_thread::get_id();
  }
  ~InNext() { --loader_.waiting_; }
  InNext(const InNext&) = delete;
  InNext& operator=(const InNext&) = delete;

 private:
  PythonLoader& loader_;
};

// The next batch if it is ready, or costs less than handing it over: giving the interpreter's lock up would take as
// long.
std::optional<Result<Batch>> PythonLoader::batch_at_once() {
  drop_dead();
  std::optional<Result<Batch>> batch = loader_->next_at_once();
  gives_at_once_ = gives_at_once_ || batch;
  return batch;
}

template <class Next>
Any PythonLoader::given(AtEpochEnd at_epoch_end, Next next, bool may_wait) {
  const InNext in_next(*this);
  // Not if that may take longer: before the first batch of an epoch, for which files are opened, and where functions of
  // Python run, for whose turn a thread may wait that has no lock.
  const bool asks = is_in_epoch_ && !calls_python_;
  std::optional<Result<Batch>> batch = asks ? batch_at_once() : std::nullopt;
  const bool none_is_ready = asks && gives_at_once_ && !batch;  // To ask again without waiting would give none either.
  if (none_is_ready && !may_wait) raise(Error(ErrorKind::DeadlineExceeded, "Loader: no batch is ready"));
  if (batch && at_end(*batch) && at_epoch_end == AtEpochEnd::go_on) batch.reset();
  if (!batch) {
    const OwnsExceptions owns(this);
    (void)waiting([&] { return batch.emplace(next()).has_value(); });
    if (calls_python_ && (!copies_ || !*batch)) return_now();  // It had to wait for the lock that functions hold.
  }
  is_in_epoch_ = *batch || (is_in_epoch_ && !at_end(*batch));
  if (at_end(*batch)) return nb::none();
  if (!*batch) raise(batch->error());
  epoch_ = (*batch)->epoch();
  index_ = (*batch)->index();
  Any value = keys_.value_of(std::move(**batch).element(), returned_);
  if (copies_) return_now();
  return value;
}

// The call took until now. Beside a call of another thread nothing is counted.
void PythonLoader::return_now() const {
  if (!is_closed_ && waiting_ == 1) loader_->returned_late();
}

PythonLoader::PythonLoader(const Dataset& batches, int64_t world_size, int64_t rank, const LoaderOptions& options,
                           bool calls_python)
    : batches_(batches),
      dataset_(world_size == 1 && rank == 0 ? batches : batches | distribute(world_size, rank)),
      options_(options),
      calls_python_(calls_python),
      copies_(has_bytes(dataset_.spec())),
      keys_(dataset_.spec()),
      returned_(options.pool != nullptr ? std::make_shared<Returned>() : nullptr) {
  open([&]() -> Result<Loader> { return Loader(dataset_, options_); });
}

PythonLoader::~PythonLoader() {
  forget_exceptions(this);
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

void PythonLoader::restore(const nb::bytes& state) {
  const Changing changing(*this, "load_state_dict");
  const std::string given(state.c_str(), state.size());
  const std::string own = converted(given, forms(), dataset_);
  open([&] { return Loader::restored(dataset_, options_, own); });
  const internal::SavedRun saved = value(internal::read_state(own));
  epoch_ = static_cast<int64_t>(saved.state.epoch);
  index_ = saved.state.index - 1;
  left_ = -1;
}

Any PythonLoader::next() {
  return given(AtEpochEnd::go_on, [&] { return loader_->next(); });
}

Any PythonLoader::next_of(int64_t epoch) {
  if (epoch_left() != epoch) return nb::none();
  left_ = -1;  // After an exception, the rest of the epoch is still delivered.
  Any batch = given(AtEpochEnd::stop, [&] { return loader_->next_in_epoch(); });
  if (!batch.is_none()) left_ = epoch;
  return batch;
}

Any PythonLoader::try_next() {
  if (saving_->is_running()) raise(Error(ErrorKind::DeadlineExceeded, "Loader: another thread is in state_dict()"));
  return given(
      AtEpochEnd::go_on, [&] { return loader_->try_next(); }, false);
}

void PythonLoader::next_epoch() {
  const Changing changing(*this, "next_epoch");
  refuse_if_closed();
  is_in_epoch_ = false;
  (void)waiting([&]() -> Result<void> {
    loader_->next_epoch();
    return {};
  });
  index_ = -1;
  left_ = -1;
  if (const int64_t left = epoch_left(); left >= 0) epoch_ = left;
}

void PythonLoader::set_epoch(int64_t epoch) {
  const Changing changing(*this, "set_epoch");
  refuse_if_closed();
  if (epoch < 0 || (options_.epochs >= 0 && epoch >= options_.epochs)) {
    raise(Error(ErrorKind::InvalidArgument,
                fmt::format("Loader: set_epoch({}): epochs={} has none of this number", epoch, options_.epochs)));
  }
  if (epoch_left() == epoch && left_ < 0) return;
  if (!saving_->is_here()) raise(HomeProcess::error("Loader"));
  is_in_epoch_ = false;
  value(waiting([&]() -> Result<void> {
    loader_->rewind(epoch);
    return {};
  }));
  epoch_ = epoch;
  index_ = left_ = -1;
}

int64_t PythonLoader::begin_epoch() {
  if (left_ >= 0 && left_ == epoch_left()) next_epoch();
  return epoch_left();
}

void PythonLoader::close() {
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

void PythonLoader::begin_close() {
  refuse_if_in_use("close");
  if (!std::exchange(is_closed_, true)) ending_ = Ending::start([loader = loader_] { loader->close(); });
}

int64_t PythonLoader::epoch_left() const {
  Loader::Epochs epochs = loader_->epochs();
  const auto first = epochs.begin();
  return first == epochs.end() ? -1 : (*first).index();
}

nb::typed<nb::tuple, int64_t, int64_t, nb::bytes> PythonLoader::state() const {
  saving_->give_turn();
  saving_->wait();
  refuse_beside_another("state_dict");
  const int64_t epoch = epoch_, index = index_;  // Nothing changes them until the state is there.
  const std::string own = saved_state();
  const bool is_whole = dataset_.node() == batches_.node();
  const std::string state = is_whole ? own : converted(own, {dataset_}, batches_);
  return nb::make_tuple(epoch, index, nb::bytes(state.data(), state.size()));
}

LoaderStats PythonLoader::stats() const {
  return asked([](const Loader& loader) { return loader.stats(); });
}

Verdict PythonLoader::diagnose() const {
  return asked([](const Loader& loader) { return loader.diagnose(); });
}

void PythonLoader::pause() {
  refuse_if_waiting("pause");
  loader_->pause();
}

std::optional<Memory> PythonLoader::returned() {
  std::list<Tensor> tensors = returned_ != nullptr ? returned_->take() : std::list<Tensor>();
  if (tensors.empty()) return std::nullopt;
  return Memory(std::move(tensors), returned_);
}

// Most states are there at once, and then the interpreter's lock is kept: to get it again beside functions of Python
// may take much longer than the state. Meanwhile this thread waits for nobody: state_at_once() takes no lock of the
// engine and runs no function. Else the lock is released; calls that change the Loader wait for it.
std::string PythonLoader::saved_state() const {
  if (!saving_->is_here()) raise(HomeProcess::error("Loader"));
  if (std::optional<std::string> state = loader_->state_at_once()) return *std::move(state);
  return saving_->run([this] { return loader_->state(); });
}

// Another thread of Python may be in a call, without the lock. The Loader itself refuses a second next().
void PythonLoader::refuse_if_waiting(const char* call) const {
  saving_->wait();
  refuse_if_in_use(call);
}

void PythonLoader::refuse_if_in_use(const char* call) const {
  const char* const saving = saving_->is_running() ? "state_dict" : nullptr;
  if (const char* const other = changing_ != nullptr ? changing_ : waiting_ > 0 ? "next" : saving) {
    raise(Error(ErrorKind::FailedPrecondition, fmt::format("Loader: {}(): another thread is in {}()", call, other)));
  }
}

// The same, but for a signal's handler, which the thread that waits runs.
void PythonLoader::refuse_beside_another(const char* call) const {
  if (caller_ != std::this_thread::get_id()) refuse_if_waiting(call);
}

void PythonLoader::refuse_if_closed() const {
  if (is_closed_) raise(Error(ErrorKind::Cancelled, "Loader: it was closed"));
}

// What a state may be of: `batches_`, and its rows as a program for several ranks has them.
std::vector<Dataset> PythonLoader::forms() const {
  std::vector<Dataset> all{batches_};
  const Spec& spec = batches_.spec();
  if (std::all_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return field.shape.rank() > 0; }))
    all.push_back(batches_ | distribute(1, 0));
  return all;
}

}  // namespace headpond::python
