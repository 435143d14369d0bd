#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Kernels that move whole blocks of bytes, in any dtype.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Fills the bytes [begin, end) of an output row piece by piece. Threads may share a row, so that the work is even for
/// every shape.
class Filler {
 public:
  Filler(char* row, Index begin, Index end) : row_(row), begin_(begin), end_(end) {}

  /// Sets the next `bytes` bytes of the row to those at `from`, or to zeros if `from` is null.
  void put(const char* from, Index bytes) {
    const Index first = std::max(begin_, at_), last = std::min(end_, at_ + bytes);
    if (first < last) {
      const auto count = static_cast<std::size_t>(last - first);
      if (from == nullptr) {
        std::memset(row_ + first, 0, count);
      } else {
        std::memcpy(row_ + first, from + (first - at_), count);
      }
    }
    at_ += bytes;
  }

 private:
  char* row_;
  Index begin_, end_, at_ = 0;
};

/// Calls fill(index of a row, its Filler) for the rows of an output.
template <class Fill>
void fill_rows(char* out, Index rows, Index row_bytes, const Fill& fill) {
  constexpr Index bytes_of_thread = 4 * grain;
  parallel_for(rows * row_bytes, bytes_of_thread, [&](Index begin, Index end) {
    for (Index row = begin / row_bytes; row * row_bytes < end; ++row) {
      char* const at = out + row * row_bytes;
      Filler filler(at, std::max<Index>(begin - row * row_bytes, 0), std::min(end - row * row_bytes, row_bytes));
      fill(row, filler);
    }
  });
}

Index product(Shape::const_iterator begin, Shape::const_iterator end) {
  return std::accumulate(begin, end, Index{1}, std::multiplies<>());
}

/// A box inside a larger array, both as rows of bytes. A row spans the last axis on which their sizes differ, and all
/// axes after it.
struct Box {
  Shape outer, inside, starts;  ///< on the axes before the row: sizes of the array and of the box, start of the box
  Index row, taken, start;      ///< in bytes: a row of the array, a row of the box, start of the box in the row

  Box(const Shape& whole, const Shape& box, const Shape& begins, DType dtype) {
    std::size_t axis = whole.size();
    while (axis > 0 && whole[axis - 1] == box[axis - 1]) --axis;
    const std::size_t along = axis == 0 ? 0 : axis - 1;
    const auto tail = whole.begin() + static_cast<std::ptrdiff_t>(std::min(along + 1, whole.size()));
    const Index inner = product(tail, whole.end()) * static_cast<Index>(dtype_size(dtype));
    row = inner * (whole.empty() ? 1 : whole[along]);
    taken = inner * (whole.empty() ? 1 : box[along]);
    start = inner * (whole.empty() ? 0 : begins[along]);
    const auto count = static_cast<std::ptrdiff_t>(along);
    outer.assign(whole.begin(), whole.begin() + count);
    inside.assign(box.begin(), box.begin() + count);
    starts.assign(begins.begin(), begins.begin() + count);
  }

  /// Index of the array's row for a row of the box.
  Index outwards(Index of_box) const {
    Index at = 0, scale = 1;
    for (std::size_t axis = outer.size(); axis-- > 0; scale *= outer[axis]) {
      at += (of_box % inside[axis] + starts[axis]) * scale;
      of_box /= inside[axis];
    }
    return at;
  }

  /// Index of the box's row for a row of the array; -1 outside of the box.
  Index inwards(Index of_whole) const {
    Index at = 0, scale = 1;
    for (std::size_t axis = outer.size(); axis-- > 0; scale *= inside[axis]) {
      const Index place = of_whole % outer[axis] - starts[axis];
      if (place < 0 || place >= inside[axis]) return -1;
      at += place * scale;
      of_whole /= outer[axis];
    }
    return at;
  }
};

}  // namespace

std::unique_ptr<Kernel> create_slice(const KernelRequest& request, std::string&) {
  const Spec& out = request.outputs[0];
  const Box box(request.inputs[0].shape, out.shape, request.attributes.get<Shape>("starts"), out.dtype);
  const Index rows = product(box.inside.begin(), box.inside.end());
  return make_kernel([box, rows](const KernelArguments& arguments) {
    fill_rows(arguments.out<char>(0), rows, box.taken, [&](Index row, Filler& to) {
      to.put(arguments.in<char>(0) + box.outwards(row) * box.row + box.start, box.taken);
    });
  });
}

std::unique_ptr<Kernel> create_pad(const KernelRequest& request, std::string&) {
  const Spec& out = request.outputs[0];
  const Box box(out.shape, request.inputs[0].shape, request.attributes.get<Shape>("before"), out.dtype);
  const Index rows = product(box.outer.begin(), box.outer.end());
  return make_kernel([box, rows](const KernelArguments& arguments) {
    fill_rows(arguments.out<char>(0), rows, box.row, [&](Index row, Filler& to) {
      const Index from = box.inwards(row);
      if (from < 0) {
        to.put(nullptr, box.row);
        return;
      }
      to.put(nullptr, box.start);
      to.put(arguments.in<char>(0) + from * box.taken, box.taken);
      to.put(nullptr, box.row - box.start - box.taken);
    });
  });
}

std::unique_ptr<Kernel> create_concat(const KernelRequest& request, std::string&) {
  const Shape& out = request.outputs[0].shape;
  const auto axis = static_cast<std::ptrdiff_t>(request.attributes.get<std::int64_t>("axis"));
  std::vector<Index> pieces;
  for (const Spec& input : request.inputs) {
    pieces.push_back(product(input.shape.begin() + axis, input.shape.end()) *
                     static_cast<Index>(dtype_size(input.dtype)));
  }
  const Index rows = product(out.begin(), out.begin() + axis);
  const Index row_bytes = std::accumulate(pieces.begin(), pieces.end(), Index{0});
  return make_kernel([rows, row_bytes, pieces = std::move(pieces)](const KernelArguments& arguments) {
    fill_rows(arguments.out<char>(0), rows, row_bytes, [&](Index row, Filler& to) {
      for (std::size_t i = 0; i < pieces.size(); ++i) to.put(arguments.in<char>(i) + row * pieces[i], pieces[i]);
    });
  });
}

std::unique_ptr<Kernel> create_split(const KernelRequest& request, std::string&) {
  const Shape& in = request.inputs[0].shape;
  const auto axis = static_cast<std::ptrdiff_t>(request.attributes.get<std::int64_t>("axis"));
  const Index rows = product(in.begin(), in.begin() + axis);
  const Index inner =
      product(in.begin() + axis + 1, in.end()) * static_cast<Index>(dtype_size(request.inputs[0].dtype));
  const Index row_bytes = in[static_cast<std::size_t>(axis)] * inner;
  std::vector<Index> pieces;
  for (const Index size : request.attributes.get<Shape>("sizes")) pieces.push_back(size * inner);
  return make_kernel([rows, row_bytes, pieces = std::move(pieces)](const KernelArguments& arguments) {
    const char* from = arguments.in<char>(0);
    for (std::size_t i = 0; i < pieces.size(); from += pieces[i++]) {
      fill_rows(arguments.out<char>(i), rows, pieces[i],
                [&](Index row, Filler& to) { to.put(from + row * row_bytes, pieces[i]); });
    }
  });
}

}  // namespace mezzo::reference
