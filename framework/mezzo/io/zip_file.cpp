#include <mezzo/io/zip_file.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/inflater.hpp>
#include <mezzo/io/zip_directory.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t zip_chunk = 1ULL << 30U;  // zlib counts in 32 bits
constexpr std::uint16_t stored_method = 0, deflated_method = 8;

/// Decompresses `packed` bytes to exactly `size` bytes.
Bytes inflate_entry(const std::uint8_t* from, std::uint64_t packed, std::uint64_t size, const std::string& where) {
  if (size / most_inflation > packed) {
    fail<FileError>(where, "{} compressed bytes can't have {} bytes of content: the file is damaged", packed, size);
  }
  Bytes out(size);
  Inflater inflater(raw_window);
  z_stream& stream = inflater.stream;
  std::uint64_t used = 0, made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    std::uint8_t end = 0;  // zlib reports the end only with room for a byte
    stream.next_in = const_cast<Bytef*>(from + used);
    stream.avail_in = static_cast<uInt>(std::min(packed - used, zip_chunk));
    stream.next_out = made < size ? out.data() + made : &end;
    stream.avail_out = made < size ? static_cast<uInt>(std::min(size - made, zip_chunk)) : 1;
    const uInt before = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    used = static_cast<std::uint64_t>(stream.next_in - from);
    made += before - stream.avail_out;
    if (made > size) break;
  }
  if (result != Z_STREAM_END || made != size || used != packed) {
    fail<FileError>(where, "the compressed data is damaged; zlib reports: {}",
                    stream.msg == nullptr ? "another size of the content" : stream.msg);
  }
  return out;
}

}  // namespace

ZipFile::ZipFile(const std::string& path, const std::string& where) : file_(path, where) {
  entries_ = read_zip_directory(file_.bytes(0, file_.size(), where), file_.size(), where);
}

const ZipEntry* ZipFile::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const std::uint8_t* ZipFile::packed(const ZipEntry& entry, const std::string& where) const {
  if (entry.encrypted) fail<FileError>(where, "must not be encrypted; it is");
  if (entry.method != stored_method && entry.method != deflated_method) {
    fail<FileError>(where, "must be stored (method 0) or deflated (method 8); got method {}", entry.method);
  }
  const std::uint8_t* const header = file_.bytes(entry.begin, zip_local_bytes, where);
  if (little_endian(header, 4) != zip_local_signature) {
    fail<FileError>(where, "must begin with the header of an entry; got other bytes: the file is damaged");
  }
  const std::uint64_t names = little_endian(header + 26, 2) + little_endian(header + 28, 2);
  const std::uint64_t begin = entry.begin + zip_local_bytes + names;
  if (entry.method == stored_method && entry.packed != entry.size) {
    fail<FileError>(where, "must have {} bytes, since it is stored; got {}", entry.packed, entry.size);
  }
  return file_.bytes(begin, entry.packed, where);
}

const std::uint8_t* ZipFile::stored(const ZipEntry& entry, const std::string& where) const {
  const std::uint8_t* const bytes = packed(entry, where);
  return entry.method == stored_method ? bytes : nullptr;
}

ZipContent ZipFile::read(const ZipEntry& entry, const std::string& where) const {
  ZipContent out{.data = packed(entry, where), .size = entry.size};
  if (entry.method == deflated_method) {
    out.inflated = inflate_entry(out.data, entry.packed, entry.size, where);
    out.data = out.inflated.data();
  }
  if (crc32_z(0, out.data, out.size) != entry.crc) {
    fail<FileError>(where, "the checksum differs: the file is damaged");
  }
  return out;
}

}  // namespace mezzo::detail
