#include <mezzo/training/ranks/rank_outputs.hpp>

#include <cstring>
#include <string>

namespace mezzo::detail {
namespace {

/// Shapes and elements of tensors as bytes.
std::string bytes_of(const std::vector<Tensor>& tensors) {
  std::string out;
  const auto add = [&out](const void* from, std::size_t count) { out.append(static_cast<const char*>(from), count); };
  for (const Tensor& tensor : tensors) {
    const std::uint64_t axes = tensor.shape().size();
    add(&axes, sizeof axes);
    for (const std::int64_t size : tensor.shape()) add(&size, sizeof size);
    add(tensor.raw(), tensor.bytes());
  }
  return out;
}

/// Reads the result of bytes_of().
class Reader {
 public:
  explicit Reader(const std::string& bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool done() const { return next_ == end_; }

  Tensor tensor(DType dtype) {
    std::uint64_t axes = 0;
    take(&axes, sizeof axes);
    Shape shape(axes);
    for (std::int64_t& size : shape) take(&size, sizeof size);
    Tensor out = Tensor::uninitialized(shape, dtype);
    take(out.mutable_raw(), out.bytes());
    return out;
  }

 private:
  void take(void* to, std::size_t count) {
    if (count > 0) std::memcpy(to, next_, count);
    next_ += count;
  }

  const char* next_;
  const char* end_;
};

}  // namespace

std::vector<std::vector<Tensor>> gather_outputs(Communicator& communicator, const std::vector<Tensor>& own,
                                                bool counts) {
  std::vector<std::vector<Tensor>> out(own.size());
  for (const std::string& bytes : communicator.gather_texts(counts ? bytes_of(own) : std::string())) {
    Reader reader(bytes);
    for (std::size_t i = 0; i < own.size() && !reader.done(); ++i) out[i].push_back(reader.tensor(own[i].dtype()));
  }
  return out;
}

}  // namespace mezzo::detail
