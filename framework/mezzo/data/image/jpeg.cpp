#include <mezzo/data/image/formats.hpp>

#if MEZZO_WITH_JPEG
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h.
#include <jerror.h>
#endif

namespace mezzo::image::detail {

bool is_jpeg(const Bytes& bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

#if MEZZO_WITH_JPEG
namespace {

struct Failure {
  jpeg_error_mgr manager;  // the first member: libjpeg hands out its address
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  (*info->err->format_message)(info, failure->text);
  std::longjmp(failure->jump, 1);
}

// What libjpeg only warns of and paints over: data that is cut off or damaged.
void warn(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
      fail(info);
    default:
      break;
  }
}

class Decoder {
 public:
  Decoder() {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = fail;
    failure_.manager.emit_message = warn;
    failure_.text[0] = '\0';
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // A jump skips destructors, so these two functions have no object that needs one. False: see reason().
  bool start(const Bytes& bytes) {
    if (setjmp(failure_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, bytes.data(), bytes.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = info_.num_components == 4 ? JCS_CMYK : JCS_RGB;
    return true;
  }

  // `row` has room for four bytes a pixel.
  bool finish(std::uint8_t* out, std::uint8_t* row) {
    if (setjmp(failure_.jump) != 0) return false;
    jpeg_start_decompress(&info_);
    const std::size_t stride = std::size_t{info_.output_width} * 3;
    while (info_.output_scanline < info_.output_height) {
      std::uint8_t* to = out + info_.output_scanline * stride;
      JSAMPROW line = is_cmyk() ? row : to;
      jpeg_read_scanlines(&info_, &line, 1);
      if (is_cmyk()) multiply_out(row, to);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  std::int64_t height() const { return info_.image_height; }
  std::int64_t width() const { return info_.image_width; }
  bool is_cmyk() const { return info_.out_color_space == JCS_CMYK; }
  const char* reason() const { return failure_.text; }

 private:
  // Adobe stores ink inverted: 255 is none. Pillow takes all CMYK files for Adobe's.
  void multiply_out(const std::uint8_t* row, std::uint8_t* to) const {
    for (std::size_t x = 0; x < info_.output_width; ++x, row += 4) {
      for (int c = 0; c < 3; ++c) {
        const int product = (255 - row[c]) * row[3] + 128;
        *to++ = static_cast<std::uint8_t>(row[3] - ((product + (product >> 8)) >> 8));
      }
    }
  }

  jpeg_decompress_struct info_{};
  Failure failure_{};
};

}  // namespace

Tensor decode_jpeg(const Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  Decoder decoder;
  const auto fail_with = [&] { return failure(name, std::string("not a whole JPEG file: ") + decoder.reason()); };
  if (!decoder.start(bytes)) throw fail_with();
  Tensor out = reserve(decoder.height(), decoder.width(), name, options);
  Bytes row(decoder.is_cmyk() ? static_cast<std::size_t>(decoder.width()) * 4 : 0);
  if (!decoder.finish(out.mutable_data<std::uint8_t>(), row.data())) throw fail_with();
  return out;
}

#else

Tensor decode_jpeg(const Bytes&, const std::string& name, const DecodeOptions&) {
  throw Error("[decode_image] \"" + name + "\": mezzo was built without libjpeg");
}

#endif

}  // namespace mezzo::image::detail
