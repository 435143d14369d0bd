#include <mezzo/backends/onednn/api.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

std::atomic<std::int64_t> created{0};

}  // namespace

std::int64_t onednn_primitives_created() { return created.load(); }

namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

dnnl::primitive_attr attributes(bool relu) {
  dnnl::primitive_attr attr;
  // In the default mode, the library allocates a scratchpad for each thread.
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (relu) {
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR < 3
    after.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
#else
    after.append_eltwise(algorithm::eltwise_relu, 0, 0);
#endif
    attr.set_post_ops(after);
  }
  return attr;
}

/// A descriptor that advances from implementation to implementation. oneDNN 2 keeps no copy of the operation's own
/// descriptor: advance() reads it through a pointer, so it is kept here.
template <class D>
struct Candidates {
  std::shared_ptr<const void> operation;
  D descriptor;
};

template <class Primitive, class... Arguments>
Candidates<typename Primitive::primitive_desc> describe(const dnnl::primitive_attr& attr,
                                                        const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR < 3
  const auto operation = std::make_shared<const typename Primitive::desc>(arguments...);
  return {operation, {*operation, attr, engine(), true}};
#else
  return {nullptr, {engine(), arguments..., attr, true}};
#endif
}

template <class Primitive, class... Arguments>
Candidates<typename Primitive::primitive_desc> describe_gradient(
    const dnnl::convolution_forward::primitive_desc& forward, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR < 3
  const auto operation = std::make_shared<const typename Primitive::desc>(arguments...);
  return {operation, {*operation, attributes(false), engine(), forward, true}};
#else
  return {nullptr, {engine(), arguments..., forward, attributes(false), true}};
#endif
}

/// Advances a descriptor to its next implementation; reorders have only one.
template <class D>
bool advance(D& descriptor) {
  return descriptor.next_impl();
}
bool advance(dnnl::reorder::primitive_desc&) { return false; }

/// The first implementation of a primitive that isn't a plain loop and that accept(descriptor, name) accepts.
template <class D, class Accept>
Offer first_fast(Candidates<D> candidates, Accept&& accept) {
  D& descriptor = candidates.descriptor;
  if (!descriptor) return {{}, "oneDNN has no such primitive"};
  std::vector<std::string> names;
  do {
    names.emplace_back(descriptor.impl_info_str());
    if (!is_reference(names.back()) && accept(descriptor, names.back())) return {descriptor, {}};
  } while (advance(descriptor));
  return {{}, fmt::format("needs an optimized implementation; oneDNN has only {}", fmt::join(names, ", "))};
}

template <class D>
Offer first_fast(Candidates<D> candidates) {
  return first_fast(std::move(candidates), [](const auto&, const std::string&) { return true; });
}

/// The offer that make() returns, or oneDNN's error. If memory is insufficient no other implementation is tried: a
/// MemoryError.
template <class Make>
Offer offer(Make&& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) {
      fail<MemoryError>("[oneDNN]", "a descriptor needs more memory than the system has");
    }
    return {{}, fmt::format("oneDNN: {}", error.what())};
  }
}

/// oneDNN caches primitives that are no longer used, by default 1024, some with hundreds of KiB of code.
void limit_primitive_cache() {
  if (std::getenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY") != nullptr) return;
  if (std::getenv("DNNL_PRIMITIVE_CACHE_CAPACITY") != nullptr) return;
  constexpr int primitives = 256;
  if (dnnl::get_primitive_cache_capacity() > primitives) dnnl::set_primitive_cache_capacity(primitives);
}

Descriptor images(const Convolution& c, const Array& array) { return c.any_images ? array.any() : array.plain(); }

Candidates<dnnl::convolution_forward::primitive_desc> describe_forward(const Convolution& c, bool relu) {
  return describe<dnnl::convolution_forward>(
      attributes(relu), prop_kind::forward_training, algorithm::convolution_direct, images(c, c.x), c.kernel.any(),
      c.bias.plain(), images(c, c.y), c.strides, c.dilation, c.padding_before, c.padding_after);
}

/// The forward primitive that oneDNN needs as a hint for a gradient. All of its operands have one dtype.
dnnl::convolution_forward::primitive_desc hint(Convolution c, dnnl::memory::data_type type) {
  c.x.type = c.kernel.type = c.y.type = type;
  return describe_forward(c, false).descriptor;
}

template <class Gradient>
Offer offer_gradient(const Convolution& c, dnnl::memory::data_type type, int x_argument) {
  return offer([&] {
    const auto forward = hint(c, type);  // in scope to the end, since advance() reads it
    const auto accept = [&](const auto& descriptor, const std::string& name) {
      return c.avoided == nullptr || name.find(c.avoided) == std::string::npos ||
             descriptor.query_md(dnnl::query::exec_arg_md, x_argument) != c.x.plain();
    };
    return first_fast(
        describe_gradient<Gradient>(forward, algorithm::convolution_direct, images(c, c.x), c.kernel.any(),
                                    images(c, c.y), c.strides, c.dilation, c.padding_before, c.padding_after),
        accept);
  });
}

}  // namespace

const dnnl::engine& engine() {
  // Never destroyed, since kernels of a static model may be destroyed after any other static object.
  static const auto* one = [] {
    limit_primitive_cache();
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *one;
}

const dnnl::stream& stream() {
  struct ThreadStream {
    dnnl::stream stream{engine()};
  };
  return detail::ExecutionContext::current().part<ThreadStream>().stream;
}

bool is_reference(const std::string& implementation) {
  return (':' + implementation + ':').find(":ref:") != std::string::npos;
}

Offer offer_matmul(const Array& a, const Descriptor& b, const Array& bias, const Array& out, bool relu) {
  return offer(
      [&] { return first_fast(describe<dnnl::matmul>(attributes(relu), a.plain(), b, bias.plain(), out.plain())); });
}

Offer offer_convolution(const Convolution& c, bool relu) {
  return offer([&] { return first_fast(describe_forward(c, relu)); });
}

Offer offer_input_gradient(const Convolution& c) {
  return offer_gradient<dnnl::convolution_backward_data>(c, c.kernel.type, DNNL_ARG_DIFF_SRC);
}

Offer offer_kernel_gradient(const Convolution& c) {
  return offer_gradient<dnnl::convolution_backward_weights>(c, c.x.type, DNNL_ARG_SRC);
}

Offer offer_relu(const Array& x) {
  return offer([&] {
#if DNNL_VERSION_MAJOR < 3
    return first_fast(describe<dnnl::eltwise_forward>(attributes(false), prop_kind::forward_inference,
                                                      algorithm::eltwise_relu, x.plain(), 0.0F, 0.0F));
#else
    return first_fast(describe<dnnl::eltwise_forward>(attributes(false), prop_kind::forward_inference,
                                                      algorithm::eltwise_relu, x.plain(), x.plain(), 0.0F, 0.0F));
#endif
  });
}

Offer offer_reorder(const Descriptor& from, const Descriptor& to) {
  return offer([&] {
    return first_fast(Candidates<dnnl::reorder::primitive_desc>{
        nullptr, dnnl::reorder::primitive_desc(engine(), from, engine(), to, attributes(false), true)});
  });
}

std::string layout_text(const Descriptor& descriptor) {
#if DNNL_VERSION_MAJOR < 3
  const dnnl_memory_desc_t& d = descriptor.data;
  const dnnl_blocking_desc_t& blocks = d.format_desc.blocking;
  const auto axes = [&](const dnnl_dim_t* sizes) { return fmt::join(sizes, sizes + d.ndims, ","); };
  const auto inner = [&](const dnnl_dim_t* sizes) { return fmt::join(sizes, sizes + blocks.inner_nblks, ","); };
  return fmt::format("onednn {} {} {} {} {} {} {} {} {}", static_cast<int>(d.data_type),
                     static_cast<int>(d.format_kind), axes(d.dims), axes(d.padded_dims), axes(d.padded_offsets),
                     axes(blocks.strides), inner(blocks.inner_blks), inner(blocks.inner_idxs), d.extra.flags);
#else
  return fmt::format("onednn {} {} {} {} {} {} {} {}", static_cast<int>(descriptor.get_data_type()),
                     static_cast<int>(descriptor.get_format_kind()), fmt::join(descriptor.get_dims(), ","),
                     fmt::join(descriptor.get_padded_dims(), ","), fmt::join(descriptor.get_padded_offsets(), ","),
                     fmt::join(descriptor.get_strides(), ","), fmt::join(descriptor.get_inner_blks(), ","),
                     fmt::join(descriptor.get_inner_idxs(), ","));
#endif
}

dnnl::primitive create_primitive(const dnnl::primitive_desc_base& descriptor) {
  ++created;
  try {
    return dnnl::primitive(descriptor.get());
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_out_of_memory) throw;
    fail<MemoryError>("[oneDNN]", "the code of {} needs more memory than the system has", descriptor.impl_info_str());
  }
}

}  // namespace onednn
}  // namespace mezzo
