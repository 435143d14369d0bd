#include <mezzo/models/generator.hpp>

#include <algorithm>

#include <mezzo/ops/key_value_cache.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

Generator::Generator(std::int64_t batch, std::int64_t capacity)
    : batch_(batch), capacity_(capacity), function_([this](const Values& xs) { return trace(xs); }) {}

/// Inputs: ids of prompts, or one id of each sequence and its position.
Values Generator::trace(const Values& xs) {
  const bool continues = xs.size() > 1;
  const Value position = continues ? xs[1] : Value(Tensor::scalar(0, DType::int32));
  Values state = xs;
  if (continues) state.insert(state.end(), caches_.begin(), caches_.end());
  const Values y = model_.with_past(state);
  if (!continues) make_caches(y);
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    update_variable(caches_[i].state().pointer(), cache_update(caches_[i], y[i + 1], position));
  }
  return {cast(reshape(y[0], {batch_, model_.vocab_size}), DType::float32)};
}

/// Makes caches for keys and values (batch, positions, heads, size) unless there are some of their dtypes.
void Generator::make_caches(const Values& y) {
  const bool kept = caches_.size() + 1 == y.size() &&
                    std::equal(caches_.begin(), caches_.end(), y.begin() + 1,
                               [](const Variable& cache, const Value& x) { return cache.dtype() == x.dtype(); });
  if (kept) return;
  caches_.clear();
  for (std::size_t i = 1; i < y.size(); ++i) {
    const Shape& shape = y[i].shape();
    Variable& cache = caches_.emplace_back(i % 2 == 1 ? "key_cache" : "value_cache");
    cache.state()->autocast = false;
    cache.assign(Tensor({batch_, shape[2], capacity_, shape[3]}, y[i].dtype()));
  }
}

Generator::Run::Run(Generator& generator, const LanguageModel& model)
    : generator_(generator),
      session_(generator.function_, *model.module),
      inputs_{Tensor({generator.batch_, 1}, DType::int64), Tensor::scalar(0, DType::int32)} {
  generator.model_ = model;
}

const Tensor& Generator::Run::begin(const Tensor& prompt) { return session_({prompt})[0]; }

const Tensor& Generator::Run::next(const std::int64_t* tokens, std::int64_t position) {
  std::copy_n(tokens, generator_.batch_, inputs_[0].mutable_data<std::int64_t>());
  *inputs_[1].mutable_data<std::int32_t>() = static_cast<std::int32_t>(position);
  return session_(inputs_)[0];
}

}  // namespace mezzo::detail
