#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/data/tables/read_csv_options.hpp>
#include <mezzo/data/tables/table.hpp>

namespace mezzo {

/// Reads a table of comma-separated values, as pandas' read_csv: `read_csv("a.csv", {.sep = ";"})`. The file is UTF-8
/// text, with or without a byte order mark, or such a text compressed by gzip, whatever its name. Lines end with LF,
/// CRLF or CR. Lines of nothing but spaces and tabs are skipped.
///
/// The type of a column is inferred from all its fields:
/// - "int64": integers, if none is missing. With missing ones "float64", unless float64 can't hold one of the integers.
/// - "float64": numbers, "inf", or only missing values. Rounded to nearest.
/// - "bool": True, TRUE, true, False, FALSE, false, also with missing values.
/// - "str": everything else, such as integers outside of int64.
///
/// Missing values are the empty field and pandas' texts: NA, N/A, n/a, nan, NaN, null, NULL, None, <NA>, #N/A and some
/// more. Equal names become "a", "a.1", empty ones "Unnamed: 0"; without a header the names are "0", "1", ...
///
/// A given dtype holds the value of each field or the table is refused: integer dtypes take "1.0", but not 0.7, and no
/// missing value; float dtypes round to nearest once, but take no integer beyond 2^53 that they can't hold exactly, and
/// no number that would become infinite. A missing value is NaN in them. DType::boolean takes 0 and 1, too.
///
/// Throws a FileError that names the file, line (from 1) and column for records of another number of fields than the
/// header, a quote that doesn't end, a value that its dtype can't hold and text that isn't UTF-8. Throws a NameError
/// for an unknown column or type, a ValueError for options that are out of range.
MEZZO_API Table read_csv(const std::string& path, const ReadCsvOptions& options = {});

}  // namespace mezzo
