#include <mezzo/data/tables/csv_reader.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/csv_file.hpp>

namespace mezzo {

CsvReader::CsvReader(const std::string& path, std::int64_t chunksize, const ReadCsvOptions& options)
    : chunksize_(chunksize) {
  const std::string where = fmt::format("[CsvReader \"{}\"]", path);
  if (chunksize < 1) fail<ValueError>(where, "chunksize must be at least 1; got {}", chunksize);
  file_ = std::make_shared<detail::CsvFile>(path, options, where, true);
  position_ = std::make_shared<detail::CsvPosition>();
}

std::int64_t CsvReader::rows() const { return file_->rows(); }

std::vector<std::string> CsvReader::columns() const { return file_->columns(); }

std::optional<Table> CsvReader::next() {
  if (position_->row == file_->rows()) return std::nullopt;
  return file_->read(chunksize_, *position_);
}

CsvReader CsvReader::from_start() const {
  CsvReader out = *this;
  out.position_ = std::make_shared<detail::CsvPosition>();
  return out;
}

}  // namespace mezzo
