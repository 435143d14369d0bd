#include <mezzo/backends/xsimd/finite.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/core/square_limit.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// A piece of one input, of fixed size so that sums don't depend on the number of threads.
struct Piece {
  std::size_t input;
  std::int64_t offset;  ///< in bytes
  std::int64_t count;
  FiniteFunctions::Check inspect;
};
using Pieces = std::vector<Piece>;

/// Factor for check(): elements of largest_square_root() / room and more overflow by it; 1 without a limit.
float factor_of(double room) {
  return room > 0 ? static_cast<float>(room * largest_square_root(DType::float32)) : 1.0F;
}

/// The pieces of all inputs from `first` on. Returns none and sets the reason if there is no function of a dtype.
Pieces pieces_of(const KernelRequest& request, std::size_t first, const PerStorage<FiniteFunctions::Check>& inspect,
                 std::string& reason) {
  Pieces pieces;
  for (std::size_t i = first; i < request.inputs.size(); ++i) {
    const Spec& spec = request.inputs[i];
    if (!is_stored(spec.dtype)) {
      decline_dtype(reason, spec.dtype);
      return {};
    }
    const std::int64_t count = element_count(spec.shape);
    for (std::int64_t begin = 0; begin < count; begin += grain) {
      pieces.push_back({i, begin * size_of(spec.dtype), std::min(grain, count - begin), inspect[spec.dtype]});
    }
  }
  return pieces;
}

/// The last piece comes first: it was written last and is in the cache. The first is left there for the update.
double sum_over(const Pieces& pieces, const KernelArguments& arguments, float factor) {
  auto* results = static_cast<double*>(arguments.scratch);
  parallel_for(static_cast<std::int64_t>(pieces.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = end; i-- > begin;) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      results[i] = piece.inspect(arguments.in<char>(piece.input) + piece.offset, piece.count, factor);
    }
  });
  double sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) sum += results[i];
  return sum;
}

std::unique_ptr<Kernel> make_all_finite(const KernelRequest& request, Isa isa, std::string& reason) {
  Pieces pieces = pieces_of(request, 0, kernels(isa).finite.check, reason);
  if (!reason.empty()) return nullptr;
  const std::size_t scratch = pieces.size() * sizeof(double);
  const float factor = factor_of(request.attributes.get_or("headroom", 0.0));
  const auto run = [pieces = std::move(pieces), factor](const KernelArguments& arguments) {
    *arguments.out<bool>(0) = std::isfinite(sum_over(pieces, arguments, factor));
  };
  return make_kernel(run, {}, scratch);
}

std::unique_ptr<Kernel> make_gradient_multiplier(const KernelRequest& request, Isa isa, std::string& reason) {
  const double clipnorm = request.attributes.get<double>("clipnorm");
  const FiniteFunctions& all = kernels(isa).finite;
  Pieces pieces = pieces_of(request, 1, clipnorm > 0 ? all.squares : all.check, reason);
  if (!reason.empty()) return nullptr;
  const std::size_t scratch = pieces.size() * sizeof(double);
  const double room = clipnorm > 0 ? 0 : request.attributes.get_or("headroom", 0.0);
  const auto run = [pieces = std::move(pieces), clipnorm, room](const KernelArguments& arguments) {
    const double scale = *arguments.in<double>(0);
    const double squares = sum_over(pieces, arguments, factor_of(room / scale));
    const double norm = std::sqrt(squares) / scale;
    *arguments.out<double>(0) = (clipnorm > 0 && norm > clipnorm ? clipnorm / norm : 1) / scale;
    *arguments.out<bool>(1) = std::isfinite(squares);
    *arguments.out<double>(2) = clipnorm > 0 ? squares : 0;
  };
  return make_kernel(run, {}, scratch);
}

std::unique_ptr<Kernel> make_nan_to_num(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const double most = finfo(dtype).max;
  const FiniteFunctions::Replacements replacements{
      .nan = static_cast<float>(request.attributes.get<double>("nan")),
      .high = static_cast<float>(request.attributes.get_or("posinf", most)),
      .low = static_cast<float>(request.attributes.get_or("neginf", -most))};
  const auto run = [replace = kernels(isa).finite.replace[dtype], replacements, size = size_of(dtype),
                    count = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      replace(arguments.in<char>(0) + begin * size, arguments.out<char>(0) + begin * size, end - begin, replacements);
    });
  };
  return make_kernel(run, like_output(request));
}

}  // namespace

Entries finite_entries() {
  return {entry<make_all_finite>("all_finite"), entry<make_gradient_multiplier>("gradient_multiplier"),
          entry<make_nan_to_num>("nan_to_num")};
}

}  // namespace mezzo::xsimd_kernels
