#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/core/dynamic_code.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Dtypes {
  DType variable, gradient;
  std::vector<DType> copies;
};

const std::vector<Dtypes> all{{DType::float32, DType::float32, {DType::bfloat16, DType::float16}},
                              {DType::float32, DType::bfloat16, {DType::bfloat16}},
                              {DType::float32, DType::float16, {DType::float16}},
                              {DType::bfloat16, DType::bfloat16, {}},
                              {DType::bfloat16, DType::float32, {}},
                              {DType::float16, DType::float16, {}},
                              {DType::float16, DType::float32, {}}};

const std::vector<std::int64_t> sizes{1, 7, 17, 65, 1003};

// Checks that every ISA gives the bits of the float32 reference, rounded.
void check_update(const std::string& op, const Attributes& attributes, const Dtypes& dtypes,
                  const std::vector<Tensor>& inputs) {
  check_xsimd(op, attributes, inputs, 0);
  for (const DType copy : dtypes.copies) {
    check_xsimd(op, with_attribute(attributes, "copy_dtype", copy), inputs, 0);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_updates)

BOOST_AUTO_TEST_CASE(sgd) {
  struct Case {
    double momentum, weight_decay, clipvalue;
    bool nesterov;
  };
  for (const Case& c : {Case{0, 0, 0, false}, {0, 0.01, 0.5, false}, {0.9, 0, 0, false}, {0.9, 0.01, 0.5, true}}) {
    const Attributes attributes{{"momentum", c.momentum},
                                {"weight_decay", c.weight_decay},
                                {"clipvalue", c.clipvalue},
                                {"nesterov", c.nesterov}};
    for (const Dtypes& dtypes : all) {
      for (const std::int64_t size : sizes) {
        std::vector<Tensor> inputs{random_tensor({size}, dtypes.variable, 1),
                                   random_tensor({size}, dtypes.gradient, 2)};
        if (c.momentum > 0) inputs.push_back(random_tensor({size}, DType::float32, 3));
        inputs.push_back(float64_scalar(0.1));
        inputs.push_back(float64_scalar(0.75));
        check_update("sgd_update", attributes, dtypes, inputs);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(adam) {
  struct Case {
    double weight_decay, clipvalue, count;
  };
  for (const Case& c : {Case{0, 0, 1}, {0.01, 0.5, 1}, {0.01, 0, 1000}}) {
    const Attributes attributes{{"beta_1", 0.9},
                                {"beta_2", 0.999},
                                {"epsilon", 1e-7},
                                {"weight_decay", c.weight_decay},
                                {"clipvalue", c.clipvalue}};
    for (const Dtypes& dtypes : all) {
      for (const std::int64_t size : sizes) {
        check_update("adam_update", attributes, dtypes,
                     {random_tensor({size}, dtypes.variable, 1), random_tensor({size}, dtypes.gradient, 2),
                      random_tensor({size}, DType::float32, 3), random_tensor({size}, DType::float32, 4, 0, 1),
                      float64_scalar(0.01), float64_scalar(c.count), float64_scalar(0.75)});
      }
    }
  }
}

// Variables that don't change: numbers halfway between two of the copy, NaN, subnormals, the largest float.
BOOST_AUTO_TEST_CASE(copies_are_rounded_to_nearest) {
  const Attributes attributes{{"momentum", 0.0}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", false}};
  const float specials[] = {1 + 0x1p-8F,   1 + 0x3p-8F,     -1 - 0x1p-8F, 1 + 0x1p-11F, 1 + 0x3p-11F,
                            std::nanf(""), 0x1.fffffep127F, 1e-40F,       -1e-45F,      65520,
                            -0.0F,         0x1.fep127F,     0x1.ffp127F};
  for (const std::size_t first : {0U, 5U, 40U, 70U}) {
    Tensor w = random_tensor({201}, DType::float32, 1);
    std::copy(std::begin(specials), std::end(specials), w.mutable_data<float>() + first);
    const std::vector<Tensor> inputs{w, Tensor({201}), float64_scalar(0.1), float64_scalar(1)};
    for (const DType copy : {DType::bfloat16, DType::float16}) {
      check_xsimd("sgd_update", with_attribute(attributes, "copy_dtype", copy), inputs, 0);
    }
  }
}

// A compact gradient gives the same bits as a dense one on every ISA.
BOOST_AUTO_TEST_CASE(compact_gradients_give_the_same_bits) {
  const Attributes attributes{
      {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0.01}, {"clipvalue", 0.5}};
  for (const std::int64_t columns : {1, 5, 70, 5000}) {
    const Shape shape{120, columns};
    const Tensor indices = random_tensor({40}, DType::int32, 6, 0, 119);
    for (const Dtypes& dtypes : all) {
      const Attributes of_gather{{"shape", shape}, {"dtype", DType::float32}};
      const Tensor g = random_tensor({40, columns}, DType::float32, 2);
      const Tensor dense = run_reference("gather_gradient", of_gather, {indices, g})[0].cast(dtypes.gradient);
      const std::vector<Tensor> rows = run_reference("gather_gradient_rows", of_gather, {indices, g});
      std::vector<Tensor> inputs{random_tensor(shape, dtypes.variable, 1),
                                 dense,
                                 random_tensor(shape, DType::float32, 3),
                                 random_tensor(shape, DType::float32, 4, 0, 1),
                                 float64_scalar(0.01),
                                 float64_scalar(3),
                                 float64_scalar(0.75)};
      std::vector<Tensor> compact = inputs;
      compact[1] = rows[0].cast(dtypes.gradient);
      compact.push_back(rows[1]);
      const Attributes marked = with_attribute(attributes, "compact", true);
      check_update("adam_update", marked, dtypes, compact);
      const KernelRequest whole = kernel_request("adam_update", attributes, inputs);
      const KernelRequest some = kernel_request("adam_update", marked, compact);
      for_each_isa([&](Isa isa) {
        std::string reason;
        const auto expected = run_kernel(*xsimd_kernel(whole, isa, reason), whole, inputs);
        BOOST_TEST(all_equal(run_kernel(*xsimd_kernel(some, isa, reason), some, compact), expected));
      });
    }
  }
}

// Slots in 8 bits: codes with a scale for each 256 elements, the first NaN, the one before the last 0.
BOOST_AUTO_TEST_CASE(coded_slots) {
  const Attributes adam{
      {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0.01}, {"clipvalue", 0.5}};
  const Attributes sgd{{"momentum", 0.9}, {"weight_decay", 0.01}, {"clipvalue", 0.0}, {"nesterov", true}};
  const Attributes amsgrad{{"rule", std::string("amsgrad")},
                           {"slots", std::int64_t{3}},
                           {"beta_1", 0.9},
                           {"beta_2", 0.999},
                           {"epsilon", 1e-7},
                           {"weight_decay", 0.0},
                           {"clipvalue", 0.0}};
  for (const Dtypes& dtypes : all) {
    for (const std::int64_t size :
         {std::int64_t{1}, std::int64_t{255}, std::int64_t{257}, std::int64_t{1003}, std::int64_t{shared_size}}) {
      const std::int64_t blocks = (size + 255) / 256;
      const auto slots = [&](std::size_t count) {
        std::vector<Tensor> inputs{random_tensor({size}, dtypes.variable, 1),
                                   random_tensor({size}, dtypes.gradient, 2)};
        for (std::size_t s = 0; s < count; ++s) {
          inputs.push_back(s == 0 ? random_tensor({size}, DType::int32, 3, -128, 127).cast(DType::int8)
                                  : random_tensor({size}, DType::int32, 3 + s, 0, 255).cast(DType::uint8));
        }
        for (std::size_t s = 0; s < count; ++s) {
          Tensor scales = random_tensor({blocks}, DType::float32, 9 + s, s == 0 ? -1 : 0, 1);
          if (blocks > 2) {
            scales.mutable_data<float>()[blocks - 2] = 0;
            scales.mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
          }
          inputs.push_back(scales);
        }
        return inputs;
      };
      std::vector<Tensor> inputs = slots(2);
      inputs.insert(inputs.end(), {float64_scalar(0.01), float64_scalar(3), float64_scalar(0.75)});
      check_update("adam_update", adam, dtypes, inputs);
      inputs = slots(1);
      inputs.insert(inputs.end(), {float64_scalar(0.01), float64_scalar(0.75)});
      check_update("sgd_update", sgd, dtypes, inputs);
      inputs = slots(3);
      inputs.insert(inputs.end(), {float64_scalar(0.01), float64_scalar(3), float64_scalar(0.75)});
      check_update("optimizer_update", amsgrad, dtypes, inputs);
    }
  }
}

// The new momentum is the negative gradient, the new velocity its square: numbers at, between and beside all codes.
BOOST_AUTO_TEST_CASE(codes_of_all_numbers) {
  const Attributes sgd{{"momentum", 0.5}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", false}};
  const Attributes adam{{"beta_1", 0.0}, {"beta_2", 0.0}, {"epsilon", 1e-7}, {"weight_decay", 0.0}, {"clipvalue", 0.0}};
  const auto gradients = [](const detail::DynamicCode& code, float scale, bool square) {
    std::vector<float> sorted(code.values, code.values + 256), numbers;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const float middle = (sorted[i] + sorted[i == 0 ? 0 : i - 1]) / 2;
      for (const float x : {sorted[i], middle, std::nextafter(middle, 2.0F), std::nextafter(middle, -2.0F), 1e-9F}) {
        if (numbers.size() % 256 == 0) numbers.push_back(scale);
        numbers.push_back((square ? std::sqrt(std::abs(x)) : x) * scale);
      }
    }
    return Tensor({static_cast<std::int64_t>(numbers.size())}, numbers);
  };
  for (const float scale : {1.0F, -1.0F, 1e-25F, 0x1p126F, -0x1.8p127F}) {
    const Tensor g = gradients(detail::DynamicCode::of(DType::int8), scale, false);
    const Tensor codes = Tensor(g.shape(), DType::int8), scales({(g.size() + 255) / 256});
    check_xsimd("sgd_update", sgd, {Tensor(g.shape()), g, codes, scales, float64_scalar(1), float64_scalar(1)}, 0);
  }
  for (const float scale : {1.0F, 1e-12F, 0x1.8p63F}) {
    const Tensor g = gradients(detail::DynamicCode::of(DType::uint8), scale, true);
    const Tensor scales({(g.size() + 255) / 256});
    check_xsimd("adam_update", adam,
                {Tensor(g.shape()), g, Tensor(g.shape(), DType::int8), Tensor(g.shape(), DType::uint8), scales, scales,
                 float64_scalar(0.01), float64_scalar(3), float64_scalar(1)},
                0);
  }
}

BOOST_AUTO_TEST_CASE(shared_by_threads) {
  const Attributes attributes{
      {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0.01}, {"clipvalue", 0.0}};
  const Shape shape{shared_size};
  check_update(
      "adam_update", attributes, all[1],
      {random_tensor(shape), random_tensor(shape, DType::bfloat16, 2), random_tensor(shape, DType::float32, 3),
       random_tensor(shape, DType::float32, 4, 0, 1), float64_scalar(0.01), float64_scalar(2), float64_scalar(1)});
}

BOOST_AUTO_TEST_CASE(declines) {
  const Attributes attributes{{"momentum", 0.0}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", false}};
  const auto reason_of = [](const Attributes& a, DType variable) {
    const Spec scalar{{}, DType::float64};
    std::string reason;
    const std::vector<Spec> inputs{{{4}, variable}, {{4}, variable}, scalar, scalar};
    BOOST_TEST(!xsimd_kernel(kernel_request("sgd_update", a, inputs), Isa::sse2, reason));
    return reason;
  };
  BOOST_TEST(reason_of(attributes, DType::float64) == "takes float32, bfloat16 and float16; got float64");
  BOOST_TEST(reason_of(with_attribute(attributes, "copy_dtype", DType::bfloat16), DType::bfloat16) ==
             "copies float32 variables to bfloat16 or float16; got a bfloat16 variable and a bfloat16 copy");
}

BOOST_AUTO_TEST_SUITE_END()
