#pragma once
#include <map>
#include <string>

#include <mezzo/cli/section.hpp>

namespace mezzo::cli {

/// Lines of a text, from 1, by the paths of the members that begin there: "trainer.max_epochs".
using MemberLines = std::map<std::string, int>;

/// Content of a text in YAML 1.2: one document, with anchors and merge keys (`<<`). Adds the lines of its members.
///
/// Words without quotes are texts, except for numbers, true, false and null: `yes`, `no`, `on`, `off` and times such as
/// 01:30 are texts. Numbers are decimal, 0x and 0o ones too. A UsageError that starts with `where` and the line for a
/// text that isn't YAML, for keys that are equal or no scalars, for tags other than !!str, and for numbers that are
/// not finite or begin with a zero that older YAML reads as octal.
Json parse_yaml(const std::string& text, const std::string& where, MemberLines& lines);

}  // namespace mezzo::cli
