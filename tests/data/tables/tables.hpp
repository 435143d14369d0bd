#pragma once

#include <string>
#include <vector>

#include <mezzo/data/tables/read_csv.hpp>

#include "support/folder.hpp"

namespace mezzo_tests {

// A file with a text, for the lifetime of the object.
class TextFile {
 public:
  explicit TextFile(const std::string& text, const std::string& name = "t.csv")
      : path_(folder_.write(name, {text.begin(), text.end()})) {}
  const std::string& path() const { return path_; }

 private:
  Folder folder_;
  std::string path_;
};

// The table of a text.
inline mezzo::Table table_of(const std::string& text, const mezzo::ReadCsvOptions& options = {}) {
  return read_csv(TextFile(text).path(), options);
}

// The values of a column as texts; "-" for missing ones.
inline std::vector<std::string> texts_of(const mezzo::Column& column) {
  std::vector<std::string> out;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    out.push_back(column.is_missing(row) ? "-" : column.text(row));
  }
  return out;
}

}  // namespace mezzo_tests
