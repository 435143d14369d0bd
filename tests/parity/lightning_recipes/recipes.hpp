#pragma once

#include <filesystem>

#include "parity/programs/programs.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"

// Data of recipes.py, the module that most recipes train, and the comparison with recorded numbers.
namespace mezzo_tests {

// Makes a temporary folder the current one for the lifetime of the object, and collects the library's output.
class RecipeFolder {
 public:
  RecipeFolder() : before_(std::filesystem::current_path()) { std::filesystem::current_path(folder_.path()); }
  ~RecipeFolder() { std::filesystem::current_path(before_); }
  RecipeFolder(const RecipeFolder&) = delete;
  RecipeFolder& operator=(const RecipeFolder&) = delete;

  // Names of the files in a folder below, sorted.
  static std::vector<std::string> files(const std::string& folder) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::string text() const { return captured_.text(); }

 private:
  Folder folder_;
  std::filesystem::path before_;
  CapturedOutput captured_;
};

// Points of 4 coordinates in 3 classes.
inline mezzo::Dataset points(std::int64_t count, std::uint32_t stream) {
  const Tensor x = uniform_numbers(stream, {count, 4});
  std::vector<std::int32_t> classes;
  const std::vector<double> numbers = x.to_doubles();
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    classes.push_back(numbers[i] > 0.25 ? 0 : numbers[i + 1] > 0 ? 1 : 2);
  }
  return mezzo::Dataset::from_tensors({{"x", x}, {"y", Tensor({count}, classes), mezzo::Role::target}});
}

inline mezzo::DataLoader train_data() { return mezzo::DataLoader(points(48, 1), {.batch_size = 8}); }
inline mezzo::DataLoader val_data() { return mezzo::DataLoader(points(16, 2), {.batch_size = 8}); }

// The module of recipes.py, trained by gradient descent.
class Classifier : public mezzo::Module {
 public:
  explicit Classifier(double learning_rate = 0.5) : learning_rate_(learning_rate) {}

  mezzo::Value call(const mezzo::Value& x) override { return l2_(l1_(x)); }

  mezzo::Value training_step(const mezzo::Batch& batch) override {
    const mezzo::Value loss =
        mezzo::sparse_categorical_crossentropy(batch["y"], (*this)(batch["x"]), {.from_logits = true});
    log("train_loss", loss);
    return loss;
  }

  void validation_step(const mezzo::Batch& batch) override {
    const mezzo::Value logits = (*this)(batch["x"]);
    log("val_loss", mezzo::sparse_categorical_crossentropy(batch["y"], logits, {.from_logits = true}));
  }

  mezzo::OptimizerConfigs configure_optimizers() override { return {{.optimizer = mezzo::SGD(learning_rate_)}}; }

 protected:
  double learning_rate_;
  mezzo::Dense l1_ = sub("l1", mezzo::Dense(8, {.activation = "relu"}));
  mezzo::Dense l2_ = sub("l2", mezzo::Dense(3));
};

inline nlohmann::json recipe(const std::string& name) { return recorded("lightning_recipes").at(name); }

// Builds a module for inputs of a shape and gives its weights the numbers of recipes.py.
inline void start(mezzo::Layer& module, nlohmann::json& record, const Shape& input = {1, 4}) {
  module(Tensor(input));
  initialize(module, record["shapes"]);
}

// Each number within 1e-3 of Lightning's.
inline void check_recipe(const std::string& what, const std::vector<double>& got, const nlohmann::json& expected,
                         double relative = 1e-3) {
  BOOST_TEST_REQUIRE(got.size() == expected.size(), what << ": " << got.size() << " numbers");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto right = expected[i].get<double>();
    BOOST_TEST(std::abs(got[i] - right) <= relative * std::abs(right),
               what << " " << i << ": " << got[i] << ", Lightning: " << right);
  }
}

}  // namespace mezzo_tests
