#pragma once
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/tables/read_csv.hpp>

namespace mezzo {

namespace detail {
struct CsvPosition;
}

/// Reads a table of comma-separated values in chunks of rows, as pandas' read_csv with `chunksize`: `for (const Table&
/// part : CsvReader("a.csv", 100000))`. The memory needed is that of a chunk. All chunks have the same types and
/// categories, inferred from the whole file in a first pass. Copies share the position.
class MEZZO_API CsvReader {
 public:
  /// Goes over the file once to find rows and types. Throws the errors of read_csv() for it, a ValueError unless
  /// `chunksize` is at least 1.
  CsvReader(const std::string& path, std::int64_t chunksize, const ReadCsvOptions& options = {});

  /// Number of rows of all chunks.
  std::int64_t rows() const;

  /// Names of the columns.
  std::vector<std::string> columns() const;

  /// The next rows, `chunksize` or fewer at the end; std::nullopt behind the last ones. Throws the errors of
  /// read_csv().
  std::optional<Table> next();

  /// A reader of the same chunks with a position of its own, before the first one.
  CsvReader from_start() const;

  /// A position in the chunks, for range-based loops.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Table;
    using difference_type = std::ptrdiff_t;
    using pointer = const Table*;
    using reference = const Table&;

    /// Reads the first part; nullptr: the end.
    explicit Iterator(CsvReader* reader) : reader_(reader), part_(reader ? reader->next() : std::nullopt) {}
    const Table& operator*() const { return *part_; }  ///< the part that was read last; not valid at the end

    /// Reads the next part; throws as CsvReader::next().
    Iterator& operator++() {
      part_ = reader_->next();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return part_.has_value() != other.part_.has_value(); }

   private:
    CsvReader* reader_;
    std::optional<Table> part_;
  };

  /// Reads the next chunk.
  Iterator begin() { return Iterator(this); }
  Iterator end() { return Iterator(nullptr); }

 private:
  std::shared_ptr<detail::CsvFile> file_;
  std::shared_ptr<detail::CsvPosition> position_;
  std::int64_t chunksize_ = 0;
};

}  // namespace mezzo
