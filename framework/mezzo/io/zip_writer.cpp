#include <mezzo/io/zip_writer.hpp>

#include <zlib.h>

#include <mezzo/io/zip_directory.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t first_date = 0x0021;  // 1 January 1980, so that equal contents are equal files
constexpr std::uint64_t utf8_flag = 1U << 11U;
constexpr std::uint64_t plain_version = 20, zip64_version = 45;

/// Bytes of a part of the archive, number by number.
class Part {
 public:
  Part& add(std::uint64_t number, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, number >>= 8U) bytes_ += static_cast<char>(number & 0xffU);
    return *this;
  }
  Part& add(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

bool is_wide(std::uint64_t number) { return number >= zip_in_extra; }
std::uint64_t narrowed(std::uint64_t number) { return is_wide(number) ? zip_in_extra : number; }

/// Fields that the header of an entry and its line of the directory share, from the flags to the lengths.
Part common_part(const ZipEntry& entry, std::size_t extra) {
  Part part;
  part.add(utf8_flag, 2).add(0, 2).add(0, 2).add(first_date, 2).add(entry.crc, 4);
  part.add(narrowed(entry.size), 4).add(narrowed(entry.size), 4).add(entry.name.size(), 2).add(extra, 2);
  return part;
}

std::string wide_extra(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return {};
  Part part;
  part.add(zip64_extra_id, 2).add(8 * numbers.size(), 2);
  for (const std::uint64_t number : numbers) part.add(number, 8);
  return part.bytes();
}

}  // namespace

void ZipWriter::write(const std::string& bytes) {
  file_.write(bytes.data(), bytes.size());
  written_ += bytes.size();
}

void ZipWriter::add(const std::string& name, const std::function<void(const Write&)>& content) {
  ZipEntry entry{.name = name, .begin = written_};
  content([&](const void* from, std::size_t count) {
    entry.crc = static_cast<std::uint32_t>(crc32_z(entry.crc, static_cast<const Bytef*>(from), count));
    entry.size += count;
  });
  entry.packed = entry.size;
  const bool wide = is_wide(entry.size);
  const std::string extra = wide ? wide_extra({entry.size, entry.size}) : "";
  Part header;
  header.add(zip_local_signature, 4).add(wide ? zip64_version : plain_version, 2);
  write(header.add(common_part(entry, extra.size()).bytes()).add(name).add(extra).bytes());
  content([&](const void* from, std::size_t count) {
    file_.write(from, count);
    written_ += count;
  });
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  const std::uint64_t begin = written_;
  for (const ZipEntry& entry : entries_) {
    std::vector<std::uint64_t> numbers;
    if (is_wide(entry.size)) numbers = {entry.size, entry.size};
    if (is_wide(entry.begin)) numbers.push_back(entry.begin);
    const std::string extra = wide_extra(numbers);
    const std::uint64_t version = numbers.empty() ? plain_version : zip64_version;
    Part line;
    line.add(zip_entry_signature, 4).add(version, 2).add(version, 2).add(common_part(entry, extra.size()).bytes());
    line.add(0, 10).add(narrowed(entry.begin), 4);  // comment, disk, attributes
    write(line.add(entry.name).add(extra).bytes());
  }
  const std::uint64_t bytes = written_ - begin, count = entries_.size();
  const bool wide = is_wide(begin) || is_wide(bytes) || count >= 0xffff;
  if (wide) {
    const std::uint64_t end = written_;
    Part part;
    part.add(zip64_end_signature, 4).add(zip64_end_bytes - 12, 8).add(zip64_version, 2).add(zip64_version, 2).add(0, 8);
    part.add(count, 8).add(count, 8).add(bytes, 8).add(begin, 8);
    part.add(zip64_locator_signature, 4).add(0, 4).add(end, 8).add(1, 4);
    write(part.bytes());
  }
  Part end;
  const std::uint64_t short_count = wide ? 0xffff : count;
  end.add(zip_end_signature, 4).add(0, 4).add(short_count, 2).add(short_count, 2);
  end.add(wide ? zip_in_extra : bytes, 4).add(wide ? zip_in_extra : begin, 4).add(0, 2);
  write(end.bytes());
  file_.commit();
}

}  // namespace mezzo::detail
