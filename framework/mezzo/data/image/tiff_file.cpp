#if MEZZO_WITH_TIFF
#include <mezzo/data/image/tiff_file.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <mezzo/data/image/formats.hpp>

namespace mezzo::image::detail {
namespace {

/// Limit of a single allocation of libtiff, for its lists of strips and its buffers.
constexpr tmsize_t most_tiff_memory = tmsize_t{192} << 20;

tmsize_t refuse_writing(thandle_t, void*, tmsize_t) { return -1; }
int keep_open(thandle_t) { return 0; }
int ignore_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

/// A message of libtiff without the row UINT32_MAX, which stands for a row that it doesn't know.
std::string without_unknown_row(std::string message) {
  for (const std::string_view place :
       {" at scanline 4294967295", " for scanline 4294967295", " row 4294967295, col 4294967295,"}) {
    const std::size_t found = message.find(place);
    if (found != std::string::npos) message.erase(found, place.size());
  }
  return message;
}

}  // namespace

TiffFile::TiffFile(const mezzo::detail::Bytes& bytes, const std::string& name)
    : name_(name), source_{&bytes, 0, ""}, tiff_(nullptr, TIFFClose) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_tiff_memory);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), report, &source_);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
  const auto size = [](thandle_t handle) { return toff_t{static_cast<Source*>(handle)->bytes->size()}; };
  tiff_.reset(TIFFClientOpenExt("picture", "rm", &source_, read, refuse_writing, seek, keep_open, size, nullptr,
                                nullptr, options.get()));
  if (tiff_ == nullptr) refuse("its directory can't be read");
}

std::uint16_t TiffFile::number(std::uint32_t tag, std::uint16_t otherwise) const {
  std::uint16_t value = otherwise;
  return TIFFGetFieldDefaulted(tiff_.get(), tag, &value) == 1 ? value : otherwise;
}

std::uint32_t TiffFile::large_number(std::uint32_t tag, std::uint32_t otherwise) const {
  std::uint32_t value = otherwise;
  return TIFFGetFieldDefaulted(tiff_.get(), tag, &value) == 1 ? value : otherwise;
}

void TiffFile::refuse(const char* otherwise) const {
  fail_decoding(name_, "not a whole TIFF file: {}",
                without_unknown_row(source_.reason[0] != 0 ? source_.reason : otherwise));
}

tmsize_t TiffFile::read(thandle_t handle, void* to, tmsize_t count) {
  auto& source = *static_cast<Source*>(handle);
  const std::uint64_t left = source.bytes->size() - std::min<std::uint64_t>(source.at, source.bytes->size());
  const auto taken = static_cast<std::size_t>(std::min(left, static_cast<std::uint64_t>(std::max<tmsize_t>(count, 0))));
  if (taken > 0) std::memcpy(to, source.bytes->data() + source.at, taken);
  source.at += taken;
  return static_cast<tmsize_t>(taken);
}

toff_t TiffFile::seek(thandle_t handle, toff_t offset, int from) {
  auto& source = *static_cast<Source*>(handle);
  // Offsets are unsigned: those from an end wrap around.
  const std::uint64_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? source.at : source.bytes->size();
  source.at = start + offset;
  return source.at;
}

int TiffFile::report(TIFF*, void* source, const char*, const char* format, va_list arguments) {
  char* const reason = static_cast<Source*>(source)->reason;
  if (reason[0] == 0) std::vsnprintf(reason, sizeof Source::reason, format, arguments);
  return 1;  // reported: libtiff prints nothing
}

}  // namespace mezzo::image::detail
#endif
