// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "headpond/train/articles/digits/digit_shapes_internal.h"

namespace headpond::internal {
namespace {

constexpr StrokePoint kZeroRound[] = {{.52F, .02F}, {.24F, .16F}, {.14F, .5F},  {.24F, .84F}, {.5F, .98F},
                                      {.76F, .84F}, {.86F, .5F},  {.76F, .16F}, {.5F, .02F}};
constexpr StrokePoint kZeroFromTheSide[] = {{.74F, .14F}, {.46F, .03F}, {.2F, .22F}, {.16F, .6F}, {.34F, .95F},
                                            {.62F, .96F}, {.82F, .68F}, {.8F, .3F},  {.6F, .06F}};

constexpr StrokePoint kOneBar[] = {{.5F, .02F}, {.5F, .5F}, {.5F, .98F}};
constexpr StrokePoint kOneFlag[] = {{.28F, .26F}, {.54F, .03F, true}, {.53F, .5F}, {.52F, .98F}};
constexpr StrokePoint kOneBase[] = {{.26F, .97F}, {.78F, .97F}};

constexpr StrokePoint kTwoStraight[] = {{.18F, .26F}, {.3F, .07F}, {.56F, .02F},       {.78F, .15F}, {.76F, .36F},
                                        {.5F, .66F},  {.2F, .94F}, {.16F, .96F, true}, {.88F, .95F}};
constexpr StrokePoint kTwoLoop[] = {{.2F, .2F},   {.4F, .03F},  {.7F, .08F},  {.78F, .3F},  {.6F, .58F}, {.34F, .86F},
                                    {.16F, .93F}, {.14F, .78F}, {.34F, .76F}, {.62F, .93F}, {.9F, .88F}};

constexpr StrokePoint kThreeRound[] = {{.18F, .15F},        {.44F, .02F}, {.74F, .13F}, {.7F, .36F}, {.4F, .47F},
                                       {.41F, .475F, true}, {.74F, .57F}, {.82F, .78F}, {.5F, .98F}, {.14F, .86F}};
constexpr StrokePoint kThreeFlat[] = {{.18F, .05F}, {.78F, .05F, true}, {.42F, .42F, true}, {.74F, .5F},
                                      {.82F, .74F}, {.52F, .98F},       {.14F, .87F}};

constexpr StrokePoint kFourOpen[] = {{.28F, .04F}, {.2F, .3F}, {.16F, .56F, true}, {.88F, .55F}};
constexpr StrokePoint kFourStem[] = {{.68F, .2F}, {.66F, .6F}, {.64F, .98F}};
constexpr StrokePoint kFourClosed[] = {{.64F, .02F}, {.12F, .64F, true}, {.9F, .64F}};
constexpr StrokePoint kFourLongStem[] = {{.64F, .02F}, {.64F, .5F}, {.63F, .98F}};
constexpr StrokePoint kFourRound[] = {{.24F, .06F}, {.16F, .32F},       {.24F, .54F}, {.54F, .54F},
                                      {.78F, .34F}, {.84F, .08F, true}, {.76F, .5F},  {.66F, .98F}};

constexpr StrokePoint kFiveBody[] = {{.3F, .05F},  {.24F, .44F, true}, {.54F, .37F}, {.82F, .54F},
                                     {.78F, .84F}, {.46F, .98F},       {.14F, .86F}};
constexpr StrokePoint kFiveTop[] = {{.29F, .05F}, {.82F, .04F}};
constexpr StrokePoint kFiveInOne[] = {{.82F, .06F}, {.34F, .06F, true}, {.22F, .36F}, {.44F, .42F},
                                      {.74F, .56F}, {.74F, .84F},       {.44F, .97F}, {.16F, .9F}};

constexpr StrokePoint kSixRound[] = {{.7F, .04F},  {.4F, .2F},   {.2F, .52F}, {.21F, .82F}, {.48F, .98F},
                                     {.78F, .84F}, {.74F, .58F}, {.46F, .5F}, {.22F, .7F}};
constexpr StrokePoint kSixStraight[] = {{.4F, .02F},  {.24F, .4F},  {.18F, .76F}, {.4F, .97F}, {.72F, .9F},
                                        {.78F, .66F}, {.56F, .54F}, {.3F, .66F},  {.2F, .8F}};

constexpr StrokePoint kSevenPlain[] = {{.14F, .07F}, {.84F, .06F, true}, {.58F, .5F}, {.42F, .98F}};
constexpr StrokePoint kSevenHook[] = {{.14F, .24F}, {.17F, .07F, true}, {.84F, .07F, true}, {.6F, .46F}, {.46F, .98F}};
constexpr StrokePoint kSevenBar[] = {{.32F, .5F}, {.8F, .48F}};

constexpr StrokePoint kEightLoops[] = {{.54F, .48F}, {.26F, .3F}, {.3F, .08F}, {.52F, .01F}, {.74F, .08F},
                                       {.74F, .3F},  {.5F, .49F}, {.22F, .7F}, {.26F, .92F}, {.5F, .99F},
                                       {.76F, .92F}, {.8F, .7F},  {.53F, .48F}};
constexpr StrokePoint kEightCrossed[] = {{.78F, .14F}, {.5F, .01F},  {.26F, .14F}, {.34F, .38F},
                                         {.66F, .58F}, {.78F, .8F},  {.5F, .99F},  {.22F, .82F},
                                         {.36F, .58F}, {.68F, .36F}, {.8F, .12F}};

constexpr StrokePoint kNineStraight[] = {{.76F, .2F},  {.54F, .03F},       {.26F, .12F}, {.2F, .38F}, {.44F, .52F},
                                         {.72F, .38F}, {.79F, .14F, true}, {.76F, .56F}, {.7F, .98F}};
constexpr StrokePoint kNineHook[] = {{.74F, .18F}, {.48F, .02F}, {.22F, .18F},       {.26F, .44F},
                                     {.54F, .52F}, {.76F, .34F}, {.78F, .16F, true}, {.8F, .56F},
                                     {.66F, .9F},  {.4F, .98F},  {.2F, .88F}};

constexpr Stroke kZeros[] = {kZeroRound, kZeroFromTheSide};
constexpr Stroke kOnes[] = {kOneBar, kOneFlag, kOneBase};
constexpr Stroke kTwos[] = {kTwoStraight, kTwoLoop};
constexpr Stroke kThrees[] = {kThreeRound, kThreeFlat};
constexpr Stroke kFours[] = {kFourOpen, kFourStem, kFourClosed, kFourLongStem, kFourRound};
constexpr Stroke kFives[] = {kFiveBody, kFiveTop, kFiveInOne};
constexpr Stroke kSixes[] = {kSixRound, kSixStraight};
constexpr Stroke kSevens[] = {kSevenPlain, kSevenBar, kSevenHook};
constexpr Stroke kEights[] = {kEightLoops, kEightCrossed};
constexpr Stroke kNines[] = {kNineStraight, kNineHook};

constexpr DigitShape part(std::span<const Stroke> strokes, size_t first, size_t count) {
  return strokes.subspan(first, count);
}

constexpr DigitShape kZero[] = {part(kZeros, 0, 1), part(kZeros, 1, 1)};
constexpr DigitShape kOne[] = {part(kOnes, 0, 1), part(kOnes, 1, 1), part(kOnes, 1, 2)};
constexpr DigitShape kTwo[] = {part(kTwos, 0, 1), part(kTwos, 1, 1)};
constexpr DigitShape kThree[] = {part(kThrees, 0, 1), part(kThrees, 1, 1)};
constexpr DigitShape kFour[] = {part(kFours, 0, 2), part(kFours, 2, 2), part(kFours, 4, 1)};
constexpr DigitShape kFive[] = {part(kFives, 0, 2), part(kFives, 2, 1)};
constexpr DigitShape kSix[] = {part(kSixes, 0, 1), part(kSixes, 1, 1)};
constexpr DigitShape kSeven[] = {part(kSevens, 0, 1), part(kSevens, 0, 2), part(kSevens, 2, 1)};
constexpr DigitShape kEight[] = {part(kEights, 0, 1), part(kEights, 1, 1)};
constexpr DigitShape kNine[] = {part(kNines, 0, 1), part(kNines, 1, 1)};

constexpr std::array<std::span<const DigitShape>, 10> kDigits = {kZero, kOne, kTwo,   kThree, kFour,
                                                                 kFive, kSix, kSeven, kEight, kNine};

}  // namespace

std::span<const DigitShape> digit_shapes(int digit) { return kDigits.at(static_cast<size_t>(digit)); }

}  // namespace headpond::internal
