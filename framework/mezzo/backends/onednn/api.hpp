#pragma once
#include <string>

#include <dnnl.hpp>

// What differs between oneDNN 2 and 3, and what every primitive is made with.
namespace mezzo::onednn {

using Descriptor = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;

/// The process' engine.
const dnnl::engine& engine();

/// The calling thread's stream.
const dnnl::stream& stream();

/// A dense array: its sizes in oneDNN's order of axes, and how far apart neighbours lie in ours.
struct Array {
  Sizes sizes;
  Sizes strides;
  dnnl::memory::data_type type = dnnl::memory::data_type::undef;

  /// Zero for an array that isn't there.
  Descriptor plain() const { return sizes.empty() ? Descriptor() : Descriptor(sizes, type, strides); }

  /// For oneDNN to choose how it lies in memory.
  Descriptor any() const { return {sizes, type, dnnl::memory::format_tag::any}; }
};

/// A primitive that oneDNN could create, or why it couldn't.
struct Offer {
  dnnl::primitive_desc_base descriptor;
  std::string refusal;

  bool accepted() const { return refusal.empty(); }
};

/// activation(a b + bias), all plain but for b.
Offer offer_matmul(const Array& a, const Descriptor& b, const Array& bias, const Array& out, bool relu);

/// The arrays of a convolution or of one of its gradients (x, kernel and y stand for theirs, too) and its geometry,
/// with oneDNN's dilation of 0 for a dense kernel. The kernel's layout is oneDNN's to choose.
struct Convolution {
  Array x, kernel, bias, y;
  Sizes strides, dilation, padding_before, padding_after;
  bool any_images = false;        ///< the layout of x and y is oneDNN's to choose, too
  const char* avoided = nullptr;  ///< in no name of an implementation for images as they lie
};

Offer offer_convolution(const Convolution& convolution, bool relu);
Offer offer_input_gradient(const Convolution& convolution);
Offer offer_kernel_gradient(const Convolution& convolution);

/// From one layout or dtype to another.
Offer offer_reorder(const Descriptor& from, const Descriptor& to);

/// Creates it, and counts that.
dnnl::primitive create_primitive(const dnnl::primitive_desc_base& descriptor);

}  // namespace mezzo::onednn
