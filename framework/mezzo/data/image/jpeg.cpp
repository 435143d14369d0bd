#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/formats.hpp>

#if MEZZO_WITH_TURBOJPEG
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include <turbojpeg.h>
#endif

namespace mezzo::image::detail {

bool is_jpeg(const mezzo::detail::Bytes& bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

#if MEZZO_WITH_TURBOJPEG
namespace {

// Refuses progressive files of more than 500 scans: a small file with many takes minutes.
#ifdef TJFLAG_LIMITSCANS
constexpr int limit_scans = TJFLAG_LIMITSCANS;
#else
constexpr int limit_scans = 0;  // before libjpeg-turbo 2.1
#endif

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decoder = std::unique_ptr<std::remove_pointer_t<tjhandle>, Destroy>;

/// True for warnings about files that can be decoded as a whole. All other warnings mean truncated or damaged data, for
/// which the library fills in pixels. The library reports the first warning of a file only: damage after a harmless
/// warning goes unnoticed.
bool is_harmless(std::string_view warning) {
  const auto contains = [&](std::string_view text) { return warning.find(text) != warning.npos; };
  if (contains("extraneous bytes before marker")) {
    // Before a scan (0xda) or its Huffman table (0xc4), they can be the rest of a damaged scan.
    return !contains("marker 0xda") && !contains("marker 0xc4");
  }
  return contains("unknown JFIF revision") || contains("Unknown Adobe color transform") ||
         contains("Inconsistent progression sequence") || contains("bad ICC marker");
}

Decoder make_decoder() {
  Decoder decoder(tjInitDecompress());
  if (!decoder) throw std::bad_alloc();
  return decoder;
}

/// Decodes a file that is known to fail, into the same memory, and returns its first problem that is not harmless. The
/// message of an ordinary call is that of the last problem, which may be a consequence of the first.
std::string first_problem(const mezzo::detail::Bytes& bytes, std::uint8_t* to, int pixel_format) {
  const auto problem = [&](int flags) -> std::string {
    const Decoder decoder = make_decoder();  // a new one: a failure can leave a decoder in the middle of a header
    tjDecompress2(decoder.get(), bytes.data(), bytes.size(), to, 0, 0, 0, pixel_format, flags | limit_scans);
    return tjGetErrorStr2(decoder.get());
  };
  const std::string first = problem(TJFLAG_STOPONWARNING);
  return is_harmless(first) ? problem(0) : first;
}

}  // namespace

Tensor decode_jpeg(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  const Decoder decoder = make_decoder();
  int width = 0;
  int height = 0;
  int subsampling = -1;
  int color_space = -1;
  tjDecompressHeader3(decoder.get(), bytes.data(), bytes.size(), &width, &height, &subsampling, &color_space);
  if (width < 1 || height < 1) {
    std::uint8_t unused = 0;  // no pixel is written: the header can't be read
    fail_decoding(name, "not a whole JPEG file: {}", first_problem(bytes, &unused, TJPF_RGB));
  }
  // An unknown subsampling is an error of the call above, but the picture can be decoded.
  if (color_space < 0) fail_decoding(name, "not a whole JPEG file: {}", tjGetErrorStr2(decoder.get()));
  check_size(height, width, name, options);
  // A block of 64 pixels has at least one bit, with Huffman's codes.
  constexpr std::int64_t most_pixels = 512;  // per byte
  const std::int64_t least = std::int64_t{height} * width / most_pixels;
  if (static_cast<std::int64_t>(bytes.size()) < least) {
    fail_decoding(name, "a JPEG file of {} x {} pixels must have at least {} bytes; got {}", height, width, least,
                  bytes.size());
  }
  Tensor out = Tensor::uninitialized({height, width, 3}, DType::uint8);
  auto* pixels = out.mutable_data<std::uint8_t>();
  const bool is_cmyk = color_space == TJCS_CMYK || color_space == TJCS_YCCK;
  mezzo::detail::Bytes ink(is_cmyk ? static_cast<std::size_t>(out.size()) / 3 * 4 : 0);
  std::uint8_t* to = is_cmyk ? ink.data() : pixels;
  const int pixel_format = is_cmyk ? TJPF_CMYK : TJPF_RGB;
  constexpr int flags = limit_scans;  // the accurate DCT and smooth upsampling, as in Pillow
  if (tjDecompress2(decoder.get(), bytes.data(), bytes.size(), to, width, 0, height, pixel_format, flags) != 0 &&
      !is_harmless(tjGetErrorStr2(decoder.get()))) {
    fail_decoding(name, "not a whole JPEG file: {}", first_problem(bytes, to, pixel_format));
  }
  // Adobe stores inverted inks. Pillow treats all CMYK files as Adobe's.
  if (is_cmyk) inverted_cmyk_to_rgb(ink.data(), out.size() / 3, pixels);
  return out;
}

#else

Tensor decode_jpeg(const mezzo::detail::Bytes&, const std::string& name, const DecodeOptions&) {
  fail<Error>("[decode_image]", "\"{}\": JPEG needs libjpeg-turbo; this mezzo was built without it", name);
}

#endif

}  // namespace mezzo::image::detail
