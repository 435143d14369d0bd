#include <mezzo/compiler/product_rates.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include <mezzo/compiler/memory.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/timing.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

/// A kernel of a matrix product or convolution, with its own arrays.
class Product {
 public:
  explicit Product(const detail::Node& node) {
    KernelRequest request{
        .op = node.op, .attributes = node.attributes, .inputs = {}, .outputs = node.outputs, .where = node.where};
    for (const Value& input : node.inputs) {
      request.inputs.push_back({input.shape(), input.dtype()});
      const std::vector<float> halves(static_cast<std::size_t>(element_count(input.shape())), 0.5F);
      arrays_.push_back(Tensor(input.shape(), halves).cast(input.dtype()));
      inputs_.push_back(arrays_.back().raw());
    }
    for (const Spec& spec : node.outputs) {
      arrays_.push_back(Tensor(spec.shape, spec.dtype));
      outputs_.push_back(arrays_.back().mutable_raw());
    }
    chosen_ = choose_kernel(request);
    scratch_.reserve(std::max<std::size_t>(chosen_.kernel->scratch_bytes(), 64));
    operations_ = operations(request);
  }

  void run() { chosen_.kernel->run({inputs_.data(), outputs_.data(), scratch_.data()}); }
  double operations_of() const { return operations_; }
  const std::string& implementation() const { return chosen_.implementation; }

 private:
  std::vector<Tensor> arrays_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  detail::ChosenKernel chosen_;
  Arena scratch_;
  double operations_ = 0;
};

using Products = std::vector<std::unique_ptr<Product>>;

/// Products among the nodes of f(a, b) and its gradients.
Products products_of(Value (*f)(const Value&, const Value&), const Shape& a, const Shape& b, DType dtype) {
  Trace trace(Trace::Mode::graph, true);
  const detail::PolicyScope policy{Policy(dtype)};
  const Value x = trace.input("a", Spec{a, dtype}), y = trace.input("b", Spec{b, dtype});
  gradients(sum(f(x, y)), {x, y});
  Products out;
  for (const detail::NodePtr& node : trace.graph().nodes) {
    if (is(*node, ops::matmul) || is(*node, ops::conv2d) || is(*node, ops::conv2d_input_gradient) ||
        is(*node, ops::conv2d_kernel_gradient)) {
      out.push_back(std::make_unique<Product>(*node));
    }
  }
  return out;
}

double seconds_of(const Products& products) {
  const auto start = std::chrono::steady_clock::now();
  for (const auto& product : products) product->run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The products of one dtype and their times in each round.
struct Candidate {
  explicit Candidate(DType dtype)
      : matmul(products_of([](const Value& a, const Value& b) { return mezzo::matmul(a, b); }, {384, 384}, {384, 384},
                           dtype)),
        conv2d(products_of([](const Value& a, const Value& b) { return mezzo::conv2d(a, b, {.padding = "same"}); },
                           {4, 28, 28, 64}, {3, 3, 64, 64}, dtype)) {}

  void measure() {
    matmul_seconds.push_back(seconds_of(matmul));
    conv2d_seconds.push_back(seconds_of(conv2d));
  }

  ProductRates rates() const {
    std::set<std::string> names;
    const auto rate = [&](const Products& products, const std::vector<double>& seconds) {
      double operations = 0;
      for (const auto& product : products) {
        operations += product->operations_of();
        names.insert(product->implementation());
      }
      // The best round is taken, since other processes may slow down some rounds.
      const auto shortest = detail::agreed_shortest(seconds);
      return shortest ? operations / *shortest / 1e9 : 0;
    };
    ProductRates out{.matmul = rate(matmul, matmul_seconds), .conv2d = rate(conv2d, conv2d_seconds), .kernels = ""};
    out.kernels = fmt::format("{}", fmt::join(names, ", "));
    return out;
  }

  Products matmul, conv2d;
  std::vector<double> matmul_seconds, conv2d_seconds;
  double taken = 0;  // no round is too long for the next one
};

Support (*registered_support)(DType) = nullptr;

}  // namespace

void register_dtype_support(Support (*support)(DType dtype)) { registered_support = support; }

Support dtype_support(DType dtype) {
  return registered_support == nullptr ? Support::absent : registered_support(dtype);
}

bool has_fast_bfloat16() {
  return dtype_support(DType::bfloat16) == Support::native && (has_amx() || !has_slow_bfloat16());
}

std::vector<ProductRates> product_rates(const std::vector<DType>& dtypes, int rounds) {
  std::vector<Candidate> candidates;
  for (const DType dtype : dtypes) candidates.emplace_back(dtype);
  detail::in_turns(candidates, rounds, 0, [](Candidate& candidate, int) { candidate.measure(); });
  std::vector<ProductRates> out;
  for (const Candidate& candidate : candidates) out.push_back(candidate.rates());
  return out;
}

}  // namespace mezzo
