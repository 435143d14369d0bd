// Types cross the border of the shared library: exceptions are caught as their classes, and dynamic_cast finds classes
// of the library and of the program.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include <mezzo/mezzo.hpp>

namespace {

class Doubled : public mezzo::Layer {
 public:
  Doubled() : Layer("doubled") {}
  mezzo::Value call(const mezzo::Value& x) override { return x * 2.0F; }
};

/// Thrown by the program, through frames of the library.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Throwing : public mezzo::Layer {
 public:
  Throwing() : Layer("throwing") {}
  mezzo::Value call(const mezzo::Value&) override { throw ProgramError("from the program"); }
};

int failures = 0;

void expect(bool condition, const char* what) {
  if (!condition) {
    std::cerr << "types: " << what << '\n';
    ++failures;
  }
}

void check_exceptions() {
  const mezzo::Tensor x({1, 2}, std::vector<float>{1, 2});
  try {
    mezzo::matmul(x, x);
    expect(false, "the shapes don't fit");
  } catch (const mezzo::ShapeError& error) {
    expect(typeid(error) == typeid(mezzo::ShapeError), "the class of an error");
  }
  try {
    mezzo::load_model("missing.mezzo");
    expect(false, "the file is missing");
  } catch (const std::runtime_error& error) {
    expect(dynamic_cast<const mezzo::Error*>(&error) != nullptr, "an error is an Error");
  }
  try {
    Throwing()(x);
    expect(false, "the layer throws");
  } catch (const ProgramError& error) {
    expect(std::string(error.what()).find("from the program") != std::string::npos, "the text of an error");
  }
}

void check_casts() {
  mezzo::Sequential model({mezzo::Dense(2), Doubled()});
  const mezzo::Tensor x({1, 2}, std::vector<float>{1, 2});
  model.predict(x);
  int dense = 0, doubled = 0;
  for (const mezzo::Any<mezzo::Layer>& layer : model.layers()) {
    dense += dynamic_cast<mezzo::Dense*>(&*layer) != nullptr ? 1 : 0;
    doubled += dynamic_cast<Doubled*>(&*layer) != nullptr ? 1 : 0;
  }
  expect(dense == 1 && doubled == 1, "the classes of layers");
}

}  // namespace

int main() {
  check_exceptions();
  check_casts();
  return failures == 0 ? 0 : 1;
}
