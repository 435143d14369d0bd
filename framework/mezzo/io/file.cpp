#include <mezzo/io/file.hpp>

#include <filesystem>
#include <fstream>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Bytes read_file(const std::string& path, std::uint64_t limit) {
  const std::string where = fmt::format("[read_file] \"{}\":", path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) fail<FileError>(where, "must exist; there is no such file");
  if (!std::filesystem::is_regular_file(status)) {
    fail<FileError>(where, "must be a regular file; got {}", error ? error.message() : "another kind of file");
  }
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) fail<FileError>(where, "must have a size; got an error: {}", error.message());
  if (size > limit) {
    fail<FileError>(where, "must have at most {} bytes; got {}", limit, size);
  }
  Bytes bytes(size);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail<FileError>(where, "must be readable; it can't be opened");
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uint64_t>(in.gcount()) != size) {
    fail<FileError>(where, "must have {} bytes, its size in the file system; got {}", size, in.gcount());
  }
  return bytes;
}

}  // namespace mezzo
