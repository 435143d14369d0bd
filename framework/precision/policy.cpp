#include <mezzo/precision/policy.hpp>

#include <array>
#include <mutex>

#include <mezzo/core/error.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo {
namespace {

struct Known {
  const char* name;
  DType compute;
  DType variable;
};

constexpr std::array<Known, 6> known{{{"float32", DType::float32, DType::float32},
                                      {"mixed_bfloat16", DType::bfloat16, DType::float32},
                                      {"mixed_float16", DType::float16, DType::float32},
                                      {"bfloat16", DType::bfloat16, DType::bfloat16},
                                      {"float16", DType::float16, DType::float16},
                                      {"float64", DType::float64, DType::float64}}};

struct Alias {
  const char* precision;
  const char* policy;
};

constexpr std::array<Alias, 12> aliases{{{"32", "float32"},
                                         {"32-true", "float32"},
                                         {"64", "float64"},
                                         {"64-true", "float64"},
                                         {"bf16", "mixed_bfloat16"},
                                         {"bf16-mixed", "mixed_bfloat16"},
                                         {"16", "mixed_float16"},
                                         {"16-mixed", "mixed_float16"},
                                         {"bf16-true", "bfloat16"},
                                         {"16-true", "float16"},
                                         {"mixed_bfloat16", "mixed_bfloat16"},
                                         {"mixed_float16", "mixed_float16"}}};

std::string policy_names() {
  std::string names;
  for (const Known& entry : known) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

std::mutex& global_mutex() {
  static std::mutex mutex;
  return mutex;
}

Policy& global_policy() {
  static Policy policy("float32");
  return policy;
}

}  // namespace

Policy::Policy(std::string name) : name_(std::move(name)) {
  if (name_.empty()) return;
  for (const Known& entry : known) {
    if (name_ != entry.name) continue;
    compute_ = entry.compute;
    variable_ = entry.variable;
    return;
  }
  throw NameError("no policy \"" + name_ + "\"; there are: " + policy_names());
}

Policy::Policy(const PolicyMap& map)
    : name_(map.name()),
      compute_(map.default_policy().compute_dtype()),
      variable_(map.default_policy().variable_dtype()),
      map_(std::make_shared<const PolicyMap>(map)) {}

Policy Policy::at(const std::string& path) const { return map_ ? map_->at(path) : *this; }

void set_dtype_policy(const Policy& policy) {
  const std::lock_guard<std::mutex> lock(global_mutex());
  global_policy() = policy.inherits() ? Policy("float32") : policy;
}

Policy dtype_policy() {
  const std::lock_guard<std::mutex> lock(global_mutex());
  return global_policy();
}

Precision::Precision(const std::string& name) {
  std::string good;
  for (const Alias& alias : aliases) {
    if (name == alias.precision) policy_ = Policy(alias.policy);
    good += std::string(alias.precision) + ", ";
  }
  if (!policy_.inherits()) return;
  for (const Known& entry : known) {
    if (name == entry.name) policy_ = Policy(name);
  }
  if (policy_.inherits()) {
    throw NameError("no precision \"" + name + "\"; there are: " + good + "float32, bfloat16, float16, float64");
  }
}

}  // namespace mezzo
