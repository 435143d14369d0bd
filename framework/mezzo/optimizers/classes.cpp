#include <mezzo/optimizers/classes.hpp>

#include <cctype>

#include <mezzo/optimizers/adadelta.hpp>
#include <mezzo/optimizers/adafactor.hpp>
#include <mezzo/optimizers/adagrad.hpp>
#include <mezzo/optimizers/adam.hpp>
#include <mezzo/optimizers/adamax.hpp>
#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/optimizers/cosine_decay.hpp>
#include <mezzo/optimizers/cosine_decay_restarts.hpp>
#include <mezzo/optimizers/exponential_decay.hpp>
#include <mezzo/optimizers/ftrl.hpp>
#include <mezzo/optimizers/inverse_time_decay.hpp>
#include <mezzo/optimizers/lamb.hpp>
#include <mezzo/optimizers/lars.hpp>
#include <mezzo/optimizers/linear_warmup.hpp>
#include <mezzo/optimizers/lion.hpp>
#include <mezzo/optimizers/muon.hpp>
#include <mezzo/optimizers/nadam.hpp>
#include <mezzo/optimizers/piecewise_constant_decay.hpp>
#include <mezzo/optimizers/polynomial_decay.hpp>
#include <mezzo/optimizers/rmsprop.hpp>
#include <mezzo/optimizers/schedule_free_adamw.hpp>
#include <mezzo/optimizers/sgd.hpp>

namespace mezzo {

/// Options that all optimizers have.
template <class Options>
static void describe_common(Fields& fields, Options& options) {
  fields("learning_rate", options.learning_rate);
  fields("weight_decay", options.weight_decay);
  fields("clipnorm", options.clipnorm);
  fields("clipvalue", options.clipvalue);
  fields("global_clipnorm", options.global_clipnorm);
  fields("use_ema", options.use_ema);
  fields("ema_momentum", options.ema_momentum);
  fields("ema_overwrite_frequency", options.ema_overwrite_frequency);
  fields("gradient_accumulation_steps", options.gradient_accumulation_steps);
  fields("name", options.name);
  fields("split_master_weights", options.split_master_weights);
  fields("stochastic_rounding", options.stochastic_rounding);
  fields("kahan_summation", options.kahan_summation);
  fields("groups", options.groups);
  if constexpr (detail::HasStateDType<Options>::value) fields("state_dtype", options.state_dtype.dtype);
}

/// Options of optimizers with two moments.
template <class Options>
static void describe_moments(Fields& fields, Options& options) {
  fields("beta_1", options.beta_1);
  fields("beta_2", options.beta_2);
  fields("epsilon", options.epsilon);
}

static void describe(Fields& fields, AdadeltaOptions& options) {
  describe_common(fields, options);
  fields("rho", options.rho);
  fields("epsilon", options.epsilon);
}

static void describe(Fields& fields, AdafactorOptions& options) {
  describe_common(fields, options);
  fields("beta_2_decay", options.beta_2_decay);
  fields("epsilon_1", options.epsilon_1);
  fields("epsilon_2", options.epsilon_2);
  fields("clip_threshold", options.clip_threshold);
  fields("relative_step", options.relative_step);
}

static void describe(Fields& fields, AdagradOptions& options) {
  describe_common(fields, options);
  fields("initial_accumulator_value", options.initial_accumulator_value);
  fields("epsilon", options.epsilon);
}

static void describe(Fields& fields, AdamOptions& options) {
  describe_common(fields, options);
  describe_moments(fields, options);
  fields("amsgrad", options.amsgrad);
}

static void describe(Fields& fields, AdamWOptions& options) {
  describe_common(fields, options);
  describe_moments(fields, options);
  fields("amsgrad", options.amsgrad);
}

static void describe(Fields& fields, AdamaxOptions& options) {
  describe_common(fields, options);
  describe_moments(fields, options);
}

static void describe(Fields& fields, FtrlOptions& options) {
  describe_common(fields, options);
  fields("learning_rate_power", options.learning_rate_power);
  fields("initial_accumulator_value", options.initial_accumulator_value);
  fields("l1_regularization_strength", options.l1_regularization_strength);
  fields("l2_regularization_strength", options.l2_regularization_strength);
  fields("l2_shrinkage_regularization_strength", options.l2_shrinkage_regularization_strength);
  fields("beta", options.beta);
}

static void describe(Fields& fields, LARSOptions& options) {
  describe_common(fields, options);
  fields("momentum", options.momentum);
  fields("trust_coefficient", options.trust_coefficient);
  fields("epsilon", options.epsilon);
  fields("nesterov", options.nesterov);
  fields("always_adapt", options.always_adapt);
}

static void describe(Fields& fields, LambOptions& options) {
  describe_common(fields, options);
  describe_moments(fields, options);
}

static void describe(Fields& fields, LionOptions& options) {
  describe_common(fields, options);
  fields("beta_1", options.beta_1);
  fields("beta_2", options.beta_2);
}

static void describe(Fields& fields, MuonOptions& options) {
  describe_common(fields, options);
  fields("adam_beta_1", options.adam_beta_1);
  fields("adam_beta_2", options.adam_beta_2);
  fields("adam_weight_decay", options.adam_weight_decay);
  fields("epsilon", options.epsilon);
  fields("exclude_layers", options.exclude_layers);
  fields("exclude_embeddings", options.exclude_embeddings);
  fields("muon_a", options.muon_a);
  fields("muon_b", options.muon_b);
  fields("muon_c", options.muon_c);
  fields("adam_lr_ratio", options.adam_lr_ratio);
  fields("momentum", options.momentum);
  fields("ns_steps", options.ns_steps);
  fields("nesterov", options.nesterov);
  fields("rms_rate", options.rms_rate);
}

static void describe(Fields& fields, NadamOptions& options) {
  describe_common(fields, options);
  describe_moments(fields, options);
}

static void describe(Fields& fields, RMSpropOptions& options) {
  describe_common(fields, options);
  fields("rho", options.rho);
  fields("momentum", options.momentum);
  fields("epsilon", options.epsilon);
  fields("centered", options.centered);
}

static void describe(Fields& fields, SGDOptions& options) {
  describe_common(fields, options);
  fields("momentum", options.momentum);
  fields("nesterov", options.nesterov);
}

static void describe(Fields& fields, ScheduleFreeAdamWOptions& options) {
  describe_common(fields, options);
  describe_moments(fields, options);
  fields("warmup_steps", options.warmup_steps);
}

static void describe(Fields& fields, CosineDecayOptions& options) {
  fields("initial_learning_rate", options.initial_learning_rate);
  fields("decay_steps", options.decay_steps);
  fields("alpha", options.alpha);
  fields("warmup_target", options.warmup_target);
  fields("warmup_steps", options.warmup_steps);
}

static void describe(Fields& fields, CosineDecayRestartsOptions& options) {
  fields("initial_learning_rate", options.initial_learning_rate);
  fields("first_decay_steps", options.first_decay_steps);
  fields("t_mul", options.t_mul);
  fields("m_mul", options.m_mul);
  fields("alpha", options.alpha);
}

static void describe(Fields& fields, ExponentialDecayOptions& options) {
  fields("initial_learning_rate", options.initial_learning_rate);
  fields("decay_steps", options.decay_steps);
  fields("decay_rate", options.decay_rate);
  fields("staircase", options.staircase);
}

static void describe(Fields& fields, InverseTimeDecayOptions& options) {
  fields("initial_learning_rate", options.initial_learning_rate);
  fields("decay_steps", options.decay_steps);
  fields("decay_rate", options.decay_rate);
  fields("staircase", options.staircase);
}

static void describe(Fields& fields, LinearWarmupOptions& options) {
  fields("after", options.after);
  fields("warmup_steps", options.warmup_steps);
  fields("initial_learning_rate", options.initial_learning_rate);
}

static void describe(Fields& fields, PiecewiseConstantDecayOptions& options) {
  fields("boundaries", options.boundaries);
  fields("values", options.values);
}

static void describe(Fields& fields, PolynomialDecayOptions& options) {
  fields("initial_learning_rate", options.initial_learning_rate);
  fields("decay_steps", options.decay_steps);
  fields("end_learning_rate", options.end_learning_rate);
  fields("power", options.power);
  fields("cycle", options.cycle);
}

namespace {

/// Options take the name as it is and in lower case: "AdamW", "adamw".
template <class O, class Options>
detail::NamedClass<Optimizer> named(const std::string& name) {
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return detail::with_names<O>(detail::saved_class<O, Options, Optimizer>(name), {name, lower});
}

template <class S, class Options>
detail::SavedClass<Schedule> saved_schedule(const char* name) {
  return detail::saved_class<S, Options, Schedule>(name);
}

}  // namespace

std::vector<detail::NamedClass<Optimizer>> optimizer_classes() {
  return {named<Adadelta, AdadeltaOptions>("Adadelta"),
          named<Adafactor, AdafactorOptions>("Adafactor"),
          named<Adagrad, AdagradOptions>("Adagrad"),
          named<Adam, AdamOptions>("Adam"),
          named<AdamW, AdamWOptions>("AdamW"),
          named<Adamax, AdamaxOptions>("Adamax"),
          named<Ftrl, FtrlOptions>("Ftrl"),
          named<LARS, LARSOptions>("LARS"),
          named<Lamb, LambOptions>("Lamb"),
          named<Lion, LionOptions>("Lion"),
          named<Muon, MuonOptions>("Muon"),
          named<Nadam, NadamOptions>("Nadam"),
          named<RMSprop, RMSpropOptions>("RMSprop"),
          named<SGD, SGDOptions>("SGD"),
          named<ScheduleFreeAdamW, ScheduleFreeAdamWOptions>("ScheduleFreeAdamW")};
}

std::vector<detail::SavedClass<Schedule>> schedule_classes() {
  return {saved_schedule<CosineDecay, CosineDecayOptions>("CosineDecay"),
          saved_schedule<CosineDecayRestarts, CosineDecayRestartsOptions>("CosineDecayRestarts"),
          saved_schedule<ExponentialDecay, ExponentialDecayOptions>("ExponentialDecay"),
          saved_schedule<InverseTimeDecay, InverseTimeDecayOptions>("InverseTimeDecay"),
          saved_schedule<LinearWarmup, LinearWarmupOptions>("LinearWarmup"),
          saved_schedule<PiecewiseConstantDecay, PiecewiseConstantDecayOptions>("PiecewiseConstantDecay"),
          saved_schedule<PolynomialDecay, PolynomialDecayOptions>("PolynomialDecay")};
}

}  // namespace mezzo
