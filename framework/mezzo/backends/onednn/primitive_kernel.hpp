#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/backends/onednn/api.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::onednn {

/// Where an argument of a primitive comes from or goes to: operand `index` of the kernel, lying there as `plain` says.
struct Operand {
  int argument = 0;  ///< DNNL_ARG_...
  bool output = false;
  std::size_t index = 0;
  Descriptor plain;
};

/// A primitive, with reorders through scratch before and after it for the operands that it wants laid out otherwise.
class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(const dnnl::primitive_desc_base& descriptor, const std::vector<Operand>& operands);

  void run(const KernelArguments& arguments) override;
  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::string detail() const override { return detail_; }

 private:
  enum class Place { input, output, scratch };

  struct Memory {
    dnnl::memory memory;
    Place place;
    std::size_t at;  // number of the operand, or offset in scratch
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

  dnnl_memory_t add_memory(const Descriptor& descriptor, Place place, std::size_t at);
  dnnl_memory_t add_scratch(const Descriptor& descriptor);
  void add_step(const dnnl::primitive_desc_base& descriptor, std::vector<dnnl_exec_arg_t> arguments);
  void add_reorder(const Reorder& reorder);

  std::vector<Memory> memories_;
  std::vector<Step> steps_;
  std::size_t scratch_bytes_ = 0;
  std::string detail_;
};

/// The kernel of an offer, or null and its refusal.
std::unique_ptr<Kernel> make_kernel(const Offer& offer, const std::vector<Operand>& operands, std::string& reason);

}  // namespace mezzo::onednn
