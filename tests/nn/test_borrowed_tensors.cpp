// Tensors that are views of memory that ends or changes after a call.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

/// Two numbers that their owner changes.
struct Borrowed {
  std::vector<float> numbers{1, 2};

  Tensor view() const { return Tensor::from_memory(numbers.data(), {2}, nullptr); }
  void change() { numbers = {7, 8}; }
};

bool is_unchanged(const Tensor& tensor) { return tensor.to_doubles() == std::vector<double>{1, 2}; }

/// Returns memory of its owner.
class ViewInitializer : public Initializer {
 public:
  explicit ViewInitializer(const Borrowed& memory) : memory_(&memory) {}
  Tensor make(const Shape&, DType, std::uint64_t) const override { return memory_->view(); }

 private:
  const Borrowed* memory_;
};

/// Adds an array that it holds.
class AddsArray : public Layer {
 public:
  explicit AddsArray(Tensor array) : Layer("AddsArray"), array_(std::move(array)) {}

 protected:
  Value call(const Value& x) override { return x + Value(array_); }

 private:
  Tensor array_;
};

class OneWeight : public Layer {
 public:
  explicit OneWeight(Any<Initializer> initializer) : Layer("OneWeight"), initializer_(std::move(initializer)) {}
  void build(const Shape&) override { add_weight(weight_, {.shape = {2}, .initializer = initializer_}); }

 protected:
  Value call(const Value& x) override { return x + weight_; }

 private:
  Any<Initializer> initializer_;
  Variable weight_{"weight"};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(borrowed_tensors)

BOOST_AUTO_TEST_CASE(weights_copy_them) {
  Borrowed memory;
  OneWeight layer("zeros");
  layer.build({2});
  layer.set_weights({memory.view()});
  Variable weight = layer.weights().front();
  memory.change();
  BOOST_TEST(is_unchanged(weight.value()));
  memory = Borrowed();
  weight.assign(memory.view());
  const Tensor before = weight.value();
  memory.change();
  BOOST_TEST(is_unchanged(weight.value()));
  BOOST_TEST(before.raw() == weight.value().raw());
  const Tensor own({2}, std::vector<float>{3, 4});
  weight.assign(own);
  BOOST_TEST(weight.value().raw() == own.raw());  // other tensors share their bytes
}

BOOST_AUTO_TEST_CASE(initial_values_copy_them) {
  Borrowed memory;
  OneWeight layer{ViewInitializer(memory)};
  layer.build({2});
  OneWeight constant{Constant(memory.view())};
  Embedding table({.input_dim = 1, .output_dim = 2, .weights = memory.view().reshape({1, 2})});
  memory.change();
  constant.build({2});
  table.build({1});
  BOOST_TEST(is_unchanged(layer.weights().front().value()));
  BOOST_TEST(is_unchanged(constant.weights().front().value()));
  BOOST_TEST(is_unchanged(table.weights().front().value()));
}

BOOST_AUTO_TEST_CASE(graphs_copy_them) {
  Borrowed memory;
  const Value x = Input({2});
  Model functional(x, x + Value(memory.view()));
  Sequential compiled({Input({2}), AddsArray(memory.view())});
  const Tensor zeros({1, 2});
  BOOST_TEST(is_unchanged(compiled.predict(zeros)));
  memory.change();
  BOOST_TEST(is_unchanged(functional.predict(zeros)));
  BOOST_TEST(is_unchanged(compiled.predict(zeros)));
}

BOOST_AUTO_TEST_SUITE_END()
