#include <boost/test/unit_test.hpp>

#include <cmath>
#include <iostream>
#include <sstream>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

std::vector<double> numbers(const Value& x) { return x.tensor().to_doubles(); }

// Logs "parity": 1 in batches with an even index and 2 in the others, and numbers like it.
class EvenBatches : public Module {
 public:
  Value training_step(const Batch& batch) override {
    const Value parity = where(batch_idx() % 2 == 0, 1.0, 2.0);
    const Value half = floor_divide(batch_idx(), 2);
    log_dict({{"parity", parity}, {"half", cast(half, DType::float32)}, {"first", cast(step() == 0, DType::float32)}});
    return mean(square(layer_(batch["x"])));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.1)}}; }

 private:
  Dense layer_ = sub("layer", Dense(1));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(value_operators)

BOOST_AUTO_TEST_CASE(equality_is_elementwise) {
  const Tensor x = array({1, 2, 3}), y = array({1, 5, 3});
  for (const DType dtype :
       {DType::int32, DType::uint8, DType::int64, DType::float32, DType::bfloat16, DType::float64}) {
    BOOST_TEST_CONTEXT(dtype_name(dtype)) {
      const Value a = cast(x, dtype), b = cast(y, dtype);
      BOOST_TEST(((a == b).dtype() == DType::boolean));
      BOOST_TEST(numbers(a == b) == (std::vector<double>{1, 0, 1}));
      BOOST_TEST(numbers(a != b) == (std::vector<double>{0, 1, 0}));
      BOOST_TEST(numbers(a == 2) == (std::vector<double>{0, 1, 0}));
      BOOST_TEST(numbers(2 != a) == (std::vector<double>{1, 0, 1}));
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_equals_nothing) {
  const Value x = array({std::nan(""), 1.0});
  BOOST_TEST(numbers(x == x) == (std::vector<double>{0, 1}));
  BOOST_TEST(numbers(x != x) == (std::vector<double>{1, 0}));
}

BOOST_AUTO_TEST_CASE(numbers_that_the_dtype_cannot_hold_compare_exactly) {
  const Value x = cast(array({44, 255}), DType::uint8);
  BOOST_TEST(numbers(x == 300) == (std::vector<double>{0, 0}));
  BOOST_TEST(numbers(x != -1) == (std::vector<double>{1, 1}));
}

BOOST_AUTO_TEST_CASE(operands_broadcast) {
  const Value rows = array({{1}, {2}}), columns = array({1, 2, 3});
  BOOST_TEST(numbers(rows == columns) == (std::vector<double>{1, 0, 0, 0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(integers_divide_as_in_python) {
  const Value x = array({-7, 7, 6});
  BOOST_TEST(numbers(x % 3) == (std::vector<double>{2, 1, 0}));
  BOOST_TEST(numbers(x % -3) == (std::vector<double>{-1, -2, 0}));
  BOOST_TEST(numbers(x % 3 == 0) == (std::vector<double>{0, 0, 1}));
  BOOST_TEST(((x % 3).dtype() == DType::int32));
  BOOST_TEST(((x / 2).dtype() == DType::float32));
  BOOST_TEST(numbers(x / 2) == (std::vector<double>{-3.5, 3.5, 3}));
  BOOST_TEST(numbers(floor_divide(x, 2)) == (std::vector<double>{-4, 3, 3}));
}

BOOST_AUTO_TEST_CASE(runtime_scalars_compare) {
  EvenBatches module;
  const Dataset data = Dataset::from_tensors({{"x", Tensor({8, 2})}});
  const History history = Trainer({.max_epochs = 1}).fit(module, DataLoader(data, {.batch_size = 2}));
  BOOST_TEST(history["parity"].back() == 1.5);  // 1, 2, 1, 2
  BOOST_TEST(history["half"].back() == 0.5);    // 0, 0, 1, 1
  BOOST_TEST(history["first"].back() == 0.25);  // 1, 0, 0, 0
}

BOOST_AUTO_TEST_CASE(texts_are_printed) {
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  print(std::vector<std::string>{"cat", "dog"});
  print(std::vector<std::string>{}, {.message = "none"});
  print({"a", "b"});
  print("done");
  print(std::string("text"), {.message = "said"});
  print(Logs{{"loss", 0.25}, {"accuracy", 0.5}});
  print(Logs{{"loss", 0.25}}, {.message = "epoch"});
  print(Tensor({2}, std::vector<float>{1, 2}));
  std::cout.rdbuf(before);
  BOOST_TEST(out.str() ==
             "[\"cat\", \"dog\"]\nnone []\n[\"a\", \"b\"]\ndone\nsaid text\nloss=0.25 accuracy=0.5\nepoch loss=0.25\n"
             "float32 (2,)\n[ 1.,  2.]\n");
}

BOOST_AUTO_TEST_SUITE_END()
