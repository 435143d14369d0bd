#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "ops/recurrence.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr const char* kinds[] = {"simple_rnn", "lstm", "gru", "gru_reset_before"};

// Rounding errors of a step are those of sums of `units` products, and grow from step to step.
constexpr double tolerance = 2e-5;
// A product of bfloat16 states has errors of half a unit in the last place of each state, 2^-9, as the stored state
// has. They reach later steps through the kernel, the norm of which is about 1 here.
constexpr double bfloat16_tolerance = 0.01;

double tolerance_of(DType dtype) { return dtype == DType::bfloat16 ? bfloat16_tolerance : tolerance; }

Tensor scaled(const Tensor& x, double factor) {
  std::vector<double> numbers = x.to_doubles();
  for (double& number : numbers) number *= factor;
  return Tensor(x.shape(), numbers).cast(x.dtype());
}

Tensor alternating_mask(std::int64_t batch, std::int64_t steps) {
  Tensor mask({batch, steps}, DType::boolean);
  for (std::int64_t i = 0; i < mask.size(); ++i) mask.mutable_data<bool>()[i] = i % 3 != 1;
  return mask;
}

std::vector<Tensor> operands(const RecurrenceCase& c, DType dtype) {
  std::vector<Tensor> out{
      random_tensor({c.batch, c.steps, c.width()}, dtype, 1, -2, 2),
      scaled(random_tensor({c.units, c.width()}, dtype, 2), 1 / std::sqrt(static_cast<double>(c.units)))};
  for (int i = 0; c.initial && i < (c.lstm() ? 2 : 1); ++i) {
    out.push_back(random_tensor({c.batch, c.units}, dtype, 3 + static_cast<std::uint64_t>(i)));
  }
  if (c.biased) out.push_back(random_tensor({c.width()}, dtype, 5));
  if (c.dropped) {
    Tensor factors = random_tensor({c.batch, c.width()}, DType::float64, 6);
    double* numbers = factors.mutable_data<double>();
    for (std::int64_t i = 0; i < factors.size(); ++i) numbers[i] = numbers[i] > -0.5 ? 1.25 : 0;
    out.push_back(factors.cast(dtype));
  }
  if (c.masked) out.push_back(alternating_mask(c.batch, c.steps));
  return out;
}

// Attributes of the gradient, with these cotangents.
Attributes gradient_attributes(const RecurrenceCase& c, bool of_states, bool of_last) {
  Attributes attributes = c.attributes();
  attributes.set("of_states", of_states);
  attributes.set("of_last", of_last);
  attributes.set("of_carry", of_last && c.lstm());
  attributes.set("before", of_states);
  return attributes;
}

// Operands of the gradient: cotangents, then operands and results of the recurrence.
std::vector<Tensor> gradient_operands(const RecurrenceCase& c, const std::vector<Tensor>& forward,
                                      const std::vector<Tensor>& results, bool of_states, bool of_last) {
  const DType dtype = results[0].dtype();
  std::vector<Tensor> out;
  if (of_states) out.push_back(random_tensor(results[0].shape(), dtype, 11));
  if (of_last) out.push_back(random_tensor(results[1].shape(), dtype, 12));
  if (of_last && c.lstm()) out.push_back(random_tensor(results[1].shape(), dtype, 13));
  const std::size_t states = c.initial ? (c.lstm() ? 2 : 1) : 0;
  out.insert(out.end(), forward.begin() + 1, forward.begin() + 2 + static_cast<std::ptrdiff_t>(states));
  if (c.dropped) out.push_back(forward[forward.size() - (c.masked ? 2 : 1)]);
  if (c.masked) out.push_back(forward.back());
  out.push_back(results[0]);
  if (c.saved() > 0) out.push_back(results[2]);
  if (c.lstm()) out.push_back(results[3]);
  return out;
}

std::vector<Tensor> results_of(const RecurrenceCase& c, const std::vector<Tensor>& forward) {
  const KernelRequest request = kernel_request("recurrence", c.attributes(), forward);
  return widened_reference("recurrence", c.attributes(), forward, request.outputs);
}

void check_both(const RecurrenceCase& c, DType dtype) {
  const std::vector<Tensor> forward = operands(c, dtype);
  check_xsimd("recurrence", c.attributes(), forward, tolerance_of(dtype));
  const std::vector<Tensor> results = results_of(c, forward);
  for (const bool of_states : {false, true}) {
    for (const bool of_last : {false, true}) {
      if (!of_states && !of_last) continue;
      check_xsimd("recurrence_gradient", gradient_attributes(c, of_states, of_last),
                  gradient_operands(c, forward, results, of_states, of_last), tolerance_of(dtype));
    }
  }
}

RecurrenceCase of_sizes(const char* kind, std::int64_t batch, std::int64_t steps, std::int64_t units) {
  RecurrenceCase c;
  c.kind = kind;
  c.batch = batch;
  c.steps = steps;
  c.units = units;
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_recurrence)

BOOST_AUTO_TEST_CASE(sizes) {
  for (const char* kind : kinds) {
    for (const DType dtype : xsimd_dtypes) {
      for (const RecurrenceCase& c : {of_sizes(kind, 1, 1, 1), of_sizes(kind, 1, 5, 7), of_sizes(kind, 3, 1, 16),
                                      of_sizes(kind, 13, 7, 17), of_sizes(kind, 25, 4, 33)}) {
        check_both(c, dtype);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(initial_states_bias_mask_and_dropout) {
  for (const char* kind : kinds) {
    for (const DType dtype : xsimd_dtypes) {
      for (const bool masked : {false, true}) {
        for (const bool dropped : {false, true}) {
          RecurrenceCase c = of_sizes(kind, 5, 6, 9);
          c.initial = true;
          c.masked = masked;
          c.dropped = dropped;
          c.biased = true;
          check_both(c, dtype);
        }
      }
    }
  }
}

// Enough elements for several threads, each of which has samples of its own.
BOOST_AUTO_TEST_CASE(number_of_threads) {
  for (const char* kind : kinds) {
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      RecurrenceCase c = of_sizes(kind, 29, 10, 127);
      check_both(c, dtype);
      c.dropped = true;
      check_both(c, dtype);
    }
  }
}

BOOST_AUTO_TEST_CASE(extreme_numbers) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const char* kind : kinds) {
    for (const double x : {infinity, -infinity, std::nan(""), 1e30, -1e30}) {
      BOOST_TEST_CONTEXT(x) {
        const RecurrenceCase c = of_sizes(kind, 2, 3, 5);
        std::vector<Tensor> forward = operands(c, DType::float32);
        for (const std::int64_t at : {1, 7}) forward[0].mutable_data<float>()[at] = static_cast<float>(x);
        check_xsimd("recurrence", c.attributes(), forward, tolerance);
      }
    }
  }
}

// A step that the mask skips hands the cotangent on, whatever the kernel is.
BOOST_AUTO_TEST_CASE(skipped_steps_and_kernels_that_are_not_finite) {
  for (const char* kind : kinds) {
    RecurrenceCase c = of_sizes(kind, 3, 4, 5);
    c.initial = c.masked = true;
    std::vector<Tensor> forward = operands(c, DType::float32);
    forward.back() = Tensor({c.batch, c.steps}, DType::boolean);  // all steps are skipped
    const std::vector<Tensor> results = results_of(c, forward);
    forward[1].mutable_data<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    check_xsimd("recurrence", c.attributes(), forward, 0);
    check_xsimd("recurrence_gradient", gradient_attributes(c, true, true),
                gradient_operands(c, forward, results, true, true), tolerance);
  }
}

BOOST_AUTO_TEST_CASE(what_it_declines) {
  const auto reason_for = [](const RecurrenceCase& c, DType dtype) {
    const std::vector<Tensor> forward = operands(c, dtype);
    std::string reason;
    BOOST_TEST(!xsimd_kernel(kernel_request("recurrence", c.attributes(), forward), Isa::sse2, reason));
    return reason;
  };
  RecurrenceCase c = of_sizes("lstm", 2, 3, 4);
  BOOST_TEST(reason_for(c, DType::float64) == "takes float32, bfloat16 and float16; got float64");
  c.activation = "relu";
  BOOST_TEST(reason_for(c, DType::float32) == "takes tanh and sigmoid; got relu and sigmoid");
}

BOOST_AUTO_TEST_SUITE_END()
