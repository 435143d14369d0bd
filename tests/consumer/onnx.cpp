// A program that exports a model, linked with mezzo::onnx alone.
#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>

#include <filesystem>
#include <iostream>

int main() {
  using namespace mezzo;
  Sequential model({Input({.shape = {4}}), Dense({.units = 3, .activation = "relu"})});
  export_onnx(model, "consumer.onnx");
  if (std::filesystem::file_size("consumer.onnx") == 0) return 1;
  std::cout << "consumer_onnx: ok\n";
  return 0;
}
