#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <jpeglib.h>

#include <mezzo/core/tensor.hpp>

namespace mezzo_tests {

// A JPEG file's bytes for a picture, uint8 (height, width, 3).
inline std::vector<std::uint8_t> jpeg(const mezzo::Tensor& picture) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(picture.shape()[0]);
  info.image_width = static_cast<JDIMENSION>(picture.shape()[1]);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_start_compress(&info, TRUE);
  mezzo::Tensor rows = picture;
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = rows.mutable_data<std::uint8_t>() + std::size_t{info.next_scanline} * info.image_width * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::vector<std::uint8_t> out(bytes, bytes + size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return out;
}

}  // namespace mezzo_tests
