// SPDX-License-Identifier: Apache-2.0
// Tiles as one picture, and as a page for a browser.
#pragma once

#include <string>
#include <vector>

#include "cli/view/tile.h"

namespace headpond::cli {

/// A grid of the tiles' pictures, each with its number from 0 on; a grey field with a cross for an error, with a dash
/// without a picture.
Picture sheet_of(const std::vector<Tile>& tiles);

/// A page that needs nothing else: pictures and sounds are in it. `title` is text, not HTML.
Result<std::string> page_of(const std::vector<Tile>& tiles, const std::string& title);

}  // namespace headpond::cli
