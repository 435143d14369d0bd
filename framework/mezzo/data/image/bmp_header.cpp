#include <mezzo/data/image/bmp_header.hpp>

#include <algorithm>
#include <initializer_list>

#include <mezzo/data/image/formats.hpp>

namespace mezzo::image::detail {
namespace {

constexpr std::size_t info_at = 14;    ///< offset of the second header, whose first number is its size
constexpr std::size_t masks_at = 54;   ///< behind a second header of 40 bytes, in a larger one
constexpr std::size_t core_size = 12;  ///< size of the second header of OS/2 1 and Windows 2

/// Numbers of the header by their offsets; an offset behind the file is an error.
class Fields {
 public:
  Fields(const mezzo::detail::Bytes& bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::uint32_t at(std::size_t offset, std::size_t count) const {
    if (offset + count > bytes_.size()) {
      fail_decoding(name_, "not a whole BMP file: its header ends after {} bytes", bytes_.size());
    }
    return static_cast<std::uint32_t>(mezzo::detail::little_endian(bytes_.data() + offset, count));
  }
  std::int32_t signed_at(std::size_t offset) const { return static_cast<std::int32_t>(at(offset, 4)); }

 private:
  const mezzo::detail::Bytes& bytes_;
  const std::string& name_;
};

void check_form(const BmpHeader& header, std::uint32_t form, const std::string& name) {
  const auto fits = [&](BmpForm one, std::initializer_list<std::int64_t> bits) {
    return form == static_cast<std::uint32_t>(one) && std::find(bits.begin(), bits.end(), header.bits) != bits.end();
  };
  if (fits(BmpForm::plain, {1, 2, 4, 8, 16, 24, 32}) || fits(BmpForm::rle8, {8}) || fits(BmpForm::rle4, {4}) ||
      fits(BmpForm::masks, {16, 32}) || fits(BmpForm::masks_with_alpha, {16, 32})) {
    return;
  }
  fail_decoding(name,
                "a BMP file must have 1, 2, 4, 8, 16, 24 or 32 bits a pixel, plain, in runs (4 and 8 bits) or with "
                "masks (16 and 32 bits); got {} bits and the form {}",
                header.bits, form);
}

void check_masks(const BmpHeader& header, const std::string& name) {
  for (std::uint32_t mask : header.masks) {
    const std::uint32_t given = mask;
    while (mask != 0 && mask % 2 == 0) mask /= 2;
    if ((mask & (mask + 1)) != 0) {
      fail_decoding(name, "the bits of a mask must be next to each other; got {:#x}", given);
    }
  }
}

}  // namespace

BmpHeader read_bmp_header(const mezzo::detail::Bytes& bytes, const std::string& name) {
  const Fields fields(bytes, name);
  BmpHeader header;
  header.pixels_at = fields.at(10, 4);
  const std::size_t size = fields.at(info_at, 4);
  const bool is_core = size == core_size;
  header.width = is_core ? std::int64_t{fields.at(18, 2)} : fields.signed_at(18);
  header.height = is_core ? std::int64_t{fields.at(20, 2)} : fields.signed_at(22);
  header.top_down = header.height < 0;
  if (header.top_down) header.height = -header.height;
  header.bits = fields.at(is_core ? 24 : 28, 2);
  const std::uint32_t form = is_core ? 0 : fields.at(30, 4);
  check_form(header, form, name);
  header.form = static_cast<BmpForm>(form);
  header.palette_at = info_at + size;
  if (header.bits == 16) header.masks = {0x7c00, 0x3e0, 0x1f};
  if (header.bits == 32) header.masks = {0xff0000, 0xff00, 0xff};
  if (header.form == BmpForm::masks || header.form == BmpForm::masks_with_alpha) {
    for (std::size_t i = 0; i < 3; ++i) header.masks[i] = fields.at(masks_at + 4 * i, 4);
    check_masks(header, name);
  }
  if (header.bits <= 8) {
    const std::size_t most = std::size_t{1} << static_cast<unsigned>(header.bits);
    const std::size_t given = is_core ? 0 : fields.at(46, 4);
    header.palette_entry = is_core ? 3 : 4;
    header.colors = given == 0 || given > most ? most : given;
    if (header.palette_at + header.colors * header.palette_entry > bytes.size()) {
      fail_decoding(name, "not a whole BMP file: it must have {} colors; got {} bytes", header.colors, bytes.size());
    }
  }
  if (header.pixels_at > bytes.size()) {
    fail_decoding(name, "not a whole BMP file: its pixels must begin at byte {}; got {} bytes", header.pixels_at,
                  bytes.size());
  }
  return header;
}

}  // namespace mezzo::image::detail
