#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/op.hpp>

namespace mezzo {

/// A node as kernels see it: all sizes known.
struct KernelRequest {
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<Spec> inputs;
  std::vector<Spec> outputs;
  std::string where;  ///< as errors name the layer
};

/// Addresses for one run. Dense row-major arrays of the request's specs, 64-byte aligned except for inputs of the
/// plan. `scratch` has scratch_bytes() bytes, 64-byte aligned, and holds nothing from run to run.
struct KernelArguments {
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  void* scratch = nullptr;

  template <class T>
  const T* in(std::size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out(std::size_t i) const {
    return static_cast<T*>(outputs[i]);
  }
};

/// One node's computation, prepared for its shapes: run() allocates nothing and creates nothing.
class Kernel {
 public:
  Kernel() = default;
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Computes. Throws a ValueError for what only the numbers show (a label out of range), before it writes.
  virtual void run(const KernelArguments& arguments) = 0;

  virtual std::size_t scratch_bytes() const { return 0; }

  /// Whether output 0 may lie on the bytes of input i (same size) without harm.
  virtual bool may_overwrite(std::size_t) const { return false; }

  /// What explain() shows beside the implementation's name: oneDNN's own, say.
  virtual std::string detail() const { return {}; }
};

/// One way to compute an op.
struct Implementation {
  std::string name;  ///< "winograd", "onednn", "split", "xsimd", "widen", "reference"
  const Op* op = nullptr;

  /// The kernel for a request, or null and why not ("needs bfloat16 in hardware"). A function of the request, the ISA
  /// and the number of threads only, never of a timing.
  std::function<std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason)> create;
};

/// Adds the library's implementations, for each op the most special first and "reference" last: `table` is called at
/// the first choice of a kernel. Called once, by registration.cpp.
void register_kernel_table(std::vector<Implementation> (*table)());

/// Adds an implementation in front of those that its op has: of a user's program.
void register_kernel(Implementation implementation);

/// The implementation that computes bfloat16 and float16 operands as float32, for any op with `widens`. Set once, by
/// registration.cpp.
void register_widening(decltype(Implementation::create) create);
decltype(Implementation::create) widening();

/// All implementations of an op, in the order in which they are tried.
std::vector<Implementation> implementations_of(const Op& op);

/// A chosen kernel, and what was passed over on the way.
struct ChosenKernel {
  std::unique_ptr<Kernel> kernel;
  std::string implementation;
  std::vector<std::string> declined;  ///< "onednn: needs ..."
};

/// The first implementation that takes the request; a ValueError that lists every reason if none does.
/// MEZZO_VERBOSE=dispatch writes each decision to the output.
ChosenKernel choose_kernel(const KernelRequest& request);

}  // namespace mezzo
