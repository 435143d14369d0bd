#include <mezzo/io/gzip_stream.hpp>

#include <algorithm>
#include <new>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/inflater.hpp>

namespace mezzo::detail {

struct GzipStream::State {
  Inflater inflater{gzip_window};
  std::vector<Bytef> compressed = std::vector<Bytef>(std::size_t{1} << 18);
  std::uint64_t read = 0;  // bytes of the file
  bool ended = false;      // between two members, or at the end
};

GzipStream::GzipStream(const OpenFile& file, std::string where)
    : file_(file), where_(std::move(where)), state_(std::make_unique<State>()) {}

GzipStream::~GzipStream() = default;

void GzipStream::refill() {
  State& state = *state_;
  const std::uint64_t count = std::min<std::uint64_t>(state.compressed.size(), file_.size() - state.read);
  if (count == 0) return;
  file_.read(state.read, state.compressed.data(), count, where_);
  state.read += count;
  state.inflater.stream.next_in = state.compressed.data();
  state.inflater.stream.avail_in = static_cast<uInt>(count);
}

std::size_t GzipStream::read(char* to, std::size_t count) {
  State& state = *state_;
  z_stream& stream = state.inflater.stream;
  std::size_t produced = 0;
  while (produced < count) {
    if (stream.avail_in == 0) refill();
    if (state.ended) {
      if (stream.avail_in == 0) break;
      inflateReset(&stream);
      state.ended = false;
    }
    if (stream.avail_in == 0)
      fail<FileError>(where_, "must be whole gzip data; got {} bytes, which end too early", state.read);
    const auto room = static_cast<uInt>(std::min<std::size_t>(count - produced, std::size_t{1} << 30));
    stream.next_out = reinterpret_cast<Bytef*>(to + produced);
    stream.avail_out = room;
    const int result = inflate(&stream, Z_NO_FLUSH);
    produced += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      state.ended = true;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      fail<FileError>(where_, "must be gzip data; got other data before byte {} of {} (zlib: {})",
                      state.read - stream.avail_in, file_.size(), stream.msg != nullptr ? stream.msg : "unknown error");
    }
  }
  return produced;
}

}  // namespace mezzo::detail
