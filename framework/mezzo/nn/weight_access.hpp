#pragma once
#include <string>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

inline std::vector<Usage*> usages_of(const std::vector<Variable>& weights) {
  std::vector<Usage*> usages;
  for (const Variable& weight : weights) usages.push_back(&weight.state()->usage);
  return usages;
}

/// Locks weights for its lifetime, so that the numbers read or replaced are of one state. A ValueError if another
/// thread runs a model with one of them; `where` and `call` begin its text.
class WeightAccess {
 public:
  WeightAccess(const std::vector<Variable>& weights, const std::string& where, const char* call)
      : scope_(usages_of(weights)) {
    if (scope_.refused()) {
      fail<ValueError>(where, "{}: the model must be idle; got a call while another thread runs it", call);
    }
  }

 private:
  AccessScope scope_;
};

}  // namespace mezzo::detail
