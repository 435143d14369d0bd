#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo {

class Strings;

namespace detail {
/// Strings in nested braces, for Strings.
class MEZZO_API StringList {
 public:
  StringList(const char* text) : values_{text} {}
  StringList(std::string text) : values_{std::move(text)} {}
  /// Throws a ShapeError for lists of different lengths.
  StringList(std::initializer_list<StringList> entries);

 private:
  friend class mezzo::Strings;
  Shape shape_;
  std::vector<std::string> values_;
};
}  // namespace detail

/// An array of strings: a column of a data set. Steps compute only with numbers: StringLookup, TextVectorization and
/// Hashing turn strings into them.
class MEZZO_API Strings {
 public:
  /// An empty array, shape (0,).
  Strings() : shape_{0} {}
  /// One string, shape ().
  Strings(const char* text) : values_{text} {}
  Strings(std::string text) : values_{std::move(text)} {}
  /// A list, shape (count,), or rows, shape (rows, count). Throws a ShapeError for rows of different lengths.
  Strings(std::vector<std::string> values);
  Strings(std::initializer_list<detail::StringList> entries);
  Strings(const std::vector<std::vector<std::string>>& rows);
  /// Row-major strings. Throws a ShapeError if their number isn't that of the shape.
  Strings(Shape shape, std::vector<std::string> values);

  const Shape& shape() const { return shape_; }                                    ///< sizes of the axes
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }  ///< number of strings
  /// The strings, row-major.
  const std::vector<std::string>& values() const { return values_; }
  const std::string& operator[](std::int64_t index) const { return values_[static_cast<std::size_t>(index)]; }

  /// True: equal shapes and equal bytes of all strings.
  bool operator==(const Strings& other) const { return shape_ == other.shape_ && values_ == other.values_; }

 private:
  Shape shape_;
  std::vector<std::string> values_;
};

}  // namespace mezzo
