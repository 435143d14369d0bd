#pragma once
#include <string>
#include <vector>

#include <mezzo/graph/op.hpp>

namespace mezzo {

/// Computes single ops on arrays, for eager code. The graph calls it; compiler/ implements it with the kernels that
/// plans use.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Computes the op's outputs. `inputs` have the dtypes that autocast chose, `outputs` are the specs returned by
  /// op.infer(), `where` starts the errors: `[Conv2D "stem"]`.
  virtual std::vector<Tensor> run(const Op& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
                                  const std::vector<Spec>& outputs, const std::string& where) = 0;
};

/// Makes `executor` the one that current_executor() returns. Called once, by registration.cpp.
void register_executor(Executor& executor);

/// The registered executor. Throws a ValueError if there is none.
Executor& current_executor();

}  // namespace mezzo
