#pragma once
#include <functional>
#include <string>

namespace mezzo {

/// Takes text for a person: progress, warnings. May contain '\r' to write over the current line.
using Output = std::function<void(const std::string& text)>;

/// Replaces the one sink; an empty function puts std::cerr back. Nothing in the library prints but through it.
void set_output(Output output);

/// Writes to the sink as it is; the caller ends lines.
void write_output(const std::string& text);

/// Whether the sink is std::cerr and that is a terminal.
bool output_is_terminal();

/// Writes "mezzo: warning: <text>\n" to the sink, on a line of its own.
void warn(const std::string& text);

}  // namespace mezzo
