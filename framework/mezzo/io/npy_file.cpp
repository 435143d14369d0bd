#include <mezzo/io/npy_file.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/array_entries.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/npy_format.hpp>

namespace mezzo::detail {

NpyFile::NpyFile(const std::string& path, const std::string& where) : file_(path, where), where_(where) {
  check_kind(path, {FileKind::npy}, where_, "an array of NumPy (.npy)");
  const auto read = [&](void* to, std::size_t count) {
    file_.read(begin_, to, count, where_);
    begin_ += count;
  };
  const NpyNumbers header = npy_numbers(read_npy_header(read, file_.size(), where_), "", where_);
  if (header.big_endian) {
    fail<FileError>(where_, "the array must be little-endian; got big-endian numbers, which load_npy reads");
  }
  if (header.is_unsigned) {
    fail<FileError>(where_,
                    "the array must have numbers of a dtype of mezzo; got unsigned ones, which load_npy reads as {}",
                    header.dtype);
  }
  if (header.fortran_order)
    fail<FileError>(where_, "the array must be in C order; got Fortran order, which load_npy reads");
  if (header.shape.empty())
    fail<FileError>(where_, "the array must have an axis 0 that counts the samples; got shape ()");
  dtype_ = header.dtype;
  shape_ = header.shape;
  row_bytes_ = shape_[0] == 0 ? 0 : (file_.size() - begin_) / static_cast<std::uint64_t>(shape_[0]);
}

TensorEntry entry_of_npy(const std::string& name, const NpyHeader& header) {
  TensorEntry entry;
  entry.name = name;
  entry.type = describe_npy_type(header.type);
  entry.dtype = header.type.is_large_unsigned() ? std::nullopt : header.type.dtype;
  entry.shape = header.shape;
  entry.bytes = checked_bytes(header.shape, header.type.bytes).value_or(0);
  return entry;
}

TensorEntry npy_entry(const std::string& path) {
  const std::string where = fmt::format("[npy_entry \"{}\"]", path);
  check_kind(path, {FileKind::npy}, where, "an array of NumPy (.npy)");
  const OpenFile file(path, where);
  std::uint64_t begin = 0;
  const ReadBytes read = [&](void* to, std::size_t count) {
    file.read(begin, to, count, where);
    begin += count;
  };
  return entry_of_npy("", read_npy_header(read, file.size(), where));
}

void NpyFile::read_row(std::int64_t index, void* to) const {
  file_.check_unchanged(where_);
  file_.read(begin_ + static_cast<std::uint64_t>(index) * row_bytes_, to, row_bytes_, where_);
  if (dtype_ != DType::boolean) return;
  const auto* const bytes = static_cast<const unsigned char*>(to);
  const auto* const bad = std::find_if(bytes, bytes + row_bytes_, [](unsigned char byte) { return byte > 1; });
  if (bad != bytes + row_bytes_) fail<FileError>(where_, "bools must be 0 or 1; got {} in row {}", *bad, index);
}

}  // namespace mezzo::detail
