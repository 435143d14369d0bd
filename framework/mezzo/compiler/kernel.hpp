#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo {

/// The op of a node with all sizes known.
struct KernelRequest {
  const Op* op = nullptr;     ///< op to compute; not null
  Attributes attributes;      ///< the node's attributes
  std::vector<Spec> inputs;   ///< shapes and dtypes of the operands
  std::vector<Spec> outputs;  ///< shapes and dtypes of the results
  std::string where;          ///< start of error texts: `[Conv2D "stem"]`

  /// Numbers of inputs that are the same in all runs, by the input's number; only in plans of frozen graphs. A kernel
  /// may lay them out when it is made: see detail::packed_constant().
  std::map<std::size_t, Tensor> constants{};
};

/// Addresses for one run: dense row-major arrays of the request's specs, 64-byte aligned except for inputs of the plan.
/// `scratch` has scratch_bytes() bytes, is 64-byte aligned, and keeps no values between runs.
struct KernelArguments {
  const void* const* inputs = nullptr;  ///< one address per operand
  void* const* outputs = nullptr;       ///< one address per result
  void* scratch = nullptr;              ///< null if scratch_bytes() is 0

  /// Operand i as elements of type T. The dtype isn't checked.
  template <class T>
  const T* in(std::size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }

  /// Result i as elements of type T, for writing. The dtype isn't checked.
  template <class T>
  T* out(std::size_t i) const {
    return static_cast<T*>(outputs[i]);
  }
};

/// The computation of one node, prepared for its shapes. run() allocates no memory.
class MEZZO_API Kernel {
 public:
  Kernel() = default;
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Computes the outputs. Throws a ValueError for invalid elements (a label out of range), before it writes any
  /// output.
  virtual void run(const KernelArguments& arguments) = 0;

  /// Size of the scratch memory in bytes.
  virtual std::size_t scratch_bytes() const { return 0; }

  /// True if output and input, of equal size, may have the same memory.
  virtual bool may_overwrite(std::size_t /*input*/, std::size_t /*output*/) const { return false; }

  /// Text beside the implementation's name in explain(), for example the name of oneDNN's own implementation.
  virtual std::string detail() const { return {}; }
};

namespace detail {
/// One way to compute an op.
struct Implementation {
  std::string
      name;  ///< "depthwise", "few_taps", "few_rows", "winograd", "packed", "outer", "pointwise", "gemm", "onednn",
             ///< "split", "bfloat16", "int8", "codes", "emulated", "xsimd", "apart", "widen", "reference"
  const Op* op = nullptr;

  /// Returns the kernel for a request. Returns null to decline, and sets `reason` ("needs bfloat16 in hardware"), which
  /// explain() shows. The reason stays empty if the request is outside of the special cases that the implementation is
  /// made for. Depends only on the request, the instruction set and the number of threads, never on a timing.
  std::function<std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason)> create;

  /// False: choose_kernel() offers it no request with the attribute products "int8", whose operands are quantized.
  bool int8_products = false;
};

/// Adds the library's implementations. `table` lists the most special implementation of each op first and "reference"
/// last; it is called at the first choice of a kernel. Called once, by registration.cpp.
MEZZO_API void register_kernel_table(std::vector<Implementation> (*table)());
}  // namespace detail

/// Adds an implementation of a user's program. It is tried before the other implementations of its op.
MEZZO_API void register_kernel(detail::Implementation implementation);

namespace detail {
/// Sets the function that widening() returns. Called once, by registration.cpp.
MEZZO_API void register_widening(decltype(Implementation::create) create);
}  // namespace detail

/// Creates kernels that compute bfloat16 and float16 operands as float32, for any op with `widens`.
MEZZO_API decltype(detail::Implementation::create) widening();

/// All implementations of an op, in the order in which they are tried.
MEZZO_API std::vector<detail::Implementation> implementations_of(const Op& op);

namespace detail {
/// A kernel, and the implementations that declined before it.
struct ChosenKernel {
  std::unique_ptr<Kernel> kernel;
  std::string implementation;
  std::vector<std::string> declined;  ///< "onednn: needs ..."
};
}  // namespace detail

/// The kernel of the first implementation that accepts the request; a ValueError with all reasons if there is none.
/// With MEZZO_VERBOSE=dispatch each decision is written to the output.
MEZZO_API detail::ChosenKernel choose_kernel(const KernelRequest& request);

/// Name of the implementation that choose_kernel() would take; "": none.
MEZZO_API std::string chosen_implementation(const KernelRequest& request);

}  // namespace mezzo
