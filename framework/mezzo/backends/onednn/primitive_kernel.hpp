#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/backends/onednn/api.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/packed_constants.hpp>

namespace mezzo::onednn {

/// True if oneDNN supports operands of these dtypes and sizes. Sets the reason otherwise.
bool takes_operands(const KernelRequest& request, std::string& reason);

/// oneDNN's name of float32 or bfloat16.
dnnl::memory::data_type type_of(const Spec& spec);

/// The bias (N,), input 2, as an array of the output's rank with N at `axis`; empty without a bias.
Array bias_of(const KernelRequest& request, std::size_t rank, std::size_t axis);

/// An argument of a primitive: input or output `index` of the kernel, with layout `plain`.
struct Operand {
  int argument = 0;  ///< DNNL_ARG_...
  bool output = false;
  std::size_t index = 0;
  Descriptor plain;
  std::optional<Tensor> constant{};  ///< the numbers, if they are the same in all runs
};

/// The numbers of an input; none if they may change from run to run.
std::optional<Tensor> constant_of(const KernelRequest& request, std::size_t input);

/// A primitive. For operands in another layout, reorders inputs to scratch memory before the primitive and outputs from
/// scratch memory after it. Constants are reordered when the kernel is made.
class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(const dnnl::primitive_desc_base& descriptor, const std::vector<Operand>& operands);

  void run(const KernelArguments& arguments) override;
  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string detail() const override { return detail_; }

 private:
  enum class Place { input, output, scratch, constant };

  struct Memory {
    dnnl::memory memory;
    Place place;
    std::size_t at;  // index of the operand or of the constant, or offset in scratch memory
    void* bound = nullptr;
  };

  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  struct Reorder {
    Descriptor from;
    dnnl_memory_t source;
    Descriptor to;
    dnnl_memory_t destination;
  };

  /// A constant in another layout.
  dnnl_memory_t add_constant(const Operand& operand, const Descriptor& wanted);
  dnnl_memory_t add_memory(const Descriptor& descriptor, Place place, std::size_t at);
  dnnl_memory_t add_scratch(const Descriptor& descriptor);
  void add_step(const dnnl::primitive_desc_base& descriptor, std::vector<dnnl_exec_arg_t> arguments);
  void add_reorder(const Reorder& reorder);

  std::vector<Memory> memories_;
  std::vector<std::shared_ptr<const detail::PackedConstant>> constants_;
  std::vector<Step> steps_;
  std::size_t scratch_bytes_ = 0;
  std::string detail_;
};

/// The kernel of an offer. Returns null and sets the reason if oneDNN has none.
std::unique_ptr<Kernel> make_kernel(const Offer& offer, const std::vector<Operand>& operands, std::string& reason);

}  // namespace mezzo::onednn
