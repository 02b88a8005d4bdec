// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "headpond/io/text/base64_internal.h"

namespace headpond::internal {
namespace {

TEST(FromBase64, ReadsTheExamplesOfTheRfcWithPaddingAndWithout) {
  for (const auto& [coded, plain] : std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                                                     {"Zg==", "f"},
                                                                                     {"Zm8=", "fo"},
                                                                                     {"Zm9v", "foo"},
                                                                                     {"Zm9vYg==", "foob"},
                                                                                     {"Zm9vYmE=", "fooba"},
                                                                                     {"Zm9vYmFy", "foobar"},
                                                                                     {"++//", "\xfb\xef\xff"},
                                                                                     {"--__", "\xfb\xef\xff"}}) {
    EXPECT_EQ(from_base64(coded), plain);
    EXPECT_EQ(from_base64(coded.substr(0, coded.find('='))), plain);
  }
}

TEST(FromBase64, RefusesWhatIsNone) {
  for (const char* const wrong :
       {"Z", "Zg=", "Zg===", "=", "====", "Zm8==", "Zm9v=", "Zm9v====", "Zm 9v", "Zm9v\n", "Z\xff=="})
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace headpond::internal
