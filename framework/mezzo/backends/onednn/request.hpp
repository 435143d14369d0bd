#pragma once
#include <string>

#include <mezzo/backends/onednn/api.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::onednn {

/// Whether oneDNN can be asked for such operands at all, or why not.
bool takes_operands(const KernelRequest& request, std::string& reason);

/// oneDNN's name of float32 or bfloat16.
dnnl::memory::data_type type_of(const Spec& spec);

/// The bias (N,) as oneDNN wants it beside an output of that rank, its axis at `axis`; empty if there is none.
Array bias_of(const KernelRequest& request, std::size_t rank, std::size_t axis);

}  // namespace mezzo::onednn
