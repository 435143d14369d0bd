#pragma once
#include <string>

namespace mezzo::cli {

/// Text of an error with `; nearest: "..."` appended, if the text names an unknown name and lists the valid ones.
std::string with_nearest(const std::string& text);

}  // namespace mezzo::cli
