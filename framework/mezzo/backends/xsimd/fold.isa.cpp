#include <mezzo/backends/xsimd/bands.hpp>
#include <mezzo/backends/xsimd/fold.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

constexpr std::int32_t least_int = -2147483647 - 1, largest_int = 2147483647;

template <bool lowest>
[[gnu::always_inline]] inline Ints rank(const Floats& x) {
  const Ints bits = xsimd::bitwise_cast<Ints>(x + Floats(0.0F));  // denormals are 0 if arithmetic takes them for it
  const Ints ascending = xsimd::select(bits < Ints(0), Ints(least_int) - bits, bits);
  const Ints order = lowest ? ~ascending : ascending;
  const Ints magnitude = bits & Ints(largest_int);
  return xsimd::select(magnitude > Ints(0x7f800000), Ints(largest_int), order);
}

/// A number without influence on the highest rank, for the unused lanes of the last register.
template <bool lowest>
[[gnu::always_inline]] inline Floats filling() {
  return Floats(lowest ? __builtin_inff() : -__builtin_inff());
}

[[gnu::always_inline]] inline Ints higher(const Ints& a, const Ints& b) { return xsimd::select(a > b, a, b); }

/// The highest rank of up to some thousand elements.
template <bool lowest, class T>
[[gnu::always_inline]] inline std::int32_t highest_rank(const T* x, std::int64_t count) {
  constexpr int chains = 4;  // independent comparisons, to hide their latency
  Ints best[chains];
  for (Ints& one : best) one = Ints(least_int);
  std::int64_t i = 0;
  for (; i + chains * lanes <= count; i += chains * lanes) {
    for (int j = 0; j < chains * lanes; j += stride) prefetch_ahead(x + i + j);
    for (int j = 0; j < chains; ++j) best[j] = higher(rank<lowest>(load(x + i + j * lanes, Whole{})), best[j]);
  }
  for (; i + lanes <= count; i += lanes) best[0] = higher(rank<lowest>(load(x + i, Whole{})), best[0]);
  if (i < count) {
    const Part part = first_lanes(count - i);
    best[1] = higher(rank<lowest>(only(load(x + i, part), filling<lowest>(), part)), best[1]);
  }
  for (int half = chains / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) best[j] = higher(best[j], best[j + half]);
  }
  std::int32_t of_lane[lanes], all = least_int;
  best[0].store_unaligned(of_lane);
  for (int k = 0; k < lanes; ++k) all = of_lane[k] > all ? of_lane[k] : all;
  return all;
}

template <bool lowest, class T>
[[gnu::flatten]] void ranks_of_rows(const void* x, std::int64_t rows, std::int64_t columns, std::int32_t* ranks) {
  const T* row = static_cast<const T*>(x);
  for (std::int64_t i = 0; i < rows; ++i, row += columns) ranks[i] = highest_rank<lowest>(row, columns);
}

/// The highest rank of each lane, and the index of the register that has it first.
struct Leader {
  Ints rank = Ints(least_int), place = Ints(0);

  [[gnu::always_inline]] void meet(const Ints& other, const Ints& here) {
    const IntMask above = other > rank;
    place = xsimd::select(above, here, place);
    rank = xsimd::select(above, other, rank);
  }
};

template <bool lowest, class T>
[[gnu::flatten]] void places_in_rows(const void* x, std::int64_t rows, std::int64_t columns, std::int32_t* ranks,
                                     std::int32_t* places) {
  constexpr int chains = 4;
  const T* row = static_cast<const T*>(x);
  for (std::int64_t r = 0; r < rows; ++r, row += columns) {
    Leader leaders[chains];
    std::int64_t i = 0;
    for (; i + chains * lanes <= columns; i += chains * lanes) {
      for (int j = 0; j < chains * lanes; j += stride) prefetch_ahead(row + i + j);
      const Ints here(static_cast<std::int32_t>(i));
      for (int j = 0; j < chains; ++j) leaders[j].meet(rank<lowest>(load(row + i + j * lanes, Whole{})), here);
    }
    Leader last;  // of the remaining registers
    for_registers(i, columns, [&](std::int64_t j, auto part) {
      last.meet(rank<lowest>(only(load(row + j, part), filling<lowest>(), part)), Ints(static_cast<std::int32_t>(j)));
    });
    std::int32_t best = least_int;
    std::int64_t place = 0;
    const auto add = [&](const Leader& leader, std::int64_t offset) {
      std::int32_t rank_of_lane[lanes], place_of_lane[lanes];
      leader.rank.store_unaligned(rank_of_lane);
      leader.place.store_unaligned(place_of_lane);
      for (int k = 0; k < lanes; ++k) {
        const std::int64_t at = place_of_lane[k] + offset + k;
        if (rank_of_lane[k] < best || (rank_of_lane[k] == best && at >= place)) continue;
        best = rank_of_lane[k];
        place = at;
      }
    };
    for (int j = 0; j < chains; ++j) add(leaders[j], j * lanes);
    add(last, 0);
    ranks[r] = best;
    places[r] = static_cast<std::int32_t>(place);
  }
}

[[gnu::always_inline]] inline Ints load_some(const std::int32_t* p, Whole) { return Ints::load_unaligned(p); }
[[gnu::always_inline]] inline Ints load_some(const std::int32_t* p, Part part) {
  std::int32_t whole[lanes] = {};
  for (int i = 0; i < part.count; ++i) whole[i] = p[i];
  return Ints::load_unaligned(whole);
}

[[gnu::always_inline]] inline void store_some(std::int32_t* p, const Ints& x, Whole) { x.store_unaligned(p); }
[[gnu::always_inline]] inline void store_some(std::int32_t* p, const Ints& x, Part part) {
  std::int32_t whole[lanes];
  x.store_unaligned(whole);
  for (int i = 0; i < part.count; ++i) p[i] = whole[i];
}

template <bool lowest, class T>
[[gnu::flatten]] void ranks_of_columns(const void* x, std::int64_t rows, std::int64_t columns,
                                       std::int64_t stride_of_rows, std::int32_t* ranks) {
  for (std::int64_t i = 0; i < columns; ++i) ranks[i] = least_int;
  for_bands(rows, columns, [=](std::int64_t row, auto height, std::int64_t column, auto part) {
    const T* p = static_cast<const T*>(x) + row * stride_of_rows + column;
    Ints best = load_some(ranks + column, part);
    for (int i = 0; i < decltype(height)::size; ++i)
      best = higher(rank<lowest>(load(p + i * stride_of_rows, part)), best);
    store_some(ranks + column, best, part);
  });
}

template <bool lowest, class T>
[[gnu::flatten]] void places_in_columns(const void* x, std::int64_t rows, std::int64_t columns,
                                        std::int64_t stride_of_rows, std::int32_t* ranks, std::int32_t* places) {
  for (std::int64_t i = 0; i < columns; ++i) {
    ranks[i] = least_int;
    places[i] = 0;
  }
  for_bands(rows, columns, [=](std::int64_t row, auto height, std::int64_t column, auto part) {
    const T* p = static_cast<const T*>(x) + row * stride_of_rows + column;
    Leader leader;
    leader.rank = load_some(ranks + column, part);
    leader.place = load_some(places + column, part);
    for (int i = 0; i < decltype(height)::size; ++i) {
      leader.meet(rank<lowest>(load(p + i * stride_of_rows, part)), Ints(static_cast<std::int32_t>(row + i)));
    }
    store_some(ranks + column, leader.rank, part);
    store_some(places + column, leader.place, part);
  });
}

/// Products in double, each of the elements of one lane.
struct Product {
  DoubleRegister low, high;

  [[gnu::always_inline]] Product() { widen(Floats(1.0F).data, low, high); }

  [[gnu::always_inline]] void multiply(const Floats& x) {
    DoubleRegister x_low, x_high;
    widen(x.data, x_low, x_high);
    low = low * x_low;
    high = high * x_high;
  }

  [[gnu::always_inline]] void store(double* p) const {
    __builtin_memcpy(p, &low, sizeof low);
    __builtin_memcpy(p + lanes / 2, &high, sizeof high);
  }
};

template <class T>
[[gnu::flatten]] void products_of_rows(const void* x, std::int64_t rows, std::int64_t columns, double* products) {
  const T* row = static_cast<const T*>(x);
  for (std::int64_t r = 0; r < rows; ++r, row += columns) {
    constexpr int chains = 4;
    Product all[chains];
    std::int64_t i = 0;
    for (; i + chains * lanes <= columns; i += chains * lanes) {
      for (int j = 0; j < chains * lanes; j += stride) prefetch_ahead(row + i + j);
      for (int j = 0; j < chains; ++j) all[j].multiply(load(row + i + j * lanes, Whole{}));
    }
    for_registers(i, columns,
                  [&](std::int64_t j, auto part) { all[0].multiply(only(load(row + j, part), Floats(1.0F), part)); });
    double product = 1;
    for (const Product& one : all) {
      double of_lane[lanes];
      one.store(of_lane);
      for (const double factor : of_lane) product *= factor;
    }
    products[r] = product;
  }
}

template <class T>
[[gnu::flatten]] void products_of_columns(const void* x, std::int64_t rows, std::int64_t columns,
                                          std::int64_t stride_of_rows, double* products) {
  for (std::int64_t i = 0; i < columns; ++i) products[i] = 1;
  for_bands(rows, columns, [=](std::int64_t row, auto height, std::int64_t column, auto part) {
    const T* p = static_cast<const T*>(x) + row * stride_of_rows + column;
    double* const to = products + column;
    Product product;
    for (int i = 0; i < decltype(height)::size; ++i) product.multiply(load(p + i * stride_of_rows, part));
    double of_lane[lanes];
    product.store(of_lane);
    for (int i = 0; i < lanes_of(part); ++i) to[i] *= of_lane[i];
  });
}

template <bool lowest>
constexpr FoldFunctions::Extreme extreme{
    .rows = {.float32 = ranks_of_rows<lowest, float>,
             .bfloat16 = ranks_of_rows<lowest, bfloat16>,
             .float16 = ranks_of_rows<lowest, float16>},
    .columns = {.float32 = ranks_of_columns<lowest, float>,
                .bfloat16 = ranks_of_columns<lowest, bfloat16>,
                .float16 = ranks_of_columns<lowest, float16>},
    .row_places = {.float32 = places_in_rows<lowest, float>,
                   .bfloat16 = places_in_rows<lowest, bfloat16>,
                   .float16 = places_in_rows<lowest, float16>},
    .column_places = {.float32 = places_in_columns<lowest, float>,
                      .bfloat16 = places_in_columns<lowest, bfloat16>,
                      .float16 = places_in_columns<lowest, float16>},
};

}  // namespace

constexpr FoldFunctions fold{
    .max = extreme<false>,
    .min = extreme<true>,
    .row_products = {.float32 = products_of_rows<float>,
                     .bfloat16 = products_of_rows<bfloat16>,
                     .float16 = products_of_rows<float16>},
    .column_products = {.float32 = products_of_columns<float>,
                        .bfloat16 = products_of_columns<bfloat16>,
                        .float16 = products_of_columns<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
