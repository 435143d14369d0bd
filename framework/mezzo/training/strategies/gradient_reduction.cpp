#include <mezzo/training/strategies/gradient_reduction.hpp>

#include <algorithm>

#include <mezzo/compiler/custom_op.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/insert.hpp>

namespace mezzo::detail {
namespace {

/// The attribute `communicator` of a node.
struct NodeCommunicator final : AttributeFunction {
  std::shared_ptr<Communicator> communicator;
};

/// Calls body(one element of T) for the type of a floating dtype.
template <class Body>
void visit_floating(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::float32:
      return body(float());
    case DType::float64:
      return body(double());
    case DType::bfloat16:
      return body(bfloat16());
    case DType::float16:
      return body(float16());
    default:
      fail<DTypeError>("[Trainer]", "gradients must be floating; got {}", dtype);
  }
}

/// Inputs: the values, their count in `values`, then the share, then possibly a value that orders the reductions.
template <class Sum>
class ReductionKernel final : public Kernel {
 public:
  explicit ReductionKernel(const KernelRequest& request)
      : communicator_(std::static_pointer_cast<const NodeCommunicator>(
                          request.attributes.get<std::shared_ptr<const AttributeFunction>>("communicator"))
                          ->communicator) {
    std::int64_t size = 0;
    for (const Spec& spec : request.outputs) {
      dtypes_.push_back(spec.dtype);
      begins_.push_back(size);
      size += element_count(spec.shape);
    }
    begins_.push_back(size);
    sums_.resize(static_cast<std::size_t>(size));
  }

  void run(const KernelArguments& arguments) override {
    const auto share = static_cast<Sum>(*arguments.in<double>(dtypes_.size()));
    for_parts([&](std::size_t i, auto zero, std::int64_t begin, std::int64_t end) {
      using T = decltype(zero);
      const T* x = arguments.in<T>(i);
      Sum* const sums = sums_.data() + begins_[i];
      // A rank without samples adds nothing, whatever its numbers are.
      for (std::int64_t j = begin; j < end; ++j)
        sums[j] = share == 0 ? 0 : static_cast<Sum>(static_cast<Narrow<T>>(x[j])) * share;
    });
    communicator_->all_reduce({sums_.data(), begins_.back(), DTypeOf<Sum>::value});
    for_parts([&](std::size_t i, auto zero, std::int64_t begin, std::int64_t end) {
      using T = decltype(zero);
      T* const out = arguments.out<T>(i);
      const Sum* const sums = sums_.data() + begins_[i];
      for (std::int64_t j = begin; j < end; ++j) out[j] = static_cast<T>(static_cast<Narrow<T>>(sums[j]));
    });
  }

 private:
  /// Type from which T is converted.
  template <class T>
  using Narrow = std::conditional_t<std::is_same_v<T, double>, double, float>;

  template <class Body>
  void for_parts(const Body& body) {
    for (std::size_t i = 0; i < dtypes_.size(); ++i) {
      visit_floating(dtypes_[i], [&](auto zero) {
        parallel_for(begins_[i + 1] - begins_[i], 1 << 14,
                     [&](std::int64_t begin, std::int64_t end) { body(i, zero, begin, end); });
      });
    }
  }

  std::shared_ptr<Communicator> communicator_;
  std::vector<DType> dtypes_;
  std::vector<std::int64_t> begins_;  // of each value in sums_, and its size
  std::vector<Sum> sums_;
};

const CustomOp& reduction_op() {
  static const CustomOp one({.name = "all_reduce",
                             .create = [](const KernelRequest& request, std::string&) -> std::unique_ptr<Kernel> {
                               const bool wide =
                                   std::any_of(request.outputs.begin(), request.outputs.end(),
                                               [](const Spec& spec) { return spec.dtype == DType::float64; });
                               if (wide) return std::make_unique<ReductionKernel<double>>(request);
                               return std::make_unique<ReductionKernel<float>>(request);
                             },
                             .infer =
                                 [](const OpCall& call) {
                                   const auto count =
                                       static_cast<std::ptrdiff_t>(call.attributes.get<std::int64_t>("values"));
                                   return std::vector<Spec>(call.inputs.begin(), call.inputs.begin() + count);
                                 },
                             .cast = CastRule{{Cast::keep}, true, false},
                             .widens = false,
                             .effect = true});
  return one;
}

}  // namespace

void reduce_over_ranks(const std::shared_ptr<Communicator>& communicator, Values& values, const Value& after) {
  auto attribute = std::make_shared<NodeCommunicator>();
  attribute->communicator = communicator;
  Values operands = values;
  operands.push_back(runtime_scalar(RuntimeScalar::sample_share));
  if (after.defined()) operands.push_back(after);
  values = reduction_op()(operands, {{"communicator", std::shared_ptr<const AttributeFunction>(attribute)},
                                     {"values", static_cast<std::int64_t>(values.size())}});
}

}  // namespace mezzo::detail
