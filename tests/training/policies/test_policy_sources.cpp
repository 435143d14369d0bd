#include <boost/test/unit_test.hpp>

#include <functional>

#include "support/folder.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct HalvesOptions {
  std::string name{};
  Policy dtype{};
};

/// Two layers of a subclass.
class Halves : public Model {
 public:
  explicit Halves(const HalvesOptions& options = {}) : Model("Halves", options) {}

 protected:
  Value call(const Value& x) override { return second_(first_(x)); }

 private:
  Dense first_ = sub("first", Dense({.units = 2})), second_ = sub("second", Dense({.units = 1}));
};

/// The same as a Module with a step of its own.
class Steps : public Module {
 public:
  explicit Steps(const HalvesOptions& options = {}) : Module("Steps", options) {}
  Value training_step(const Batch& batch) override { return mean(square(second_(first_(batch["x"])) - batch["y"])); }
  Value predict_step(const Batch& batch) override { return second_(first_(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }

 private:
  Dense first_ = sub("first", Dense({.units = 2})), second_ = sub("second", Dense({.units = 1}));
};

using Build = std::function<Any<Model>(const Policy&)>;

Any<Model> functional(const Policy& policy) {
  const Value x = Input({1});
  return Any<Model>(Model(x, Dense({.units = 1})(Dense({.units = 2})(x)), {.dtype = policy}));
}

std::vector<std::pair<std::string, Build>> kinds() {
  return {{"Sequential",
           [](const Policy& policy) {
             return Any<Model>(Sequential({Dense({.units = 2}), Dense({.units = 1})}, {.dtype = policy}));
           }},
          {"Sequential with Input",
           [](const Policy& policy) {
             return Any<Model>(Sequential({Input({1}), Dense({.units = 2}), Dense({.units = 1})}, {.dtype = policy}));
           }},
          {"functional", functional},
          {"subclass", [](const Policy& policy) { return Any<Model>(Halves({.dtype = policy})); }}};
}

Tensor two_rows() { return column({1, 2}); }

Trainer quiet(const Precision& precision = {}) {
  return Trainer({.max_epochs = 1, .precision = precision, .enable_progress_bar = false});
}

void require_dtype(const Layer& model, DType dtype, const char* when) {
  BOOST_TEST(!model.weights().empty());
  for (const auto& [path, weight] : model.named_weights()) {
    BOOST_TEST_CONTEXT(when << ": " << path << " is " << dtype_name(weight.dtype())) {
      BOOST_TEST((weight.dtype() == dtype));
    }
  }
}

/// Fits, predicts, saves and loads; all runs compute with weights of `dtype`.
void require_runs(Model& model, DType dtype, const Precision& precision = {}) {
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  quiet(precision).fit(model, DataLoader(pairs({1, 2}, {2, 4}), {.batch_size = 2}));
  require_dtype(model, dtype, "fit");
  const Tensor y = model.predict(two_rows());
  require_dtype(model, dtype, "predict");
  if (model.state()->kind == "Halves") return;
  const Folder folder;
  const std::string path = folder.path("model.mezzo");
  model.save(path);
  require_dtype(model, dtype, "save");
  const Any<Model> loaded = load_model(path);
  BOOST_TEST(loaded->predict(two_rows()).equal(y));
  if (!precision.policy().inherits()) return;
  require_dtype(*loaded, dtype, "load");
}

template <class M>
void require_container_decides(const M& model, DType dtype) {
  Sequential container({model}, {.dtype = dtype});
  container.build({2, 1});
  container.predict(two_rows());
  require_dtype(container, dtype, "container");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_sources)

BOOST_AUTO_TEST_CASE(weights_have_the_dtype_of_the_policy_from_every_source) {
  for (const auto& [kind, make] : kinds()) {
    for (const DType dtype : {DType::float64, DType::bfloat16}) {
      BOOST_TEST_CONTEXT(kind << " " << dtype_name(dtype)) {
        Any<Model> own = make(dtype);
        require_runs(*own, dtype);
        {
          Any<Model> late = make({});
          set_dtype_policy(dtype);
          require_runs(*late, dtype);
          Any<Model> global = make({});
          require_runs(*global, dtype);
          set_dtype_policy({});
        }
        Any<Model> trained = make({});
        require_runs(*trained, dtype, Policy(dtype));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(weights_of_models_have_the_dtype_of_a_container) {
  for (const DType dtype : {DType::float64, DType::bfloat16}) {
    require_container_decides(Sequential({Dense({.units = 2}), Dense({.units = 1})}), dtype);
    require_container_decides(Sequential({Input({1}), Dense({.units = 2}), Dense({.units = 1})}), dtype);
    const Value x = Input({1});
    require_container_decides(Model(x, Dense({.units = 1})(x)), dtype);
    require_container_decides(Halves(), dtype);
  }
}

BOOST_AUTO_TEST_CASE(weights_of_modules_have_the_dtype_of_the_policy) {
  const DataLoader data(pairs({1, 2}, {2, 4}), {.batch_size = 2});
  for (const DType dtype : {DType::float64, DType::bfloat16}) {
    Steps own({.dtype = dtype});
    quiet().fit(own, data);
    require_dtype(own, dtype, "own");
    Steps trained;
    quiet(Policy(dtype)).fit(trained, data);
    require_dtype(trained, dtype, "Trainer");
  }
}

BOOST_AUTO_TEST_CASE(a_functional_model_takes_the_policy_of_from_json) {
  const std::string text = functional({})->to_json();
  const Any<Model> model = model_from_json(text, {.dtype = "float64"});
  require_runs(*model, DType::float64);
}

BOOST_AUTO_TEST_CASE(a_built_layer_takes_the_policy_of_a_container) {
  Dense dense({.units = 1});
  dense.build({2, 1});
  Sequential model({dense}, {.dtype = "bfloat16"});
  model.build({2, 1});
  model.predict(two_rows());
  require_dtype(dense, DType::bfloat16, "predict");
}

BOOST_AUTO_TEST_CASE(a_model_that_shares_a_layer_trains_in_its_own_policy) {
  Dense shared({.units = 1});
  Sequential low({shared}, {.dtype = "bfloat16"}), plain({shared});
  low.build({2, 1});
  plain.build({2, 1});
  low.predict(two_rows());
  require_dtype(shared, DType::bfloat16, "low");
  plain.compile({.loss = "mse"});
  plain.fit(two_rows(), two_rows(), {.verbose = false});
  require_dtype(shared, DType::float32, "plain");
}

BOOST_AUTO_TEST_CASE(a_file_has_the_policy_of_the_model_not_of_its_last_run) {
  for (const bool compiled_first : {true, false}) {
    Sequential model = line(0.001);
    if (!compiled_first) model.predict(column({1}));
    model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
    const std::string before = model.summary_text();
    quiet("16-mixed").fit(model, DataLoader(pairs({1, 2}, {2, 4}), {.batch_size = 2}));
    BOOST_TEST(model.summary_text() == before);
    const Folder folder;
    model.save(folder.path("model.mezzo"));
    const Any<Model> loaded = load_model(folder.path("model.mezzo"));
    const Tensor large = column({1e5});
    BOOST_TEST(loaded->predict(large).equal(model.predict(large)));
    BOOST_TEST(model.predict(large).item() == 100, boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_SUITE_END()
