#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <turbojpeg.h>

#include <mezzo/core/tensor.hpp>

namespace mezzo_tests {

// Encodes a picture, uint8 (height, width, 3), as JPEG of quality 75 with 4:2:0 subsampling. `flags` are
// libjpeg-turbo's.
inline std::vector<std::uint8_t> jpeg(const mezzo::Tensor& picture, int flags = 0) {
  const std::unique_ptr<void, int (*)(void*)> encoder(tjInitCompress(), tjDestroy);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed = tjCompress2(encoder.get(), picture.data<std::uint8_t>(), static_cast<int>(picture.shape()[1]), 0,
                                 static_cast<int>(picture.shape()[0]), TJPF_RGB, &bytes, &size, TJSAMP_420, 75,
                                 TJFLAG_ACCURATEDCT | flags);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(bytes, tjFree);
  if (failed != 0) throw std::runtime_error(tjGetErrorStr2(encoder.get()));
  return {bytes, bytes + size};
}

}  // namespace mezzo_tests
