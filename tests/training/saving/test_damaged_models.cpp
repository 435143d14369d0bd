// Model files and configs that are damaged or made to do harm: errors of mezzo, never a crash or much memory.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <functional>

#include <mezzo/core/random.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>
#include <nlohmann/json.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using Json = nlohmann::json;

namespace {

Sequential small_model() {
  Sequential model({Input({3}), Dense(2, {.activation = "relu", .name = "fc"}), Dropout(0.5)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  return model;
}

Model small_graph() {
  Input x({3});
  const Value y = Dense(2, {.name = "fc"})(x);
  return Model(x, Dense(1, {.name = "out"})(y + y * 0.5));
}

/// Text of the error for a file whose metadata were edited, with right checksums; "" if it loads.
std::string refusal(Model& model, const std::function<void(Metadata&)>& edit) {
  const Folder folder;
  model.save(folder.path("a"));
  const SafetensorsFile file(folder.path("a"));
  NamedTensors tensors;
  for (const auto& entry : file.entries()) tensors.emplace_back(entry.name, file.read(entry.name));
  Metadata metadata = file.metadata();
  edit(metadata);
  save_safetensors(folder.path("b"), tensors, metadata);
  std::string text = refused<Error>([&] { load_model(folder.path("b")); });
  const std::string where = "[model \"" + folder.path("b") + "\"] ";
  if (text.find(where) == 0) text = text.substr(where.size());
  return text;
}

std::string refusal(Model& model, const std::function<void(Json&)>& edit) {
  return refusal(model, std::function<void(Metadata&)>([&](Metadata& metadata) {
                   Json json = Json::parse(metadata["config"]);
                   edit(json);
                   metadata["config"] = json.dump();
                 }));
}

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(damaged_models)

BOOST_AUTO_TEST_CASE(configs) {
  Sequential model = small_model();
  Model graph = small_graph();
  const auto in_list = [&](const std::function<void(Json&)>& edit) { return refusal(model, edit); };
  const auto in_graph = [&](const std::function<void(Json&)>& edit) { return refusal(graph, edit); };
  BOOST_TEST(in_list([](Json&) {}) == "");
  BOOST_TEST(in_graph([](Json&) {}) == "");

  BOOST_TEST(in_list([](Json& json) { json["config"]["layers"][0]["class_name"] = "Conv9D"; }) ==
             "unknown layer \"Conv9D\"; layers of your own must be registered by register_layer() before loading, "
             "models by register_model(); nearest: \"Conv1D\"");
  BOOST_TEST(in_list([](Json& json) { json["config"]["layers"][0]["class_name"] = "my>Qqqqqqqq"; }) ==
             "unknown layer \"my>Qqqqqqqq\"; layers of your own must be registered by register_layer() before loading, "
             "models by register_model()");
  BOOST_TEST(in_list([](Json& json) { json["config"]["layers"][0]["name"] = "../../etc"; }) ==
             R"([Sequential] sub-layer name must be no path (without "/" and "\", not "." or ".."); got "../../etc")");
  BOOST_TEST(in_list([](Json& json) { json["config"]["name"] = "a/b"; }) ==
             R"([Sequential] name must be no path (without "/" and "\", not "." or ".."); got "a/b")");
  BOOST_TEST(in_list([](Json& json) { json["config"]["layers"][1]["name"] = "fc"; }) ==
             "[Sequential] names of layers must differ; got \"fc\" twice");
  BOOST_TEST(in_list([](Json& json) {
               json["config"]["order"] = {0, 1, 2};
             }) == "[Sequential] order must be an index below 2; got 2");
  // A layer larger than its file fails before its memory is taken.
  for (const std::int64_t units : {3LL, 1LL << 31}) {
    const std::string text = in_list([&](Json& json) { json["config"]["layers"][0]["config"]["units"] = units; });
    BOOST_TEST(text.find("the file must have the numbers of every weight; a weight of shape (3, ") !=
               std::string::npos);
  }
  BOOST_TEST(begins(in_list([](Json& json) { json["config"]["layers"][0]["config"]["units"] = 1; }),
                    "the weights do not fit the layers: "));
  BOOST_TEST(in_list([](Json& json) { json["config"]["layers"][0]["config"]["units"] = 1LL << 40; }) ==
             "[Dense] units must be from -2147483648 to 2147483648; got 1099511627776");
  BOOST_TEST(begins(in_list([](Json& json) {
                      json["config"]["input"]["shape"] = {-1, 1LL << 30, 1LL << 30};
                    }),
                    "[Sequential] shape must have at most 2^40 elements"));

  BOOST_TEST(in_graph([](Json& json) {
               json["config"]["calls"][0]["inputs"][0] = {{"call", 2}, {"output", 0}};
             }) ==
             "[Functional] call 0 has an operand from call 2: a call may only use earlier ones, so that the graph has "
             "no cycle");
  BOOST_TEST(in_graph([](Json& json) { json["config"]["calls"][0]["layer"] = "none"; }) ==
             "[Functional] a call names the layer \"none\", which the model lacks");
  BOOST_TEST(begins(in_graph([](Json& json) { json["config"]["calls"][1]["op"] = "host"; }),
                    "unknown op \"host\" in a config"));
  BOOST_TEST(in_graph([](Json& json) { json["config"]["outputs"] = Json::array(); }) != "");
  BOOST_TEST(in_graph([](Json& json) {
               for (int i = 0; i < 40; ++i) {
                 Json outer = json;
                 outer["config"]["layers"][0] = json;
                 outer["config"]["layers"][0]["name"] = "fc";
                 json = outer;
               }
             }).find("[config] objects must be nested at most 32 deep; got more") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(texts) {
  Sequential model = small_model();
  const auto edited = [&](const char* key, const std::string& text) {
    return refusal(model, std::function<void(Metadata&)>([&](Metadata& metadata) { metadata[key] = text; }));
  };
  BOOST_TEST(begins(edited("format", "pt"), "format must be \"mezzo_model\", as Model::save writes; got \"pt\""));
  BOOST_TEST(edited("format", "mezzo_checkpoint") ==
             "format must be \"mezzo_model\", as Model::save writes; got \"mezzo_checkpoint\" (a checkpoint of a "
             "training: load_weights reads its weights, Trainer::fit with ckpt_path continues it)");
  BOOST_TEST(edited("format", "mezzo_loop") ==
             "format must be \"mezzo_model\", as Model::save writes; got \"mezzo_loop\" (a checkpoint of a loop: "
             "LoopCheckpoint::load reads it)");
  BOOST_TEST(edited("format_version", "2") == "format_version must be 1; got \"2\"");
  BOOST_TEST(edited("config", "{").find("the config must be a JSON object; got \"{\"") != std::string::npos);
  BOOST_TEST(edited("config", std::string(100000, '[')).find("nested at most 400 deep") != std::string::npos);
  BOOST_TEST(edited("compile", "{}").find("\"optimizer\" is missing in {}") != std::string::npos);
  BOOST_TEST(begins(edited("dtype_policy", "int3"), "unknown policy \"int3\""));
  BOOST_CHECK_THROW(model_from_json("no JSON"), ValueError);
  BOOST_CHECK_THROW(model_from_json(R"({"class_name": "Dense", "config": {"units": 2}})"), NameError);
}

// Every mutation is refused by a checksum or a check, or has no effect.
BOOST_AUTO_TEST_CASE(mutations) {
  const Folder folder;
  Sequential model = small_model();
  model.fit(Tensor({4, 3}), Tensor({4, 2}), {.verbose = 0});
  model.save(folder.path("a"));
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor y = model.predict(x);
  const detail::Bytes whole = detail::read_file(folder.path("a"), 1 << 20);
  const int count = std::getenv("MEZZO_TEST_SMALL") != nullptr ? 300 : 10000;
  for (int i = 0; i < count; ++i) {
    std::uint64_t state = detail::mix(17, static_cast<std::uint64_t>(i));
    const auto next = [&](std::uint64_t below) { return (state = detail::mix(state, 1)) % below; };
    detail::Bytes bytes = whole;
    if (i % 4 == 0) {
      bytes.resize(next(bytes.size()));
    } else {
      for (std::uint64_t n = 1 + next(4); n > 0; --n)
        bytes[next(bytes.size())] ^= static_cast<std::uint8_t>(1 + next(255));
    }
    const std::string path = folder.write("b", bytes);
    try {
      // Other spaces behind the header, or two changes that cancel out.
      BOOST_TEST(load_model(path)->predict(x).equal(y));
    } catch (const Error& error) {
      const std::string text = error.what();
      BOOST_TEST(!text.empty());
      BOOST_TEST(text.find('\n') == std::string::npos);
    }
  }
}

// Mutations of the config that the checksums don't notice.
BOOST_AUTO_TEST_CASE(mutated_configs) {
  Model graph = small_graph();
  Sequential model = small_model();
  const int count = std::getenv("MEZZO_TEST_SMALL") != nullptr ? 200 : 1000;
  for (const std::string& whole : {graph.to_json(), model.to_json()}) {
    for (int i = 0; i < count; ++i) {
      std::uint64_t state = detail::mix(23, static_cast<std::uint64_t>(i));
      const auto next = [&](std::uint64_t below) { return (state = detail::mix(state, 1)) % below; };
      std::string text = whole;
      const std::string parts = "0123456789{}[],:\"-.etrufalsnchoDd/";
      for (std::uint64_t n = 1 + next(3); n > 0; --n) text[next(text.size())] = parts[next(parts.size())];
      try {
        model_from_json(text);
      } catch (const Error& error) {
        BOOST_TEST(std::string(error.what()).find('\n') == std::string::npos);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
