// SPDX-License-Identifier: Apache-2.0
// Chains of kernels at random in a Loader, over images, sounds, files of both, and batches, with fields that move with
// an image: of any size, with any number of threads, joined or not, and with the code for any instruction set of this
// machine they give the bytes of one kernel after the other. HEADPOND_CHAINS sets another number of chains,
// HEADPOND_CHAINS_FIRST the first one's number; each follows from its number alone.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "fuzz/kernel_cases.h"
#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using fuzz::Numbers;
using Fields = std::vector<Tensor>;

constexpr const char* kTargetVariable = "HEADPOND_CHAINS_TARGET";
constexpr const char* kFileVariable = "HEADPOND_CHAINS_FILE";
constexpr int64_t kSamples = 7, kEpochs = 2, kRows = 3;

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : static_cast<uint64_t>(std::atoll(given));
}

int64_t drawn(Random& random, int64_t below) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(below)));
}

// 1, and a few that are large.
int64_t drawn_side(Random& random) {
  const int64_t how = drawn(random, 8);
  return how == 0 ? 1 : how == 1 ? 100 + drawn(random, 120) : 1 + drawn(random, 40);
}

struct ChainCase {
  uint64_t number = 0;
  std::vector<KernelRef> chain = {};
  std::vector<Fields> samples = {};
  std::vector<FieldRole> roles = {};
  Spec spec = {};
  Spec result = {};

  std::string text() const {
    std::string all = fmt::format("chain {}:", number);
    for (const KernelRef& kernel : chain) all += " " + to_string(*kernel);
    for (const FieldSpec& field : spec) all += fmt::format(", {} {}", field.name, field.shape.to_string());
    return all;
  }
};

// What the samples of a case have in common.
struct Form {
  size_t kind = 0;  // 0 an image, 1 a sound, 2 a batch of images.
  bool is_file = false, is_bytes = true, has_one_size = false;
  int64_t channels = 3;
  bool mask = false, boxes = false, labels = false, points = false;
};

Form drawn_form(Random& random) {
  const auto flag = [&] { return drawn(random, 2) == 0; };
  const int64_t what = drawn(random, 8);
  Form form = {.kind = what == 0 ? size_t{2} : what < 3 ? size_t{1} : size_t{0}};
  form.is_file = form.kind < 2 && flag();
  form.is_bytes = form.kind != 1 && (form.is_file || flag());
  form.has_one_size = flag();
  form.channels = 1 + drawn(random, form.kind == 1 ? 2 : 4);
  if (form.kind != 0 || flag()) return form;
  form.mask = flag();
  form.boxes = flag();
  form.labels = form.boxes && flag();
  form.points = flag();
  return form;
}

Tensor noise_field(Random& random, DType dtype, const Shape& shape) {
  Tensor field = Tensor::empty(dtype, shape);
  if (dtype == f32) {
    for (float& value : field.mutable_as<float>()) value = random.uniform();
  } else {
    for (uint8_t& value : field.mutable_as<uint8_t>()) value = static_cast<uint8_t>(random.u32());
  }
  return field;
}

Tensor boxes_or_points(Random& random, int64_t rows, int64_t columns, int64_t side) {
  Tensor field = Tensor::empty(f32, {rows, columns});
  const auto to = field.mutable_as<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    const float before = i % 4 >= 2 && columns == 4 ? to[i - 2] : 0;
    to[i] = before + random.uniform() * static_cast<float>(side);
  }
  return field;
}

Fields drawn_sample(Random& random, Numbers& numbers, const Form& form, int64_t height, int64_t width) {
  if (form.kind == 2) return {noise_field(random, form.is_bytes ? u8 : f32, {3, height, width, form.channels})};
  if (form.kind == 1) {
    const int64_t frames = height * width % 5000;
    const Tensor sound = noise_field(random, f32, {frames, form.channels});
    return {form.is_file ? fuzz::file_of(*encode_wav(sound, 16000)) : sound};
  }
  Tensor pixels = noise_field(random, form.is_bytes ? u8 : f32, {height, width, form.channels});
  Fields fields = {form.is_file ? fuzz::image_file(numbers, std::move(pixels)) : pixels};
  const int64_t rows = drawn(random, 4), side = std::max(height, width);
  if (form.mask) fields.push_back(noise_field(random, u8, {height, width}));
  if (form.boxes) fields.push_back(boxes_or_points(random, rows, 4, side));
  if (form.labels) fields.push_back(Tensor::from(std::vector<int64_t>(static_cast<size_t>(rows), 3), {rows}));
  if (form.points) fields.push_back(boxes_or_points(random, drawn(random, 4), 2, side));
  return fields;
}

// Known ahead: sizes that all samples share, and the channels of an image.
Shape known_shape(const Form& form, const ChainCase& made, size_t i) {
  const Shape& shape = made.samples[0][i].shape();
  std::vector<int64_t> sizes(static_cast<size_t>(shape.rank()), kUnknown);
  if (i == 0 && !sizes.empty()) sizes.back() = form.channels;
  const bool is_same = std::ranges::all_of(made.samples, [&](const Fields& one) { return one[i].has_shape(shape); });
  return is_same ? shape : Shape(sizes);
}

ChainCase drawn_case(uint64_t number) {
  Random random(number);
  std::vector<uint8_t> bytes(600);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.u32());
  Numbers numbers(bytes.data(), bytes.size());
  Form form = drawn_form(random);
  if (form.is_file && form.kind == 0 && form.channels % 2 == 0) form.channels = 3;  // All formats hold it.
  ChainCase made = {.number = number};
  int64_t height = drawn_side(random), width = drawn_side(random);
  for (int64_t i = 0; i < kSamples; ++i) {
    made.samples.push_back(drawn_sample(random, numbers, form, height, width));
    if (form.has_one_size) continue;
    height = drawn_side(random);
    width = drawn_side(random);
  }
  made.roles = {FieldRole::image};
  if (form.mask) made.roles.push_back(FieldRole::mask);
  if (form.boxes) made.roles.push_back(FieldRole::boxes);
  if (form.labels) made.roles.push_back(FieldRole::labels);
  if (form.points) made.roles.push_back(FieldRole::points);
  for (size_t i = 0; i < made.roles.size(); ++i) {
    made.spec.push_back({std::string(name(made.roles[i])), made.samples[0][i].dtype(), known_shape(form, made, i)});
  }
  fuzz::Sample sample = {.kind = form.kind, .fields = made.samples[0], .roles = made.roles, .spec = made.spec};
  made.chain = fuzz::chain_of(numbers, sample);
  made.result = sample.spec;
  return made;
}

Dataset pipeline(const ChainCase& made, bool join) {
  const auto samples = std::make_shared<const std::vector<Fields>>(made.samples);
  MapFields fields = {.image = "image", .join = join};
  const auto set = [&](FieldRole role, std::string& field) {
    if (std::ranges::count(made.roles, role) > 0) field = std::string(name(role));
  };
  set(FieldRole::mask, fields.mask);
  set(FieldRole::boxes, fields.boxes);
  set(FieldRole::labels, fields.labels);
  set(FieldRole::points, fields.points);
  const auto pick = [samples](int64_t i) { return Element((*samples)[static_cast<size_t>(i)]); };
  return range(static_cast<int64_t>(samples->size())) | map(pick, {.output = made.spec, .name = "samples"}) |
         internal::map_kernels_step(fields, made.chain);
}

// Dtype, shape, and a checksum of the bytes.
std::string text_of_fields(std::span<const Tensor> fields) {
  std::string text;
  for (const Tensor& field : fields) {
    std::string strings;
    for (int64_t i = 0; field.dtype() == DType::bytes && i < field.size(); ++i)
      strings += fmt::format("{}:{}", field.bytes_at(i).size(), field.bytes_at(i));
    const auto bytes = field.dtype() == DType::bytes ? std::as_bytes(std::span(strings))
                                                     : std::span<const std::byte>(field.data(), field.byte_size());
    text += fmt::format("{}{}:{:08x} ", name(field.dtype()), field.shape().to_string(), crc32c(bytes));
  }
  return text;
}

// Sample `i` of an epoch, by one kernel after the other.
Result<Fields> one_sample(const ChainCase& made, uint64_t epoch, size_t i) {
  const KernelRun run = {.seed = made.number, .epoch = epoch, .key = i, .joined = false, .roles = made.roles};
  return run_kernels(made.chain, made.samples[i], run);
}

// The samples of all epochs.
std::vector<std::string> one_by_one(const ChainCase& made) {
  std::vector<std::string> all;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (size_t i = 0; i < made.samples.size(); ++i) {
      const auto fields = one_sample(made, epoch, i);
      all.push_back(fields ? text_of_fields(*fields) : "error");
    }
  }
  return all;
}

Tensor stacked_field(const std::vector<Fields>& rows, size_t k) {
  const Tensor& first = rows[0][k];
  const auto count = std::ssize(rows);
  if (first.dtype() == DType::bytes) {
    std::vector<std::string> strings;
    for (const Fields& row : rows) strings.emplace_back(row[k].bytes_at(0));
    return Tensor::from(strings, {count});
  }
  Tensor all = Tensor::empty(first.dtype(), first.shape().stacked(count));
  std::byte* to = all.mutable_data();
  for (const Fields& row : rows) {
    std::memcpy(to, row[k].data(), row[k].byte_size());
    to += row[k].byte_size();
  }
  return all;
}

// The batches of all epochs. An error comes when it is met; the batch goes on with the next sample.
std::vector<std::string> batches_one_by_one(const ChainCase& made) {
  std::vector<std::string> all;
  std::vector<Fields> rows;
  const auto end_batch = [&] {
    Fields fields;
    for (size_t k = 0; !rows.empty() && k < rows[0].size(); ++k) fields.push_back(stacked_field(rows, k));
    if (!rows.empty()) all.push_back(text_of_fields(fields));
    rows.clear();
  };
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (size_t i = 0; i < made.samples.size(); ++i) {
      auto fields = one_sample(made, epoch, i);
      if (!fields) all.emplace_back("error");
      if (fields) rows.push_back(*std::move(fields));
      if (std::ssize(rows) == kRows) end_batch();
    }
    end_batch();
  }
  return all;
}

std::vector<std::string> delivered(const Dataset& dataset, uint64_t seed, int threads) {
  Loader loader(dataset, {.epochs = kEpochs, .seed = seed, .threads = threads, .consumer_helps = seed % 2 == 0});
  std::vector<std::string> all;
  while (true) {
    const auto next = loader.next();
    if (next) {
      Fields fields;
      for (size_t i = 0; i < next->element().size(); ++i) fields.push_back(next->element()[i]);
      all.push_back(text_of_fields(fields));
    } else if (next.error().is_end()) {
      return all;
    } else {
      all.push_back("!" + next.error().message());
    }
  }
}

std::string first_difference(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  if (got.size() != expected.size()) return fmt::format("{} samples, not {}", got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_same = expected[i] == "error" ? got[i].starts_with("!") : got[i] == expected[i];
    if (!is_same) return fmt::format("sample {}: {}, not {}", i, got[i], expected[i]);
  }
  return "";
}

// "" iff the chain gives the same bytes in any way.
std::string chain_violation(const ChainCase& made) {
  const std::vector<std::string> expected = one_by_one(made);
  std::vector<std::string> texts;  // With those of errors.
  for (const bool join : {true, false}) {
    const Dataset dataset = pipeline(made, join);
    for (const int threads : {0, 1, 2, 8}) {
      const auto got = delivered(dataset, made.number, threads);
      if (texts.empty()) texts = got;
      std::string found = first_difference(got, expected);
      if (found.empty()) found = first_difference(got, texts);
      if (!found.empty()) return fmt::format("threads={}, join={}: {}", threads, join, found);
    }
  }
  // Rows of a batch, which kernels write where they belong.
  const bool has_rows = std::ranges::all_of(made.result, [](const FieldSpec& field) { return field.shape.is_full(); });
  if (!has_rows) return "";
  const std::vector<std::string> batches = batches_one_by_one(made);
  texts.clear();
  for (const bool join : {false, true}) {
    for (const int threads : {0, 1, 2, 8}) {
      const auto got = delivered(pipeline(made, join) | batch(kRows), made.number, threads);
      if (texts.empty()) texts = got;
      std::string found = first_difference(got, batches);
      if (found.empty()) found = first_difference(got, texts);
      if (!found.empty()) return fmt::format("in batches, threads={}, join={}: {}", threads, join, found);
    }
  }
  return "";
}

TEST(KernelChains, GiveTheBytesOfOneAfterTheOther) {
  const uint64_t first = number_of("HEADPOND_CHAINS_FIRST", 0);
  const uint64_t count = number_of("HEADPOND_CHAINS", test::quick_or(40, 400));
  std::map<std::string, int> met;
  int64_t values = 0, errors = 0, roles = 0;
  for (uint64_t number = first; number < first + count; ++number) {
    const ChainCase made = drawn_case(number);
    if (made.chain.empty()) continue;
    ASSERT_EQ(chain_violation(made), "") << made.text();
    for (const KernelRef& kernel : made.chain) ++met[kernel->facts().title.substr(0, kernel->facts().title.find('('))];
    for (const std::string& text : one_by_one(made)) ++(text == "error" ? errors : values);
    roles += made.roles.size() > 1 ? 1 : 0;
  }
  std::cout << fmt::format("{} values, {} errors, {} kernels, {} chains with other fields\n", values, errors,
                           met.size(), roles);
  if (first != 0 || count < 40) return;
  EXPECT_GT(values, errors);
  EXPECT_GT(met.size(), 30U) << "few kernels were met";
  EXPECT_GT(roles, 5);
}

// ---- controls -------------------------------------------------------------------------------------------------------

enum class Mistake { by_thread, by_call, by_processor, joined, in_rows };

// Passes its field on, with another first byte.
class WrongKernel final : public Kernel {
 public:
  explicit WrongKernel(Mistake mistake, bool is_joined = false)
      : Kernel({.title = "wrong"}), mistake_(mistake), is_joined_(is_joined) {}
  Result<void> run(KernelCall& call) const override {
    const Tensor& in = call.in();
    const bool is_in_row = call.has_target(0, in.dtype(), in.shape());
    std::byte* const to = call.make(0, in.dtype(), in.shape());
    std::memcpy(to, in.data(), in.byte_size());
    int64_t change = is_joined_ ? 1 : 0;
    if (mistake_ == Mistake::in_rows) change = is_in_row ? 1 : 0;
    if (mistake_ == Mistake::by_thread) change = std::this_thread::get_id() == home_ ? 0 : 1;
    if (mistake_ == Mistake::by_call) change = calls_++;
    if (mistake_ == Mistake::by_processor) change = std::countr_zero(static_cast<uint64_t>(hwy::SupportedTargets()));
    to[0] = static_cast<std::byte>(static_cast<int64_t>(to[0]) + change);
    return {};
  }
  KernelRef with(const KernelRef& next) const override {
    if (mistake_ != Mistake::joined || dynamic_cast<const WrongKernel*>(next.get()) == nullptr) return nullptr;
    return std::make_shared<WrongKernel>(mistake_, true);
  }

 private:
  const Mistake mistake_;
  const bool is_joined_;
  const std::thread::id home_ = std::this_thread::get_id();
  mutable std::atomic<int64_t> calls_ = 0;
};

ChainCase simple_case(std::vector<KernelRef> chain) {
  Random random(5);
  ChainCase made = {.number = 1, .chain = std::move(chain), .roles = {FieldRole::image}};
  for (int64_t i = 0; i < kSamples; ++i) made.samples.push_back({noise_field(random, u8, {5, 4, 3})});
  made.result = made.spec = {{"image", u8, {5, 4, 3}}};
  return made;
}

TEST(KernelChains, AWrongKernelIsFound) {
  EXPECT_EQ(chain_violation(simple_case({random_horizontal_flip(), invert()})), "");
  for (const Mistake mistake : {Mistake::by_thread, Mistake::by_call, Mistake::joined, Mistake::in_rows}) {
    const KernelRef wrong = std::make_shared<WrongKernel>(mistake);
    EXPECT_NE(chain_violation(simple_case({random_horizontal_flip(), wrong, wrong})), "") << static_cast<int>(mistake);
  }
}

// ---- instruction sets -----------------------------------------------------------------------------------------------

// Of all that a chain gives in a Loader.
std::string digest(const ChainCase& made) {
  const std::string text = fmt::format("{}", fmt::join(delivered(pipeline(made, true), made.number, 2), "\n"));
  return fmt::format("{} {:08x}\n", made.number, crc32c(std::as_bytes(std::span(text))));
}

// Of the drawn chains, a line each.
std::string digests() {
  const uint64_t first = number_of("HEADPOND_CHAINS_FIRST", 0);
  const uint64_t count = number_of("HEADPOND_CHAINS", test::quick_or(40, 100));
  std::string all;
  for (uint64_t number = first; number < first + count; ++number) {
    const ChainCase made = drawn_case(number);
    if (made.chain.empty()) continue;
    all += digest(made);
  }
  return all;
}

// What this program does when another process of it has set the variable.
TEST(KernelChains, WriteDigestsForAnotherProcess) {
  const char* const file = std::getenv(kFileVariable);
  if (file == nullptr) return;
  hwy::SetSupportedTargetsForTest(static_cast<int64_t>(number_of(kTargetVariable, 0)));  // Before code is chosen.
  const ChainCase wrong = simple_case({std::make_shared<WrongKernel>(Mistake::by_processor)});
  std::ofstream(file) << digests() << digest(wrong);
}

std::string digests_of_target(int64_t target) {
  const test::TempFolder folder;
  const std::string file = folder.file("digests");
  setenv(kTargetVariable, std::to_string(target).c_str(), 1);
  setenv(kFileVariable, file.c_str(), 1);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=KernelChains.WriteDigestsForAnotherProcess",
              brief = "--gtest_brief=1";
  char* const arguments[] = {program.data(), filter.data(), brief.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, (file + ".out").c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = 0;
  int status = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status == 0) waitpid(child, &status, 0);
  unsetenv(kTargetVariable);
  unsetenv(kFileVariable);
  EXPECT_EQ(status, 0);
  std::ostringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}

TEST(KernelChains, GiveTheSameBytesOnAnyProcessor) {
  const std::string expected = digests();
  std::vector<int64_t> targets = {HWY_SCALAR};  // The twins without vectors.
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) targets.push_back(target);
  std::set<std::string> controls;
  for (const int64_t target : targets) {
    const std::string got = digests_of_target(target);
    EXPECT_EQ(got.substr(0, expected.size()), expected) << hwy::TargetName(target);
    controls.insert(got.substr(std::min(got.size(), expected.size())));
  }
  EXPECT_EQ(controls.size(), targets.size()) << "control: a kernel that depends on the processor";
}

}  // namespace
}  // namespace headpond
