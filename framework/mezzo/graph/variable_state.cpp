#include <mezzo/graph/variable_state.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/split_float.hpp>
#include <mezzo/graph/coded_state.hpp>
#include <mezzo/graph/quantization.hpp>

namespace mezzo {
namespace {

/// Access to a variable's numbers. The same thread may nest it.
class Numbers {
 public:
  enum class Intent { read, replace };

  Numbers(const detail::VariableState& variable, Intent intent) : scope_(variable.usage) {
    if (scope_.refused()) {
      fail<ValueError>("", "[Variable \"{}\"] the model must be idle; got a {} while another thread runs it",
                       variable.name, intent == Intent::read ? "read" : "write");
    }
    if (intent == Intent::replace && detail::InsideStep::of(variable.usage)) {
      fail<ValueError>("",
                       "[Variable \"{}\"] numbers must be replaced between steps; got a write inside a step that "
                       "computes with them (Layer::update() writes at the end of the step)",
                       variable.name);
    }
  }

 private:
  detail::AccessScope scope_;
};

void require_whole(const detail::VariableState& variable) {
  if (variable.whole()) return;
  fail<ValueError>(
      "",
      "[Variable \"{}\"] must be whole to be read; got its bfloat16 part, since shard_optimizer_states gives "
      "the rest to another rank: make a WholeWeights at all ranks first",
      variable.name);
}

}  // namespace

void detail::VariableState::copy_from(const detail::VariableState& other) {
  const Numbers access(other, Numbers::Intent::read);
  require_whole(other);
  name = other.name;
  value = other.value.copy();
  if (other.remainder) {
    remainder = std::make_shared<detail::VariableState>(Blank{});
    remainder->copy_from(*other.remainder);
  }
  quantizable = other.quantizable;
  quantization = other.quantization ? std::make_shared<Quantization>(*other.quantization) : nullptr;
  fake = other.fake ? std::make_shared<FakeQuantization>(*other.fake) : nullptr;
  filled = other.filled;
  trainable = other.trainable;
  autocast = other.autocast;
  fixed_dtype = other.fixed_dtype;
  of_codes = other.of_codes;
  file_name = other.file_name;
  file_axes = other.file_axes;
  file_shape = other.file_shape;
  policy_version = other.policy_version;
  regularizer = other.regularizer;
  constraint = other.constraint;
  adapters = other.adapters ? copy_of(*other.adapters) : nullptr;
}

Tensor detail::VariableState::numbers() const {
  const Numbers access(*this, Numbers::Intent::read);
  if (quantization) return quantization->codes(value);
  if (!remainder) return value;
  require_whole(*this);
  if (is_coded(*this)) return decoded(*this);
  Tensor joined = Tensor::uninitialized(value.shape(), DType::float32);
  const auto* high = value.data<bfloat16>();
  const auto* low = remainder->value.data<std::int16_t>();
  auto* out = joined.mutable_data<float>();
  for (std::int64_t i = 0; i < joined.size(); ++i) {
    SplitFloat x;
    x.high = high[i];
    x.low = low[i];
    out[i] = static_cast<float>(x);
  }
  return joined;
}

void detail::VariableState::split() {
  const Numbers access(*this, Numbers::Intent::replace);
  if (remainder) return;
  if (value.dtype() != DType::float32) {
    fail<DTypeError>("", "[Variable \"{}\"] must be float32 to be split; got {}", name, value.dtype());
  }
  remainder = std::make_shared<detail::VariableState>(name + "/remainder");
  const Tensor numbers = value;
  value = Tensor::uninitialized(numbers.shape(), DType::bfloat16);
  set_halves(numbers);
  ++version;
}

void detail::VariableState::join() {
  const Numbers access(*this, Numbers::Intent::replace);
  if (remainder) convert_to(numbers());
}

void detail::VariableState::drop_remainder() {
  const Numbers access(*this, Numbers::Intent::replace);
  remainder->value = Tensor({0}, DType::int16);
  remainder->filled = false;
}

void detail::VariableState::convert(DType dtype) {
  const Numbers access(*this, Numbers::Intent::replace);
  policy_version = detail::dtype_policy_version();
  if (this->dtype() != dtype) convert_to(numbers().cast(dtype));
}

void detail::VariableState::convert_to(const Tensor& numbers) {
  value = numbers;
  remainder.reset();
  ++version;
}

void detail::VariableState::require_unmerged() const {
  if (!adapters || !is_merged(*adapters)) return;
  fail<ValueError>("", "[Variable \"{}\"] assign: adapters must not be merged; call unmerge_adapter() first", name);
}

void detail::VariableState::assign(const Tensor& numbers) {
  const Numbers access(*this, Numbers::Intent::replace);
  require_unmerged();
  if (filled && numbers.shape() != shape()) {
    fail<ShapeError>("", "[Variable \"{}\"] assign: shape must be {}; got {}", name, shape(), numbers.shape());
  }
  if (quantization) return assign_codes(numbers);
  if (remainder) {
    set_halves(numbers.cast(DType::float32));
  } else {
    value = (filled ? numbers.cast(value.dtype()) : numbers).owned();
  }
  filled = true;
  ++version;
}

void detail::VariableState::store(const Tensor& kept) {
  const Numbers access(*this, Numbers::Intent::replace);
  value = kept.owned();
  ++version;
}

void detail::VariableState::store_codes(const Tensor& codes, std::shared_ptr<Quantization> form) {
  const Numbers access(*this, Numbers::Intent::replace);
  value = codes.owned();
  remainder.reset();
  quantization = std::move(form);
  trainable = false;
  ++version;
}

void detail::VariableState::assign_codes(const Tensor& numbers) {
  if (is_floating(numbers.dtype())) {
    VariableState floats(name);
    floats.value = numbers;
    floats.quantizable = quantizable;
    detail::quantize(floats, quantization);
    value = floats.value;
  } else if (numbers.dtype() == DType::int8) {
    value = quantization->stored(numbers, name);
  } else {
    fail<DTypeError>("", "[Variable \"{}\"] assign: a quantized weight takes floats or int8 codes; got {}", name,
                     numbers.dtype());
  }
  ++version;
}

const Shape& detail::VariableState::quantized_shape() const { return quantization->shape; }

void detail::VariableState::set_halves(const Tensor& numbers) {
  if (is_coded(*this)) {
    set_codes(*this, numbers);
    return;
  }
  if (!remainder->filled) remainder->value = Tensor::uninitialized(numbers.shape(), DType::int16);
  remainder->filled = true;
  const auto* x = numbers.data<float>();
  auto* high = value.mutable_data<bfloat16>();
  auto* low = remainder->value.mutable_data<std::int16_t>();
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    const SplitFloat halves(x[i]);
    high[i] = halves.high;
    low[i] = halves.low;
  }
  ++remainder->version;
}

}  // namespace mezzo
