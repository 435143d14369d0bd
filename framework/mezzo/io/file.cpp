#include <mezzo/io/file.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo {

detail::Bytes detail::read_file(const std::string& path, std::uint64_t limit) {
  const std::string where = fmt::format("[read_file] \"{}\":", path);
  const detail::OpenFile file(path, where);
  if (file.size() > limit) fail<FileError>(where, "must have at most {} bytes; got {}", limit, file.size());
  detail::Bytes bytes(file.size());
  file.read(0, bytes.data(), bytes.size(), where);
  return bytes;
}

}  // namespace mezzo
