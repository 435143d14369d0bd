#include <mezzo/data/image/check.hpp>
#include <mezzo/data/image/encode.hpp>

#if MEZZO_WITH_PNG
#include <png.h>
#endif

namespace mezzo::image {

#if MEZZO_WITH_PNG

mezzo::detail::Bytes encode_png(const Tensor& image) {
  constexpr const char* where = "[encode_png]";
  detail::check_image(image, where);
  const Shape& shape = image.shape();
  if (shape[2] != 1 && shape[2] != 3) {
    fail<ShapeError>(where, "an image must have 1 or 3 channels; got shape {}", shape);
  }
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.height = static_cast<png_uint_32>(shape[0]);
  header.width = static_cast<png_uint_32>(shape[1]);
  header.format = shape[2] == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  constexpr int keep_8_bits = 0;
  constexpr int packed_rows = 0;
  const auto write = [&](void* to, png_alloc_size_t& size) {
    if (png_image_write_to_memory(&header, to, &size, keep_8_bits, image.raw(), packed_rows, nullptr) == 0) {
      fail<Error>(where, "an image of shape {} can't be encoded; libpng: {}", shape, header.message);
    }
  };
  // An upper bound, so that one call compresses; the call sets the real size.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  mezzo::detail::Bytes out(size);
  write(out.data(), size);
  out.resize(size);
  return out;
}

#else

mezzo::detail::Bytes encode_png(const Tensor&) {
  fail<Error>("[encode_png]", "PNG needs libpng; this mezzo was built without it");
}

#endif

}  // namespace mezzo::image
