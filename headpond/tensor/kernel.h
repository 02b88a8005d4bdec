// SPDX-License-Identifier: Apache-2.0
// Kernel: what map runs on a sample's image or sound: a decoder, an augmentation, a spectrum. A kernel draws random
// numbers, writes its result into the row of the batch, keeps memory from one call to the next, and can be joined with
// the kernel after it. The room codec has the library's own; a program may have others.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

class Kernel;
using KernelRef = std::shared_ptr<const Kernel>;

/// An overload for a list of these makes decode_png({}) mean the kernel, not the function of the same name over a file.
struct NoOption {
  NoOption() = delete;
};

/// What a field is to a kernel. `image` is also the sound.
///
/// mask: as the image, [height, width] or [height, width, 1], of whole numbers: it moves with the image and takes the
/// nearest pixel. boxes: f32 [n, 4], the left, top, right and bottom edges in pixels. labels: [n, ...], a row for each
/// box. points: f32 [n, 2], x and y in pixels; the middle of the first pixel is (0.5, 0.5).
enum class FieldRole : uint8_t { image, mask, boxes, labels, points };
/// "mask".
std::string_view name(FieldRole role);
/// The role whose name the field has; `image` for another name.
FieldRole role_of(const FieldSpec& field);

/// Defects of data that a kernel passed over, as of a damaged file: no errors, but somebody should know.
struct KernelDefects {
  int64_t count = 0;
  std::string first = "";  ///< In words; empty if there is none.
};

/// Objects that a worker keeps from one call of a kernel to the next: a decoder, a tile, tables of coefficients. One
/// for each thread and run; it has one object of each type. One thread at a time.
class KernelScratch {
 public:
  KernelScratch() = default;
  KernelScratch(const KernelScratch&) = delete;
  KernelScratch& operator=(const KernelScratch&) = delete;

  /// The object of type T, made by its default constructor when it is first asked for. Its content is what the last
  /// call left there, perhaps of another kernel: results must not depend on it.
  template <class T>
  T& get() {
    static const char type = 0;
    for (const Object& one : objects_) {
      if (one.type == &type) return *static_cast<T*>(one.object.get());
    }
    objects_.push_back({&type, {new T(), [](void* object) { delete static_cast<T*>(object); }}});
    return *static_cast<T*>(objects_.back().object.get());
  }

  KernelDefects defects;  ///< All that kernels noted since the caller set `count` to 0; `first`: of the last call.

 private:
  struct Object {
    const char* type;
    std::unique_ptr<void, void (*)(void*)> object;
  };
  std::vector<Object> objects_;
};

/// One call of a kernel: its arguments, its results and what it may use. One thread at a time.
class KernelCall {
 public:
  static constexpr size_t kMaxFields = 8;

  /// `fields`: the arguments, replaced by the results in finish(). `random_keys`: one for each kernel that is joined in
  /// the one that is called; `element`: the key of the sample. `targets`: one for each field, or none. `roles`: one for
  /// each field, or none: then all are `image`. All outlive this. REQUIRES: at most kMaxFields.
  KernelCall(std::span<Tensor> fields, std::span<const RandomKey> random_keys, uint64_t element, OutputSlots targets,
             KernelScratch& scratch, std::span<const FieldRole> roles = {})
      : fields_(fields),
        random_keys_(random_keys),
        element_(element),
        targets_(targets),
        scratch_(scratch),
        roles_(roles) {
    assert(fields.size() <= kMaxFields);
  }

  size_t size() const { return fields_.size(); }
  /// Argument `i`. It stays as it is until the call ends. REQUIRES: i < size().
  const Tensor& in(size_t i = 0) const { return fields_[i]; }
  /// What field `i` is. The first is the image. REQUIRES: i < size().
  FieldRole role(size_t i) const { return i < roles_.size() ? roles_[i] : FieldRole::image; }
  /// The random numbers of this sample for kernel `k` of those joined in this one, from their beginning. A pure
  /// function of seed, epoch, sample, and the kernel's name and place. REQUIRES: Facts::draws is not "".
  Random random(size_t k = 0) const { return Random(random_keys_[k], element_); }

  /// Memory for result `i`: the target's if it has this dtype and shape, else a pooled buffer. The caller writes all of
  /// it, before the call ends. Asked twice for one result, it gives the memory of the last call. Throws
  /// Exception(InvalidArgument) for dtype bytes and an unknown dimension; std::bad_alloc.
  std::byte* make(size_t i, DType dtype, const Shape& shape);
  template <class T>
  std::span<T> make(size_t i, const Shape& shape) {
    std::byte* const data = make(i, dtype_of<T>(), shape);
    return {reinterpret_cast<T*>(data), static_cast<size_t>(*shape.size())};
  }
  /// Gives a tensor as result `i` that exists already. A field without a result stays as it is.
  void set(size_t i, Tensor result) {
    results_[i] = std::move(result);
    has_result_[i] = true;
  }
  /// The field of dtype bytes beside the image that Facts::companion names; null: the sample has none, or this isn't
  /// the first kernel of its map.
  const Tensor* companion() const { return companion_; }
  void set_companion(const Tensor* field) { companion_ = field; }

  /// True iff the caller has memory for result `i` and it has this dtype and shape.
  bool has_target(size_t i, DType dtype, const Shape& shape) const;

  template <class T>
  T& scratch() {
    return scratch_.get<T>();
  }

  /// Adds to the defects that map counts (LoaderStats::defects); it logs the first one of its own.
  void note(const KernelDefects& defects);

  /// Runs kernels `first` to `first + count` - 1 of `kernels`, one after the other, as a part of the kernel that is
  /// called: on its arguments, for its results. Their random numbers follow from those of the calling kernel, which
  /// must draw, from their own names, and from how many of `kernels` before them have the same name. An error begins
  /// with the title of the kernel that failed. Call it at most once. REQUIRES: Facts::draws of the caller is not "".
  Result<void> run_nested(std::span<const KernelRef> kernels, size_t first, size_t count);

  /// Moves the results into the fields. Call it after run().
  void finish();

 private:
  const std::span<Tensor> fields_;
  const std::span<const RandomKey> random_keys_;
  const uint64_t element_;
  const OutputSlots targets_;
  KernelScratch& scratch_;
  const std::span<const FieldRole> roles_;
  std::array<Tensor, kMaxFields> results_;
  std::array<bool, kMaxFields> has_result_ = {};
  const Tensor* companion_ = nullptr;
};

/// A pure function from fields and random numbers to fields of the same number. Immutable; any number of threads may
/// run it at once.
///
/// Its first field is the image or the sound. Where map has roles, more fields follow that move with it: KernelCall has
/// role(i), and in the Spec of Facts::result a field's name is its role. A kernel passes on the fields that it does not
/// change.
class Kernel {
 public:
  struct Facts {
    /// "resize([224,224], antialias=true)": name and options as the user gave them. explain prints it, and the
    /// fingerprint of a state covers it.
    std::string title;
    std::string draws = "";  ///< The name of its random numbers; "": it draws none.
    int version = 0;         ///< Raised when equal options give other values.
    /// The fields that run() gives for fields of `in`; dimensions that follow only from the values are kUnknown. Throws
    /// Exception(InvalidArgument) iff run() can't take such fields. Called while a pipeline is built.
    /// Empty: the same fields.
    std::function<Spec(const Spec& in)> result = {};
    /// "name": of the first kernel of a map over the field `image`, a scalar of dtype bytes in the field `image/name`,
    /// if there is one, is KernelCall::companion(). It may save work, and changes no values. "": none.
    std::string companion = "";
    bool opaque = false;  ///< It calls a function without a name: a restore cannot notice that the function changed.
  };
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const Facts& facts() const { return facts_; }

  /// Makes the results of one sample. An error, returned or thrown, replaces the sample; its kind is DataLoss or
  /// InvalidArgument for bad data.
  virtual Result<void> run(KernelCall& call) const = 0;

  /// One kernel that does what this and then `next` do, with the same bytes, or null if there is none. Its title says
  /// what is gained: "region of the JPEG". Its call's random(k) are those of the k-th kernel of the chain that it
  /// stands for, the first of which is number 0.
  virtual KernelRef with(const KernelRef& /*next*/) const { return nullptr; }
  /// Why with(next) is null, for explain: "the crop has no fixed size". "": no kernel does both.
  virtual std::string why_not(const KernelRef& /*next*/) const { return ""; }

 protected:
  explicit Kernel(Facts facts) : facts_(std::move(facts)) {}

 private:
  const Facts facts_;
};

/// The kernel as plans show it: title, the name of its random numbers if it has another, version unless 0, "opaque".
std::string to_string(const Kernel& kernel);

/// The kernels to run instead of `chain`: neighbours that can be joined are. `first[i]`: the index in `chain` of the
/// first kernel that is joined in kernel i.
struct KernelChain {
  /// What became of a kernel and the one after it.
  struct Joint {
    std::string pair;         ///< "decode_jpeg > resize([224,224])"
    std::string joined = "";  ///< The title of the joined kernel; "": they are not joined.
    std::string why_not = "";
  };
  std::vector<KernelRef> kernels;
  std::vector<size_t> first;
  std::vector<Joint> joints;  ///< One fewer than kernels in `chain`.
};
KernelChain join_kernels(std::span<const KernelRef> chain);

/// Runs kernels on one sample, joined or as they are, for tests and for programs without a pipeline: random numbers are
/// those of a map over a source, with this seed, for the sample with this key in this epoch. Returns the fields.
/// InvalidArgument iff there are more than KernelCall::kMaxFields; else the error of the kernel that failed.
struct KernelRun {
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t key = 0;
  bool joined = true;
  std::vector<FieldRole> roles = {};  ///< One for each field; none: all are `image`.
};
Result<std::vector<Tensor>> run_kernels(std::span<const KernelRef> chain, std::vector<Tensor> fields,
                                        const KernelRun& options = {});
/// The same for one field.
Result<Tensor> run_kernels(std::span<const KernelRef> chain, const Tensor& field, const KernelRun& options = {});

}  // namespace headpond
