#include <mezzo/backends/xsimd/elementwise.hpp>

#include <algorithm>
#include <set>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// The functions of the request's op in a table. Returns null and sets the reason if there is no row.
template <class Row>
auto* functions_of(std::span<const Row> rows, const KernelRequest& request, std::string& reason) {
  const bool approximate = request.attributes.get_or<bool>("approximate", false);
  const double max_value = request.attributes.get_or("max_value", 0.0);
  for (const Row& row : rows) {
    const bool same = row.approximate == approximate && row.max_value == max_value;
    if (same && request.op->name == row.op) return &row.functions;
  }
  decline(reason, "has no kernel of {} with approximate = {}, max_value = {}", request.op->name, approximate,
          max_value);
  return static_cast<decltype(&rows[0].functions)>(nullptr);
}

std::unique_ptr<Kernel> make_unary(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const auto* functions = functions_of(kernels(isa).elementwise.unary, request, reason);
  if (functions == nullptr) return nullptr;
  const auto run = [function = (*functions)[dtype], size = size_of(dtype),
                    count = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      function(arguments.in<char>(0) + begin * size, arguments.out<char>(0) + begin * size, end - begin);
    });
  };
  return make_kernel(run, like_output(request));
}

/// Operands as a few arrays of rows of columns: of another offset each, with the same steps.
struct BinaryArrays {
  std::int64_t count, a, b;  ///< number of arrays, and elements from one to the next
  BinaryShape shape;         ///< of one array
};

/// Splits one long row over the threads by columns, several rows by rows.
void run_binary(ElementwiseFunctions::Binary function, const BinaryArrays& arrays, std::int64_t size,
                const KernelArguments& arguments) {
  const BinaryShape& shape = arrays.shape;
  const auto call = [&](std::int64_t a, std::int64_t b, std::int64_t out, std::int64_t rows, std::int64_t columns) {
    BinaryShape piece = shape;
    piece.rows = rows;
    piece.columns = columns;
    function(arguments.in<char>(0) + a * size, arguments.in<char>(1) + b * size, arguments.out<char>(0) + out * size,
             piece);
  };
  if (arrays.count * shape.rows == 1) {
    parallel_elements(shape.columns, [&](std::int64_t begin, std::int64_t end) {
      call(begin * shape.a_step, begin * shape.b_step, begin, 1, end - begin);
    });
    return;
  }
  parallel_for(arrays.count * shape.rows, grain_of(shape.columns), [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t array = begin / shape.rows, row = begin % shape.rows;
      const std::int64_t rows = std::min(end - begin, shape.rows - row);
      call(array * arrays.a + row * shape.a_row, array * arrays.b + row * shape.b_row, begin * shape.columns, rows,
           shape.columns);
      begin += rows;
    }
  });
}

std::unique_ptr<Kernel> make_binary(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape, &out = request.outputs[0].shape;
  const Walk walk(out, {broadcast_strides(a, out), broadcast_strides(b, out)});
  if (walk.axes() > 3) {
    return decline(reason, "takes shapes that merge to 3 axes; got {} axes from {} and {}", walk.axes(), a, b);
  }
  const auto* functions = functions_of(kernels(isa).elementwise.binary, request, reason);
  if (functions == nullptr) return nullptr;
  const std::int64_t count = walk.axes() == 3 ? walk.axis_size(0) : 1, rows = walk.rows() / count;
  const BinaryArrays arrays{.count = count,
                            .a = count > 1 ? walk.offset(0, rows) : 0,
                            .b = count > 1 ? walk.offset(1, rows) : 0,
                            .shape = {.rows = rows,
                                      .columns = walk.row_size(),
                                      .a_row = walk.offset(0, 1),
                                      .b_row = walk.offset(1, 1),
                                      .a_step = walk.step(0),
                                      .b_step = walk.step(1)}};
  const auto run = [function = (*functions)[dtype], size = size_of(dtype), arrays](const KernelArguments& arguments) {
    run_binary(function, arrays, size, arguments);
  };
  return make_kernel(run, like_output(request));
}

/// Adds an entry for each op of a table. An op with two rows gets one entry.
template <Make make, class Row>
void add_entries(Entries& entries, std::span<const Row> rows) {
  std::set<std::string> seen;
  for (const Row& row : rows) {
    if (seen.insert(row.op).second) entries.push_back(entry<make>(row.op));
  }
}

}  // namespace

Entries elementwise_entries() {
  const ElementwiseFunctions& tables = any_kernels().elementwise;
  Entries entries;
  add_entries<make_unary>(entries, tables.unary);
  add_entries<make_binary>(entries, tables.binary);
  return entries;
}

}  // namespace mezzo::xsimd_kernels
