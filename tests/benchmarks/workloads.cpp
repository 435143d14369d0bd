#include "workloads.hpp"

#include <random>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace mezzo_bench {
namespace {

std::unique_ptr<Model> mlp() {
  return std::make_unique<Sequential>(Sequential({Flatten(), Dense({.units = 512, .activation = "relu"}),
                                                  Dense({.units = 512, .activation = "relu"}), Dense({.units = 10})}));
}

std::unique_ptr<Model> cnn() { return std::make_unique<CNN>(CNNOptions{.classes = 10, .scale = 1, .dropout = 0.5}); }

std::unique_ptr<Model> resnet() { return std::make_unique<ResNet>(resnet18({.classes = 37})); }

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all{
      {"mlp", 128, {28, 28, 1}, 10, mlp},
      {"cnn", 128, {28, 28, 1}, 10, cnn},
      {"resnet18", 32, {224, 224, 3}, 37, resnet},
  };
  return all;
}

HostBatch Workload::make_batch() const {
  std::mt19937 random(0);
  Shape shape = sample;
  shape.insert(shape.begin(), batch_size);
  Tensor x(shape, DType::float32);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = normal(random);
  Tensor y({batch_size}, DType::int64);
  std::uniform_int_distribution<std::int64_t> label(0, classes - 1);
  for (std::int64_t i = 0; i < y.size(); ++i) y.mutable_data<std::int64_t>()[i] = label(random);
  return {{{"x", x, Role::input}, {"y", y, Role::target}}, batch_size};
}

const Workload& find_workload(const std::string& name) {
  std::string names;
  for (const Workload& workload : workloads()) {
    if (workload.name == name) return workload;
    names += (names.empty() ? "" : ", ") + workload.name;
  }
  throw NameError("no workload \"" + name + "\"; there are " + names);
}

}  // namespace mezzo_bench
