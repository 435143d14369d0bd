#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/pairs.hpp>

// Comparisons and functions of bools.
namespace mezzo::reference {
namespace {

/// Compares numbers of any dtype; bfloat16 and float16 as float32.
template <class Compare>
struct Compared {
  template <class T>
  bool operator()(T a, T b) const {
    using Number = std::conditional_t<std::is_class_v<T>, float, T>;
    return Compare{}(static_cast<Number>(a), static_cast<Number>(b));
  }
};

template <class Compare>
std::unique_ptr<Kernel> comparison(const KernelRequest& request, Compare /*compare*/) {
  return visit_dtype(request.inputs[0].dtype,
                     [&](auto zero) { return pairs<decltype(zero), bool>(request, Compared<Compare>{}); });
}

}  // namespace

std::unique_ptr<Kernel> create_equal(const KernelRequest& request, std::string&) {
  return comparison(request, [](auto a, auto b) { return a == b; });
}

std::unique_ptr<Kernel> create_less(const KernelRequest& request, std::string&) {
  return comparison(request, [](auto a, auto b) { return a < b; });
}

std::unique_ptr<Kernel> create_less_equal(const KernelRequest& request, std::string&) {
  return comparison(request, [](auto a, auto b) { return a <= b; });
}

std::unique_ptr<Kernel> create_logical_and(const KernelRequest& request, std::string&) {
  return pairs<bool, bool>(request, [](bool a, bool b) { return a && b; });
}

std::unique_ptr<Kernel> create_logical_or(const KernelRequest& request, std::string&) {
  return pairs<bool, bool>(request, [](bool a, bool b) { return a || b; });
}

std::unique_ptr<Kernel> create_logical_not(const KernelRequest& request, std::string&) {
  return make_elementwise_kernel(request, [](const KernelArguments& arguments, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) arguments.out<bool>(0)[i] = !arguments.in<bool>(0)[i];
  });
}

}  // namespace mezzo::reference
