#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo_bandwidth {

/// An operand of a case, and the numbers it holds.
struct Operand {
  mezzo::Spec spec;
  double low = 0.1, high = 0.9;  ///< bounds; integers below the upper one
  bool ascending = false;
};

/// A call of one op.
struct Case {
  std::string op;
  std::string note;  ///< distinguishes cases of one op
  mezzo::DType dtype = mezzo::DType::float32;
  mezzo::Attributes attributes;
  std::vector<Operand> operands;
};

/// The cases of every elementwise op and of every op on arrays in the tables (ops/rows/elementwise.def,
/// ops/rows/arrays.def), in float32 and bfloat16, with `bytes` bytes an operand. Ops that take neither are called with
/// their own dtype. Operands and dtypes of an elementwise op come from the text of its row; a row that needs attributes
/// needs an entry in cases.cpp. Adds the names of ops on arrays without an entry there to `missing`.
std::vector<Case> all_cases(std::int64_t bytes, std::set<std::string>& missing);

}  // namespace mezzo_bandwidth
