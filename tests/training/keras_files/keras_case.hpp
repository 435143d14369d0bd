#pragma once
#include <mezzo/mezzo.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/paths.hpp"

// A file of Keras with its outputs and losses, as keras_files.py writes them.
namespace mezzo_tests {

using mezzo::Tensor;
using mezzo::Tensors;

inline std::vector<Tensor> arrays_of(const std::map<std::string, Tensor>& all, const std::string& prefix) {
  std::vector<Tensor> out;
  for (int i = 0; all.count(prefix + std::to_string(i)) != 0; ++i) out.push_back(all.at(prefix + std::to_string(i)));
  return out;
}

/// Largest difference, relative to the largest number if that is above 1.
inline double difference(const Tensor& a, const Tensor& b) {
  if (a.size() != b.size()) return 1e9;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / largest;
}

inline std::filesystem::path recorded_files() { return tests_dir() / "parity" / "recorded" / "keras_files"; }

inline std::map<std::string, Tensor> expected_of(const std::filesystem::path& folder) {
  const auto listed = mezzo::load_npz((folder / "expected.npz").string());
  return {listed.begin(), listed.end()};
}

/// Compares the outputs, saves the model again, and compares the losses of further training.
inline void check_case(const std::filesystem::path& folder, const std::string& name, const std::string& written) {
  const std::map<std::string, Tensor> arrays = expected_of(folder);
  const auto model = mezzo::load_model((folder / name).string());
  const Tensors outputs = model->predict_all(Tensors(arrays_of(arrays, "x")));
  const double tolerance = folder.filename().string().find("bfloat16") != std::string::npos ? 2e-2 : 1e-5;
  std::size_t i = 0;
  for (const auto& [output, y] : outputs) {
    if (arrays.count("y0") == 0) continue;
    BOOST_TEST(difference(y, arrays.at("y" + std::to_string(i++))) <= tolerance, folder.filename() << " " << output);
  }
  if (std::filesystem::exists(folder / "read_only.txt")) {
    BOOST_CHECK_THROW(model->save(written), mezzo::ValueError);
  } else if (!written.empty()) {
    model->save(written);
  }
  const auto losses = arrays.find("losses");
  if (losses == arrays.end() || name.find(".h5") != std::string::npos) return;
  const Tensors x(arrays_of(arrays, "train_x")), y(arrays_of(arrays, "train_y"));
  double worst = 0;
  std::string text;
  for (const double loss : losses->second.to_doubles()) {
    const double got = model->train_on_batch(x, y)["loss"];
    text += ", " + std::to_string(got);
    worst = std::max(worst, std::abs(got - loss) / std::max(1.0, std::abs(loss)));
  }
  BOOST_TEST(worst <= 1e-4, folder.filename() << " losses differ by " << worst << text);
}

}  // namespace mezzo_tests
