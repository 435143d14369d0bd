#include <mezzo/io/zip_file.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/inflater.hpp>
#include <mezzo/io/read_chunks.hpp>
#include <mezzo/io/zip_directory.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint16_t deflated_method = 8;

/// Decompresses the data of an entry, which comes in pieces.
class EntryInflater {
 public:
  using Use = std::function<void(const std::uint8_t* bytes, std::size_t count)>;

  EntryInflater(const ZipEntry& entry, const Use& use) : entry_(entry), use_(use), buffer_(buffer_bytes) {}

  /// Decompresses a piece, and passes on its content up to the size of the entry.
  void add(const std::uint8_t* from, std::size_t count) {
    z_stream& stream = inflater_.stream;
    stream.next_in = const_cast<Bytef*>(from);
    stream.avail_in = static_cast<uInt>(count);
    do {
      stream.next_out = buffer_.data();
      stream.avail_out = static_cast<uInt>(buffer_.size());
      if (result_ == Z_OK) result_ = inflate(&stream, Z_NO_FLUSH);
      const std::size_t got = buffer_.size() - stream.avail_out;
      made_ += got;
      if (made_ > entry_.size) result_ = Z_DATA_ERROR;
      if (result_ != Z_OK && result_ != Z_STREAM_END) break;
      use_(buffer_.data(), got);
    } while (result_ == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
    if (result_ == Z_BUF_ERROR) result_ = Z_OK;  // the piece ends with a full buffer
    unused_ += stream.avail_in;
  }

  /// A FileError unless the data was whole and had the content's size.
  void finish(const std::string& where) const {
    if (result_ == Z_STREAM_END && made_ == entry_.size && unused_ == 0) return;
    const char* const reason = inflater_.stream.msg;
    fail<FileError>(where, "the compressed data is damaged; zlib reports: {}",
                    reason == nullptr ? "another size of the content" : reason);
  }

 private:
  static constexpr std::size_t buffer_bytes = 1U << 18U;

  const ZipEntry& entry_;
  const Use& use_;
  Bytes buffer_;
  Inflater inflater_{raw_window};
  int result_ = Z_OK;
  std::uint64_t made_ = 0, unused_ = 0;
};

}  // namespace

ZipFile::ZipFile(const std::string& path, const std::string& where) : file_(path, where) {
  entries_ = read_zip_directory(file_, where);
}

const ZipEntry* ZipFile::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

/// Offset of an entry's data, which is checked to be in the file.
std::uint64_t ZipFile::place_of(const ZipEntry& entry, const std::string& where) const {
  if (entry.encrypted) fail<FileError>(where, "must not be encrypted; it is");
  if (!entry.stored() && entry.method != deflated_method) {
    fail<FileError>(where, "must be stored (method 0) or deflated (method 8); got method {}", entry.method);
  }
  if (entry.stored() && entry.packed != entry.size) {
    fail<FileError>(where, "must have {} bytes, since it is stored; got {}", entry.packed, entry.size);
  }
  if (entry.size / most_inflation > entry.packed) {
    fail<FileError>(where, "{} compressed bytes can't have {} bytes of content: the file is damaged", entry.packed,
                    entry.size);
  }
  std::uint8_t header[zip_local_bytes];
  file_.read_unchanged(entry.begin, header, sizeof header, where);
  if (little_endian(header, 4) != zip_local_signature) {
    fail<FileError>(where, "must begin with the header of an entry; got other bytes: the file is damaged");
  }
  const std::uint64_t names = little_endian(header + 26, 2) + little_endian(header + 28, 2);
  const std::uint64_t begin = entry.begin + zip_local_bytes + names;
  file_.check_place(begin, entry.packed, where);
  return begin;
}

/// Passes on the content of an entry, then compares its checksum.
void ZipFile::for_each_chunk(const ZipEntry& entry, const std::string& where, const Use& use) const {
  const std::uint64_t begin = place_of(entry, where);
  uLong crc = 0;
  const Use use_and_sum = [&](const std::uint8_t* bytes, std::size_t count) {
    crc = crc32_z(crc, bytes, count);
    use(bytes, count);
  };
  if (entry.stored()) {
    read_chunks(file_, begin, entry.packed, where, use_and_sum);
  } else {
    EntryInflater inflater(entry, use_and_sum);
    read_chunks(file_, begin, entry.packed, where,
                [&](const std::uint8_t* bytes, std::size_t count) { inflater.add(bytes, count); });
    inflater.finish(where);
  }
  if (crc != entry.crc) fail<FileError>(where, "the checksum differs: the file is damaged");
}

Bytes ZipFile::read(const ZipEntry& entry, const std::string& where) const {
  place_of(entry, where);  // checks the size before it is allocated
  Bytes out;
  out.reserve(entry.size);
  for_each_chunk(entry, where,
                 [&](const std::uint8_t* bytes, std::size_t count) { out.insert(out.end(), bytes, bytes + count); });
  return out;
}

Bytes ZipFile::read_start(const ZipEntry& entry, std::uint64_t count, const std::string& where) const {
  const auto wanted = static_cast<std::size_t>(std::min(count, entry.size));
  std::uint64_t begin = place_of(entry, where), left = entry.packed;
  Bytes out(entry.stored() ? wanted : 0);
  if (entry.stored()) {
    file_.read_unchanged(begin, out.data(), wanted, where);
    return out;
  }
  const EntryInflater::Use take = [&](const std::uint8_t* bytes, std::size_t got) {
    out.insert(out.end(), bytes, bytes + std::min(got, wanted - out.size()));
  };
  EntryInflater inflater(entry, take);
  constexpr std::uint64_t piece_bytes = 4096;
  Bytes piece(piece_bytes);
  while (out.size() < wanted && left > 0) {
    const std::uint64_t size = std::min(left, piece_bytes);
    file_.read_unchanged(begin, piece.data(), size, where);
    inflater.add(piece.data(), static_cast<std::size_t>(size));
    begin += size;
    left -= size;
  }
  if (out.size() < wanted) inflater.finish(where);  // throws: the content is shorter than its size
  return out;
}

void ZipFile::check(const ZipEntry& entry, const std::string& where) const {
  for_each_chunk(entry, where, [](const std::uint8_t*, std::size_t) {});
}

void ZipFile::read_stored(const ZipEntry& entry, std::uint64_t offset, void* to, std::uint64_t count,
                          const std::string& where) const {
  file_.read_unchanged(place_of(entry, where) + offset, to, count, where);
}

}  // namespace mezzo::detail
