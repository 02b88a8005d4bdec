// SPDX-License-Identifier: Apache-2.0
// StagingArea, MapStagingArea and Barrier.
#include "python/src/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/queue/staging/barrier.h"
#include "headpond/queue/staging/map_staging_area.h"
#include "headpond/queue/staging/staging_area.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/tuple.h"
#include "nanobind/stl/vector.h"
#include "python/src/queue_objects.h"

namespace headpond::python {
namespace {

StagingOptions staging_options(const QueueOptions& all) {
  return {.dtypes = all.dtypes,
          .shapes = all.shapes,
          .names = all.names,
          .capacity = all.capacity,
          .memory_limit = all.memory_limit,
          .shared_name = all.shared_name,
          .name = all.name};
}

Dict dict_of(const StagingStats& stats) {
  Dict all;
  all["puts"] = stats.puts;
  all["gets"] = stats.gets;
  all["waiting_puts"] = stats.waiting_puts;
  all["waiting_gets"] = stats.waiting_gets;
  all["put_waits"] = stats.put_waits;
  all["get_waits"] = stats.get_waits;
  all["put_wait_ns"] = stats.put_wait_ns;
  all["get_wait_ns"] = stats.get_wait_ns;
  all["put_wait_p50_ns"] = stats.put_wait_p50_ns;
  all["put_wait_p99_ns"] = stats.put_wait_p99_ns;
  all["get_wait_p50_ns"] = stats.get_wait_p50_ns;
  all["get_wait_p99_ns"] = stats.get_wait_p99_ns;
  all["put_size_mean"] = stats.put_size_mean;
  all["get_size_mean"] = stats.get_size_mean;
  all["capacity"] = stats.capacity;
  all["size"] = stats.size;
  all["size_peak"] = stats.size_peak;
  all["bytes"] = stats.bytes;
  all["bytes_peak"] = stats.bytes_peak;
  return all;
}

class PythonArea {
 public:
  explicit PythonArea(const QueueOptions& all) : area_(staging_options(all)), fields_(all.dtypes, all.names) {}
  void put(nb::handle element, Timeout timeout, Stop stop) {
    Element made = fields_.element_of("put", element, true);
    value(interruptible("put()", timeout, stop, [&](const Wait& wait) { return area_.put(std::move(made), wait); }));
  }
  Any get(Timeout timeout, Stop stop) {
    return fields_.keys->value_of(
        value(interruptible("get()", timeout, stop, [&](const Wait& wait) { return area_.get(wait); })));
  }
  Any peek(Integer index, Timeout timeout, Stop stop) {
    const char* call = "peek()";
    return fields_.keys->value_of(value(interruptible(
        call, timeout, stop, [&, at = index.of(call, "index")](const Wait& wait) { return area_.peek(at, wait); })));
  }
  const StagingArea& area() const { return area_; }

 private:
  const StagingArea area_;
  const Fields fields_;
};

// Some components of an element: those with these indices; without any, all or, in a put by name, those that it names.
class PythonMapArea {
 public:
  PythonMapArea(const QueueOptions& all, bool ordered)
      : area_(staging_options(all), ordered), dtypes_(all.dtypes), names_(all.names) {}

  void put(Integer key, nb::handle element, Indices indices, Timeout timeout, Stop stop) {
    const char* call = "put()";
    const int64_t of = key.of(call, "key");
    const std::vector<int64_t> parts = indices.of(call);
    Element made = part_of(element, parts).element_of("put", element, true);
    value(interruptible(call, timeout, stop,
                        [&](const Wait& wait) { return area_.put(of, std::move(made), parts, wait); }));
  }
  std::pair<int64_t, Any> get(nb::handle key, Indices indices, Timeout timeout, Stop stop) {
    const char* call = "get()";
    const auto of = key.is_none() ? std::optional<int64_t>() : Integer{key}.of(call, "key");
    const std::vector<int64_t> parts = indices.of(call);
    Keyed keyed =
        value(interruptible(call, timeout, stop, [&](const Wait& wait) { return area_.get(of, parts, wait); }));
    return {keyed.key, part(parts).keys->value_of(std::move(keyed.element))};
  }
  Any peek(Integer key, Indices indices, Timeout timeout, Stop stop) {
    const char* call = "peek()";
    const int64_t of = key.of(call, "key");
    const std::vector<int64_t> parts = indices.of(call);
    return part(parts).keys->value_of(
        value(interruptible(call, timeout, stop, [&](const Wait& wait) { return area_.peek(of, parts, wait); })));
  }
  const MapStagingArea& area() const { return area_; }

 private:
  Fields part(const std::vector<int64_t>& indices) const {
    if (indices.empty()) return {dtypes_, names_};
    std::vector<DType> dtypes;
    std::vector<std::string> names;
    for (const int64_t index : indices) {
      if (index < 0 || index >= std::ssize(dtypes_))
        throw Exception(Error(ErrorKind::InvalidArgument,
                              fmt::format("MapStagingArea: no component {}; there are {}", index, dtypes_.size())));
      dtypes.push_back(dtypes_[static_cast<size_t>(index)]);
      if (!names_.empty()) names.push_back(names_[static_cast<size_t>(index)]);
    }
    return {dtypes, names};
  }
  Fields part_of(nb::handle element, const std::vector<int64_t>& indices) const {
    if (!indices.empty() || names_.empty() || !nb::isinstance<nb::dict>(element)) return part(indices);
    std::vector<int64_t> named;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (value_in(element, names_[i]).is_valid()) named.push_back(static_cast<int64_t>(i));
    }
    return part(named);
  }

  const MapStagingArea area_;
  const std::vector<DType> dtypes_;
  const std::vector<std::string> names_;
};

class PythonBarrier {
 public:
  explicit PythonBarrier(const QueueOptions& all)
      : barrier_(BarrierOptions{.dtypes = all.dtypes,
                                .shapes = all.shapes,
                                .names = all.names,
                                .name = all.name,
                                .shared_name = all.shared_name}),
        fields_(all.dtypes, all.names) {}

  void insert_many(Integer component, nb::handle keys, nb::handle values) {
    const int64_t of = component.of("insert_many()", "component");
    const bool is_known = of >= 0 && of < std::ssize(fields_.spec);
    const Tensor rows =
        tensor_of(values, is_known ? std::optional(fields_.spec[static_cast<size_t>(of)].dtype) : std::nullopt);
    value(waiting([&, texts = texts_of(keys)] { return barrier_.insert_many(of, texts, rows); }));
  }
  std::tuple<std::vector<int64_t>, std::vector<nb::bytes>, Any> take_many(Integer n, Flag allow_small_batch,
                                                                          Timeout timeout, Stop stop) {
    const char* call = "take_many()";
    const int64_t many = n.of(call, "n");
    const bool allow = allow_small_batch.of(call, "allow_small_batch");
    BarrierBatch batch = value(
        interruptible(call, timeout, stop, [&](const Wait& wait) { return barrier_.take_many(many, allow, wait); }));
    std::vector<nb::bytes> keys;
    for (const std::string& key : batch.keys) keys.emplace_back(key.data(), key.size());
    return {std::move(batch.indices), std::move(keys), fields_.keys->value_of(std::move(batch.values))};
  }
  const Barrier& barrier() const { return barrier_; }

 private:
  static std::vector<std::string> texts_of(nb::handle keys) {
    const nb::object all = nb::steal(
        PyUnicode_Check(keys.ptr()) != 0 || PyBytes_Check(keys.ptr()) != 0 ? nullptr : PySequence_Tuple(keys.ptr()));
    if (!all.is_valid()) {
      clear_only(PyExc_TypeError);
      refuse_type("insert_many()", "keys", keys, "a list of texts");
    }
    std::vector<std::string> texts;
    for (nb::handle key : nb::borrow<nb::tuple>(all)) texts.push_back(text_of(key));
    return texts;
  }

  const Barrier barrier_;
  const Fields fields_;
};

QueueOptions options_of(const std::vector<std::string>& dtypes, nb::handle shapes,
                        const std::vector<std::string>& names, int64_t capacity, int64_t memory_limit,
                        const std::string& shared_name) {
  return queue_options(capacity, dtypes, shapes, names, shared_name, "", memory_limit, {});
}

auto timeout() { return nb::arg("timeout").none() = nb::none(); }
auto stop() { return nb::arg("stop").none() = nb::none(); }
auto indices() { return nb::arg("indices") = nb::tuple(); }

void add_map_area(nb::module_& module) {
  nb::class_<PythonMapArea>(module, "MapStagingArea")
      .def(
          "__init__",
          [](PythonMapArea* self, const std::vector<std::string>& dtypes, nb::handle shapes,
             const std::vector<std::string>& names, int64_t capacity, int64_t memory_limit,
             const std::string& shared_name, bool ordered) {
            new (self) PythonMapArea(options_of(dtypes, shapes, names, capacity, memory_limit, shared_name), ordered);
          },
          nb::arg("dtypes"), nb::arg("shapes").none(), nb::arg("names"), nb::arg("capacity"), nb::arg("memory_limit"),
          nb::arg("shared_name"), nb::arg("ordered"))
      .def("put", &PythonMapArea::put, nb::arg("key"), nb::arg("element"), indices(), nb::kw_only(), timeout(), stop())
      .def("get", &PythonMapArea::get, nb::arg("key").none() = nb::none(), indices(), nb::kw_only(), timeout(), stop(),
           nb::sig(
               "def get(self, key: int | None = None, indices: collections.abc.Sequence[int] = (), *, timeout: float "
               "| None = None, stop: Coordinator | None = None) -> tuple[int, typing.Any]"))
      .def("peek", &PythonMapArea::peek, nb::arg("key"), indices(), nb::kw_only(), timeout(), stop())
      .def("size", [](const PythonMapArea& self) { return self.area().size(); })
      .def("stats", [](const PythonMapArea& self) { return dict_of(self.area().stats()); })
      .def("incomplete_size", [](const PythonMapArea& self) { return self.area().incomplete_size(); })
      .def("clear", [](const PythonMapArea& self) { self.area().clear(); });
}

void add_barrier(nb::module_& module) {
  nb::class_<PythonBarrier>(module, "Barrier")
      .def(
          "__init__",
          [](PythonBarrier* self, const std::vector<std::string>& dtypes, nb::handle shapes,
             const std::vector<std::string>& names, const std::string& shared_name) {
            new (self) PythonBarrier(options_of(dtypes, shapes, names, kUnbounded, kUnbounded, shared_name));
          },
          nb::arg("dtypes"), nb::arg("shapes").none(), nb::arg("names"), nb::arg("shared_name"))
      .def("insert_many", &PythonBarrier::insert_many, nb::arg("component"), nb::arg("keys"), nb::arg("values"),
           nb::sig(
               "def insert_many(self, component: int, keys: collections.abc.Sequence[object], values: object) -> None"))
      .def("take_many", &PythonBarrier::take_many, nb::arg("n"), nb::arg("allow_small_batch"),
           nb::arg("timeout").none(), nb::arg("stop").none())
      .def(
          "close",
          [](const PythonBarrier& self, Flag cancel_pending_enqueues) {
            value(self.barrier().close(cancel_pending_enqueues.of("close()", "cancel_pending_enqueues")));
          },
          nb::arg("cancel_pending_enqueues") = false)
      .def("ready_size", [](const PythonBarrier& self) { return self.barrier().ready_size(); })
      .def("incomplete_size", [](const PythonBarrier& self) { return self.barrier().incomplete_size(); });
}

}  // namespace

QueueSource source_of_area(nb::handle area) {
  if (const PythonMapArea* map = nullptr; nb::try_cast(area, map)) return queue_source(map->area());
  return queue_source(nb::cast<const PythonArea&>(area).area());
}

void add_staging(nb::module_& module) {
  nb::class_<PythonArea>(module, "StagingArea")
      .def(
          "__init__",
          [](PythonArea* self, const std::vector<std::string>& dtypes, nb::handle shapes,
             const std::vector<std::string>& names, int64_t capacity, int64_t memory_limit,
             const std::string& shared_name) {
            new (self) PythonArea(options_of(dtypes, shapes, names, capacity, memory_limit, shared_name));
          },
          nb::arg("dtypes"), nb::arg("shapes").none(), nb::arg("names"), nb::arg("capacity"), nb::arg("memory_limit"),
          nb::arg("shared_name"))
      .def("put", &PythonArea::put, nb::arg("element"), nb::kw_only(), timeout(), stop())
      .def("get", &PythonArea::get, nb::kw_only(), timeout(), stop())
      .def("peek", &PythonArea::peek, nb::arg("index"), nb::kw_only(), timeout(), stop())
      .def("size", [](const PythonArea& self) { return self.area().size(); })
      .def("stats", [](const PythonArea& self) { return dict_of(self.area().stats()); })
      .def("clear", [](const PythonArea& self) { self.area().clear(); });
  add_map_area(module);
  add_barrier(module);
}

}  // namespace headpond::python
