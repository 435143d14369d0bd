#include <mezzo/compiler/update_count.hpp>

#include <algorithm>

#include <mezzo/core/visit.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

bool is_optimizer_step(const detail::Node& node) {
  return is(node, ops::sgd_update) || is(node, ops::adam_update) || is(node, ops::adafactor_update) ||
         is(node, ops::optimizer_update);
}

bool rounds_to_nearest(const detail::Node& update) {
  const DType dtype = update.inputs.front().dtype();
  return (dtype == DType::bfloat16 || dtype == DType::float16) && !update.attributes.has("kept");
}

/// The learning rate: the first scalar in float64. Slots of such variables are not float64.
double rate_of(const detail::Node& update, const std::vector<const void*>& in) {
  for (std::size_t i = 2; i < update.inputs.size(); ++i) {
    if (update.inputs[i].dtype() == DType::float64) return *static_cast<const double*>(in[i]);
  }
  return 0;
}

bool is_zero(const void* array, DType dtype, std::int64_t i) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_class_v<T>) {
      return static_cast<float>(static_cast<const T*>(array)[i]) == 0;
    } else {
      return static_cast<const T*>(array)[i] == T{};
    }
  });
}

/// Place in the gradient of an element of the variable; -1 if a compact gradient doesn't have its row.
std::int64_t place_in_gradient(const detail::Node& update, const std::vector<const void*>& in, std::int64_t element) {
  if (!update.attributes.get_or("compact", false)) return element;
  const Shape& shape = update.inputs.front().shape();
  const std::int64_t columns = element_count(shape) / shape.front();
  const std::int64_t row = static_cast<const std::int32_t*>(in.back())[element / columns];
  return row < 0 ? -1 : row * columns + element % columns;
}

}  // namespace

UpdateSample::UpdateSample(const detail::Node& update, const std::vector<const void*>& in) {
  if (!is_optimizer_step(update) || !rounds_to_nearest(update) || rate_of(update, in) == 0) return;
  dtype_ = update.inputs.front().dtype();
  elements_ = element_count(update.inputs.front().shape());
  looked_at_ = std::min(elements_, static_cast<std::int64_t>(most));
  for (std::int64_t i = 0; i < looked_at_; ++i) {
    const std::int64_t element = elements_ / looked_at_ * i + elements_ % looked_at_ * i / looked_at_;
    const std::int64_t place = place_in_gradient(update, in, element);
    if (place < 0 || is_zero(in[1], update.inputs[1].dtype(), place)) continue;
    places_[size_] = element;
    before_[size_++] = static_cast<const std::uint16_t*>(in[0])[element];
  }
}

void UpdateSample::count(const void* updated, UpdateCount& to) const {
  if (size_ == 0) return;
  std::size_t lost = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    lost += static_cast<const std::uint16_t*>(updated)[places_[i]] == before_[i] ? 1 : 0;
  }
  const double share = static_cast<double>(elements_) / static_cast<double>(looked_at_);
  to.made += share * static_cast<double>(size_);
  to.lost += share * static_cast<double>(lost);
  to.dtype = dtype_;
}

void count_updates(const Graph& eager, UpdateCount& to) {
  for (const detail::NodePtr& node : eager.nodes) {
    if (!is_optimizer_step(*node)) continue;
    std::vector<Tensor> operands;
    std::vector<const void*> in;
    for (const Value& input : node->inputs) {
      operands.push_back(input.tensor());
      in.push_back(operands.back().raw());
    }
    UpdateSample(*node, in).count(node->results.front().raw(), to);
  }
}

}  // namespace mezzo
