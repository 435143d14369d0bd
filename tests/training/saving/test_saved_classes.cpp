// Configs of every built-in class: object -> config -> object -> config.
#include <boost/test/unit_test.hpp>

#include <set>

#include <mezzo/core/registered_names.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/model_config.hpp>

#include "support/refused.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::Json;

namespace {

/// Members that a class requires, or that its other members need.
const std::map<std::string, Json> required{
    {"CosineDecay", {{"decay_steps", 10}, {"warmup_target", 0.5}}},
    {"CosineDecayRestarts", {{"first_decay_steps", 10}}},
    {"ExponentialDecay", {{"decay_steps", 10}, {"decay_rate", 0.5}}},
    {"InverseTimeDecay", {{"decay_steps", 10}, {"decay_rate", 0.5}}},
    {"PolynomialDecay", {{"decay_steps", 10}}},
    {"LinearWarmup", {{"after", 0.5}, {"warmup_steps", 3}}},
    {"PiecewiseConstantDecay", {{"boundaries", {5}}, {"values", {0.5, 0.25}}}},
    {"IoU", {{"num_classes", 3}, {"target_class_ids", {0, 1}}}},
    {"MeanIoU", {{"num_classes", 3}}},
    {"OneHotIoU", {{"num_classes", 3}, {"target_class_ids", {0, 1}}}},
    {"OneHotMeanIoU", {{"num_classes", 3}}},
    {"LossMetric", {{"loss", "mse"}}},
    {"AdaptiveAveragePooling1D", {{"output_size", 2}}},
    {"AdaptiveAveragePooling2D", {{"output_size", 2}}},
    {"AdaptiveAveragePooling3D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling1D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling2D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling3D", {{"output_size", 2}}},
    {"Bidirectional", {{"layer", {{"class_name", "LSTM"}, {"config", {{"units", 3}}}}}}},
    {"Conv1D", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv1DTranspose", {{"filters", 4}, {"kernel_size", 2}}},
    {"ConvLSTM1D", {{"filters", 4}, {"kernel_size", 2}}},
    {"ConvLSTM2D", {{"filters", 4}, {"kernel_size", 2}}},
    {"ConvLSTM3D", {{"filters", 4}, {"kernel_size", 2}}},
    {"CategoryEncoding", {{"num_tokens", 7}}},
    {"CenterCrop", {{"height", 3}, {"width", 4}}},
    {"Discretization", {{"bin_boundaries", {1, 3}}}},
    {"FeatureSpace", {{"features", Json::array({{{"name", "a"}, {"type", "float"}}})}}},
    {"Hashing", {{"num_bins", 5}}},
    {"IntegerLookup", {{"vocabulary", {1, 2, 5}}}},
    {"HashedCrossing", {{"num_bins", 5}}},
    {"RandomBrightness", {{"factor", {0.5}}}},
    {"RandomColorDegeneration", {{"factor", {0.5}}}},
    {"RandomContrast", {{"factor", {0.5}}}},
    {"RandomCrop", {{"height", 3}, {"width", 4}}},
    {"RandomHue", {{"factor", {0.5}}}},
    {"RandomPosterization", {{"factor", {2, 4}}}},
    {"RandomRotation", {{"factor", {0.5}}}},
    {"RandomSaturation", {{"factor", {0.5}}}},
    {"RandomSharpness", {{"factor", {0.5}}}},
    {"RandomTranslation", {{"height_factor", {0.5}}, {"width_factor", {0.25}}}},
    {"RandomZoom", {{"height_factor", {0.5}}, {"width_factor", {0.25}}}},
    {"Resizing", {{"height", 3}, {"width", 4}}},
    {"Conv2D", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv2DTranspose", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv3D", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv3DTranspose", {{"filters", 4}, {"kernel_size", 2}}},
    {"DepthwiseConv1D", {{"kernel_size", 2}}},
    {"DepthwiseConv2D", {{"kernel_size", 2}}},
    {"Dense", {{"units", 3}}},
    {"Dropout", {{"rate", 0.5}}},
    {"Embedding", {{"input_dim", 7}, {"output_dim", 3}}},
    {"GroupedQueryAttention", {{"head_dim", 4}, {"num_query_heads", 4}, {"num_key_value_heads", 2}}},
    {"GRU", {{"units", 3}}},
    {"GRUCell", {{"units", 3}}},
    {"LSTM", {{"units", 3}}},
    {"LSTMCell", {{"units", 3}}},
    {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 4}}},
    {"AlphaDropout", {{"rate", 0.5}}},
    {"Dot", {{"axes", 1}}},
    {"EinsumDense", {{"equation", "...a,ab->...b"}, {"output_shape", 5}}},
    {"GaussianDropout", {{"rate", 0.5}}},
    {"GaussianNoise", {{"stddev", 0.5}}},
    {"GroupNormalization", {{"groups", 2}}},
    {"PositionEmbedding", {{"sequence_length", 8}}},
    {"ReversibleEmbedding", {{"input_dim", 7}, {"output_dim", 3}}},
    {"SpatialDropout1D", {{"rate", 0.5}}},
    {"SpatialDropout2D", {{"rate", 0.5}}},
    {"SpatialDropout3D", {{"rate", 0.5}}},
    {"SpectralNormalization", {{"layer", {{"class_name", "Dense"}, {"config", {{"units", 3}}}}}}},
    {"TokenAndPositionEmbedding", {{"vocabulary_size", 7}, {"sequence_length", 8}, {"embedding_dim", 3}}},
    {"Permute", {{"dims", {2, 1}}}},
    {"RepeatVector", {{"n", 3}}},
    {"Reshape", {{"target_shape", {12, -1}}}},
    {"SeparableConv1D", {{"filters", 4}, {"kernel_size", 2}}},
    {"SeparableConv2D", {{"filters", 4}, {"kernel_size", 2}}},
    {"RNN", {{"cell", {{"class_name", "GRUCell"}, {"config", {{"units", 3}}}}}}},
    {"SimpleRNN", {{"units", 3}}},
    {"SimpleRNNCell", {{"units", 3}}},
    {"StackedRNNCells", {{"cells", {{{"class_name", "LSTMCell"}, {"config", {{"units", 3}}}}}}}},
    {"TimeDistributed", {{"layer", {{"class_name", "Dense"}, {"config", {{"units", 3}}}}}}},
};

Json config_of(const std::string& name) {
  const auto found = required.find(name);
  return found == required.end() ? Json::object() : found->second;
}

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

/// True for layers of integers.
bool takes_integers(const std::string& name) {
  const std::set<std::string> names{"CategoryEncoding", "Embedding",           "HashedCrossing",           "Hashing",
                                    "IntegerLookup",    "ReversibleEmbedding", "TokenAndPositionEmbedding"};
  return names.count(name) != 0;
}

/// True for layers that merge inputs.
bool takes_two(const std::string& name) {
  const std::set<std::string> names{"Add",     "Average", "Concatenate", "Dot",     "HashedCrossing",
                                    "Maximum", "Minimum", "Multiply",    "Subtract"};
  return names.count(name) != 0 || name.find("Attention") != std::string::npos;
}

/// Input of one sample of each layer.
Shape sample_of(const std::string& name) {
  if (name == "HashedCrossing" || name == "FeatureSpace") return {1};
  if (takes_integers(name) || name == "RepeatVector") return {4};
  if (name == "ConvLSTM1D") return {4, 6, 3};
  if (name == "ConvLSTM2D") return {4, 6, 5, 3};
  if (name == "ConvLSTM3D") return {4, 6, 5, 4, 3};
  const std::set<std::string> sequences{
      "Bidirectional", "GRU",           "GRUCell",         "LSTM",           "LSTMCell", "RNN",
      "SimpleRNN",     "SimpleRNNCell", "StackedRNNCells", "TimeDistributed"};
  if (sequences.count(name) != 0 || name == "Permute" || name == "EinsumDense" ||
      name.find("Attention") != std::string::npos || name.find("1D") != std::string::npos)
    return {4, 8};
  if (name.find("3D") != std::string::npos) return {3, 4, 3, 2};
  const std::set<std::string> colors{"AugMix",          "RandAugment", "RandomColorDegeneration",
                                     "RandomGrayscale", "RandomHue",   "RandomSaturation"};
  return {6, 6, colors.count(name) != 0 ? 3 : 4};
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
  for (const std::string& name : detail::class_names<Layer>()) {
    if (name.find('>') != std::string::npos) continue;
    Json config = config_of(name);
    config["name"] = "given";
    const Json json{{"class_name", name}, {"config", config}};
    const Any<Layer> layer = detail::read_layer(json);
    kept += check_class<Layer>(
        name, layer, [](const Json& one) { return detail::read_layer(one); },
        [](const Any<Layer>& one) { return detail::write_layer(*one->state()); });
    // In a model, with its weights.
    Shape shape = sample_of(name);
    Input x({.shape = shape, .dtype = takes_integers(name) ? "int32" : "float32"});
    Model model(x, (*layer)(takes_two(name) ? Values{x, x} : Values{x}).front());  // cells return states, too
    const Any<Model> again = model_from_json(model.to_json());
    BOOST_TEST(again->to_json() == model.to_json());
    again->set_weights(model.get_weights());
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
