#include <mezzo/io/file.hpp>

#include <filesystem>
#include <fstream>

#include <mezzo/core/error.hpp>

namespace mezzo {

Bytes read_file(const std::string& path, std::uint64_t limit) {
  const std::string where = "[read_file] \"" + path + "\": ";
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw FileError(where + "there is no such file");
  if (!std::filesystem::is_regular_file(status)) {
    throw FileError(where + "must be a regular file" + (error ? " (" + error.message() + ")" : ""));
  }
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw FileError(where + error.message());
  if (size > limit) {
    throw FileError(where + "must have at most " + std::to_string(limit) + " bytes; got " + std::to_string(size));
  }
  Bytes bytes(size);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw FileError(where + "cannot be opened for reading");
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uint64_t>(in.gcount()) != size) {
    throw FileError(where + "must have " + std::to_string(size) + " bytes, as the file system says; could read " +
                    std::to_string(in.gcount()));
  }
  return bytes;
}

}  // namespace mezzo
