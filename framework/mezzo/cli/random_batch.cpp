#include <mezzo/cli/random_batch.hpp>

#include <random>

namespace mezzo::cli {
namespace {

Tensor random_integers(const Shape& shape, std::int64_t below, std::mt19937& random) {
  Tensor out(shape, DType::int64);
  std::uniform_int_distribution<std::int64_t> number(0, below - 1);
  std::int64_t* const numbers = out.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) numbers[i] = number(random);
  return out;
}

Tensor random_pictures(const Shape& shape, std::mt19937& random) {
  Tensor out(shape, DType::float32);
  std::normal_distribution<float> number;
  float* const numbers = out.mutable_data<float>();
  for (std::int64_t i = 0; i < out.size(); ++i) numbers[i] = number(random);
  return out;
}

}  // namespace

HostBatch random_batch(const RandomSamples& samples, std::int64_t size) {
  std::mt19937 random(0);
  Shape shape = samples.sample;
  shape.insert(shape.begin(), size);
  const Tensor x =
      samples.vocabulary > 0 ? random_integers(shape, samples.vocabulary, random) : random_pictures(shape, random);
  const Tensor y = random_integers(samples.language ? shape : Shape{size}, samples.classes, random);
  return {{{"x", x, Role::input}, {"y", y, Role::target}}, size};
}

}  // namespace mezzo::cli
