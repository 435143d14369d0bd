#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/node.hpp>

namespace mezzo {

/// One op of a chain.
struct ElementwiseStep {
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<std::size_t> operands;  ///< indices below ElementwiseProgram::inputs are inputs, others are results of
                                      ///< steps
  DType dtype = DType::float32;       ///< dtype to which the result is rounded
  std::string where;                  ///< start of errors of the fused node
  std::string path;                   ///< layer of the fused node
};

/// The attribute `program` of elementwise_chain: elementwise ops in order, all with results of one shape, to which the
/// inputs broadcast. Operand inputs + i is the result of step i.
struct MEZZO_API ElementwiseProgram : detail::AttributeFunction {
  std::size_t inputs = 0;
  std::vector<ElementwiseStep> steps;
  std::vector<std::size_t> outputs;  ///< the steps whose results are outputs

  /// The specs of a step's operands, for chains of inputs of these specs and results of this shape.
  std::vector<Spec> operands_of(const ElementwiseStep& step, const std::vector<Spec>& inputs_of_chain,
                                const Shape& shape) const;

  /// "exp + multiply": the ops in order, the first ones of many.
  std::string text() const;
};

/// True if the op's row has CHAIN: it can be a step of a chain. Kernels compute it element by element from floats and
/// bools.
bool is_elementwise(const Op& op);

}  // namespace mezzo
