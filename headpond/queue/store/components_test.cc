// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/store/components_internal.h"

namespace headpond::internal {
namespace {

const QueueOptions kPair = {.capacity = 1, .dtypes = {f32, i64}, .shapes = {Shape{2, 3}, Shape{}}};
const QueueOptions kNamedPair = {
    .capacity = 1, .dtypes = {f32, i64}, .shapes = {Shape{2, 3}, Shape{}}, .names = {"image", "label"}};

Tensor image() { return Tensor::empty(f32, {2, 3}); }
Tensor label(int64_t value = 1) { return Tensor::scalar(value); }

TEST(Components, AFittingElementPasses) {
  Element element{image(), label()};
  EXPECT_TRUE(Components(kPair).check(element));
}

TEST(Components, AWrongCountIsNamedWithBothNumbers) {
  Element one{image()};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected 2 components, received 1", Components(kPair).check(one));
  Element none;
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received 0", Components(kPair).check(none));
}

TEST(Components, AWrongDtypeIsNamedWithComponentExpectedAndReceived) {
  Element element{image(), Tensor::scalar(1.0F)};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected dtype", Components(kPair).check(element));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received", Components(kPair).check(element));
}

TEST(Components, AWrongShapeIsNamedWithBothShapes) {
  Element element{Tensor::empty(f32, {2, 4}), label()};
  const std::string shapes = Shape({2, 3}).to_string() + ", received " + Shape({2, 4}).to_string();
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected shape " + shapes,
                    Components(kPair).check(element));
  Element flat{Tensor::empty(f32, {6}), label()};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0", Components(kPair).check(flat));
}

TEST(Components, WithoutShapesAnyShapePasses) {
  const Components any({.capacity = 1, .dtypes = {f32}});
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{7, 2}, Shape{1, 1, 1, 1, 1}}) {
    Element element{Tensor::empty(f32, shape)};
    EXPECT_TRUE(any.check(element));
  }
}

TEST(Components, NamedFieldsAreBroughtIntoOrder) {
  Element element = Element::named({{"label", label(7)}, {"image", image()}});
  element.key = 3;
  ASSERT_TRUE(Components(kNamedPair).check(element));
  EXPECT_EQ(element[1].as<int64_t>()[0], 7);
  EXPECT_EQ(element.key, 3U);
}

TEST(Components, ErrorsOfNamedComponentsTellTheName) {
  Element element = Element::named({{"label", Tensor::scalar(1.0F)}, {"image", image()}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1 ('label')", Components(kNamedPair).check(element));
}

TEST(Components, UnlikeNamesAreRefusedBothWays) {
  const Components named(kNamedPair);
  Element missing = Element::named({{"label", label()}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected an element named {image, label}, received {label}",
                    named.check(missing));
  Element other = Element::named({{"label", label()}, {"picture", image()}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "{label, picture}", named.check(other));
  Element plain{image(), label()};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received one without names", named.check(plain));
  Element with_names = Element::named({{"image", image()}, {"label", label()}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected an element without names",
                    Components(kPair).check(with_names));
}

TEST(Components, RowsAreCountedAndChecked) {
  const Components pair(kPair);
  Element rows{Tensor::empty(f32, {4, 2, 3}), Tensor::empty(i64, {4})};
  const Result<int64_t> count = pair.check_rows(rows);
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 4);
  Element uneven{Tensor::empty(f32, {4, 2, 3}), Tensor::empty(i64, {5})};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected 4 rows as component 0 has, received 5",
                    pair.check_rows(uneven));
  Element single{image(), label()};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected shape", pair.check_rows(single));
}

TEST(Components, ARowHasItsBatchesKeyAndMemoryOfItsOwn) {
  const Components only({.capacity = 1, .dtypes = {f32, bytes}});
  const std::vector<std::string_view> texts = {"a", "bc"};
  Element rows{Tensor::empty(f32, {2, 8}), Tensor::from(std::span<const std::string_view>(texts), {2})};
  rows.key = 9;
  const Element row = only.row(rows, 1);
  EXPECT_EQ(row.key, 9U);
  EXPECT_EQ(row[0].shape(), Shape{8});
  EXPECT_NE(row[0].owner(), rows[0].owner());
  EXPECT_EQ(row[1].bytes_at(0), "bc");
}

TEST(Components, ABorrowedBatchIsCopiedRowByRow) {
  const Components only({.capacity = 1, .dtypes = {f32}});
  std::vector<float> values(16, 2.5F);
  const Element rows{Tensor::view(values.data(), f32, {2, 8})};
  const Element row = only.row(rows, 0);
  values.assign(16, 0);
  EXPECT_EQ(row[0].as<float>()[7], 2.5F);
}

TEST(Components, ABatchHoldsItsElementsInOrder) {
  const Components pair(kNamedPair);
  std::vector<Element> elements;
  for (int64_t i = 0; i < 3; ++i) {
    Tensor picture = image();
    for (float& each : picture.mutable_as<float>()) each = static_cast<float>(i);
    elements.push_back(Element{picture, label(i)});
    elements.back().key = static_cast<uint64_t>(i) + 10;
  }
  Element batch = pair.batch_for(elements);
  pair.fill(batch, elements);
  EXPECT_EQ(batch["image"].shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(batch["image"].as<float>()[17], 2.0F);
  EXPECT_EQ(batch["label"].as<int64_t>()[1], 1);
  EXPECT_EQ(batch.key, 10U);
  EXPECT_EQ(pair.batch_for({})["image"].shape(), (Shape{0, 2, 3}));
}

TEST(Components, TheBytesOfAnElementAreKnownIffTheyAreFixed) {
  EXPECT_EQ(Components(kPair).element_bytes(), 6 * 4 + 8);
  EXPECT_EQ(Components({.capacity = 1, .dtypes = {f32}}).element_bytes(), -1);
  EXPECT_EQ(Components({.capacity = 1, .dtypes = {bytes}, .shapes = {Shape{}}}).element_bytes(), -1);
  EXPECT_EQ(Components({.capacity = 1, .dtypes = {f32}, .shapes = {Shape{INT64_MAX}}}).element_bytes(), -1);
}

const QueueOptions kRagged = {
    .capacity = 1, .dtypes = {f32, bytes}, .shapes = {Shape{kUnknown, 2}, Shape{kUnknown}}, .names = {"a", "b"}};

Element ragged(const std::vector<float>& values, const std::vector<std::string_view>& texts) {
  const auto rows = std::ssize(values) / 2;
  return Element::named({{"a", Tensor::from(std::span<const float>(values), {rows, 2})},
                         {"b", Tensor::from(std::span<const std::string_view>(texts), {std::ssize(texts)})}});
}

TEST(PaddedComponents, AnElementMustFitTheKnownDimensionsAndTheRank) {
  const Components padded(kRagged, Layout::padded);
  Element fits = ragged({1, 2, 3, 4}, {});
  EXPECT_TRUE(padded.check(fits));
  Element wide = Element::named({{"a", Tensor::empty(f32, {4, 3})}, {"b", fits["b"]}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0 ('a'): expected shape [?,2], received [4,3]",
                    padded.check(wide));
  Element flat = Element::named({{"a", Tensor::empty(f32, {4})}, {"b", fits["b"]}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected shape [?,2], received [4]", padded.check(flat));
  EXPECT_EQ(padded.element_bytes(), -1);
}

TEST(PaddedComponents, ABatchIsAsLongAsItsLongestAndTheRestIsZeroOrEmpty) {
  const Components padded(kRagged, Layout::padded);
  const std::vector<Element> elements = {ragged({1, 2}, {"x", "yy"}), ragged({3, 4, 5, 6}, {}), ragged({}, {"z"})};
  Element batch = padded.batch_for(elements);
  padded.fill(batch, elements);
  EXPECT_EQ(batch["a"].shape(), (Shape{3, 2, 2}));
  EXPECT_THAT(batch["a"].as<float>(), ::testing::ElementsAre(1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 0, 0));
  EXPECT_EQ(batch["b"].shape(), (Shape{3, 2}));
  EXPECT_EQ(batch["b"].bytes_at(1), "yy");
  EXPECT_EQ(batch["b"].bytes_at(2), "");
  EXPECT_EQ(batch["b"].bytes_at(4), "z");
  EXPECT_EQ(padded.batch_for({})["a"].shape(), (Shape{0, 0, 2}));
}

TEST(PaddedComponents, ABatchThatNoMemoryHoldsIsRefused) {
  const Components padded({.capacity = 1, .dtypes = {u8}, .shapes = {Shape{kUnknown, kUnknown}}}, Layout::padded);
  const std::vector<Element> elements = {Element{Tensor::empty(u8, {int64_t{1} << 40, 0})},
                                         Element{Tensor::empty(u8, {0, int64_t{1} << 40})}};
  try {
    (void)padded.batch_for(elements);
    FAIL() << "was not refused";
  } catch (const Exception& refused) {
    EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted) << refused.error();
  }
}

TEST(PriorityComponents, ThePriorityIsAScalarAlsoWithoutShapes) {
  const Components with({.capacity = 1, .dtypes = {i64, f32}}, Layout::with_priority);
  Element fits{Tensor::scalar(int64_t{1}), Tensor::empty(f32, {3})};
  EXPECT_TRUE(with.check(fits));
  Element vector{Tensor::empty(i64, {2}), Tensor::empty(f32, {3})};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected shape [], received [2]", with.check(vector));
  EXPECT_TRUE(with.check_rows(vector).error().message().find("expected 2 rows") != std::string::npos);
  Element matrix{Tensor::empty(i64, {3, 1}), Tensor::empty(f32, {3})};
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected shape [?], received [3,1]",
                    with.check_rows(matrix));
}

TEST(Components, StackingNeedsShapes) {
  EXPECT_TRUE(Components(kPair).check_can_stack());
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "shapes",
                    Components({.capacity = 1, .dtypes = {f32}}).check_can_stack());
}

}  // namespace
}  // namespace headpond::internal
