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

  /// The op's outputs. `inputs` are arrays in the dtypes that the op was inserted with, `outputs` the specs that its
  /// infer() gave, `where` the layer as errors name it.
  virtual std::vector<Tensor> run(const Op& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
                                  const std::vector<Spec>& outputs, const std::string& where) = 0;
};

/// Makes `executor` the one that current_executor() returns. Called once, by registration.cpp.
void register_executor(Executor& executor);

/// The registered executor; a ValueError if there is none.
Executor& current_executor();

}  // namespace mezzo
