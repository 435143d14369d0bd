#include <mezzo/io/safetensors.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/open_file.hpp>
#include <mezzo/io/safetensors_header.hpp>

namespace mezzo {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian; bytes are not swapped");

/// Parses the checksums of a file of `count` tensors: `count`, or one more, with that of the header first.
std::vector<std::uint32_t> parse_checksums(const std::string& text, std::size_t count, const std::string& path) {
  const bool complete = text.size() == 8 * count || text.size() == 8 * (count + 1);
  if (!complete || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    fail<FileError>(detail::safetensors_label(path),
                    "crc32 in the metadata must have 8 hexadecimal digits for the header and for each of {} tensors; "
                    "got \"{}\"",
                    count, text.substr(0, 100));
  }
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0; at < text.size(); at += 8) {
    out.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(at, 8), nullptr, 16)));
  }
  return out;
}

bool has_only_bools(const Tensor& tensor) {
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.raw());
  return std::all_of(bytes, bytes + tensor.bytes(), [](std::uint8_t byte) { return byte <= 1; });
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const std::string where = detail::safetensors_label(path);
  file_ = std::make_shared<detail::OpenFile>(path, where);
  const std::uint64_t size = file_->size();
  if (size < 8) fail<FileError>(where, "must begin with 8 bytes, the header's length; got {}", size);
  std::uint64_t length = 0;
  file_->read(0, &length, sizeof length, where);
  if (length > detail::max_header_bytes) {
    fail<FileError>(where, "the header must have at most {} bytes; got {}", detail::max_header_bytes, length);
  }
  data_begin_ = 8 + length;
  if (data_begin_ > size) {
    fail<FileError>(where, "the header must have {} bytes; the file has {} after its length", length, size - 8);
  }
  std::string text(length, ' ');
  file_->read(8, text.data(), length, where);
  detail::SafetensorsHeader header = detail::parse_safetensors_header(text, size - data_begin_, path);
  const auto checksums = header.metadata.find(detail::checksum_name);
  if (checksums != header.metadata.end()) {
    checksums_ = parse_checksums(checksums->second, header.entries.size(), path);
    checksummed_ = Checksums::tensors;
    if (checksums_.size() > header.entries.size()) {
      if (checksums_.front() != detail::safetensors_checksum(header)) {
        fail<FileError>(where, "the checksum of the header differs: the file is damaged");
      }
      checksums_.erase(checksums_.begin());
      checksummed_ = Checksums::all;
    }
    header.metadata.erase(checksums);
  }
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
  for (std::size_t i = 0; i < entries_.size(); ++i) places_[entries_[i].name] = i;
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

Tensor SafetensorsFile::read(const std::string& name) const {
  const Entry* entry = find(name);
  if (entry == nullptr) {
    fail<NameError>(detail::safetensors_label(path_), "unknown tensor \"{}\"; the file has {} others", name,
                    entries_.size());
  }
  const std::string where = detail::safetensors_label(path_, name);
  Tensor out = Tensor::uninitialized(entry->shape, entry->dtype);
  file_->read(data_begin_ + entry->begin, out.mutable_raw(), entry->bytes, where);
  if (!checksums_.empty() && checksums_[places_.at(name)] != detail::safetensors_checksum(name, out)) {
    fail<FileError>(where, "the checksum differs: the file is damaged");
  }
  if (entry->dtype == DType::boolean && !has_only_bools(out)) {
    fail<FileError>(where, "bools must be 0 or 1; got another value");
  }
  return out;
}

}  // namespace mezzo
