#include <mezzo/backends/onednn/primitive_kernel.hpp>

#include <utility>

#include <mezzo/core/error.hpp>

namespace mezzo::onednn {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

PrimitiveKernel::PrimitiveKernel(const dnnl::primitive_desc_base& descriptor, const std::vector<Operand>& operands)
    : detail_(descriptor.impl_info_str()) {
  std::vector<dnnl_exec_arg_t> arguments;
  std::vector<Reorder> after;
  for (const Operand& operand : operands) {
    const dnnl_memory_t own = add_memory(operand.plain, operand.output ? Place::output : Place::input, operand.index);
    const Descriptor wanted = descriptor.query_md(dnnl::query::exec_arg_md, operand.argument);
    if (wanted == operand.plain) {
      arguments.push_back({operand.argument, own});
      continue;
    }
    const dnnl_memory_t laid_out = add_scratch(wanted);
    arguments.push_back({operand.argument, laid_out});
    if (operand.output) {
      after.push_back({wanted, laid_out, operand.plain, own});
    } else {
      add_reorder({operand.plain, own, wanted, laid_out});
    }
    detail_ += std::string(", reorders ") + (operand.output ? "output " : "input ") + std::to_string(operand.index);
  }
  add_step(descriptor, std::move(arguments));
  for (const Reorder& reorder : after) add_reorder(reorder);
}

dnnl_memory_t PrimitiveKernel::add_memory(const Descriptor& descriptor, Place place, std::size_t at) {
  memories_.push_back({dnnl::memory(descriptor, engine(), DNNL_MEMORY_NONE), place, at});
  return memories_.back().memory.get();
}

dnnl_memory_t PrimitiveKernel::add_scratch(const Descriptor& descriptor) {
  const std::size_t at = scratch_bytes_;
  scratch_bytes_ += (descriptor.get_size() + alignment - 1) / alignment * alignment;
  return add_memory(descriptor, Place::scratch, at);
}

void PrimitiveKernel::add_step(const dnnl::primitive_desc_base& descriptor, std::vector<dnnl_exec_arg_t> arguments) {
  const Descriptor scratchpad = descriptor.query_md(dnnl::query::scratchpad_md);
  if (scratchpad.get_size() > 0) arguments.push_back({DNNL_ARG_SCRATCHPAD, add_scratch(scratchpad)});
  steps_.push_back({create_primitive(descriptor), std::move(arguments)});
}

void PrimitiveKernel::add_reorder(const Reorder& reorder) {
  const Offer offer = offer_reorder(reorder.from, reorder.to);
  if (!offer.accepted()) throw Error("reorder: " + offer.refusal);
  add_step(offer.descriptor, {{DNNL_ARG_FROM, reorder.source}, {DNNL_ARG_TO, reorder.destination}});
}

void PrimitiveKernel::run(const KernelArguments& arguments) {
  for (Memory& memory : memories_) {
    void* address = memory.place == Place::input    ? const_cast<void*>(arguments.inputs[memory.at])
                    : memory.place == Place::output ? arguments.outputs[memory.at]
                                                    : static_cast<char*>(arguments.scratch) + memory.at;
    if (address == memory.bound) continue;
    memory.memory.set_data_handle(address);
    memory.bound = address;
  }
  // The C function: its C++ counterpart copies the arguments into a new array at each call.
  for (const Step& step : steps_) {
    const auto count = static_cast<int>(step.arguments.size());
    if (dnnl_primitive_execute(step.primitive.get(), stream().get(), count, step.arguments.data()) != dnnl_success) {
      throw Error("oneDNN could not execute " + detail_);
    }
  }
  dnnl_stream_wait(stream().get());
}

std::unique_ptr<Kernel> make_kernel(const Offer& offer, const std::vector<Operand>& operands, std::string& reason) {
  reason = offer.refusal;
  if (!offer.accepted()) return nullptr;
  try {
    return std::make_unique<PrimitiveKernel>(offer.descriptor, operands);
  } catch (const std::exception& error) {
    reason = std::string("oneDNN: ") + error.what();
    return nullptr;
  }
}

}  // namespace mezzo::onednn
