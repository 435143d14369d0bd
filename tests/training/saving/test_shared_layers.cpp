// Layers that a model and a model inside it share, handles of loaded models as layers, names of outputs.
#include <mezzo/mezzo.hpp>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/kernels.hpp"
#include "support/refused.hpp"

namespace {

using namespace mezzo;
using mezzo_tests::Folder;
using mezzo_tests::random_tensor;
using mezzo_tests::refused;

Model with_shared_layer() {
  const Input a({4}), b({4});
  Dense shared(3, {.name = "shared"});
  Sequential inner({Input({4}), shared}, {.name = "inner"});
  return Model({.inputs = {a, b}, .outputs = {shared(a) + inner(b)}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_layers)

BOOST_AUTO_TEST_CASE(are_one_layer_after_loading) {
  const Folder folder;
  for (const char* name : {"a.mezzo"}) {
    BOOST_TEST_CONTEXT(name) {
      Model model = with_shared_layer();
      model.compile({.optimizer = Adam(0.1), .loss = "mse"});
      const Tensors x{random_tensor({6, 4}), random_tensor({6, 4}, DType::float32, 2)};
      const Tensor y = random_tensor({6, 3}, DType::float32, 3);
      model.train_on_batch(x, y);
      model.save(folder.path(name));
      const auto again = load_model(folder.path(name));
      BOOST_TEST(again->count_params() == 15);
      BOOST_TEST(again->predict(x).equal(model.predict(x)));
      for (int i = 0; i < 3; ++i) {
        const double loss = model.train_on_batch(x, y)["loss"];
        BOOST_TEST(again->train_on_batch(x, y)["loss"] == loss);
      }
      BOOST_TEST(again->get_layer("shared").weights()[0].id() == again->get_layer("inner/shared").weights()[0].id());
    }
  }
}

BOOST_AUTO_TEST_CASE(are_refused_for_keras) {
  const Folder folder;
  Model model = with_shared_layer();
  const std::string path = folder.path("a.keras");
  BOOST_TEST(
      refused<ValueError>([&] { model.save(path); }) ==
      "[model \"" + path +
          "\"] the model can't be saved for Keras: Keras can't open files of models that share a layer, here the "
          "Dense \"shared\", with a model inside them: save it as .mezzo");
}

BOOST_AUTO_TEST_CASE(may_be_models_and_layers_of_wrappers) {
  const Folder folder;
  const Input x({5, 4});
  Dense dense(4, {.name = "dense"});
  Model encoder = [&] {
    const Input y({5, 4});
    return Model(y, dense(y), {.name = "encoder"});
  }();
  Model model(x, encoder(dense(x)) + TimeDistributed(dense)(x));
  model.save(folder.path("a.mezzo"));
  const auto again = load_model(folder.path("a.mezzo"));
  BOOST_TEST(again->count_params() == 20);
  const Tensor given = random_tensor({2, 5, 4});
  BOOST_TEST(again->predict(given).equal(model.predict(given)));
  BOOST_TEST(again->to_json() == model.to_json());
}

BOOST_AUTO_TEST_CASE(of_texts_are_checked) {
  const std::string text = with_shared_layer().to_json();
  std::string other = text;
  const std::size_t at = other.rfind("\"class_name\":\"Dense\"");
  other.replace(at, 20, "\"class_name\":\"ReLU\"");
  BOOST_TEST(refused<ValueError>([&] {
               model_from_json(other);
             }).find("layers that are shared must have one class; got ") != std::string::npos);
  std::string twice = Sequential({Input({4}), Dense(3), Dense(3)}).to_json();
  for (std::size_t i = 0; (i = twice.find("\"class_name\":\"Dense\"", i)) != std::string::npos; i += 40) {
    twice.insert(i, "\"shared\":1,");
  }
  BOOST_TEST(refused<ValueError>([&] { model_from_json(twice); }) ==
             "[Sequential] a model must list a layer once; got \"dense_1\" with the number of another one");
}

BOOST_AUTO_TEST_CASE(handles_of_loaded_models_are_layers) {
  const Folder folder;
  Sequential({Input({4}), Dense(3)}).save(folder.path("a.mezzo"));
  const auto model = load_model(folder.path("a.mezzo"));
  Sequential whole({Input({4}), model, Dense(2)});
  const Tensor x = random_tensor({2, 4});
  BOOST_TEST(whole.predict(x).shape() == (Shape{2, 2}));
  const Any<Layer> layer = model;
  BOOST_TEST(layer(Value(x)).tensor().equal(model->predict(x)));
  BOOST_TEST(clone(whole).predict(x).equal(whole.predict(x)));
  BOOST_TEST(refused<ValueError>([&] {
               Sequential({Input({4}), *model, Dense(2)});
             }) ==
             "[Sequential \"sequential\"] the model is a copy of the base class alone, without what its class "
             "computes; hand over the "
             "handle of load_model() itself, `model` in place of `*model`, or load_model<Sequential>(path)");
}

BOOST_AUTO_TEST_CASE(outputs_have_given_names) {
  const Folder folder;
  const Input x({4});
  const Value y = Dense(3)(x);
  Model model({.inputs = {x}, .outputs = {Dense(1)(y), Dense(2)(y)}, .output_names = {"price", "kind"}});
  model.compile({.optimizer = SGD(0.1), .loss = {{"kind", "mse"}, {"price", "mae"}}});
  BOOST_TEST(model.output_names() == (std::vector<std::string>{"price", "kind"}));
  const Tensor given = random_tensor({3, 4});
  for (const char* name : {"a.mezzo", "a.keras"}) {
    model.save(folder.path(name));
    const auto again = load_model(folder.path(name));
    BOOST_TEST(again->predict_all(given)["kind"].equal(model.predict_all(given)["kind"]));
    const Logs logs = again->evaluate(given, {{"kind", Tensor({3, 2})}, {"price", Tensor({3, 1})}});
    BOOST_TEST(logs["kind_loss"] ==
               model.evaluate(given, {{"kind", Tensor({3, 2})}, {"price", Tensor({3, 1})}})["kind_loss"]);
  }
  BOOST_TEST(refused<ValueError>([&] {
               Model({.inputs = {x}, .outputs = {y}, .output_names = {"a", "b"}});
             }) == "[Functional] output_names must be 1, one for each output; got 2");
  BOOST_TEST(refused<ValueError>([&] {
               Model({.inputs = {x}, .outputs = {y, y}, .output_names = {"a", "a"}});
             }) == "[Functional] output_names must differ and not be empty; got \"a\"");
}

BOOST_AUTO_TEST_SUITE_END()
