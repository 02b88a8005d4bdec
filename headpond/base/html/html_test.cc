// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/html/html.h"

#include <gtest/gtest.h>

namespace headpond {
namespace {

TEST(HtmlEscaped, HasNoTagAndEndsNoAttribute) {
  EXPECT_EQ(html_escaped("<a href=\"x\">1 & 2</a>"), "&lt;a href=&quot;x&quot;&gt;1 &amp; 2&lt;/a&gt;");
  EXPECT_EQ(html_escaped("&lt;"), "&amp;lt;");
}

TEST(HtmlEscaped, LeavesTheRest) {
  EXPECT_EQ(html_escaped("Zürich's 5 % = 0.05; ünï 漢"), "Zürich's 5 % = 0.05; ünï 漢");
  EXPECT_EQ(html_escaped(""), "");
}

}  // namespace
}  // namespace headpond
