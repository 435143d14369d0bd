// The cells of a notebook, run by run.py.
// %% load
#pragma cling add_include_path("@PREFIX@/include")
#pragma cling add_library_path("@PREFIX@/lib")
#pragma cling load("libmezzo")
// %% include
#include <mezzo/mezzo.hpp>
#include <iostream>
#include <stdexcept>
using namespace mezzo;
static_assert(__cplusplus == 201703, "notebooks are C++17");
// %% a layer of the user's own
struct ScaleOptions { double initial = 1.0; std::string name{}; Policy dtype{}; };
class Scale : public Layer {
 public:
  explicit Scale(ScaleOptions o = {}) : Layer("Scale", o), options_(o) {}
  void build(const Shape& input) override {
    add_weight(gain_, {.shape = {input.back()}, .initializer = Constant(options_.initial)});
  }
 protected:
  Value call(const Value& x) override { return x * gain_; }
 private:
  ScaleOptions options_;
  Variable gain_{"gain"};
};
// %% eager
Value doubled = Scale({.initial = 2})(Value(Tensor({1, 2}, std::vector<float>{1, 2})));
if (doubled.tensor().to_doubles() != std::vector<double>{2, 4}) throw std::runtime_error("wrong product");
// %% a model over several cells
Sequential model({Dense({.units = 4, .activation = "relu"}), Scale(), Dense({.units = 1})});
model.compile({.optimizer = "adam", .loss = "mse"});
// %% fit
std::vector<float> numbers(32);
for (int i = 0; i < 32; ++i) numbers[i] = i / 32.0f;
Tensor x({32, 1}, numbers);
History history = model.fit(x, x, {.batch_size = 8, .epochs = 2});
if (history.epoch.size() != 2) throw std::runtime_error("two epochs expected");
// %% a clear error
bool refused = false;
try { model.predict(Tensor({2, 3})); } catch (const mezzo::Error& e) { refused = true; std::cout << e.what() << std::endl; }
if (!refused) throw std::runtime_error("a wrong shape was taken");
