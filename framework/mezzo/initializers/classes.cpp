#include <mezzo/initializers/classes.hpp>

#include <mezzo/initializers/constant.hpp>
#include <mezzo/initializers/identity.hpp>
#include <mezzo/initializers/orthogonal.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/truncated_normal.hpp>
#include <mezzo/initializers/variance_scaling.hpp>
#include <mezzo/nn/saved_by.hpp>

namespace mezzo {

static void describe(Fields& fields, OrthogonalOptions& options) {
  fields("gain", options.gain);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomNormalOptions& options) {
  fields("mean", options.mean);
  fields("stddev", options.stddev);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomUniformOptions& options) {
  fields("minval", options.minval);
  fields("maxval", options.maxval);
  fields("seed", options.seed);
}

static void describe(Fields& fields, TruncatedNormalOptions& options) {
  fields("mean", options.mean);
  fields("stddev", options.stddev);
  fields("seed", options.seed);
}

static void describe(Fields& fields, VarianceScalingOptions& options) {
  fields("scale", options.scale);
  fields("mode", options.mode);
  fields("distribution", options.distribution);
  fields("seed", options.seed);
}

static void describe(Fields& fields, SeedOptions& options) { fields("seed", options.seed); }

namespace {

struct ConstantConfig {
  double value = 0;
  std::optional<Tensor> values{};
};
void describe(Fields& fields, ConstantConfig& config) {
  fields("value", config.value);
  fields("values", config.values);
}

struct IdentityConfig {
  double gain = 1;
};
void describe(Fields& fields, IdentityConfig& config) { fields("gain", config.gain); }

/// An initializer without options.
template <class I>
detail::NamedClass<Initializer> plain(const char* name, std::vector<std::string> names) {
  return detail::with_names<I>(detail::saved_plain<Initializer, I>(name), std::move(names));
}

template <class I, class Options>
detail::NamedClass<Initializer> named(const char* name, std::vector<std::string> names) {
  return detail::with_names<I>(detail::saved_class<I, Options, Initializer>(name), std::move(names));
}

/// A VarianceScaling whose scale, mode and distribution are fixed.
template <class I>
detail::NamedClass<Initializer> seeded(const std::string& name) {
  return detail::with_names<I>(detail::saved_by<Initializer, I, SeedOptions>(
                                   name, [](const I& object) { return SeedOptions{object.options().seed}; },
                                   [](const SeedOptions& options) { return I(options); }),
                               {detail::snake_case(name)});
}

detail::SavedClass<Initializer> saved_constant() {
  return detail::saved_by<Initializer, Constant, ConstantConfig>(
      "Constant",
      [](const Constant& object) {
        return ConstantConfig{object.value(), object.values()};
      },
      [](const ConstantConfig& config) { return config.values ? Constant(*config.values) : Constant(config.value); });
}

detail::SavedClass<Initializer> saved_identity() {
  return detail::saved_by<Initializer, IdentityInitializer, IdentityConfig>(
      "Identity", [](const IdentityInitializer& object) { return IdentityConfig{object.gain()}; },
      [](const IdentityConfig& config) { return IdentityInitializer(config.gain); });
}

}  // namespace

std::vector<detail::NamedClass<Initializer>> initializer_classes() {
  return {detail::with_names<Constant>(saved_constant(), {"constant"}),
          detail::with_names<IdentityInitializer>(saved_identity(), {"identity"}),
          plain<Ones>("Ones", {"one", "ones"}),
          plain<Zeros>("Zeros", {"zero", "zeros"}),
          named<Orthogonal, OrthogonalOptions>("Orthogonal", {"orthogonal"}),
          named<RandomNormal, RandomNormalOptions>("RandomNormal", {"normal", "random_normal"}),
          named<RandomUniform, RandomUniformOptions>("RandomUniform", {"random_uniform", "uniform"}),
          named<TruncatedNormal, TruncatedNormalOptions>("TruncatedNormal", {"truncated_normal"}),
          named<VarianceScaling, VarianceScalingOptions>("VarianceScaling", {"variance_scaling"}),
          seeded<GlorotNormal>("GlorotNormal"),
          seeded<GlorotUniform>("GlorotUniform"),
          seeded<HeNormal>("HeNormal"),
          seeded<HeUniform>("HeUniform"),
          seeded<LecunNormal>("LecunNormal"),
          seeded<LecunUniform>("LecunUniform")};
}

}  // namespace mezzo
