#include <boost/test/unit_test.hpp>

#include <map>

#include <mezzo/mezzo.hpp>

#include "support/recorded.hpp"

using namespace mezzo;

namespace {

constexpr std::int64_t width = 3;

/// Calls layers of tests/parity/weight_order.py; a Dense of a name that occurred before again.
class Nodes {
 public:
  Value apply(const std::string& kind, const std::string& name, const Values& xs) {
    if (kind == "dense") return layers_.emplace(name, Dense(width, {.name = name})).first->second(xs[0]);
    if (kind == "norm") return BatchNormalization({.name = name})(xs[0]);
    if (kind == "relu") return relu(xs[0]);
    if (kind == "plus") return xs[0] + xs[1];
    if (kind == "add") return Add({.name = name})(xs);
    if (kind == "join") return Dense(width, {.name = name})(Concatenate()(xs));
    const Value x = Input({width});
    return Model(x, Dense(width, {.name = name + "_inner"})(x), {.name = name})(xs[0]);
  }

 private:
  std::map<std::string, Dense> layers_;
};

std::string last_two(const std::string& path) {
  const std::size_t slash = path.find_last_of('/', path.find_last_of('/') - 1);
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weight_order)

BOOST_AUTO_TEST_CASE(is_that_of_keras_in_random_graphs) {
  for (const auto& [seed, recorded] : mezzo_tests::recorded("weight_order").items()) {
    Nodes nodes;
    Values values;
    for (int i = 0; i < recorded["inputs"]; ++i) values.push_back(Input({width}));
    const Values inputs = values;
    for (const auto& node : recorded["nodes"]) {
      Values xs;
      for (const std::size_t operand : node[2]) xs.push_back(values[operand]);
      values.push_back(nodes.apply(node[0], node[1], xs));
    }
    Values outputs;
    for (const std::size_t output : recorded["outputs"]) outputs.push_back(values[output]);
    const Model model({.inputs = inputs, .outputs = outputs});
    std::vector<std::string> paths;
    for (const auto& entry : model.named_weights()) paths.push_back(last_two(entry.first));
    BOOST_TEST(paths == recorded["weights"].get<std::vector<std::string>>(), "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
