// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's readers, input producers and batchers (headpond/tf1).
#include "headpond/tf1/tf1.h"

#include <fmt/format.h>

#include <utility>

#include "nanobind/stl/optional.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// ---- Readers.

struct PythonReader {
  tf1::Reader reader;
};

tf1::Reader reader_of(const std::string& type, const Dict& options) {
  const auto number = [&](const char* name) { return nb::cast<uint64_t>(options[name]); };
  if (type == "TextLineReader")
    return tf1::TextLineReader({.skip_header_lines = nb::cast<int64_t>(options["skip_header_lines"])});
  if (type == "TFRecordReader") return tf1::TFRecordReader();
  if (type == "IdentityReader") return tf1::IdentityReader();
  if (type == "WholeFileReader") return tf1::WholeFileReader();
  return tf1::FixedLengthRecordReader({.record_bytes = number("record_bytes"),
                                       .header_bytes = number("header_bytes"),
                                       .footer_bytes = number("footer_bytes"),
                                       .hop_bytes = number("hop_bytes")});
}

const Queue& queue_of(const char* call, nb::handle given) {
  const PythonQueue* queue = nullptr;
  if (!nb::try_cast(given, queue))
    refuse_type(call, "queue", given, "a queue of names of files, as an input producer's queue");
  return queue->queue();
}

std::pair<nb::bytes, nb::bytes> read(const PythonReader& self, nb::handle queue, Timeout timeout, Stop stop) {
  const Queue& names = queue_of("read()", queue);
  const tf1::KeyValue record =
      value(interruptible("read()", timeout, stop, [&](const Wait& wait) { return self.reader.read(names, wait); }));
  return {to_bytes(record.key), to_bytes(record.value)};
}

std::vector<std::pair<nb::bytes, nb::bytes>> read_up_to(const PythonReader& self, nb::handle queue, Integer n,
                                                        Timeout timeout, Stop stop) {
  const char* call = "read_up_to()";
  const Queue& names = queue_of(call, queue);
  const int64_t many = n.of(call, "num_records");
  const auto records = value(
      interruptible(call, timeout, stop, [&](const Wait& wait) { return self.reader.read_up_to(names, many, wait); }));
  std::vector<std::pair<nb::bytes, nb::bytes>> all;
  for (const tf1::KeyValue& record : records) all.emplace_back(to_bytes(record.key), to_bytes(record.value));
  return all;
}

// ---- Producers.

class PythonProducer {
 public:
  explicit PythonProducer(tf1::InputProducer producer, const std::vector<DType>& dtypes,
                          const std::vector<std::string>& names)
      : producer_(std::move(producer)), fields_(dtypes, names) {}
  tf1::InputProducer& producer() { return producer_; }
  Any dequeue(Timeout timeout, Stop stop) {
    return fields_.keys->value_of(
        value(interruptible("dequeue()", timeout, stop, [&](const Wait& wait) { return producer_.dequeue(wait); })));
  }

 private:
  tf1::InputProducer producer_;
  const Fields fields_;
};

tf1::InputProducerOptions producer_options(const Dict& options) {
  tf1::InputProducerOptions made;
  if (!options["element_shape"].is_none()) made.element_shape = to_shape(nb::object(options["element_shape"]));
  made.num_epochs = nb::cast<std::optional<int64_t>>(options["num_epochs"]);
  made.shuffle = nb::cast<bool>(options["shuffle"]);
  made.seed = nb::cast<uint64_t>(options["seed"]);
  made.capacity = nb::cast<int64_t>(options["capacity"]);
  made.shared_name = nb::cast<std::string>(options["shared_name"]);
  made.summary_name = nb::cast<std::string>(options["summary_name"]);
  made.name = nb::cast<std::string>(options["name"]);
  const nb::object cancel = options["cancel_op"];
  if (!cancel.is_none()) made.cancel_op = called_at_end(cancel);
  return made;
}

PythonProducer* rows_producer(nb::handle rows, const Dict& options) {
  const Tensor tensor = tensor_of(rows);
  return new PythonProducer(tf1::input_producer(tensor, producer_options(options)), {tensor.dtype()}, {});
}

PythonProducer* range_producer(int64_t limit, const Dict& options) {
  return new PythonProducer(tf1::range_input_producer(limit, producer_options(options)), {DType::i64}, {});
}

PythonProducer* slice_producer(const std::vector<std::pair<std::string, nb::object>>& tensors, const Dict& options) {
  Element element;
  std::vector<DType> dtypes;
  std::vector<std::string> names;
  for (const auto& [name, one] : tensors) {
    Tensor tensor = tensor_of(one);
    dtypes.push_back(tensor.dtype());
    if (!name.empty()) names.push_back(name);
    element.append(std::move(tensor));
  }
  if (!names.empty()) element.set_names(std::make_shared<const std::vector<std::string>>(names));
  return new PythonProducer(tf1::slice_input_producer(std::move(element), producer_options(options)), dtypes, names);
}

// ---- Batchers.

class PythonBatcher {
 public:
  PythonBatcher(tf1::Batcher batcher, Fields fields) : batcher_(std::move(batcher)), fields_(std::move(fields)) {}
  tf1::Batcher& batcher() { return batcher_; }
  Any dequeue(Timeout timeout, Stop stop) {
    return fields_.keys->value_of(
        value(interruptible("dequeue()", timeout, stop, [&](const Wait& wait) { return batcher_.dequeue(wait); })));
  }
  Any next() {
    auto batch = interruptible(std::nullopt, {}, [&](const Wait& wait) { return batcher_.dequeue(wait); });
    if (at_end(batch)) throw nb::stop_iteration();
    return fields_.keys->value_of(value(std::move(batch)));
  }

 private:
  tf1::Batcher batcher_;
  const Fields fields_;
};

// What the program's function returns, with the lock. The end of the data: as call_producer() has it.
template <class Convert>
auto called_for(const Ref& function, const nb::object& argument, Convert convert) -> decltype(convert(nb::object())) {
  const nb::object result = nb::steal([&] {
    const WhileCalling calling;
    return argument.is_valid() ? call_with(function.get(), argument.ptr()) : PyObject_CallNoArgs(function.get());
  }());
  if (!result.is_valid()) return fail(producer_error());
  try {
    return convert(result);
  } catch (nb::python_error& error) {
    error.restore();
    return fail(error_of_python());
  } catch (const Exception& error) {
    return fail(error.error());
  }
}

tf1::Source source_of(const nb::object& given, const Fields& fields) {
  if (nb::isinstance<PythonProducer>(given)) return nb::cast<PythonProducer&>(given).producer().source();
  return [held = hold(given.ptr()), fields](std::stop_token) -> Result<Element> {
    if (is_exiting()) return fail(ErrorKind::Cancelled, "the interpreter ends");
    const WithLock lock;
    drop_dead();
    return called_for(held, {}, [&](const nb::object& example) -> Result<Element> {
      return fields.element_of("batch", example, true);
    });
  };
}

tf1::KeepInput keep_input_of(const nb::object& function, const Fields& fields) {
  return [held = hold(function.ptr()), fields](const Element& example) -> Result<Tensor> {
    if (is_exiting()) return fail(ErrorKind::Cancelled, "the interpreter ends");
    const WithLock lock;
    return called_for(held, fields.keys->value_of(example),
                      [&](const nb::object& kept) -> Result<Tensor> { return tensor_of(kept); });
  };
}

struct BatcherCall {
  const Dict& options;
  Fields fields;
  std::vector<tf1::Source> sources;
  std::optional<tf1::KeepInput> keep;

  int64_t integer(const char* name) const { return nb::cast<int64_t>(options[name]); }
  bool flag(const char* name) const { return nb::cast<bool>(options[name]); }
  std::string text(const char* name) const { return nb::cast<std::string>(options[name]); }
};

tf1::Batcher plain_batcher(const BatcherCall& call, const QueueOptions& queue, bool joins) {
  const tf1::BatchOptions options{.batch_size = call.integer("batch_size"),
                                  .dtypes = queue.dtypes,
                                  .shapes = queue.shapes,
                                  .names = queue.names,
                                  .num_threads = call.integer("num_threads"),
                                  .capacity = queue.capacity,
                                  .enqueue_many = call.flag("enqueue_many"),
                                  .dynamic_pad = call.flag("dynamic_pad"),
                                  .allow_smaller_final_batch = call.flag("allow_smaller_final_batch"),
                                  .shared_name = queue.shared_name,
                                  .name = queue.name};
  if (joins)
    return call.keep ? tf1::maybe_batch_join(call.sources, *call.keep, options)
                     : tf1::batch_join(call.sources, options);
  return call.keep ? tf1::maybe_batch(call.sources.at(0), *call.keep, options)
                   : tf1::batch(call.sources.at(0), options);
}

tf1::Batcher shuffling_batcher(const BatcherCall& call, const QueueOptions& queue, bool joins) {
  const tf1::ShuffleBatchOptions options{.batch_size = call.integer("batch_size"),
                                         .dtypes = queue.dtypes,
                                         .shapes = queue.shapes,
                                         .capacity = queue.capacity,
                                         .min_after_dequeue = call.integer("min_after_dequeue"),
                                         .names = queue.names,
                                         .num_threads = call.integer("num_threads"),
                                         .seed = nb::cast<uint64_t>(call.options["seed"]),
                                         .enqueue_many = call.flag("enqueue_many"),
                                         .allow_smaller_final_batch = call.flag("allow_smaller_final_batch"),
                                         .shared_name = queue.shared_name,
                                         .name = queue.name};
  if (joins) {
    return call.keep ? tf1::maybe_shuffle_batch_join(call.sources, *call.keep, options)
                     : tf1::shuffle_batch_join(call.sources, options);
  }
  return call.keep ? tf1::maybe_shuffle_batch(call.sources.at(0), *call.keep, options)
                   : tf1::shuffle_batch(call.sources.at(0), options);
}

PythonBatcher* make_batcher(const std::vector<nb::object>& sources, const Dict& options, bool joins, bool shuffles,
                            std::optional<nb::object> keep_input) {
  const auto texts = [&](const char* name) { return nb::cast<std::vector<std::string>>(options[name]); };
  const QueueOptions queue = queue_options(nb::cast<int64_t>(options["capacity"]), texts("dtypes"), options["shapes"],
                                           texts("names"), nb::cast<std::string>(options["shared_name"]),
                                           nb::cast<std::string>(options["name"]), kUnbounded, {});
  BatcherCall call{.options = options, .fields = Fields(queue.dtypes, queue.names), .sources = {}, .keep = {}};
  for (const nb::object& one : sources) call.sources.push_back(source_of(one, call.fields));
  if (keep_input) call.keep = keep_input_of(*keep_input, call.fields);
  return new PythonBatcher(shuffles ? shuffling_batcher(call, queue, joins) : plain_batcher(call, queue, joins),
                           call.fields);
}

template <class Of>
void add_common(nb::class_<Of>& type) {
  type.def("dequeue", &Of::dequeue, nb::kw_only(), nb::arg("timeout").none() = nb::none(),
           nb::arg("stop").none() = nb::none());
}

void add_readers(nb::module_& module) {
  const auto timeout = [] { return nb::arg("timeout").none() = nb::none(); };
  const auto stop = [] { return nb::arg("stop").none() = nb::none(); };
  nb::class_<PythonReader>(module, "Reader")
      .def("__init__", [](PythonReader* self, const std::string& type,
                          const Dict& options) { new (self) PythonReader{reader_of(type, options)}; })
      .def("read", read, nb::arg("queue"), nb::kw_only(), timeout(), stop(),
           nb::sig("def read(self, queue: Queue, *, timeout: float | None = None, stop: Coordinator | None = None) -> "
                   "tuple[bytes, bytes]"))
      .def("read_up_to", read_up_to, nb::arg("queue"), nb::arg("num_records"), nb::kw_only(), timeout(), stop(),
           nb::sig("def read_up_to(self, queue: Queue, num_records: int, *, timeout: float | None = None, stop: "
                   "Coordinator | None = None) -> list[tuple[bytes, bytes]]"))
      .def("num_records_produced", [](const PythonReader& self) { return self.reader.num_records_produced(); })
      .def("num_work_units_completed", [](const PythonReader& self) { return self.reader.num_work_units_completed(); })
      .def("serialize_state", [](const PythonReader& self) { return to_bytes(self.reader.serialize_state()); })
      .def(
          "restore_state",
          [](const PythonReader& self, const nb::bytes& state) {
            value(self.reader.restore_state({state.c_str(), state.size()}));
          },
          nb::arg("state"))
      .def("reset", [](const PythonReader& self) { self.reader.reset(); });
}

}  // namespace

void add_tf1(nb::module_& module) {
  add_readers(module);
  nb::class_<PythonProducer> producer(module, "InputProducer", nb::is_weak_referenceable());
  producer
      .def("start",
           [](PythonProducer& self, const PythonCoordinator& coordinator) {
             coordinator.exceptions().hide();
             EndsOfRunners ends;
             self.producer().start(*coordinator);
             ends.raise();
           })
      .def_prop_ro(
          "queue", [](PythonProducer& self) { return new PythonQueue(self.producer().queue()); },
          nb::for_getter(nb::rv_policy::take_ownership));
  add_common(producer);
  nb::class_<PythonBatcher> batcher(module, "Batcher", nb::is_weak_referenceable());
  batcher
      .def("start",
           [](PythonBatcher& self, const PythonCoordinator& coordinator) {
             coordinator.exceptions().hide();
             EndsOfRunners ends;
             self.batcher().start(*coordinator);
             ends.raise();
           })
      .def_prop_ro(
          "queue", [](PythonBatcher& self) { return new PythonQueue(self.batcher().queue()); },
          nb::for_getter(nb::rv_policy::take_ownership))
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> Batcher"))
      .def("__next__", &PythonBatcher::next);
  add_common(batcher);
  module.def("rows_producer", rows_producer, nb::rv_policy::take_ownership);
  module.def("range_producer", range_producer, nb::rv_policy::take_ownership);
  module.def("slice_producer", slice_producer, nb::rv_policy::take_ownership);
  module.def("make_batcher", make_batcher, nb::rv_policy::take_ownership, nb::arg("sources"), nb::arg("options"),
             nb::arg("joins"), nb::arg("shuffles"), nb::arg("keep_input").none());
  module.def("match_filenames", [](const std::vector<std::string>& patterns) {
    return value(tf1::match_filenames_once(patterns).value());
  });
}

}  // namespace headpond::python
