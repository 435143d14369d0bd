#include <mezzo/data/tables/column_type.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/read_csv_options.hpp>

namespace mezzo::detail {

ColumnType::ColumnType(const std::string& name) {
  if (name == "str") {
    kind_ = Kind::strings;
  } else if (name == "category") {
    kind_ = Kind::categories;
  } else {
    try {
      dtype_ = dtype_from_name(name);
    } catch (const NameError&) {
      fail_unknown("[Column]", "type", name,
                   std::initializer_list<const char*>{"str", "category", "bool", "int8", "int16", "int32", "int64",
                                                      "uint8", "float16", "bfloat16", "float32", "float64"});
    }
  }
}

std::string ColumnType::name() const {
  if (kind_ == Kind::strings) return "str";
  return kind_ == Kind::categories ? "category" : dtype_name(dtype_);
}

CsvHeader::CsvHeader(const char* text) : inferred_(true) {
  if (std::string(text) != "infer") {
    fail<NameError>("[read_csv]", "header must be a number, std::nullopt or \"infer\"; got \"{}\"", text);
  }
}

}  // namespace mezzo::detail
