#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"

using namespace mezzo;

namespace {

Sequential nested() {
  Sequential backbone({Conv2D({.filters = 4, .kernel_size = 3, .activation = "relu"}), BatchNormalization()},
                      {.name = "backbone"});
  return Sequential({backbone, Flatten(), Dense({.units = 1000}), Dense({.units = 1, .dtype = "float32"})},
                    {.name = "nested", .dtype = "mixed_bfloat16"});
}

/// A container with a sub-layer and a weight of its own.
class Gained : public Model {
 public:
  Gained() : Model("Gained") {}
  void build(const Shape&) override { add_weight(gain_, {.shape = {}}); }

 protected:
  Value call(const Value& x) override { return dense_(x) * gain_; }

 private:
  Variable gain_{"gain"};
  Dense dense_ = sub("dense", Dense({.units = 1}));
};

// clang-format off
const char* const built = R"(Model: nested
Layer (type)                                Path                          Output shape  Compute   Variables  Param #      Bytes  States  Activations  Trainable
---------------------------------------------------------------------------------------------------------------------------------------------------------------
backbone (Sequential)                       backbone                      (?, 4, 4, 4)  bfloat16  float32         56      224 B       -        128 B  no
  conv2d (Conv2D)                           backbone/conv2d               (?, 4, 4, 4)  bfloat16  float32         40      160 B       -        128 B  no
  batch_normalization (BatchNormalization)  backbone/batch_normalization  (?, 4, 4, 4)  bfloat16  float32         16       64 B       -        128 B  no
flatten (Flatten)                           flatten                       (?, 64)       bfloat16  -                0        0 B       -        128 B  -
dense (Dense)                               dense                         (?, 1000)     bfloat16  float32     65,000  253.9 KiB       -      2.0 KiB  yes
dense_1 (Dense)                             dense_1                       (?, 1)        float32   float32      1,001    3.9 KiB       -          4 B  yes
)";

const char* const trained = R"(Model: nested
Layer (type)                                Path                          Output shape  Compute   Variables  Param #      Bytes     States  Activations  Trainable
------------------------------------------------------------------------------------------------------------------------------------------------------------------
backbone (Sequential)                       backbone                      (?, 4, 4, 4)  bfloat16  float32         56      224 B          -        128 B  no
  conv2d (Conv2D)                           backbone/conv2d               (?, 4, 4, 4)  bfloat16  float32         40      160 B          -        128 B  no
  batch_normalization (BatchNormalization)  backbone/batch_normalization  (?, 4, 4, 4)  bfloat16  float32         16       64 B          -        128 B  no
flatten (Flatten)                           flatten                       (?, 64)       bfloat16  -                0        0 B          -        128 B  -
dense (Dense)                               dense                         (?, 1000)     bfloat16  float32     65,000  253.9 KiB  507.8 KiB      2.0 KiB  yes
dense_1 (Dense)                             dense_1                       (?, 1)        float32   float32      1,001    3.9 KiB    7.8 KiB          4 B  yes
)";
// clang-format on

}  // namespace

BOOST_AUTO_TEST_SUITE(summary)

BOOST_AUTO_TEST_CASE(a_table_of_layers_with_dtypes_and_bytes) {
  Sequential model = nested();
  model.build({8, 6, 6, 1});
  model.get_layer("backbone").set_trainable(false);
  BOOST_TEST(model.summary_text() == built + std::string("Total params: 66,057 (258.0 KiB)\n"
                                                         "Trainable params: 66,001 (257.8 KiB)\n"
                                                         "Non-trainable params: 56 (224 B)\n"
                                                         "Activations: 2.3 KiB a sample\n"));
}

BOOST_AUTO_TEST_CASE(the_optimizers_slots_are_counted_after_training) {
  Sequential model = nested();
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.get_layer("backbone").set_trainable(false);
  model.fit(Tensor({2, 6, 6, 1}), Tensor({2, 1}), {.verbose = false});
  BOOST_TEST(model.summary_text() == trained + std::string("Total params: 198,059 (773.7 KiB)\n"
                                                           "Trainable params: 66,001 (257.8 KiB)\n"
                                                           "Non-trainable params: 56 (224 B)\n"
                                                           "Optimizer params: 132,002 (515.6 KiB)\n"
                                                           "Activations: 2.3 KiB a sample\n"));
}

BOOST_AUTO_TEST_CASE(what_is_not_built_is_not_known) {
  const Sequential model({Dense({.units = 2}), ReLU()});
  BOOST_TEST(model.summary_text() == R"(Model: Sequential
Layer (type)   Path   Output shape  Compute  Variables  Param #  Bytes  States  Activations  Trainable
------------------------------------------------------------------------------------------------------
dense (Dense)  dense  ?             float32  -                ?      ?       -            ?  -
re_lu (ReLU)   re_lu  ?             float32  -                ?      ?       -            ?  -
Total params: 0 (0 B), without 2 layers that are not built
Trainable params: 0 (0 B)
Non-trainable params: 0 (0 B)
)");
}

BOOST_AUTO_TEST_CASE(shared_weights_are_counted_once_and_dtypes_are_those_of_the_weights) {
  Dense shared({.units = 4});
  Sequential inner({shared, BatchNormalization()});
  Sequential model({shared, inner}, {.dtype = "bfloat16"});
  model.build({1, 4});
  BOOST_TEST(model.summary_text() == R"(Model: Sequential
Layer (type)                                Path                            Output shape  Compute   Variables          Param #  Bytes  States  Activations  Trainable
---------------------------------------------------------------------------------------------------------------------------------------------------------------------
dense (Dense)                               dense                           (?, 4)        bfloat16  bfloat16                20   40 B       -          8 B  yes
sequential (Sequential)                     sequential                      (?, 4)        bfloat16  bfloat16, float32       36  104 B       -          8 B  yes
  dense (Dense)                             sequential/dense                (?, 4)        bfloat16  bfloat16                20   40 B       -          8 B  yes
  batch_normalization (BatchNormalization)  sequential/batch_normalization  (?, 4)        bfloat16  float32                 16   64 B       -          8 B  yes
Total params: 36 (104 B)
Trainable params: 28 (72 B)
Non-trainable params: 8 (32 B)
Activations: 24 B a sample
)");
}

BOOST_AUTO_TEST_CASE(a_functional_model_and_one_with_weights_of_its_own) {
  auto x = Input({.shape = {3}});
  const Model functional({.inputs = {x}, .outputs = {Dense({.units = 2, .name = "head"})(x)}, .name = "small"});
  BOOST_TEST(functional.summary_text() == R"(Model: small
Layer (type)  Path  Output shape  Compute  Variables  Param #  Bytes  States  Activations  Trainable
----------------------------------------------------------------------------------------------------
head (Dense)  head  (?, 2)        float32  float32          8   32 B       -          8 B  yes
Total params: 8 (32 B)
Trainable params: 8 (32 B)
Non-trainable params: 0 (0 B)
Activations: 8 B a sample
)");
  Gained gained;
  gained(Tensor({1, 2}));
  BOOST_TEST(gained.summary_text() == R"(Model: Gained
Layer (type)   Path   Output shape  Compute  Variables  Param #  Bytes  States  Activations  Trainable
------------------------------------------------------------------------------------------------------
(Gained)              (?, 1)        float32  float32          4   16 B       -          4 B  yes
dense (Dense)  dense  (?, 1)        float32  float32          3   12 B       -          4 B  yes
Total params: 4 (16 B)
Trainable params: 4 (16 B)
Non-trainable params: 0 (0 B)
Activations: 4 B a sample
)");
}

BOOST_AUTO_TEST_CASE(it_is_written_to_stdout) {
  const Sequential model({Dense({.units = 2})});
  mezzo_tests::CapturedDescriptor out(1);
  model.summary();
  const std::string text = out.text();
  BOOST_TEST(text == model.summary_text());
}

// "int8 products" stands beside layers that compute them, and no others.
BOOST_AUTO_TEST_CASE(products_of_int8_are_named_where_they_are_computed) {
  const auto takes = [](Any<Layer> layer, const Shape& input) {
    layer->to("p=f32,c=f32,products=int8");
    Sequential model({std::move(layer)});
    model.build(input);
    return model.summary_text().find("int8 products") != std::string::npos;
  };
  const auto einsum = [](const char* equation, const Shape& out) {
    return EinsumDense({.equation = equation, .output_shape = detail::Ints(out)});
  };
  BOOST_TEST(takes(Dense({.units = 3}), {2, 5}));
  BOOST_TEST(takes(Dense({.units = 1}), {2, 131072}));
  BOOST_TEST(!takes(Dense({.units = 1}), {2, 131073}));
  BOOST_TEST(takes(LSTM({.units = 3}), {2, 4, 5}));
  BOOST_TEST(takes(einsum("abc,cd->abd", {-1, 6}), {2, 4, 5}));
  BOOST_TEST(!takes(einsum("abc,dc->abd", {-1, 6}), {2, 4, 5}));
  BOOST_TEST(!takes(einsum("abc,bcd->abd", {-1, 6}), {2, 4, 5}));
  BOOST_TEST(takes(ReversibleEmbedding({.input_dim = 7, .output_dim = 5}), {2, 4}));
  BOOST_TEST(!takes(Embedding({.input_dim = 7, .output_dim = 5}), {2, 4}));
  BOOST_TEST(!takes(PReLU(), {2, 4, 5}));
}

BOOST_AUTO_TEST_SUITE_END()
