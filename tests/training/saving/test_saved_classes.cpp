// Configs of every built-in class: object -> config -> object -> config.
#include <boost/test/unit_test.hpp>

#include <mezzo/core/registered_names.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/model_config.hpp>

#include "support/layer_models.hpp"
#include "support/refused.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::Json;

namespace {

/// Another value for a member; null if there is no general one.
Json changed(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>() + 1;
  if (value.is_number()) return value.get<double>() == 0 ? 0.5 : value.get<double>() * 0.75;
  if (value.is_null()) return 0.5;
  return nullptr;
}

/// Writes an object and makes it again. Then does so for each member with another value, where the class accepts that.
/// Returns the number of members that kept another value.
template <class Base>
int check_class(const std::string& name, const Any<Base>& first, const std::function<Any<Base>(const Json&)>& read,
                const std::function<Json(const Any<Base>&)>& write) {
  const Json json = write(first);
  BOOST_TEST(json.at("class_name") == name);
  BOOST_TEST(write(read(json)) == json, name << ": " << json);
  int kept = 0;
  for (const auto& item : json.at("config").items()) {
    Json other = json;
    Json& value = other["config"][item.key()] = changed(item.value());
    if (value.is_null()) continue;
    Any<Base> object;
    try {
      object = read(other);
    } catch (const Error&) {
      continue;  // out of range, or not of this type
    }
    BOOST_TEST(write(object).dump() == other.dump(), name << " " << item.key());
    ++kept;
  }
  Json wrong = json;
  wrong["config"]["unknown_member"] = 1;
  BOOST_CHECK_THROW(read(wrong), NameError);
  return kept;
}

template <class Base>
int check_family() {
  int kept = 0;
  for (const std::string& name : detail::class_names<Base>()) {
    if (name.find('>') != std::string::npos) continue;  // of other tests
    kept += check_class<Base>(
        name, detail::read_object<Base>({{"class_name", name}, {"config", config_of(name)}}),
        [](const Json& json) { return detail::read_object<Base>(json); },
        [](const Any<Base>& object) { return detail::write_object(object); });
  }
  return kept;
}

/// Objects by name can be written, too. `names`: as in the text of NameTable::names().
template <class Base>
void check_names(const std::string& names) {
  std::size_t begin = 0;
  while (begin < names.size()) {
    const std::size_t end = std::min(names.find(", ", begin), names.size());
    const Any<Base> object = names.substr(begin, end - begin);
    const Json json = detail::write_object(object);
    BOOST_TEST(detail::write_object(detail::read_object<Base>(json)) == json);
    begin = end + 2;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saved_classes)

BOOST_AUTO_TEST_CASE(families) {
  BOOST_TEST(check_family<Constraint>() >= 6);
  BOOST_TEST(check_family<Initializer>() >= 8);
  BOOST_TEST(check_family<Regularizer>() >= 4);
  BOOST_TEST(check_family<Loss>() >= 20);
  BOOST_TEST(check_family<Metric>() >= 20);
  BOOST_TEST(check_family<Optimizer>() >= 120);
  BOOST_TEST(check_family<Schedule>() >= 15);
}

BOOST_AUTO_TEST_CASE(names) {
  check_names<Constraint>(detail::names_of<Constraint>("constraint", "").names());
  check_names<Initializer>(detail::names_of<Initializer>("initializer", "").names());
  check_names<Loss>(detail::names_of<Loss>("loss", "").names());
  check_names<Metric>(detail::names_of<Metric>("metric", "").names());
  check_names<Metric>(detail::names_of<Loss>("loss", "").names());
  check_names<Optimizer>(detail::names_of<Optimizer>("optimizer", "").names());
  check_names<Regularizer>(detail::names_of<Regularizer>("regularizer", "").names());
}

BOOST_AUTO_TEST_CASE(layers) {
  int kept = 0;
  for (const std::string& name : layers_of_library()) {
    const Any<Layer> layer = detail::read_layer(json_of_layer(name));
    kept += check_class<Layer>(
        name, layer, [](const Json& one) { return detail::read_layer(one); },
        [](const Any<Layer>& one) { return detail::write_layer(*one->state()); });
    // In a model, with its weights.
    Model model = model_of_layer(name, layer);
    const Any<Model> again = model_from_json(model.to_json());
    BOOST_TEST(again->to_json() == model.to_json());
    again->set_weights(model.get_weights());
    Shape shape = sample_of(name);
    shape.insert(shape.begin(), 2);
    Tensor input = RandomUniform({.minval = 0, .maxval = 6}).make(shape, DType::float32, 1);
    if (takes_integers(name)) input = input.cast(DType::int32);
    BOOST_TEST(model.predict(input).equal(again->predict(input)), name);
  }
  BOOST_TEST(kept >= 50);
}

BOOST_AUTO_TEST_CASE(activations) {
  for (const char* name : {"relu", "gelu", "silu", "softmax", "hard_sigmoid", "linear", "tanh_shrink", "glu"}) {
    Sequential model({Input({4}), Dense(4, {.activation = name})});
    const Any<Model> again = model_from_json(model.to_json());
    BOOST_TEST(again->to_json() == model.to_json());
    again->set_weights(model.get_weights());
    const Tensor x = RandomNormal().make({2, 4}, DType::float32, 1);
    BOOST_TEST(model.predict(x).equal(again->predict(x)));
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto text = [](const Json& config) {
    return refused<Error>([&] { detail::read_layer({{"class_name", "Dense"}, {"config", config}}); });
  };
  BOOST_TEST(text({{"units", "ten"}}) == "[Dense] units must be an integer; got \"ten\"");
  BOOST_TEST(text({{"units", 1.5}}) == "[Dense] units must be an integer; got 1.5");
  BOOST_TEST(text({{"units", 0}}) == "[Dense] units must be at least 1; got 0");
  BOOST_TEST(text({{"units", 3}, {"use_bias", 1}}) == "[Dense] use_bias must be true or false; got 1");
  BOOST_TEST(text({{"units", 3}, {"color", 1}}).find("[Dense] unknown option \"color\"; valid names: activation") == 0);
  BOOST_TEST(text({{"unit", 3}}).find("[Dense] unknown option \"unit\"; valid names: activation") == 0);
  BOOST_TEST(text({{"unit", 3}}).ends_with("; nearest: \"units\""));
  BOOST_TEST(text({{"units", 3}, {"name", "../x"}}) ==
             "[Dense] name must be no path (without \"/\" and \"\\\", not \".\" or \"..\"); got \"../x\"");
  BOOST_TEST(text({{"units", 3}, {"kernel_initializer", {{"class_name", "system"}}}})
                 .find("unknown initializer \"system\"; classes of your own must be registered") == 0);
  BOOST_TEST(refused<Error>([] {
               detail::read_layer({{"class_name", "Lambda"}});
             }).find("unknown layer \"Lambda\"; layers of your own must be registered by register_layer() before") ==
             0);
}

BOOST_AUTO_TEST_SUITE_END()
