// The work of a config is bounded by the size of its file.
#include <boost/test/unit_test.hpp>

#include <mezzo/graph/node_budget.hpp>
#include <nlohmann/json.hpp>

#include "support/refused.hpp"
#include "training/saving/round_trip.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using Json = nlohmann::json;

namespace {

Json object(const std::string& class_name, const Json& config, const std::string& name = "") {
  Json json{{"class_name", class_name}, {"config", config}};
  if (!name.empty()) json["name"] = name;
  return json;
}

/// A Sequential that calls `layer` that many times.
Json repeated(Json layer, std::size_t times, const Json& input = nullptr) {
  layer["name"] = "x";
  return object("Sequential",
                {{"layers", Json::array({layer})}, {"order", std::vector<int>(times, 0)}, {"input", input}});
}

const Json input{{"shape", {-1, 4}}, {"dtype", "float32"}};

std::string refusal(const Json& json) {
  return refused<Error>([&] { model_from_json(json.dump()); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_work)

BOOST_AUTO_TEST_CASE(calls_multiply_across_nesting) {
  const Json relu = object("ReLU", Json::object());
  const Json million = repeated(repeated(repeated(relu, 100), 100), 100, input);
  BOOST_TEST(million.dump().size() < 2000U);
  BOOST_TEST(refusal(million) == "[model_from_json] a model whose file has " + std::to_string(million.dump().size()) +
                                     " bytes must make at most " + std::to_string(16384 + million.dump().size() / 8) +
                                     " calls of layers; got 1010101");
  Json nested = relu;
  for (int i = 0; i < 25; ++i) nested = repeated(nested, 100);
  BOOST_TEST(refusal(nested).find(" calls of layers; got 1.0") != std::string::npos);
  BOOST_TEST(refusal(repeated(repeated(relu, 100), 100, input)) == "");

  // The same in functional models, and inside of a wrapper.
  Json calls = Json::array();
  for (int i = 0; i < 200; ++i) calls.push_back({{"layer", "x"}, {"inputs", {{{"input", 0}}}}});
  Json inner = repeated(relu, 200);
  inner["name"] = "x";
  const Json graph =
      object("Functional",
             {{"inputs", {input}}, {"layers", {inner}}, {"calls", calls}, {"outputs", {{{"call", 0}, {"output", 0}}}}});
  BOOST_TEST(refusal(graph).find(" calls of layers; got 40201") != std::string::npos);
  const Json wrapped = repeated(object("TimeDistributed", {{"layer", repeated(repeated(relu, 200), 200)}}), 1);
  BOOST_TEST(refusal(wrapped).find(" calls of layers; got 40203") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ops_are_counted) {
  const Input x({2});
  Value y = x;
  const detail::NodeBudget budget(3);
  for (int i = 0; i < 3; ++i) y = relu(y);
  BOOST_TEST(refused<ValueError>([&] { relu(y); }) ==
             "[relu] the model must have at most 3 ops, by the size of its file; got more");
}

BOOST_AUTO_TEST_CASE(sizes_that_overflow_are_refused) {
  const auto upsampled = [](std::int64_t factor, std::size_t times) {
    Json pixel{{"shape", {-1, 2, 2, 1}}, {"dtype", "float32"}};
    return repeated(object("UpSampling2D", {{"size", factor}}), times, pixel);
  };
  BOOST_TEST(refusal(upsampled(2, 3)) == "");
  for (const std::size_t times : {1U, 3U}) {
    BOOST_TEST(refusal(upsampled(std::int64_t{1} << 31, times)).find("sizes of outputs must be at most 2^31") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(save_counts_too) {
  const Folder folder;
  Sequential model({ReLU()});
  for (int i = 0; i < 3; ++i) model = Sequential(std::vector<Any<Layer>>(40, model));
  BOOST_TEST(refused<ValueError>([&] { model.to_json(); }).find(" calls of layers; got 129641") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
