#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/training/step/compiled_function.hpp>

#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

namespace fs = std::filesystem;

// Arrays of the files input_0.pb, input_1.pb, ... of a case.
std::vector<Tensor> arrays_of(const fs::path& folder, const std::string& what) {
  std::vector<Tensor> out;
  for (int i = 0;; ++i) {
    const fs::path path = folder / (what + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return out;
    std::ifstream file(path, std::ios::binary);
    ::onnx::TensorProto tensor;
    if (!tensor.ParseFromIstream(&file)) throw FileError("the array " + path.string() + " is damaged");
    out.push_back(detail::read_onnx_tensor(tensor, "", what));
  }
}

// True for the networks of tests/parity/onnx_files.py.
bool deep_networks() { return std::getenv("MEZZO_ONNX_DEEP") != nullptr; }

// Absolute tolerance of ONNX's tests. For the networks of tests/parity/onnx_files.py 1e-5 of the largest number, and at
// least 1e-6: ONNX Runtime's sigmoid has steps of 1.2e-7 near 0.
double absolute_tolerance(const std::vector<double>& wanted) {
  if (!deep_networks()) return 1e-7;
  double largest = 0;
  for (const double x : wanted) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
  return std::max(1e-6, 1e-5 * largest);
}

// Difference of two arrays by the tolerances of ONNX's tests; "": none.
std::string difference(const Tensor& got, const Tensor& wanted) {
  const bool same_kind = is_floating(got.dtype()) && is_floating(wanted.dtype());
  if (got.shape() != wanted.shape() || (!same_kind && got.dtype() != wanted.dtype())) {
    return got.describe() + " in place of " + wanted.describe();
  }
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  const double absolute = absolute_tolerance(b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool close = a[i] == b[i] || std::abs(a[i] - b[i]) <= absolute + 1e-3 * std::abs(b[i]);
    if (close || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    std::ostringstream text;
    text << "element " << i << " is " << a[i] << " in place of " << b[i];
    return text.str();
  }
  return {};
}

std::string difference(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
  if (got.size() != wanted.size()) return "another number of outputs";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string text = difference(got[i], wanted[i]);
    if (!text.empty()) return "output " + std::to_string(i) + ": " + text;
  }
  return {};
}

std::vector<Tensor> eager(Model& model, const std::vector<Tensor>& xs) {
  std::vector<Tensor> out;
  for (const Value& y : model(Values(xs.begin(), xs.end()))) out.push_back(y.tensor());
  return out;
}

// Losses of five steps towards half of the outputs; "" for a model that has not one input and one output of a batch.
std::string losses_of_training(Model& model, const std::vector<Tensor>& xs, const std::vector<Tensor>& wanted) {
  const bool one = xs.size() == 1 && wanted.size() == 1 && is_floating(xs[0].dtype());
  if (!one || wanted[0].shape().empty() || xs[0].shape()[0] != wanted[0].shape()[0]) return {};
  const Tensor half = (Value(wanted[0]) * 0.5).tensor();
  model.compile({.optimizer = Adam(1e-4), .loss = "mse"});
  const History history = model.fit(xs[0], half, {.batch_size = xs[0].shape()[0], .epochs = 5, .verbose = 0});
  const double first = history["loss"].front(), last = history["loss"].back();
  return (last < first ? "; trains: " : "; doesn't train: ") + std::to_string(first) + " to " + std::to_string(last);
}

// "traced", "eager", "error TEXT" or "wrong TEXT".
std::string run_case(const fs::path& folder) {
  try {
    const Any<Model> model = load_onnx((folder / "model.onnx").string());
    const fs::path data = folder / "test_data_set_0";
    const std::vector<Tensor> xs = arrays_of(data, "input"), wanted = arrays_of(data, "output");
    std::string reason;
    try {
      std::string text;
      {
        CompiledFunction function([&](const Values& values) { return (*model)(values); });
        CompiledFunction::Session session(function, *model);
        text = difference(session(xs), wanted);
      }
      if (!text.empty()) return "wrong " + text;
      return "traced" + (deep_networks() ? losses_of_training(*model, xs, wanted) : std::string());
    } catch (const Error& error) {
      reason = error.what();
    }
    try {
      const std::string text = difference(eager(*model, xs), wanted);
      return text.empty() ? "eager " + reason : "wrong (eager) " + text;
    } catch (const Error& error) {
      return std::string("error ") + error.what();
    }
  } catch (const Error& error) {
    return std::string("error ") + error.what();
  } catch (const std::exception& error) {
    return std::string("wrong exception: ") + error.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(backend_cases)

// tests/parity/onnx_backend.py gives a file that lists folders of cases, and counts the results.
BOOST_AUTO_TEST_CASE(folders_of_onnx) {
  const char* list = std::getenv("MEZZO_ONNX_CASES");
  if (list == nullptr) return skip("needs MEZZO_ONNX_CASES, see tests/parity/onnx_backend.py");
  std::ifstream file(list);
  std::ofstream results(std::string(list) + ".results");
  for (std::string folder; std::getline(file, folder);) {
    results << folder << '\t' << std::flush;
    std::string text = run_case(folder);
    for (char& c : text) c = c == '\n' || c == '\t' ? ' ' : c;
    results << text << std::endl;
  }
}

BOOST_AUTO_TEST_SUITE_END()
