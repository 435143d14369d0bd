#pragma once
// Included by the header of each family of kernels. A family has a table of functions (x.hpp) that x.isa.cpp defines
// for each instruction set, and entries (x.cpp) that make kernels of them.
#include <vector>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/core/float16.hpp>

// Declares a family's table for the instruction set that an .isa.cpp is compiled for. Expands to nothing in other
// files, which get the table from kernels(isa).
#if defined(MEZZO_ISA)
#define MEZZO_ISA_TABLE(Functions, table) \
  namespace MEZZO_ISA {                   \
  extern const Functions table;           \
  }
#else
#define MEZZO_ISA_TABLE(Functions, table)
#endif

namespace mezzo::xsimd_kernels {

struct Entry;  // entries.hpp
using Entries = std::vector<Entry>;

/// One entry each for float32, bfloat16 and float16, the dtypes that kernels load and store.
template <class T>
struct PerStorage {
  T float32, bfloat16, float16;

  /// The entry of a dtype for which is_stored() is true.
  const T& operator[](DType dtype) const {
    return dtype == DType::float32 ? float32 : dtype == DType::bfloat16 ? bfloat16 : float16;
  }
};

}  // namespace mezzo::xsimd_kernels
