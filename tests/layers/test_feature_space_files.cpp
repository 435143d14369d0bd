#include <boost/test/unit_test.hpp>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(feature_space_files)

BOOST_AUTO_TEST_CASE(spaces_of_a_model_are_found_by_name_and_path) {
  const Folder folder;
  const auto space_of = [](const char* token) {
    FeatureSpace space({{"x", "string_categorical"}});
    space.adapt(Table({{"x", Strings{token}}}));
    return space;
  };
  const auto token_of = [&](const std::string& file, const std::string& name) {
    return FeatureSpace::load(folder.path(file), name).get_vocabulary("x").at(1);
  };
  const auto refuse = [&](const std::string& name) {
    const std::string error = refused<FileError>([&] { token_of("m", name); });
    return error.substr(error.find("] ") + 2);
  };
  space_of("a").save(folder.path("s"));
  BOOST_TEST(token_of("s", "") == "a");
  BOOST_TEST(token_of("s", "feature_space") == "a");

  Input x({2}), y({2}), z({2});
  Sequential encoder({space_of("c")}, {.name = "encoder"});
  Model({.inputs = {x, y, z}, .outputs = {Dense(1)(Concatenate()({space_of("a")(x), space_of("b")(y), encoder(z)}))}})
      .save(folder.path("m"));
  BOOST_TEST(token_of("m", "feature_space") == "a");
  BOOST_TEST(token_of("m", "feature_space_1") == "b");
  BOOST_TEST(token_of("m", "encoder/feature_space") == "c");
  const std::string all = "feature_space, feature_space_1, encoder/feature_space";
  BOOST_TEST(refuse("") == "a name must be given for one of several: " + all);
  BOOST_TEST(refuse("x") == "unknown FeatureSpace \"x\"; valid names: " + all);

  Sequential first({space_of("a")}, {.name = "first"}), second({space_of("b")}, {.name = "second"});
  Model({.inputs = {x, y}, .outputs = {Dense(1)(Concatenate()({first(x), second(y)}))}}).save(folder.path("m"));
  BOOST_TEST(refuse("feature_space") ==
             "\"feature_space\" must be a path of one of several: first/feature_space, second/feature_space");
  BOOST_TEST(token_of("m", "second/feature_space") == "b");
}

BOOST_AUTO_TEST_CASE(other_files_are_refused) {
  const Folder folder;
  const auto refuse = [&](const std::string& name) {
    return refused<FileError>([&] { FeatureSpace::load(folder.path(name)); });
  };
  const std::string label = "[FeatureSpace \"" + folder.path();
  Sequential({Input({2}), Dense(1)}).save(folder.path("m.mezzo"));
  BOOST_TEST(refuse("m.mezzo") == label + "/m.mezzo\"] the model must have a layer FeatureSpace; it has none");
  save_safetensors(folder.path("w"), {});
  BOOST_TEST(refuse("w") ==
             label + "/w\"] must be a file of FeatureSpace::save() or of Model::save(); got format \"\"");
  const auto write = [&](const std::string& config) {
    save_safetensors(folder.path("c"), {},
                     {{"format", "mezzo_feature_space"}, {"format_version", "1"}, {"config", config}});
    return refuse("c");
  };
  const auto with = [](const std::string& features) {
    return R"({"class_name": "FeatureSpace", "config": {"name": "s", "features": )" + features + "}}";
  };
  BOOST_TEST(write("3") == label + "/c\"] the config must be a JSON object; got \"3\"");
  BOOST_TEST(write(with("3")).find("[FeatureSpace] features must be a list; got 3") != std::string::npos);
  BOOST_TEST(write(with("[3]")).find("features must have objects; got 3") != std::string::npos);
  BOOST_TEST(write(with(R"([{"name": "a", "type": "float", "bins": 1}])"))
                 .find("[FeatureSpace] features 0: unknown option \"bins\"") != std::string::npos);
  BOOST_TEST(write(with(R"([{"name": "a", "type": "float_discretized", "num_bins": 2, "adapted": true,
                             "bin_boundaries": [1, 2]}])"))
                 .find("num_bins must be above the number of adapted boundaries 2; got 2") != std::string::npos);
  BOOST_TEST(write(with(R"([{"name": "a", "type": "integer_categorical", "adapted": true, "vocabulary": ["1x"]}])"))
                 .find("the vocabulary must have integers; got \"1x\"") != std::string::npos);
  BOOST_TEST(write(with(R"([{"name": "a", "type": "string_categorical", "adapted": true}])"))
                 .find("an adapted feature must have a vocabulary, and no other; got 0 tokens") != std::string::npos);
  BOOST_TEST(refused<FileError>([&] {
               FeatureSpace({{"a", "float"}}).save(folder.path("s.keras"));
             }).find("the file must end in .mezzo, or have a suffix of its own") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
