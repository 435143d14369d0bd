#include <mezzo/ops/fake_quantize_mx.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/precision/mx_element.hpp>

namespace mezzo {

Value fake_quantize_mx(const Value& x, const MXOptions& options) {
  fake_quantize_mx(Tensor(Shape(x.shape().size(), 0), x.dtype()), options);  // throws for what it can't round
  const auto straight_through = custom_gradient([options](const Values& xs) {
    const auto round = [options](const Tensor& numbers) { return fake_quantize_mx(numbers, options); };
    return CustomGradientResult{host(round, xs[0]), [](const Value& upstream) { return Values{upstream}; }};
  });
  return straight_through({x});
}

}  // namespace mezzo
