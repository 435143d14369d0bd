#pragma once
#include <functional>
#include <string>

namespace mezzo {

/// Function that writes text for the user: progress, warnings. The text may contain '\r' to overwrite the current line.
using Output = std::function<void(const std::string& text)>;

/// Replaces the sink of all output of the library. An empty function restores std::cerr.
void set_output(Output output);

/// Writes text to the sink unchanged; the caller adds line ends.
void write_output(const std::string& text);

/// True if the sink is std::cerr and std::cerr is a terminal.
bool output_is_terminal();

/// Writes "mezzo: warning: <text>\n" to the sink, on a line of its own.
void warn(const std::string& text);

}  // namespace mezzo
