#include <mezzo/backends/xsimd/update_rules.hpp>

#include <cmath>
#include <cstring>
#include <string>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/update_pass.hpp>
#include <mezzo/ops/update_rules.hpp>

namespace mezzo::xsimd_kernels {
namespace {

constexpr std::int64_t block_size = 512;    // elements: all arrays of a block fit in the first-level cache
constexpr std::int64_t chunk_size = 16384;  // elements of a partial sum, so that sums don't depend on threads
constexpr std::int64_t word_unit = 64;      // elements: RuleFunctions::random_words starts at multiples

struct Coefficients {
  float multiplier = 1, clip = 0, decay = 0;
};

RuleFunctions::Rule find_rule(const RuleFunctions& table, const std::string& name) {
#define MEZZO_UPDATE_RULE(rule, Formula, norms) \
  if (name == #rule) return table.rule;
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
  return nullptr;
}

/// Sum of squares in double, in a fixed order.
double sum_of_squares(const float* x, std::int64_t count) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += static_cast<double>(x[i + j]) * static_cast<double>(x[i + j]);
  }
  for (; i < count; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/// A block of float32 copies.
class Block {
 public:
  explicit Block(std::size_t slots) : slots_(slots) {}

  RuleBlock arrays() { return {gradient_, variable_, {slot_[0], slot_[1], slot_[2]}, change_}; }

  const float* gradient() const { return gradient_; }
  const float* variable() const { return variable_; }
  const float* change() const { return change_; }

  void load(const RuleFunctions& functions, RuleFunctions::LoadGradient load_gradient,
            RuleFunctions::LoadVariable load_variable, const UpdateArrays& a, DType slot, const Coefficients& k,
            std::int64_t count) {
    load_gradient(a.gradient, k.multiplier, k.clip, gradient_, count);
    load_variable(a, k.decay, variable_, count);
    for (std::size_t s = 0; s < slots_; ++s) {
      const void* from = s < 2 ? a.slots[s] : a.third_slot;
      if (slot == DType::bfloat16) {
        functions.load_bfloat16(from, slot_[s], count);
      } else {
        std::memcpy(slot_[s], from, static_cast<std::size_t>(count) * sizeof(float));
      }
    }
  }

  void store_slots(const RuleFunctions& functions, const UpdateArrays& a, DType slot, std::int64_t count) {
    const std::int64_t skipped = a.first % word_unit;
    for (std::size_t s = 0; s < slots_; ++s) {
      void* to = s < 2 ? a.new_slots[s] : a.new_third_slot;
      if (slot == DType::bfloat16) {
        if (s != 1) {
          const std::uint64_t stream = s == 0 ? a.slot_stream : UpdateRequest::third_stream(a.slot_stream);
          functions.random_words(stream, a.first - skipped, words_, skipped + count);
        }
        functions.store_bfloat16(slot_[s], words_ + skipped, s == 1 ? 16 : 0, to, count);
      } else {
        std::memcpy(to, slot_[s], static_cast<std::size_t>(count) * sizeof(float));
      }
    }
  }

  void store_variable(const RuleFunctions& functions, RuleFunctions::Change change_variable, bool random,
                      const UpdateArrays& a, const Coefficients& k, std::int64_t count) {
    const std::int64_t skipped = a.first % word_unit;
    if (random) functions.random_words(a.variable_stream, a.first - skipped, words_, skipped + count);
    change_variable(a, k.decay, change_, words_ + skipped, count);
  }

 private:
  std::size_t slots_;
  alignas(64) float gradient_[block_size];
  alignas(64) float variable_[block_size];
  alignas(64) float slot_[3][block_size];
  alignas(64) float change_[block_size];
  alignas(64) std::int32_t words_[block_size + 2 * word_unit];
};

/// The kernel of a rule.
class RuleUpdate {
 public:
  RuleUpdate(const KernelRequest& request, const UpdateRequest& read, const RuleFunctions& functions,
             const UpdateFunctions& passes, RuleFunctions::LoadVariable load_variable, RuleFunctions::Change change)
      : attributes_(request.attributes),
        name_(attributes_.get<std::string>("rule")),
        norms_(rule_norms(name_)),
        pass_(read, passes),
        functions_(&functions),
        rule_(find_rule(functions, name_)),
        load_gradient_(functions.load_gradient[read.gradient]),
        load_variable_(load_variable),
        change_(change) {}

  void operator()(const KernelArguments& arguments) const {
    const double rate = pass_.number(arguments, 0), multiplier = pass_.number(arguments, 2);
    RuleNumbers<double> numbers = rule_numbers(name_, attributes_, rate, pass_.number(arguments, 1));
    if (norms_ != RuleNorms::none) add_norms(arguments, rate, multiplier, numbers);
    const auto n = numbers.as<float>();
    const auto run = [this, &n](const UpdateArrays& arrays, const Coefficients& k, std::int64_t begin,
                                std::int64_t end) {
      Block block(request().slots);
      for (std::int64_t i = begin; i < end; i += block_size) {
        const std::int64_t count = std::min(block_size, end - i);
        const UpdateArrays a = pass_.from(arrays, i);
        compute(a, n, k, count, block);
        block.store_slots(*functions_, a, request().slot, count);
        block.store_variable(*functions_, change_, request().kept == detail::Kept::stochastic, a, k, count);
      }
    };
    pass_.run(arguments, run, Coefficients{}, rate, multiplier);
  }

  std::size_t scratch_bytes() const {
    return rule_norms(name_) != RuleNorms::none ? static_cast<std::size_t>(chunks()) * 2 * sizeof(double)
                                                : pass_.scratch_bytes();
  }

 private:
  const UpdateRequest& request() const { return pass_.request(); }
  std::int64_t chunks() const { return (request().count + chunk_size - 1) / chunk_size; }

  void compute(const UpdateArrays& a, const RuleNumbers<float>& n, const Coefficients& k, std::int64_t count,
               Block& block) const {
    block.load(*functions_, load_gradient_, load_variable_, a, request().slot, k, count);
    rule_(n, block.arrays(), count);
  }

  void add_norms(const KernelArguments& arguments, double rate, double multiplier, RuleNumbers<double>& numbers) const {
    auto* sums = static_cast<double*>(arguments.scratch);
    const UpdateArrays arrays = pass_.arrays_of(arguments);
    Coefficients k;
    pass_.set_common(k, rate, multiplier);
    const auto n = numbers.as<float>();
    const std::int64_t step = request().coded ? detail::DynamicCode::block : block_size;
    parallel_for(chunks(), 1, [&](std::int64_t begin, std::int64_t end) {
      Block block(request().slots);
      CodedSlots slots = pass_.coded_slots(arguments);
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        double of_variable = 0, of_other = 0;
        const std::int64_t last = std::min(request().count, (chunk + 1) * chunk_size);
        for (std::int64_t i = chunk * chunk_size; i < last; i += step) {
          const std::int64_t count = std::min(step, last - i);
          const bool coded = request().coded;
          compute(coded ? pass_.from_block(arrays, i / step, slots) : pass_.from(arrays, i), n, k, count, block);
          of_variable += sum_of_squares(block.variable(), count);
          of_other += sum_of_squares(norms_ == RuleNorms::of_gradient ? block.gradient() : block.change(), count);
        }
        sums[2 * chunk] = of_variable;
        sums[2 * chunk + 1] = of_other;
      }
    });
    double of_variable = 0, of_other = 0;
    for (std::int64_t chunk = 0; chunk < chunks(); ++chunk) {
      of_variable += sums[2 * chunk];
      of_other += sums[2 * chunk + 1];
    }
    set_norms(numbers, name_, attributes_, rate, std::sqrt(of_variable), std::sqrt(of_other));
  }

  Attributes attributes_;
  std::string name_;
  RuleNorms norms_;
  UpdatePass pass_;
  const RuleFunctions* functions_;
  RuleFunctions::Rule rule_;
  RuleFunctions::LoadGradient load_gradient_;
  RuleFunctions::LoadVariable load_variable_;
  RuleFunctions::Change change_;
};

std::unique_ptr<Kernel> make_optimizer_update(const KernelRequest& request, Isa isa, std::string& reason) {
  const Attributes& attributes = request.attributes;
  const UpdateRequest read(request, static_cast<std::size_t>(attributes.get<std::int64_t>("slots")));
  const RuleFunctions& functions = kernels(isa).update_rules;
  const std::string& rule = attributes.get<std::string>("rule");
  for (const DType dtype : {read.variable, read.gradient, read.coded ? DType::float32 : read.slot}) {
    if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  }
  if (find_rule(functions, rule) == nullptr) return decline(reason, "has no rule \"{}\"", rule);
  if (rule == "ftrl" && attributes.get<double>("learning_rate_power") != -0.5) {
    return decline(reason, "takes a learning_rate_power of -0.5; got {}",
                   attributes.get<double>("learning_rate_power"));
  }
  if ((rule_norms(rule) != RuleNorms::none || read.coded) && has_compact_gradient(request))
    return decline(reason, "takes whole gradients");
  if (read.slot != DType::float32 && !read.coded && (read.slot != DType::bfloat16 || !read.random)) {
    return decline(reason, "takes float32 or 8-bit slots, or bfloat16 slots rounded stochastically; got {}", read.slot);
  }
  const auto* load_variable = by_storage(functions.load_variable, read);
  const auto* change = by_storage(functions.change, read);
  if (load_variable == nullptr || change == nullptr) {
    return decline(reason, "copies float32 variables to bfloat16 or float16; got a {} variable and a {} copy",
                   read.variable, read.copy);
  }
  const RuleUpdate update(request, read, functions, kernels(isa).update, *load_variable, *change);
  return make_kernel(update, overwritten_by_update(request), update.scratch_bytes());
}

}  // namespace

Entries update_rule_entries() { return {entry<make_optimizer_update>("optimizer_update")}; }

}  // namespace mezzo::xsimd_kernels
