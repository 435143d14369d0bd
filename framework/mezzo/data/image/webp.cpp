#include <mezzo/data/image/formats.hpp>

#include <algorithm>
#include <string_view>

#if MEZZO_WITH_WEBP
#include <memory>
#include <new>

#include <webp/decode.h>
#include <webp/demux.h>
#endif

namespace mezzo::image::detail {

bool is_webp(const mezzo::detail::Bytes& bytes) {
  const auto has = [&](std::size_t at, std::string_view text) {
    return bytes.size() >= at + text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  };
  return has(0, "RIFF") && has(8, "WEBP");
}

#if MEZZO_WITH_WEBP
namespace {

const char* reason_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "the file is truncated";
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its data is damaged";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "libwebp doesn't know one of its features";
    default:
      return "libwebp can't decode it";
  }
}

[[noreturn]] void refuse_webp(const std::string& name, const char* reason) {
  fail_decoding(name, "not a whole WebP file: {}", reason);
}

/// Decodes the first frame of an animation onto its canvas.
void decode_first_frame(const mezzo::detail::Bytes& bytes, const std::string& name, Tensor& out) {
  const WebPData data{bytes.data(), bytes.size()};
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) fail<Error>("[decode_image]", "libwebp has another version");
  options.color_mode = MODE_RGBA;
  const std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> decoder(WebPAnimDecoderNew(&data, &options),
                                                                                   WebPAnimDecoderDelete);
  std::uint8_t* rgba = nullptr;
  int time = 0;
  WebPAnimInfo info{};
  if (decoder == nullptr || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0 ||
      std::int64_t{info.canvas_width} * info.canvas_height != out.size() / 3 ||
      WebPAnimDecoderGetNext(decoder.get(), &rgba, &time) == 0) {
    refuse_webp(name, "its first frame can't be decoded");
  }
  auto* to = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < out.size() / 3; ++i, rgba += 4, to += 3) std::copy(rgba, rgba + 3, to);
}

}  // namespace

Tensor decode_webp(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) fail<Error>("[decode_image]", "libwebp has another version");
  const VP8StatusCode header = WebPGetFeatures(bytes.data(), bytes.size(), &config.input);
  if (header != VP8_STATUS_OK) refuse_webp(name, reason_of(header));
  const std::int64_t height = config.input.height, width = config.input.width;
  check_size(height, width, name, options);
  Tensor out = Tensor::uninitialized({height, width, 3}, DType::uint8);
  if (config.input.has_animation != 0) {
    decode_first_frame(bytes, name, out);
    return out;
  }
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {out.mutable_data<std::uint8_t>(), static_cast<int>(3 * width), out.bytes()};
  const VP8StatusCode status = WebPDecode(bytes.data(), bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status != VP8_STATUS_OK) refuse_webp(name, reason_of(status));
  return out;
}

#else

Tensor decode_webp(const mezzo::detail::Bytes&, const std::string& name, const DecodeOptions&) {
  fail<Error>("[decode_image]", "\"{}\": WebP needs libwebp; this mezzo was built without it", name);
}

#endif

}  // namespace mezzo::image::detail
