#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>

namespace mezzo::detail {

/// Type of a column of a table: numbers of a dtype, strings or categories.
class MEZZO_API ColumnType {
 public:
  enum class Kind { numbers, strings, categories };

  ColumnType(DType dtype) : dtype_(dtype) {}
  /// "str", "category", or the name of a dtype. Throws a NameError for another text.
  ColumnType(const char* name) : ColumnType(std::string(name)) {}
  ColumnType(const std::string& name);

  Kind kind() const { return kind_; }
  /// The dtype of the numbers; int64 for the codes of categories.
  DType dtype() const { return dtype_; }
  /// The name, as in pandas.
  std::string name() const;

 private:
  Kind kind_ = Kind::numbers;
  DType dtype_ = DType::int64;
};

}  // namespace mezzo::detail
