#include <mezzo/training/ranks/rank_means.hpp>

#include <mezzo/compiler/custom_op.hpp>
#include <mezzo/graph/insert.hpp>

namespace mezzo::detail {
namespace {

/// The attribute `ranks`.
struct Ranks final : AttributeFunction {
  explicit Ranks(std::shared_ptr<Communicator> all) : communicator(std::move(all)) {}
  std::shared_ptr<Communicator> communicator;
};

template <class T>
void run_mean(const KernelCall& call) {
  const auto& ranks = *call.request.attributes.get<std::shared_ptr<const AttributeFunction>>("ranks");
  const std::int64_t size = element_count(call.request.inputs[0].shape);
  const double share = *call.in<double>(1);
  T* const out = call.out<T>(0);
  for (std::int64_t i = 0; i < size; ++i) {
    out[i] = share == 0 ? 0 : static_cast<T>(call.in<T>(0)[i] * share);  // without samples, even if its numbers are not
                                                                         // finite
  }
  static_cast<const Ranks&>(ranks).communicator->all_reduce({out, size, DTypeOf<T>::value});
}

/// Inputs: the value, the share.
const CustomOp& mean_op() {
  static const CustomOp one({.name = "mean_over_ranks",
                             .kernel =
                                 [](const KernelCall& call) {
                                   if (call.request.inputs[0].dtype == DType::float64) {
                                     run_mean<double>(call);
                                   } else {
                                     run_mean<float>(call);
                                   }
                                 },
                             .dtypes = {DType::float32, DType::float64},
                             .gradient =
                                 [](const GradientContext& context) {
                                   const Values operands{context.cotangent(), context.input(1)};
                                   return Values{mean_op()(operands, context.attributes())[0], {}};
                                 },
                             .cast = CastRule{{Cast::keep}, true, false},
                             .widens = false,
                             .effect = true});
  return one;
}

}  // namespace

Value mean_over_ranks(const std::shared_ptr<Communicator>& communicator, const Value& x) {
  const std::shared_ptr<const AttributeFunction> ranks = std::make_shared<Ranks>(communicator);
  return mean_op()(Values{x, runtime_scalar(RuntimeScalar::sample_share)}, {{"ranks", ranks}})[0];
}

}  // namespace mezzo::detail
