#include <algorithm>
#include <optional>

#include <mezzo/onnx/export_node.hpp>

// Constants that a layer makes for the sizes of its inputs: positions, masks, shares of a size.
namespace mezzo::detail {
namespace {

using Elements = std::vector<double>;

/// The constant in all traces.
struct OpenConstant {
  TracedShape shape;
  std::vector<Elements> elements;
  DType dtype;

  std::size_t rank() const { return shape.size(); }
  bool open(std::size_t axis) const { return !is_fixed(shape[axis]); }
  Shape shape_in(std::size_t trace) const {
    Shape out;
    for (const TracedNumber& size : shape) out.push_back(size[trace]);
    return out;
  }
};

/// Calls visit(element, indices) for all elements of a trace.
template <class Visit>
void for_each_element(const OpenConstant& x, std::size_t trace, Visit visit) {
  const Shape shape = x.shape_in(trace);
  Shape at(shape.size(), 0);
  for (const double element : x.elements[trace]) {
    visit(element, at);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

/// base + the sum of index times step over the open axes.
struct Slopes {
  Elements base;  // at index 0 of the open axes
  Shape base_shape;
  Elements steps;  // by axis
};

std::optional<Slopes> slopes_of(const OpenConstant& x) {
  Slopes out{{}, x.shape_in(0), Elements(x.rank(), 0)};
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (x.open(axis)) out.base_shape[axis] = 1;
  }
  const Shape strides = row_major_strides(x.shape_in(0));
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (x.open(axis)) out.steps[axis] = x.elements[0][static_cast<std::size_t>(strides[axis])] - x.elements[0][0];
  }
  for_each_element(x, 0, [&](double element, const Shape& at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (x.open(axis) && at[axis] != 0) return;
    }
    out.base.push_back(element);
  });
  const Shape base_strides = row_major_strides(out.base_shape);
  bool same = true;
  for (std::size_t trace = 0; trace < x.elements.size(); ++trace) {
    for_each_element(x, trace, [&](double element, const Shape& at) {
      double expected = 0;
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis) {
        if (x.open(axis)) {
          expected += out.steps[axis] * static_cast<double>(at[axis]);
        } else {
          place += base_strides[axis] * at[axis];
        }
      }
      same = same && element == expected + out.base[static_cast<std::size_t>(place)];
    });
  }
  if (!same) return {};
  return out;
}

class ConstantWriter {
 public:
  ConstantWriter(const OpenConstant& x, ExportGraph& graph, ExportSizes& sizes, const std::string& where)
      : x_(x), graph_(graph), sizes_(sizes), where_(where) {}

  std::string write_slopes(const Slopes& slopes) const {
    const DType dtype = x_.dtype == DType::boolean ? DType::boolean : x_.dtype;
    std::string out = graph_.constant(Tensor(slopes.base_shape, slopes.base).cast(dtype));
    bool whole = true;
    for (std::size_t axis = 0; axis < x_.rank(); ++axis) {
      if (!x_.open(axis)) continue;
      if (slopes.steps[axis] == 0) {
        whole = false;
        continue;
      }
      const std::string places = graph_.cast(range(axis), graph_.written(dtype));
      const std::string step = graph_.scalar(slopes.steps[axis], graph_.written(dtype));
      out = graph_.add("Add", {out, slopes.steps[axis] == 1 ? places : graph_.add("Mul", {places, step})});
    }
    return whole ? out : graph_.add("Expand", {out, sizes_.list(x_.shape, where_)});
  }

  /// True where the index of the axis before the last one is at least, or at most, `shift` from that of the last one.
  std::string write_band(std::int64_t shift, bool below) const {
    const std::string query = range(x_.rank() - 2), key = range(x_.rank() - 1);
    const std::string distance = graph_.add("Sub", {query, key}), bound = graph_.ints({shift});
    const std::string less = graph_.add_as(DType::boolean, "Less", {distance, bound});
    return below ? less : graph_.add("Not", {less});
  }

 private:
  /// 0, 1, 2, ... along an axis, int64 with as many axes as the constant.
  std::string range(std::size_t axis) const {
    const auto number = [&](std::int64_t value) {
      return graph_.constant(Tensor({}, std::vector<std::int64_t>{value}));
    };
    const std::string places =
        graph_.add_as(DType::int64, "Range", {number(0), sizes_.scalar(x_.shape[axis], where_), number(1)});
    Shape others;
    for (std::size_t i = 0; i < x_.rank(); ++i) {
      if (i != axis) others.push_back(static_cast<std::int64_t>(i));
    }
    return others.empty() ? places : graph_.add("Unsqueeze", {places, graph_.ints(others)});
  }

  const OpenConstant& x_;
  ExportGraph& graph_;
  ExportSizes& sizes_;
  const std::string& where_;
};

/// Bounds of a band around the diagonal of the last two axes: the mask is query - key < shift, or the opposite.
std::optional<std::pair<std::int64_t, bool>> band_of(const OpenConstant& x) {
  if (x.dtype != DType::boolean || x.rank() < 2) return {};
  for (std::size_t axis = 0; axis + 2 < x.rank(); ++axis) {
    if (x.shape[axis].front() != 1 || x.open(axis)) return {};
  }
  for (const bool below : {false, true}) {
    // The least distance that is not below the bound.
    std::optional<std::int64_t> shift;
    for_each_element(x, 0, [&](double element, const Shape& at) {
      const std::int64_t distance = at[x.rank() - 2] - at[x.rank() - 1];
      if ((element == 0) == below) shift = std::min(shift.value_or(distance), distance);
    });
    if (!shift) continue;
    bool same = true;
    for (std::size_t trace = 0; trace < x.elements.size(); ++trace) {
      for_each_element(x, trace, [&](double element, const Shape& at) {
        same = same && ((at[x.rank() - 2] - at[x.rank() - 1] < *shift) == below) == (element != 0);
      });
    }
    if (same) return std::pair{*shift, below};
  }
  return {};
}

OpenConstant constant_of(const TracedNode& node) {
  OpenConstant x{TracedShape(node.front()->outputs[0].shape.size()), {}, node.front()->outputs[0].dtype};
  for (const Node* one : node) {
    const Tensor& value = one->attributes.get<Tensor>("value");
    for (std::size_t axis = 0; axis < x.rank(); ++axis) x.shape[axis].push_back(value.shape()[axis]);
    x.elements.push_back(value.to_doubles());
  }
  return x;
}

/// The only open axis, if the constant of each trace is the beginning of the last trace's along it.
std::optional<std::size_t> table_axis(const OpenConstant& x) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!x.open(i)) continue;
    if (axis) return {};
    axis = i;
  }
  const Shape strides = row_major_strides(x.shape_in(x.elements.size() - 1));
  bool same = axis.has_value();
  for (std::size_t trace = 0; same && trace + 1 < x.elements.size(); ++trace) {
    same = x.shape[*axis][trace] <= x.shape[*axis].back();
    if (!same) break;
    for_each_element(x, trace, [&](double element, const Shape& at) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < at.size(); ++i) place += at[i] * strides[i];
      same = same && element == x.elements.back()[static_cast<std::size_t>(place)];
    });
  }
  return same ? axis : std::nullopt;
}

}  // namespace

std::string export_open_constant(const TracedNode& node, ExportGraph& graph, ExportSizes& sizes) {
  const OpenConstant x = constant_of(node);
  const std::string& where = node.front()->where;
  const ConstantWriter writer(x, graph, sizes, where);
  if (x.rank() == 0) {
    Elements numbers;
    for (const Elements& one : x.elements) numbers.push_back(one[0]);
    const auto name = sizes.share(numbers, x.dtype);
    if (name) return *name;
  } else if (const auto slopes = slopes_of(x)) {
    return writer.write_slopes(*slopes);
  }
  if (const auto band = band_of(x)) return writer.write_band(band->first, band->second);
  if (const auto axis = table_axis(x)) {
    const std::string table = graph.constant(node.back()->attributes.get<Tensor>("value"));
    const std::string axes = graph.ints({static_cast<std::int64_t>(*axis)});
    return graph.add("Slice", {table, graph.ints({0}), sizes.list({x.shape[*axis]}, where), axes});
  }
  fail<ValueError>(where,
                   "export_onnx: numbers that a layer makes for an open size must be positions, masks or a table, but "
                   "those of interpolation are others: give the Inputs fixed sizes here; got an array of shape {} for "
                   "one size",
                   x.shape_in(0));
}

bool has_tables(const ExportTraces& traces) {
  std::vector<const Graph*> graphs;
  for (const Graph& graph : traces.graphs) graphs.push_back(&graph);
  std::string difference;
  const AlignedGraphs aligned(graphs, difference);
  return std::any_of(aligned.nodes().begin(), aligned.nodes().end(), [](const TracedNode& node) {
    if (node.front()->op->name != "constant" || node.front()->outputs[0].shape.empty()) return false;
    const OpenConstant x = constant_of(node);
    const bool open = !std::all_of(x.shape.begin(), x.shape.end(), is_fixed);
    return open && !slopes_of(x) && !band_of(x) && table_axis(x);
  });
}

}  // namespace mezzo::detail
