#include <mezzo/models/generation.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/models/generator.hpp>

namespace mezzo {
namespace {

/// Chooses a token by a row of logits.
class TokenSampler {
 public:
  TokenSampler(const GenerateOptions& options, std::int64_t vocabulary)
      : options_(options),
        key_(detail::mix(seed(), detail::next_stream())),
        order_(static_cast<std::size_t>(vocabulary)),
        weights_(order_.size()) {}

  std::int64_t operator()(const float* logits) {
    const float* end = logits + order_.size();
    if (!options_.do_sample) return std::max_element(logits, end) - logits;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::size_t count = order_.size();
    if (options_.top_k > 0) count = std::min(count, static_cast<std::size_t>(options_.top_k));
    const auto likelier = [&](std::size_t a, std::size_t b) {
      return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
    };
    if (count < order_.size()) {
      std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count), order_.end(), likelier);
      std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    const auto highest = static_cast<double>(*std::max_element(logits, end));
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      weights_[i] = std::exp((static_cast<double>(logits[order_[i]]) - highest) / options_.temperature);
      total += weights_[i];
    }
    const auto words = philox(key_, draws_++);
    double rest = unit_double(words[0], words[1]) * total;
    std::size_t drawn = 0;
    while (drawn + 1 < count && rest >= weights_[drawn]) rest -= weights_[drawn++];
    return static_cast<std::int64_t>(order_[drawn]);
  }

 private:
  const GenerateOptions& options_;
  std::uint64_t key_, draws_ = 0;
  std::vector<std::size_t> order_;
  std::vector<double> weights_;
};

/// The kept generator if it has room for that many positions; else a new one. Its capacity is a power of two, or the
/// limit.
detail::Generator& generator_for(std::int64_t batch, std::int64_t positions, std::int64_t limit,
                                 detail::Transient<detail::Generator>& kept) {
  if (!kept.pointer() || !kept.pointer()->fits(batch, positions)) {
    std::int64_t capacity = 64;
    while (capacity < positions) capacity *= 2;
    kept.set(nullptr);  // frees its caches
    kept.set(std::make_shared<detail::Generator>(batch, std::min(capacity, limit)));
  }
  return *kept.pointer();
}

}  // namespace

void detail::check_generation(const LanguageModel& model, const Tensor& ids, const GenerateOptions& options) {
  const std::string where = model.label + " generate:";
  if (ids.shape().size() != 2 || ids.shape()[1] < 1) {
    fail<ShapeError>(where, "input_ids must be (batch, positions) with at least one position; got shape {}",
                     ids.shape());
  }
  if (options.max_new_tokens < 0) {
    fail<ValueError>(where, "max_new_tokens must not be negative; got {}", options.max_new_tokens);
  }
  if (!(options.temperature > 0)) fail<ValueError>(where, "temperature must be positive; got {}", options.temperature);
  if (options.top_k < 0) fail<ValueError>(where, "top_k must not be negative; got {}", options.top_k);
  // The last new token is never an input, so it needs no position.
  if (ids.shape()[1] + options.max_new_tokens > model.limit + 1) {
    fail<ShapeError>(where, "positions and max_new_tokens may be {} + 1 = {} together; got {} + {}", model.limit_name,
                     model.limit + 1, ids.shape()[1], options.max_new_tokens);
  }
}

Tensor detail::generate_tokens(const LanguageModel& model, const Tensor& input_ids, const GenerateOptions& options,
                               detail::Transient<Generator>& kept) {
  const OutsideTrace at_once;
  const std::int64_t batch = input_ids.shape()[0], given = input_ids.shape()[1];
  const std::int64_t length = given + options.max_new_tokens;
  const Tensor prompt = input_ids.cast(DType::int64);
  Tensor out({batch, length}, DType::int64);
  auto* ids = out.mutable_data<std::int64_t>();
  for (std::int64_t row = 0; row < batch; ++row) {
    std::copy_n(prompt.data<std::int64_t>() + row * given, given, ids + row * length);
  }
  TokenSampler sampler(options, model.vocab_size);
  if (out.size() == prompt.size()) return out;
  std::vector<bool> ended(static_cast<std::size_t>(batch));
  std::vector<std::int64_t> next(static_cast<std::size_t>(batch));
  Generator::Run run(generator_for(batch, length - 1, model.limit, kept), model);
  for (std::int64_t position = given; position < length; ++position) {
    const Tensor& logits = position == given ? run.begin(prompt) : run.next(next.data(), position - 1);
    for (std::int64_t row = 0; row < batch; ++row) {
      const auto at = static_cast<std::size_t>(row);
      std::int64_t id = sampler(logits.data<float>() + row * model.vocab_size);
      if (ended[at]) id = *options.eos_token_id;
      ended[at] = options.eos_token_id == id;
      ids[row * length + position] = next[at] = id;
    }
    if (std::all_of(ended.begin(), ended.end(), [](bool end) { return end; })) {
      for (std::int64_t row = 0; row < batch; ++row) {
        std::fill(ids + row * length + position, ids + (row + 1) * length, *options.eos_token_id);
      }
      break;
    }
  }
  return out;
}

}  // namespace mezzo
