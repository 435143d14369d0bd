#include <mezzo/data/image/bmp_header.hpp>
#include <mezzo/data/image/formats.hpp>

namespace mezzo::image::detail {
namespace {

/// Unpacks runs: pairs of a count and a color, or of 0 and a code.
class RunReader {
 public:
  RunReader(const mezzo::detail::Bytes& bytes, const BmpHeader& header, const std::string& name)
      : bytes_(bytes), header_(header), name_(name), at_(header.pixels_at) {}

  mezzo::detail::Bytes read() {
    check_claim();
    out_.resize(static_cast<std::size_t>(header_.width * header_.height));
    while (!ended_) {
      const std::uint8_t count = next();
      const std::uint8_t value = next();
      if (count == 0) {
        obey(value);
      } else {
        for (std::int64_t i = 0; i < count; ++i) put(header_.form == BmpForm::rle8 ? value : half(value, i));
      }
    }
    return std::move(out_);
  }

 private:
  static std::uint8_t half(std::uint8_t value, std::int64_t i) {
    return i % 2 == 0 ? static_cast<std::uint8_t>(value >> 4U) : value & 15U;
  }

  /// A step of four bytes leaves out 255 x 255 pixels.
  void check_claim() const {
    constexpr std::int64_t most_pixels = 65'025;
    const std::int64_t least = header_.height * header_.width / most_pixels * 4;
    if (static_cast<std::int64_t>(bytes_.size()) < least) {
      fail_decoding(name_, "a BMP file of {} x {} pixels must have at least {} bytes; got {}", header_.height,
                    header_.width, least, bytes_.size());
    }
  }

  std::uint8_t next() {
    if (at_ >= bytes_.size()) {
      fail_decoding(name_, "not a whole BMP file: its runs have no end; got {} bytes", bytes_.size());
    }
    return bytes_[at_++];
  }

  void put(std::uint8_t index) {
    if (x_ >= header_.width || y_ >= header_.height) {
      fail_decoding(name_, "a run must end in a picture of {} x {} pixels; it reaches row {}, column {}",
                    header_.height, header_.width, y_, x_);
    }
    out_[static_cast<std::size_t>(y_ * header_.width + x_++)] = index;
  }

  void obey(std::uint8_t code) {
    constexpr std::uint8_t end_of_row = 0, end_of_picture = 1, step = 2;
    if (code == end_of_row) {
      x_ = 0;
      ++y_;
    } else if (code == end_of_picture) {
      ended_ = true;
    } else if (code == step) {
      x_ += next();
      y_ += next();
    } else {
      copy(code);
    }
  }

  /// Single colors, filled up to an even number of bytes.
  void copy(std::int64_t count) {
    const std::int64_t bytes = header_.form == BmpForm::rle8 ? count : (count + 1) / 2;
    std::uint8_t value = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (header_.form == BmpForm::rle8 || i % 2 == 0) value = next();
      put(header_.form == BmpForm::rle8 ? value : half(value, i));
    }
    if (bytes % 2 != 0) next();
  }

  const mezzo::detail::Bytes& bytes_;
  const BmpHeader& header_;
  const std::string& name_;
  std::size_t at_;
  std::int64_t x_ = 0, y_ = 0;
  bool ended_ = false;
  mezzo::detail::Bytes out_;
};

}  // namespace

mezzo::detail::Bytes read_bmp_runs(const mezzo::detail::Bytes& bytes, const BmpHeader& header,
                                   const std::string& name) {
  return RunReader(bytes, header, name).read();
}

}  // namespace mezzo::image::detail
