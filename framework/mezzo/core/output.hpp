#pragma once
#include <functional>
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Function that writes text for the user: progress, warnings. The text may contain '\r' to overwrite the current line.
using Output = std::function<void(const std::string& text)>;

/// Replaces the sink of all output of the library. An empty function restores std::cerr.
MEZZO_API void set_output(Output output);

namespace detail {
/// Writes text to the sink unchanged; the caller adds line ends.
MEZZO_API void write_output(const std::string& text);

/// Writes text and a line end to the sink, on a line of its own.
MEZZO_API void write_line(const std::string& text);

/// True if the sink is std::cerr and std::cerr is a terminal.
MEZZO_API bool output_is_terminal();

/// Writes "mezzo: warning: <text>\n" to the sink, on a line of its own.
MEZZO_API void warn(const std::string& text);
}  // namespace detail

}  // namespace mezzo
