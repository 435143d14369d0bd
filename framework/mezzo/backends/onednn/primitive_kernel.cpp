#include <mezzo/backends/onednn/primitive_kernel.hpp>

#include <cstdint>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/implementations.hpp>

namespace mezzo::onednn {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

bool takes_operands(const KernelRequest& request, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype == DType::bfloat16) {
        if (!onednn_has_native_bfloat16())
          reason = "needs bfloat16 in hardware (AVX512_CORE_BF16); this CPU or its ISA limit has none";
      } else if (spec.dtype != DType::float32) {
        decline(reason, "takes float32 and bfloat16; got {}", spec.dtype);
      }
      if (element_count(spec.shape) == 0) decline(reason, "takes operands with elements; got shape {}", spec.shape);
    }
  }
  return reason.empty();
}

dnnl::memory::data_type type_of(const Spec& spec) {
  return spec.dtype == DType::bfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

Array bias_of(const KernelRequest& request, std::size_t rank, std::size_t axis) {
  if (request.inputs.size() < 3) return {};
  const Spec& bias = request.inputs[2];
  Array array{Sizes(rank, 1), Sizes(rank, bias.shape[0]), type_of(bias)};
  array.sizes[axis] = bias.shape[0];
  array.strides[axis] = 1;
  return array;
}

std::optional<Tensor> constant_of(const KernelRequest& request, std::size_t input) {
  const auto found = request.constants.find(input);
  return found == request.constants.end() ? std::nullopt : std::optional<Tensor>(found->second);
}

PrimitiveKernel::PrimitiveKernel(const dnnl::primitive_desc_base& descriptor, const std::vector<Operand>& operands)
    : detail_(descriptor.impl_info_str()) {
  std::vector<dnnl_exec_arg_t> arguments;
  std::vector<Reorder> after;
  for (const Operand& operand : operands) {
    const Descriptor layout = descriptor.query_md(dnnl::query::exec_arg_md, operand.argument);
    if (operand.constant && layout != operand.plain) {
      arguments.push_back({operand.argument, add_constant(operand, layout)});
      detail_ += fmt::format(", packed input {}", operand.index);
      continue;
    }
    const dnnl_memory_t own = add_memory(operand.plain, operand.output ? Place::output : Place::input, operand.index);
    if (layout == operand.plain) {
      arguments.push_back({operand.argument, own});
      continue;
    }
    const dnnl_memory_t laid_out = add_scratch(layout);
    arguments.push_back({operand.argument, laid_out});
    if (operand.output) {
      after.push_back({layout, laid_out, operand.plain, own});
    } else {
      add_reorder({operand.plain, own, layout, laid_out});
    }
    detail_ += fmt::format(", reorders {} {}", operand.output ? "output" : "input", operand.index);
  }
  add_step(descriptor, std::move(arguments));
  for (const Reorder& reorder : after) add_reorder(reorder);
}

dnnl_memory_t PrimitiveKernel::add_constant(const Operand& operand, const Descriptor& wanted) {
  const auto pack = [&](void* to) {
    const Operand from{.argument = DNNL_ARG_FROM, .output = false, .index = 0, .plain = operand.plain};
    const Operand into{.argument = DNNL_ARG_TO, .output = true, .index = 0, .plain = wanted};
    const Offer offer = offer_reorder(operand.plain, wanted);
    if (!offer.accepted()) fail<Error>("", "oneDNN has no reorder to the layout of a constant: {}", offer.refusal);
    PrimitiveKernel reorder(offer.descriptor, {from, into});
    std::vector<unsigned char> scratch(reorder.scratch_bytes() + alignment);
    auto* const aligned = scratch.data() + (alignment - reinterpret_cast<std::uintptr_t>(scratch.data()) % alignment);
    const void* const numbers = operand.constant->raw();
    reorder.run({&numbers, &to, aligned});
  };
  constants_.push_back(detail::packed_constant(*operand.constant, layout_text(wanted), wanted.get_size(), pack));
  return add_memory(wanted, Place::constant, constants_.size() - 1);
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
  if (!offer.accepted())
    fail<Error>("", "oneDNN has no reorder to the layout that its primitive needs: {}", offer.refusal);
  add_step(offer.descriptor, {{DNNL_ARG_FROM, reorder.source}, {DNNL_ARG_TO, reorder.destination}});
}

void PrimitiveKernel::run(const KernelArguments& arguments) {
  for (Memory& memory : memories_) {
    void* address = memory.place == Place::input      ? const_cast<void*>(arguments.inputs[memory.at])
                    : memory.place == Place::output   ? arguments.outputs[memory.at]
                    : memory.place == Place::constant ? const_cast<void*>(constants_[memory.at]->data())
                                                      : static_cast<char*>(arguments.scratch) + memory.at;
    if (address == memory.bound) continue;
    memory.memory.set_data_handle(address);
    memory.bound = address;
  }
  // Calls the C function, since its C++ counterpart copies the arguments to a new array in each call.
  for (const Step& step : steps_) {
    const auto count = static_cast<int>(step.arguments.size());
    const dnnl_status_t status =
        dnnl_primitive_execute(step.primitive.get(), stream().get(), count, step.arguments.data());
    if (status == dnnl_out_of_memory) {
      fail<MemoryError>("[oneDNN]", "{} needs more memory than the system has, beside {} bytes of scratch", detail_,
                        scratch_bytes_);
    }
    if (status != dnnl_success) fail<Error>("", "oneDNN failed to execute {}", detail_);
  }
  dnnl_stream_wait(stream().get());
}

std::unique_ptr<Kernel> make_kernel(const Offer& offer, const std::vector<Operand>& operands, std::string& reason) {
  reason = offer.refusal;
  if (!offer.accepted()) return nullptr;
  try {
    return std::make_unique<PrimitiveKernel>(offer.descriptor, operands);
  } catch (const MemoryError&) {
    throw;
  } catch (const std::exception& error) {
    return decline(reason, "oneDNN: {}", error.what());
  }
}

}  // namespace mezzo::onednn
