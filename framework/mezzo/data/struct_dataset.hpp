#pragma once
#include <type_traits>
#include <vector>

#include <mezzo/data/dataset.hpp>
#include <mezzo/data/struct_field.hpp>

namespace mezzo {

namespace detail {
/// Throws a ValueError if there are no rows.
MEZZO_API void check_rows(std::size_t rows);
}  // namespace detail

/// Structs in memory as samples: `struct_dataset(rows, {{"x", &Row::x}, {"label", &Row::label, Role::target}})`. Each
/// field has a name, a member of Row or a function of a Row, a Role (default: input) and, for strings, categories. The
/// values are copied.
///
/// | member | shape of the field |
/// | --- | --- |
/// | float, double, bool, integers, enumerations | () |
/// | std::array, T[N], std::vector of these | an axis more; vectors of a field must have one length |
/// | std::string | (), the position in the categories, int64 |
///
/// Numbers keep their type, except that uint16 becomes int32, and uint32 and uint64 become int64. Categories are given,
/// `{"color", &Row::color, Role::input, {"red", "green"}}`, or the strings, sorted.
///
/// Throws a ValueError if there are no rows, two names are equal, or a field has no name or no member. Throws errors
/// that name field and row: a ShapeError for vectors of different lengths, a ValueError for a string that is no
/// category and for a uint64 of 2^63 or more.
template <class Row>
Dataset struct_dataset(const std::vector<Row>& rows,
                       const std::vector<detail::StructField<std::enable_if_t<true, Row>>>& fields) {
  detail::check_rows(rows.size());
  std::vector<detail::NamedTensor> columns;
  for (const auto& field : fields) columns.push_back(field.read(rows));
  return Dataset::from_tensors(std::move(columns));
}

}  // namespace mezzo
