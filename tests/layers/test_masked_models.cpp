// Functional models with masks: made inside of them, given as an input, and carried by the values that they are called
// on.
#include <mezzo/mezzo.hpp>

#include "layers/masked.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(masked_models)

// Two branches that share an embedding: masks through Dense, Concatenate, attention, Add and pooling.
BOOST_AUTO_TEST_CASE(functional_models) {
  const Folder folder;
  Input a({5}, {.dtype = "int32", .name = "a"}), b({5}, {.dtype = "int32", .name = "b"});
  Embedding embedding(6, 4, {.mask_zero = true});
  const Value left = embedding(a), right = embedding(b);
  const Value both = layers::concatenate({left, Dense(4)(right)}, 1);
  const Value attended = MultiHeadAttention(2, 2)(both, left);
  Model model({a, b}, Dense(1)(GlobalAveragePooling1D()(layers::add({attended, both}))));
  model.compile({.optimizer = SGD(0.02), .loss = "mse"});
  const std::vector<Tensor> x{mask_data("ids"), mask_data("other_ids")};
  check_training("two_branches", model, x, mask_data("labels"));

  const Tensor before = model.predict(x);
  model.save(folder.path("model"));
  BOOST_TEST(load_model(folder.path("model"))->predict(x).equal(before));

  // Symbols inside of the model keep their masks.
  const Value inside = model.get_layer("embedding").output();
  BOOST_TEST(inside.mask().defined());
  Model part(model.inputs(), GlobalAveragePooling1D()(inside));
  const Value direct = GlobalAveragePooling1D()(embedding(x[1]));
  BOOST_TEST(largest_difference(part.predict(x), direct.tensor()) <= 1e-6);

  // Masks that a call is given are saved, too.
  Input values({3, 2}), mask({3}, {.dtype = "bool"});
  Model pooled({values, mask}, GlobalAveragePooling1D()(values, {.mask = mask}));
  const std::vector<Tensor> given{floats({1, 3, 2}, {1, 2, 3, 4, 5, 6}), bools({1, 3}, {1, 0, 1}).tensor()};
  const Tensor mean = pooled.predict(given);
  BOOST_TEST(mean.equal(floats({1, 2}, {3, 4}).cast(DType::float32)));
  pooled.save(folder.path("pooled"));
  BOOST_TEST(load_model(folder.path("pooled"))->predict(given).equal(mean));
}

// A functional model that is called on masked values calls its layers again, with the masks.
BOOST_AUTO_TEST_CASE(functional_models_take_masked_values) {
  const auto check = [](const std::string& name, const std::function<Model()>& make) {
    check_masked<Model>(name, make, [](Model& model, const Values& xs) { return model(xs); });
  };
  const auto pooled = [] {
    Input x({3, 5});
    return Model(x, GlobalAveragePooling1D()(Dense(4, {.activation = "tanh"})(x)));
  };
  check("functional", pooled);
  const auto branches = [] {
    Input a({3, 5}), b({3, 5});
    const Value left = Dense(4)(a);
    const Value summed = GRU(2)(layers::add({left, Dense(4)(b)}));
    return Model({a, b}, layers::concatenate({summed, GlobalAveragePooling1D()(left * 2.0)}));
  };
  check("functional_branches", branches);
  check("functional_branches_of_one_mask", branches);
  check("functional_sequence", [] {
    Input x({3, 5});
    return Model(x, SimpleRNN(2, {.return_sequences = true})(Dense(4)(x)));
  });
  check("functional_in_functional", [&] {
    Input x({3, 5});
    Model inner = pooled();
    return Model(x, Dense(2)(inner(Dropout(0.5)(x, {.training = false}))));
  });

  const Tensor ids = mask_data("ids");
  Input x({5, 4});
  Model inner(x, GlobalAveragePooling1D()(LSTM(3, {.return_sequences = true})(x)), {.name = "inner"});
  Sequential classifier({Embedding(6, 4, {.mask_zero = true}), inner, Dense(1, {.activation = "sigmoid"})});
  classifier.compile({.optimizer = SGD(0.5), .loss = "binary_crossentropy"});
  classifier.predict(ids);
  check_training("nested_classifier", classifier, {ids}, mask_data("labels"));

  // The same inside of a functional model, of its clone, of the loaded model and of its parts.
  const Folder folder;
  Input words({5}, {.dtype = "int32"});
  const Value embedded = classifier.layers()[0](words);
  Model outer(words, classifier.layers()[2](inner(embedded)));
  const Tensor expected = classifier.predict(ids);
  BOOST_TEST(outer.predict(ids).equal(expected));
  BOOST_TEST(clone(outer).predict(ids).equal(expected));
  outer.save(folder.path("outer"));
  BOOST_TEST(load_model(folder.path("outer"))->predict(ids).equal(expected));
  Model part(inner.inputs(), inner.outputs());
  const Value masked = Value(random_tensor({2, 5, 4})).with_mask(bools({2, 5}, {1, 1, 0, 0, 0, 0, 1, 0, 1, 1}));
  const Tensor with_mask = inner(masked).tensor();
  BOOST_TEST(part(masked).tensor().equal(with_mask));
  BOOST_TEST(clone(inner)(masked).tensor().equal(with_mask));
  BOOST_TEST(inner(masked.with_mask({}), {.mask = masked.mask()}).tensor().equal(with_mask));
  BOOST_TEST(!inner(masked.with_mask({})).tensor().equal(with_mask));

  // With a policy, modes of calls and arguments of calls.
  Input y({4, 6});
  MultiHeadAttention attention(2, 3);
  Model causal(y, Dropout(0.5)(attention(y, y, {.use_causal_mask = true}), {.training = true}),
               {.dtype = "mixed_bfloat16"});
  const Tensor sequence = random_tensor({2, 4, 6});
  const Value all = Value(sequence).with_mask(bools({2, 4}, {1, 1, 1, 1, 1, 1, 1, 1}));
  const auto in_a_step = [&](const Value& given) {
    const Trace trace(Trace::Mode::eager, true);
    return causal(given).tensor();
  };
  BOOST_TEST(in_a_step(all).equal(in_a_step(sequence)));
  BOOST_TEST(!in_a_step(all).equal(causal(sequence, {.training = false}).tensor()));
}

BOOST_AUTO_TEST_CASE(functional_models_of_other_classes_refuse_masks) {
  class Twice : public Layer {
   public:
    Twice() : Layer("Twice") {}

   protected:
    Value call(const Value& x) override { return x * 2.0; }
  };
  const Value masked = Value(Tensor({1, 3, 2})).with_mask(bools({1, 3}, {1, 0, 1}));
  Input x({3, 2});
  Model unknown(x, Twice()(x), {.name = "model"});
  BOOST_TEST(
      refused<ValueError>([&] { unknown(masked); }) ==
      "[Functional \"model\"] an input has a mask, and the layers can't be called with it: the class Twice is not "
      "registered by register_layer(); make the model from x.with_mask(mask) with an Input for the mask, or "
      "call it with x.with_mask({})");
  unknown(masked.with_mask({}));
  Model function(x, Lambda([](const Value& y) { return y * 2.0; })(x));
  BOOST_TEST(function(masked).shape() == (Shape{1, 3, 2}));
}

// Masks by with_mask() between the layers of a model.
BOOST_AUTO_TEST_CASE(saved_masks_of_values) {
  const Folder folder;
  Input values({3, 2}), mask({3}, {.dtype = "bool"});
  Model model({values, mask}, GlobalAveragePooling1D()(Dense(2)(values).with_mask(mask)));
  const std::vector<Tensor> given{floats({1, 3, 2}, {1, 2, 3, 4, 5, 6}), bools({1, 3}, {1, 0, 1}).tensor()};
  model.save(folder.path("model"));
  BOOST_TEST(load_model(folder.path("model"))->predict(given).equal(model.predict(given)));
  Input ids({3}, {.dtype = "int32"});
  const Value embedded = Embedding(4, 2, {.mask_zero = true})(ids);
  Model without(ids, GlobalAveragePooling1D()(embedded.with_mask({})));
  BOOST_TEST(refused<ValueError>([&] { without.to_json(); }).find("the mask of a value was removed by with_mask({})") !=
             std::string::npos);
  Model unused({values, mask}, Dense(1)(Flatten()(values.with_mask(mask))));
  unused.save(folder.path("unused"));
  BOOST_TEST(load_model(folder.path("unused"))->predict(given).equal(unused.predict(given)));
}

BOOST_AUTO_TEST_SUITE_END()
