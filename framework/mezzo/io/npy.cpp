#include <mezzo/io/npy.hpp>

#include <algorithm>
#include <cstring>
#include <istream>
#include <streambuf>
#include <utility>
#include <vector>

#include <xtensor/xadapt.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xnpy.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/npy_format.hpp>
#include <mezzo/io/open_file.hpp>

/// Makes float16 an element type of xtensor's `.npy` functions: numpy's "<f2".
template <>
char xt::detail::map_type<mezzo::float16>() {
  return 'f';
}

namespace mezzo::detail {
namespace {

/// The input of xt::load_npy: a checked header, written again, and the elements. xtensor's own parser is not for
/// untrusted bytes: it misreads header lengths from 128 on, and supports neither keys in another order nor version 3.0.
class CheckedStream : public std::streambuf {
 public:
  CheckedStream(const NpyNumbers& header, const std::string& descr, const ReadBytes& read) : read_(read) {
    const char* const order = header.fortran_order ? "True" : "False";
    std::string text = fmt::format("{{'descr':'{}','fortran_order':{},'shape':{}}}", descr, order, header.shape);
    text.resize((text.size() / 256 + 1) * 256 - 1, ' ');
    text += '\n';
    start_ = {'\x93', 'N', 'U', 'M', 'P', 'Y', '\1', '\0', '\0', static_cast<char>(text.size() / 256)};
    start_ += text;
    setg(start_.data(), start_.data(), start_.data() + start_.size());
  }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize count) override {
    const std::streamsize from_start = std::min<std::streamsize>(count, egptr() - gptr());
    std::memcpy(to, gptr(), static_cast<std::size_t>(from_start));
    gbump(static_cast<int>(from_start));
    read_(to + from_start, static_cast<std::size_t>(count - from_start));
    return count;
  }

 private:
  const ReadBytes& read_;
  std::string start_;
};

/// The output of xt::dump_npy, in place of a std::ostream.
struct Output {
  const WriteBytes& to;

  void write(const char* bytes, std::streamsize count) const { to(bytes, static_cast<std::size_t>(count)); }
  void put(char c) const { to(&c, 1); }
};

const Output& operator<<(const Output& output, const std::string& text) {
  output.to(text.data(), text.size());
  return output;
}

template <class T>
Tensor load(std::istream& in, const NpyNumbers& header) {
  const auto array = xt::load_npy<T>(in);
  Tensor out = Tensor::uninitialized(header.shape, DTypeOf<T>::value);
  auto elements = xt::adapt(out.mutable_data<T>(), array.size(), xt::no_ownership(), array.shape());
  xt::noalias(elements) = array;
  return out;
}

/// Reads a field of each element: the bytes of the field, one after another.
class FieldReader {
 public:
  FieldReader(const ReadBytes& read, const NpyNumbers& numbers)
      : read_(read), numbers_(numbers), record_(static_cast<std::size_t>(numbers.record)) {}

  void operator()(void* to, std::size_t count) {
    auto* out = static_cast<char*>(to);
    while (count > 0) {
      if (left_ == 0) {
        read_(record_.data(), record_.size());
        left_ = static_cast<std::size_t>(numbers_.bytes);
      }
      const std::size_t piece = std::min(count, left_);
      std::memcpy(out, record_.data() + numbers_.begin + numbers_.bytes - left_, piece);
      out += piece;
      left_ -= piece;
      count -= piece;
    }
  }

 private:
  const ReadBytes& read_;
  const NpyNumbers& numbers_;
  std::vector<char> record_;
  std::size_t left_ = 0;  // bytes of the field in record_ that were not returned
};

void reverse_bytes(Tensor& tensor) {
  const std::size_t size = dtype_size(tensor.dtype());
  auto* bytes = static_cast<unsigned char*>(tensor.mutable_raw());
  for (auto* const end = bytes + tensor.bytes(); bytes != end; bytes += size) std::reverse(bytes, bytes + size);
}

/// Numbers that were unsigned, in a wider dtype. A FileError for a uint64 of 2^63 or more, which has none.
Tensor as_unsigned(const Tensor& stored, DType dtype, const std::string& where) {
  Tensor out = Tensor::uninitialized(stored.shape(), dtype);
  for (std::int64_t i = 0; i < stored.size(); ++i) {
    if (stored.dtype() == DType::int16) {
      out.mutable_data<std::int32_t>()[i] = static_cast<std::uint16_t>(stored.data<std::int16_t>()[i]);
    } else if (stored.dtype() == DType::int32) {
      out.mutable_data<std::int64_t>()[i] = static_cast<std::uint32_t>(stored.data<std::int32_t>()[i]);
    } else {
      const std::int64_t number = stored.data<std::int64_t>()[i];
      if (number < 0) {
        fail<FileError>(where, "numbers of uint64 must be below 2^63; got {} at element {}",
                        static_cast<std::uint64_t>(number), i);
      }
      out.mutable_data<std::int64_t>()[i] = number;
    }
  }
  return out;
}

}  // namespace

Tensor read_npy_numbers(const ReadBytes& read, const NpyNumbers& header, const std::string& where) {
  if (element_count(header.shape) == 0) return Tensor(header.shape, header.dtype);
  const DType dtype = header.stored;
  const ReadBytes fields = FieldReader(read, header);
  const bool whole = header.bytes == header.record;
  CheckedStream buffer(header, npy_descr(dtype, where), whole ? read : fields);
  std::istream in(&buffer);
  in.exceptions(std::ios::badbit);  // rethrows the errors of `read`
  Tensor out = visit_dtype(dtype, [&](auto zero) -> Tensor {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, bfloat16>) {
      return {};
    } else {
      return load<T>(in, header);
    }
  });
  if (header.big_endian) reverse_bytes(out);
  if (header.is_unsigned) return as_unsigned(out, header.dtype, where);
  if (header.dtype == dtype) return out;
  // A byte that is neither 0 nor 1 is not a bool.
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const int byte = out.data<std::uint8_t>()[i];
    if (byte > 1) fail<FileError>(where, "bools must be 0 or 1; got {} at element {}", byte, i);
  }
  return out.cast(DType::boolean);
}

Tensor read_npy(const ReadBytes& read, std::uint64_t size, const std::string& field, const std::string& where) {
  const NpyHeader header = read_npy_header(read, size, where);
  return read_npy_numbers(read, npy_numbers(header, field, where), where);
}

void write_npy(const Tensor& tensor, const WriteBytes& write, const std::string& where) {
  npy_descr(tensor.dtype(), where);  // throws for bfloat16
  visit_dtype(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bfloat16>) {
      const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
      const auto elements =
          xt::adapt(tensor.data<T>(), static_cast<std::size_t>(tensor.size()), xt::no_ownership(), shape);
      Output output{write};
      xt::detail::dump_npy_stream(output, elements);
    }
  });
}

}  // namespace mezzo::detail

namespace mezzo {

Tensor load_npy(const std::string& path, const LoadNpyOptions& options) {
  const std::string where = fmt::format("[load_npy \"{}\"]", path);
  detail::check_kind(path, {detail::FileKind::npy}, where, "an array of NumPy (.npy)");
  const detail::OpenFile file(path, where);
  std::uint64_t offset = 0;
  const auto read = [&](void* to, std::size_t count) {
    file.read(offset, to, count, where);
    offset += count;
  };
  return detail::read_npy(read, file.size(), options.field, where);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const std::string where = fmt::format("[save_npy \"{}\"]", path);
  detail::check_suffix(path, detail::FileKind::npy, where, ".npy");
  detail::npy_descr(tensor.dtype(), where);  // before a file is made
  detail::FileReplacement file(path, where);
  detail::write_npy(
      tensor, [&](const void* from, std::size_t count) { file.write(from, count); }, where);
  file.commit();
}

}  // namespace mezzo
