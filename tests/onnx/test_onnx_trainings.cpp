#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>

#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(onnx_trainings)

// tests/parity/onnx_torch.py gives folders with a model, batches and PyTorch's losses.
BOOST_AUTO_TEST_CASE(losses_equal_pytorch) {
  const char* folders = std::getenv("MEZZO_ONNX_TRAININGS");
  if (folders == nullptr) return skip("needs MEZZO_ONNX_TRAININGS, see tests/parity/onnx_torch.py");
  for (const auto& folder : std::filesystem::directory_iterator(folders)) {
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    const Any<Model> model = load_onnx(path("model.onnx"));
    const double rate = load_npy(path("rate.npy")).item();
    model->compile({.optimizer = SGD({.learning_rate = rate, .momentum = 0.9}),
                    .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    const Tensor x = load_npy(path("x.npy")), y = load_npy(path("y.npy"));
    const std::vector<double> losses = load_npy(path("losses.npy")).to_doubles();
    double largest = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const auto step = static_cast<std::int64_t>(i);
      const auto batch = [&](const Tensor& all) {
        Shape shape(all.shape().begin() + 1, all.shape().end());
        return all.slice(step, step + 1).reshape(shape);
      };
      const double loss = model->train_on_batch(batch(x), batch(y)).at("loss");
      largest = std::max(largest, std::abs(loss - losses[i]));
    }
    BOOST_TEST_MESSAGE(folder.path().filename().string()
                       << ": largest difference of " << losses.size() << " losses: " << largest);
    BOOST_TEST(largest < 1e-4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
