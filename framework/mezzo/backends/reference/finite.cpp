#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/square_limit.hpp>
#include <mezzo/core/visit.hpp>

// Any floating dtype: elements are only read.
namespace mezzo::reference {
namespace {

/// A piece of one input. Pieces have a fixed size, so sums do not depend on the number of threads.
struct Piece {
  std::size_t input;
  std::int64_t begin, end;
  DType dtype;
};

/// Statistics of a piece.
struct Finding {
  double squares;  ///< sum of the squared elements
  bool finite;     ///< true if all elements are finite and within the limit
};

std::vector<Piece> pieces_of(const KernelRequest& request, std::size_t first_input) {
  std::vector<Piece> pieces;
  for (std::size_t i = first_input; i < request.inputs.size(); ++i) {
    const std::int64_t size = element_count(request.inputs[i].shape);
    for (std::int64_t begin = 0; begin < size; begin += grain) {
      pieces.push_back({i, begin, std::min(begin + grain, size), request.inputs[i].dtype});
    }
  }
  return pieces;
}

/// `room`: elements must be below largest_square_root() / room; 0: no limit.
Finding statistics(const Piece& piece, const KernelArguments& arguments, double room) {
  const double limit = largest_square_root(piece.dtype);
  return visit_dtype(piece.dtype, [&](auto zero) {
    const auto* x = arguments.in<decltype(zero)>(piece.input);
    Finding found{0, true};
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      double element = 0;
      if constexpr (std::is_class_v<decltype(zero)>) {
        element = static_cast<double>(static_cast<float>(x[i]));
      } else {
        element = static_cast<double>(x[i]);
      }
      found.squares += element * element;
      found.finite = found.finite && std::isfinite(element) && (room == 0 || std::abs(element) * room < limit);
    }
    return found;
  });
}

/// Statistics of all pieces together. Scratch holds one Finding for each piece.
Finding statistics(const std::vector<Piece>& pieces, const KernelArguments& arguments, double room) {
  auto* found = static_cast<Finding*>(arguments.scratch);
  const auto count = static_cast<std::int64_t>(pieces.size());
  parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      found[i] = statistics(pieces[static_cast<std::size_t>(i)], arguments, room);
    }
  });
  Finding all{0, true};
  for (std::int64_t i = 0; i < count; ++i) {
    all.squares += found[i].squares;
    all.finite = all.finite && found[i].finite;
  }
  return all;
}

}  // namespace

std::unique_ptr<Kernel> create_all_finite(const KernelRequest& request, std::string&) {
  std::vector<Piece> pieces = pieces_of(request, 0);
  const std::size_t scratch = pieces.size() * sizeof(Finding);
  return make_kernel(
      [pieces = std::move(pieces), room = request.attributes.get_or("headroom", 0.0)](
          const KernelArguments& arguments) { *arguments.out<bool>(0) = statistics(pieces, arguments, room).finite; },
      {}, scratch);
}

std::unique_ptr<Kernel> create_gradient_multiplier(const KernelRequest& request, std::string&) {
  std::vector<Piece> pieces = pieces_of(request, 1);
  const std::size_t scratch = pieces.size() * sizeof(Finding);
  const double clipnorm = request.attributes.get<double>("clipnorm");
  const double room = clipnorm > 0 ? 0 : request.attributes.get_or("headroom", 0.0);
  return make_kernel(
      [pieces = std::move(pieces), clipnorm, room](const KernelArguments& arguments) {
        const double scale = *arguments.in<double>(0);
        const Finding found = statistics(pieces, arguments, room / scale);
        const double norm = std::sqrt(found.squares) / scale;
        *arguments.out<double>(0) = (clipnorm > 0 && norm > clipnorm ? clipnorm / norm : 1) / scale;
        *arguments.out<bool>(1) = found.finite;
        *arguments.out<double>(2) = clipnorm > 0 ? found.squares : 0;
      },
      {}, scratch);
}

}  // namespace mezzo::reference
