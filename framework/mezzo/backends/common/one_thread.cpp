#include <mezzo/backends/common/one_thread.hpp>

#include <utility>

#include <mezzo/compiler/work.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo {
namespace {

/// A kernel made for one thread.
class OneThreadKernel final : public Kernel {
 public:
  explicit OneThreadKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}

  void run(const KernelArguments& arguments) override {
    const detail::OneThread one;
    inner_->run(arguments);
  }
  std::size_t scratch_bytes() const override { return inner_->scratch_bytes(); }
  bool may_overwrite(std::size_t input, std::size_t output) const override {
    return inner_->may_overwrite(input, output);
  }
  std::string detail() const override { return inner_->detail(); }

 private:
  std::unique_ptr<Kernel> inner_;
};

}  // namespace

detail::Implementation one_thread_if_small(detail::Implementation implementation) {
  implementation.create = [create = std::move(implementation.create)](const KernelRequest& request,
                                                                      std::string& reason) -> std::unique_ptr<Kernel> {
    if (thread_count() == 1 || !is_small(request)) return create(request, reason);
    const detail::OneThread one;  // kernels choose their blocks by the number of threads
    std::unique_ptr<Kernel> kernel = create(request, reason);
    if (!kernel) return nullptr;
    return std::make_unique<OneThreadKernel>(std::move(kernel));
  };
  return implementation;
}

}  // namespace mezzo
