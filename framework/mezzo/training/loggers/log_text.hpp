#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// A number as Python prints it: the shortest text that reads back as the number, with ".0" for whole numbers.
std::string python_text(double number);

/// A number of that name as loggers write it: "step" and "epoch" as integers, the others as python_text().
std::string logged_text(const std::string& name, double number);

/// A name of a number with a logger's prefix: "prefix-name".
std::string prefixed(const std::string& prefix, const std::string& name);

/// A field of a line of CSV: in quotes if it has the separator, a quote or a line end (RFC 4180).
MEZZO_API std::string csv_field(const std::string& text, const std::string& separator = ",");

/// A line of Python's csv module: fields in quotes where they need them, "\r\n" at the end.
std::string csv_line(const std::vector<std::string>& fields, const std::string& separator = ",");

/// Lines of such a text, with separators ",".
std::vector<std::vector<std::string>> csv_lines(std::string_view text);

}  // namespace mezzo::detail
