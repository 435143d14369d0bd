// Configs of Keras' archives that are refused, and models that Keras' files can't hold.
#include <mezzo/io/zip_file.hpp>
#include <mezzo/io/zip_writer.hpp>
#include <mezzo/mezzo.hpp>

#include <functional>
#include <thread>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"

namespace {

using namespace mezzo;
using Json = nlohmann::json;
using mezzo_tests::Folder;
using mezzo_tests::refused;

/// Options of a layer of a program.
struct GainOptions {
  double initial = 1;
  std::string name{};
  Policy dtype{};
};
void describe(Fields& fields, GainOptions& options) { fields("initial", options.initial); }

class Gain : public Layer {
 public:
  explicit Gain(const GainOptions& options = {}) : Layer("Gain", options), initial_(options.initial) {}

 protected:
  void build(const Shape&) override { add_weight(factor_, {.shape = {}, .initializer = Constant(initial_)}); }
  Value call(const Value& x) override { return x * factor_; }

 private:
  double initial_;
  Variable factor_{"factor"};
};

using Entries = std::map<std::string, std::string>;

Entries entries_of(const std::string& path) {
  const detail::ZipFile zip(path, "");
  Entries out;
  for (const auto& entry : zip.entries()) {
    const detail::Bytes bytes = zip.read(entry, "");
    out[entry.name] = {bytes.begin(), bytes.end()};
  }
  return out;
}

std::string write_archive(const Folder& folder, const Entries& entries) {
  detail::ZipWriter zip(folder.path("changed.keras"), "");
  for (const auto& [name, text] : entries) {
    zip.add(name, [&text = text](const auto& write) { write(text.data(), text.size()); });
  }
  zip.commit();
  return folder.path("changed.keras");
}

/// Error for a recorded archive with another config.
std::string error_of(const char* name, const std::function<void(Json& config)>& change) {
  const Folder folder;
  const auto path = mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_files" / name / "keras.keras";
  Entries entries = entries_of(path.string());
  Json config = Json::parse(entries.at("config.json"));
  change(config);
  entries["config.json"] = config.dump();
  const std::string changed = write_archive(folder, entries);
  const std::string text = refused<FileError>([&] { load_model(changed); });
  const std::string begin = "[model \"" + changed + "\"] ";
  return text.rfind(begin, 0) == 0 ? text.substr(begin.size()) : text;
}

Json& layer_at(Json& config, std::size_t index) { return config["config"]["layers"][index]; }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_configs)

BOOST_AUTO_TEST_CASE(code_of_python_is_named_and_not_run) {
  BOOST_TEST(error_of("adam", [](Json& config) { layer_at(config, 1)["class_name"] = "Lambda"; }) ==
             "[Lambda \"first\"] a Lambda with a function of Python can't be read: no code of a file is run");
  BOOST_TEST(has(
      error_of(
          "adam",
          [](Json& config) {
            layer_at(config, 1)["config"]["activation"] = {{"class_name", "__lambda__"}, {"config", {{"value", "x"}}}};
          }),
      "[Dense \"first\"] activation a lambda of Python can't be read: no code of a file is run"));
  BOOST_TEST(has(error_of("adam",
                          [](Json& config) {
                            config["compile_config"]["loss"] = {{"module", "builtins"},
                                                                {"class_name", "function"},
                                                                {"config", "my_loss"},
                                                                {"registered_name", "function"}};
                          }),
                 "\"my_loss\" of the Python module \"builtins\" is unknown"));
}

BOOST_AUTO_TEST_CASE(unknown_classes_and_options_are_named) {
  const std::string text = error_of("adam", [](Json& config) { layer_at(config, 1)["class_name"] = "Denze"; });
  BOOST_TEST(has(text, "unknown layer \"Denze\"; layers of your own must be registered"));
  BOOST_TEST(has(error_of("adam",
                          [](Json& config) {
                            layer_at(config, 1)["module"] = "os";
                            layer_at(config, 1)["class_name"] = "system";
                          }),
                 "\"system\" of the Python module \"os\" is unknown"));
  BOOST_TEST(error_of("adam", [](Json& config) { layer_at(config, 1)["config"]["lora_rank"] = 4; }) ==
             "[Dense \"first\"] lora_rank must have the value without effect, since mezzo lacks this option; got 4");
  BOOST_TEST(has(error_of("adam", [](Json& config) { layer_at(config, 1)["config"]["units"] = "x"; }),
                 "[Dense] units must be an integer; got \"x\""));
  BOOST_TEST(has(
      error_of("adam", [](Json& config) { layer_at(config, 1)["config"]["dtype"]["class_name"] = "FancyDTypePolicy"; }),
      "dtype must be a DTypePolicy; got \"FancyDTypePolicy\""));
  BOOST_TEST(has(error_of("adam", [](Json& config) { config["compile_config"]["extra"] = 1; }),
                 "\"extra\" is not known to mezzo; got 1. Load the model by {.compile = false}"));
}

BOOST_AUTO_TEST_CASE(graphs_are_checked) {
  const auto with_history = [](const Json& history) {
    return error_of("shared", [&](Json& config) {
      for (Json& layer : config["config"]["layers"]) {
        if (layer["class_name"] != "Dense") continue;
        layer["inbound_nodes"][0]["args"][0]["config"]["keras_history"] = history;
        return;
      }
    });
  };
  BOOST_TEST(has(with_history({"none", 0, 0}), "the graph names the layer \"none\", which the model lacks"));
  BOOST_TEST(has(with_history({"dense_1", 0, 0}), "[Functional] the graph "));
  BOOST_TEST(has(with_history({"part", 99, 0}), "the graph reads call 99 of the layer \"part\", which has 3"));
  BOOST_TEST(has(with_history({"part", -1, 0}), "indices of calls and outputs must be 0 or more"));
  BOOST_TEST(has(with_history("part"), "a symbol must be [layer, call, output]; got \"part\""));
  BOOST_TEST(has(error_of("shared",
                          [](Json& config) {
                            Json& layers = config["config"]["layers"];
                            layers.push_back(layers.back());
                          }),
                 "names of layers must differ"));
}

BOOST_AUTO_TEST_CASE(sizes_are_checked_before_memory_is_taken) {
  BOOST_TEST(
      error_of("adam", [](Json& config) { layer_at(config, 1)["config"]["units"] = 1 << 30; }) ==
      "[Dense \"first\"] the file must have the numbers of every weight; a weight of shape (4, 1073741824) is more "
      "than is left");
  BOOST_TEST(has(error_of("adam", [](Json& config) { layer_at(config, 1)["config"]["units"] = 4; }),
                 "array \"layers/dense/vars/0\" must have shape"));
}

BOOST_AUTO_TEST_CASE(archives_must_be_complete) {
  const Folder folder;
  const auto path = mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_files" / "dense" / "keras.keras";
  const Entries entries = entries_of(path.string());
  Entries other = entries;
  other.erase("config.json");
  BOOST_TEST(has(refused<FileError>([&] { load_model(write_archive(folder, other)); }),
                 "a .keras archive must have \"config.json\"; this one lacks it"));
  other = entries;
  other["model.weights.h5"].resize(100);
  BOOST_TEST(has(refused<FileError>([&] { load_model(write_archive(folder, other)); }), "it is cut off after 100"));
  other = entries;
  other["assets/layers/string_lookup/vocabulary.txt"] = "a";
  BOOST_TEST(has(refused<FileError>([&] { load_model(write_archive(folder, other)); }),
                 "the archive has the file \"assets/layers/string_lookup/vocabulary.txt\" of a layer"));
}

BOOST_AUTO_TEST_CASE(models_that_keras_lacks_are_not_written) {
  const Folder folder;
  const std::string path = folder.path("a.keras");
  const auto error = [&](Model& model) { return refused<ValueError>([&] { model.save(path); }); };
  Sequential list({Input({4, 3}), layers::SinePositionEncoding()});
  BOOST_TEST(error(list) == "[model \"" + path +
                                "\"] the model can't be saved for Keras: [SinePositionEncoding] Keras has no class of "
                                "this name");
  Sequential twice({Input({3})});
  const Dense dense(3, {.name = "d"});
  twice.add(dense);
  twice.add(dense);
  BOOST_TEST(has(error(twice), "Keras' Sequential can't have the layer \"d\" twice"));
  Sequential policy({Input({3}), Dense(2, {.dtype = "p=f32,c=bf16,o=f32"})});
  BOOST_TEST(has(error(policy), "Keras has no dtype policy \""));
  Sequential trained({Input({3}), Dense(2)});
  trained.compile({.optimizer = Adam(1e-3, {.kahan_summation = true}), .loss = "mse"});
  BOOST_TEST(has(error(trained), "[Adam] Keras has no option \"kahan_summation\"; got true. Save without the options"));
  trained.save(path, {.compile = false});
  BOOST_TEST(has(refused<FileError>([&] { trained.save(path, {.overwrite = false}); }), "must not exist"));
}

BOOST_AUTO_TEST_CASE(registered_classes_are_found_by_their_names) {
  register_layer<Gain, GainOptions>("my>Gain");
  const Folder folder;
  Input x({3});
  Model model(x, Dense(2)(Gain({.initial = 3})(x)));
  model.save(folder.path("a.keras"));
  const Json config = Json::parse(entries_of(folder.path("a.keras")).at("config.json"));
  const Json& layer = config["config"]["layers"][1];
  BOOST_TEST(layer["class_name"] == "Gain");
  BOOST_TEST(layer["registered_name"] == "my>Gain");
  const auto again = load_model(folder.path("a.keras"));
  BOOST_TEST(again->predict(Tensor({1, 3}, std::vector<float>{1, 2, 3}))
                 .equal(model.predict(Tensor({1, 3}, std::vector<float>{1, 2, 3}))));
}

BOOST_AUTO_TEST_CASE(options_have_the_names_of_keras) {
  const Folder folder;
  Sequential model({Input({3}), Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = SGD({.learning_rate = PiecewiseConstantDecay({10}, {0.5, 0.25})}),
                 .loss = "binary_crossentropy",
                 .metrics = {PrecisionAtRecall(0.25), RecallAtPrecision(0.375), SensitivityAtSpecificity(0.5),
                             SpecificityAtSensitivity(0.625)}});
  model.save(folder.path("a.keras"));
  const Json compiled = Json::parse(entries_of(folder.path("a.keras")).at("config.json")).at("compile_config");
  BOOST_TEST(compiled.at("optimizer").at("config").at("learning_rate").at("config").at("values") == Json({0.5, 0.25}));
  const Json& metrics = compiled.at("metrics");
  BOOST_TEST(metrics[0].at("config").at("recall") == 0.25);
  BOOST_TEST(metrics[1].at("config").at("precision") == 0.375);
  BOOST_TEST(metrics[2].at("config").at("specificity") == 0.5);
  BOOST_TEST(metrics[3].at("config").at("sensitivity") == 0.625);
  load_model(folder.path("a.keras"))->save(folder.path("b.keras"));
  BOOST_TEST(Json::parse(entries_of(folder.path("b.keras")).at("config.json")).at("compile_config") == compiled);
}

BOOST_AUTO_TEST_CASE(threads_write_files_of_their_own) {
  const Folder folder;
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        Sequential model({Input({4}), Dense(2)});
        for (int n = 0; n < 5; ++n) model.save_weights(folder.path(std::to_string(i) + ".weights.h5"));
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) BOOST_TEST(error.empty(), error);
}

BOOST_AUTO_TEST_SUITE_END()
