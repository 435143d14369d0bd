#include <mezzo/nn/gptq_dataset.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t windows_in_batch = 8;

bool is_tokens(const Tensor& x) {
  return x.shape().size() == 1 && !is_floating(x.dtype()) && x.dtype() != DType::boolean;
}

/// The arrays of tokens one behind the other.
Tensor joined(const std::vector<Tensor>& parts) {
  std::int64_t count = 0;
  for (const Tensor& part : parts) count += part.size();
  Tensor out = Tensor::uninitialized({count}, DType::int64);
  auto* to = out.mutable_data<std::int64_t>();
  for (const Tensor& part : parts) {
    const Tensor numbers = part.cast(DType::int64);
    to = std::copy_n(numbers.data<std::int64_t>(), numbers.size(), to);
  }
  return out;
}

/// Windows with starts from the first token to the last possible one, at equal distances.
std::vector<Tensor> windows_of(const GPTQConfig& config, const std::string& where) {
  for (const Tensor& part : config.dataset) {
    const DType first = config.dataset.front().dtype();
    if (part.dtype() != first) {
      fail<DTypeError>(where, "tokens of a dataset must have one dtype; got {} and {}", first, part.dtype());
    }
  }
  const Tensor tokens = joined(config.dataset);
  const std::int64_t length = config.sequence_length, last = tokens.size() - length;
  if (last < 0) {
    fail<ValueError>(where, "dataset must have at least sequence_length = {} tokens; got {}", length, tokens.size());
  }
  const std::int64_t count = std::min(config.num_samples, last + 1);
  std::vector<Tensor> out;
  for (std::int64_t first = 0; first < count; first += windows_in_batch) {
    const std::int64_t rows = std::min(windows_in_batch, count - first);
    Tensor batch = Tensor::uninitialized({rows, length}, DType::int64);
    auto* to = batch.mutable_data<std::int64_t>();
    for (std::int64_t i = first; i < first + rows; ++i) {
      const std::int64_t begin = count == 1 ? 0 : i * last / (count - 1);
      to = std::copy_n(tokens.data<std::int64_t>() + begin, length, to);
    }
    out.push_back(batch.cast(config.dataset.front().dtype()));
  }
  return out;
}

std::vector<Tensor> first_samples(const GPTQConfig& config, const std::string& where) {
  std::vector<Tensor> out;
  std::int64_t left = config.num_samples;
  for (const Tensor& batch : config.dataset) {
    if (batch.shape().empty()) fail<ValueError>(where, "dataset must have batches (samples, ...); got shape ()");
    const std::int64_t rows = std::min(left, batch.shape()[0]);
    if (rows > 0) out.push_back(rows == batch.shape()[0] ? batch : batch.slice(0, rows));
    left -= rows;
  }
  return out;
}

}  // namespace

std::vector<Tensor> gptq_batches(const GPTQConfig& config, const std::string& where) {
  if (config.dataset.empty()) {
    fail<ValueError>(where, "dataset must have batches of the model's input, or tokens; got none");
  }
  if (config.num_samples < 1) fail<ValueError>(where, "num_samples must be positive; got {}", config.num_samples);
  if (config.sequence_length < 1) {
    fail<ValueError>(where, "sequence_length must be positive; got {}", config.sequence_length);
  }
  const auto tokens = std::count_if(config.dataset.begin(), config.dataset.end(), is_tokens);
  if (tokens == 0) return first_samples(config, where);
  if (tokens < static_cast<std::ptrdiff_t>(config.dataset.size())) {
    fail<ValueError>(where, "dataset must have batches alone or tokens alone; got {} arrays of tokens among {}", tokens,
                     config.dataset.size());
  }
  return windows_of(config, where);
}

}  // namespace mezzo::detail
