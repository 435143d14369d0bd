#include <mezzo/backends/xsimd/elementwise.hpp>

#include <set>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// The functions of the request's op out of a table. Returns null and sets the reason if there is no row.
template <class Row>
auto* functions_of(std::span<const Row> rows, const KernelRequest& request, std::string& reason) {
  const bool approximate = request.attributes.get_or<bool>("approximate", false);
  for (const Row& row : rows) {
    if (request.op->name == row.op && row.approximate == approximate) return &row.functions;
  }
  decline(reason, "has no kernel of {} with approximate = {}", request.op->name, approximate);
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

/// Splits one long row over the threads by columns, several rows by rows.
void run_binary(ElementwiseFunctions::Binary function, const BinaryShape& shape, std::int64_t size,
                const KernelArguments& arguments) {
  const auto call = [&](std::int64_t a, std::int64_t b, std::int64_t out, std::int64_t rows, std::int64_t columns) {
    BinaryShape piece = shape;
    piece.rows = rows;
    piece.columns = columns;
    function(arguments.in<char>(0) + a * size, arguments.in<char>(1) + b * size, arguments.out<char>(0) + out * size,
             piece);
  };
  if (shape.rows == 1) {
    parallel_elements(shape.columns, [&](std::int64_t begin, std::int64_t end) {
      call(begin * shape.a_step, begin * shape.b_step, begin, 1, end - begin);
    });
  } else {
    parallel_for(shape.rows, grain_of(shape.columns), [&](std::int64_t begin, std::int64_t end) {
      call(begin * shape.a_row, begin * shape.b_row, begin * shape.columns, end - begin, shape.columns);
    });
  }
}

std::unique_ptr<Kernel> make_binary(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape, &out = request.outputs[0].shape;
  const Walk walk(out, {broadcast_strides(a, out), broadcast_strides(b, out)});
  if (walk.axes() > 2) {
    return decline(reason, "takes shapes that merge to 2 axes; got {} axes from {} and {}", walk.axes(), a, b);
  }
  const auto* functions = functions_of(kernels(isa).elementwise.binary, request, reason);
  if (functions == nullptr) return nullptr;
  const BinaryShape merged{.rows = walk.rows(),
                           .columns = walk.row_size(),
                           .a_row = walk.offset(0, 1),
                           .b_row = walk.offset(1, 1),
                           .a_step = walk.step(0),
                           .b_step = walk.step(1)};
  const auto run = [function = (*functions)[dtype], size = size_of(dtype), merged](const KernelArguments& arguments) {
    run_binary(function, merged, size, arguments);
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
  const ElementwiseFunctions& tables = kernels(Isa::sse2).elementwise;  // the ops are the same for every ISA
  Entries entries;
  add_entries<make_unary>(entries, tables.unary);
  add_entries<make_binary>(entries, tables.binary);
  return entries;
}

}  // namespace mezzo::xsimd_kernels
