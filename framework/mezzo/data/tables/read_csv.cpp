#include <mezzo/data/tables/read_csv.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/csv_file.hpp>

namespace mezzo {

Table read_csv(const std::string& path, const ReadCsvOptions& options) {
  detail::CsvFile file(path, options, fmt::format("[read_csv \"{}\"]", path));
  return file.read_all();
}

}  // namespace mezzo
