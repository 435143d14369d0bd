#pragma once
#include <string>

#include <dnnl.hpp>

// Differences between oneDNN 2 and 3, and the common parts of all primitives.
namespace mezzo::onednn {

using Descriptor = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;

/// The engine of this process.
const dnnl::engine& engine();

/// The calling thread's stream.
const dnnl::stream& stream();

/// A dense array, with axes in oneDNN's order.
struct Array {
  Sizes sizes;
  Sizes strides;  ///< in elements, of mezzo's layout
  dnnl::memory::data_type type = dnnl::memory::data_type::undef;

  /// The descriptor in mezzo's layout; a zero descriptor for an array without sizes.
  Descriptor plain() const { return sizes.empty() ? Descriptor() : Descriptor(sizes, type, strides); }

  /// A descriptor whose layout oneDNN chooses.
  Descriptor any() const { return {sizes, type, dnnl::memory::format_tag::any}; }
};

/// The descriptor of a primitive, or the reason why oneDNN has none.
struct Offer {
  dnnl::primitive_desc_base descriptor;
  std::string refusal;

  bool accepted() const { return refusal.empty(); }
};

/// activation(a b + bias), with all operands except b in mezzo's layout.
Offer offer_matmul(const Array& a, const Descriptor& b, const Array& bias, const Array& out, bool relu);

/// The arrays of a convolution or of one of its gradients, and its geometry. In a gradient, x, kernel and y are those
/// arrays or their cotangents. oneDNN chooses the layout of the kernel.
struct Convolution {
  Array x, kernel, bias, y;
  Sizes strides;
  Sizes dilation;  ///< by oneDNN's convention: 0 for a dense kernel
  Sizes padding_before, padding_after;
  bool any_images = false;        ///< oneDNN also chooses the layout of x and y
  const char* avoided = nullptr;  ///< excludes implementations with this in their name, for images in mezzo's layout
};

Offer offer_convolution(const Convolution& convolution, bool relu);
Offer offer_input_gradient(const Convolution& convolution);
Offer offer_kernel_gradient(const Convolution& convolution);

/// The ReLU of an array, in place or to another one.
Offer offer_relu(const Array& x);

/// A conversion from one layout or dtype to another.
Offer offer_reorder(const Descriptor& from, const Descriptor& to);

/// Text that identifies the layout of a descriptor: equal texts mean equal layouts, sizes and dtypes.
std::string layout_text(const Descriptor& descriptor);

/// Creates a primitive and adds one to onednn_primitives_created().
dnnl::primitive create_primitive(const dnnl::primitive_desc_base& descriptor);

}  // namespace mezzo::onednn
