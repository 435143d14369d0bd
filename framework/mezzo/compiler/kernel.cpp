#include <mezzo/compiler/kernel.hpp>

#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <mezzo/compiler/int8_products.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/core/environment.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/core/output.hpp>

namespace mezzo {
namespace {

/// Implementations by op. Never destroyed, since a model in a static variable may be destroyed later than other
/// statics.
struct Registry {
  detail::ForkMutex mutex;
  std::vector<detail::Implementation> (*library)() = nullptr;
  decltype(detail::Implementation::create) widening;
  std::unordered_map<const Op*, std::vector<detail::Implementation>> by_op;
};

Registry& registry() {
  static auto* const one = new Registry;
  return *one;
}

/// Adds the library's implementations at the first call. The caller holds the mutex.
void fill(Registry& all) {
  if (all.library == nullptr) return;
  for (detail::Implementation& implementation : std::exchange(all.library, nullptr)()) {
    auto& list = all.by_op[implementation.op];
    list.push_back(std::move(implementation));
  }
}

bool verbose_dispatch() {
  static const bool on =
      detail::environment_choice(detail::environment_variables::verbose, {"0", "dispatch"}) == "dispatch";
  return on;
}

std::string describe(const KernelRequest& request) {
  std::vector<std::string> inputs;
  for (const Spec& spec : request.inputs) inputs.push_back(to_string(spec));
  return fmt::format("{}({})", request.op->name, fmt::join(inputs, ", "));
}

/// Without a kernel if all implementations decline.
detail::ChosenKernel first_that_accepts(const KernelRequest& request) {
  detail::ChosenKernel chosen;
  const bool int8 = detail::is_int8_product(*request.op, request.attributes);
  for (const detail::Implementation& implementation : implementations_of(*request.op)) {
    std::string reason;
    if (int8 && !implementation.int8_products) {
      reason = "computes no products of int8";
    } else {
      chosen.kernel = implementation.create(request, reason);
    }
    if (chosen.kernel) {
      chosen.implementation = implementation.name;
      break;
    }
    if (!reason.empty()) chosen.declined.push_back(fmt::format("{}: {}", implementation.name, reason));
  }
  return chosen;
}

}  // namespace

KernelOptions& kernel_options() { return detail::ExecutionContext::current().part<KernelOptions>(); }

detail::Float32Matmul detail::current_float32_matmul() {
  return kernel_options().float32_matmul.value_or(process_float32_matmul());
}

void detail::register_kernel_table(std::vector<detail::Implementation> (*table)()) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.library = table;
}

void register_kernel(detail::Implementation implementation) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  fill(all);
  auto& list = all.by_op[implementation.op];
  list.insert(list.begin(), detail::without_pass_attributes(std::move(implementation)));
}

void detail::register_widening(decltype(detail::Implementation::create) create) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.widening = std::move(create);
}

decltype(detail::Implementation::create) widening() {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.widening;
}

std::vector<detail::Implementation> implementations_of(const Op& op) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  fill(all);
  const auto found = all.by_op.find(&op);
  return found == all.by_op.end() ? std::vector<detail::Implementation>() : found->second;
}

std::string chosen_implementation(const KernelRequest& request) { return first_that_accepts(request).implementation; }

detail::ChosenKernel choose_kernel(const KernelRequest& request) {
  detail::ChosenKernel chosen = first_that_accepts(request);
  if (verbose_dispatch()) {
    std::string text = fmt::format("mezzo: dispatch: {} {} -> {}", request.where, describe(request),
                                   chosen.kernel ? chosen.implementation : "none");
    for (const std::string& reason : chosen.declined) text += fmt::format("; not {}", reason);
    detail::write_output(text + "\n");
  }
  if (!chosen.kernel) {
    std::string reasons;
    for (const std::string& reason : chosen.declined) reasons += fmt::format("; {}", reason);
    fail<ValueError>(request.where, "no kernel computes {}{}", describe(request), reasons);
  }
  return chosen;
}

}  // namespace mezzo
