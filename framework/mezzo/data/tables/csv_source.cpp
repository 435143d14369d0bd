#include <mezzo/data/tables/csv_source.hpp>

#include <algorithm>
#include <vector>

#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/gzip.hpp>
#include <mezzo/io/inflater.hpp>

namespace mezzo::detail {

CsvSource::CsvSource(const std::string& path, std::string where) : where_(std::move(where)), file_(path, where_) {
  check_kind_of_text(path, {FileKind::table, FileKind::gzip}, where_,
                     "a text of separated values (.csv), also compressed by gzip");
  Bytes start(static_cast<std::size_t>(std::min<std::uint64_t>(file_.size(), 2)));
  file_.read(0, start.data(), start.size(), where_);
  gzip_ = is_gzip(start);
}

std::uint64_t CsvSource::at_most() const { return file_.size() * (gzip_ ? most_inflation : 1); }

std::size_t CsvSource::read(std::uint64_t offset, char* to, std::size_t count) {
  file_.check_unchanged(where_);
  if (!gzip_) {
    if (offset >= file_.size()) return 0;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, file_.size() - offset));
    file_.read(offset, to, count, where_);
    return count;
  }
  if (!stream_ || offset < position_) {
    stream_ = std::make_unique<GzipStream>(file_, where_);
    position_ = 0;
  }
  std::vector<char> skipped(std::size_t{1} << 16);
  while (position_ < offset) {
    const std::size_t got = stream_->read(skipped.data(), std::min<std::uint64_t>(skipped.size(), offset - position_));
    if (got == 0) return 0;
    position_ += got;
  }
  const std::size_t got = stream_->read(to, count);
  position_ += got;
  return got;
}

}  // namespace mezzo::detail
