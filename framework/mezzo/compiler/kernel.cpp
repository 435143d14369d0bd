#include <mezzo/compiler/kernel.hpp>

#include <cstdlib>

#include <mezzo/core/output.hpp>

namespace mezzo {
namespace {

bool verbose_dispatch() {
  static const bool on = [] {
    const char* topics = std::getenv("MEZZO_VERBOSE");
    return topics != nullptr && std::string(topics).find("dispatch") != std::string::npos;
  }();
  return on;
}

std::string describe(const KernelRequest& request) {
  std::string text = request.op->name + "(";
  for (std::size_t i = 0; i < request.inputs.size(); ++i) text += (i > 0 ? ", " : "") + to_string(request.inputs[i]);
  return text + ")";
}

}  // namespace

ChosenKernel choose_kernel(const KernelRequest& request) {
  ChosenKernel chosen;
  for (const Implementation& implementation : kernel_table()) {
    if (implementation.op != request.op->name) continue;
    std::string reason;
    chosen.kernel = implementation.create(request, reason);
    if (chosen.kernel) {
      chosen.implementation = implementation.name;
      break;
    }
    chosen.declined.push_back(implementation.name + ": " + reason);
  }
  if (verbose_dispatch()) {
    std::string text = "mezzo: dispatch: " + request.where + " " + describe(request) + " -> " +
                       (chosen.kernel ? chosen.implementation : "none");
    for (const std::string& reason : chosen.declined) text += "; not " + reason;
    write_output(text + "\n");
  }
  if (!chosen.kernel) {
    std::string text = request.where + " no kernel computes " + describe(request);
    for (const std::string& reason : chosen.declined) text += "; " + reason;
    throw ValueError(text);
  }
  return chosen;
}

}  // namespace mezzo
