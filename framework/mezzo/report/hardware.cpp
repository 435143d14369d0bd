#include <mezzo/report/hardware.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/text_table.hpp>

namespace mezzo {
namespace {

const char* support_name(Support support) {
  switch (support) {
    case Support::native:
      return "native";
    case Support::emulated:
      return "emulated";
    case Support::absent:
      break;
  }
  return "absent";
}

/// float16 and bfloat16 are native if oneDNN's own kernels of that dtype are used. Otherwise they are widened.
const char* products_name(DType dtype, const ProductRates& rates) {
  const bool wide = dtype == DType::float32 || dtype == DType::float64;
  return wide || (rates.kernels == "onednn" && dtype_support(dtype) == Support::native) ? "native" : "emulated";
}

std::string number_text(double number, int digits) { return number > 0 ? fmt::format("{:.{}f}", number, digits) : "-"; }

}  // namespace

Hardware hardware() {
  Hardware out{.cpu = cpu_name(),
               .cores = available_cores(),
               .quota = cpu_quota(),
               .threads = thread_count(),
               .isa = isa_name(isa()),
               .amx = has_amx(),
               .dtypes = {}};
  const std::vector<DType> dtypes{DType::float32, DType::bfloat16, DType::float16};
  constexpr int rounds = 20;
  std::vector<ProductRates> rates = product_rates(dtypes, rounds);
  rates.push_back(product_rates({DType::float64}, 2).front());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const DType dtype = i < dtypes.size() ? dtypes[i] : DType::float64;
    const double float32 = rates[0].matmul * rates[0].conv2d;
    const double ratio = float32 > 0 ? std::sqrt(rates[i].matmul * rates[i].conv2d / float32) : 0;
    out.dtypes.push_back({.dtype = dtype,
                          .onednn = support_name(dtype_support(dtype)),
                          .products = products_name(dtype, rates[i]),
                          .matmul = rates[i].matmul,
                          .conv2d = rates[i].conv2d,
                          .of_float32 = ratio});
  }
  return out;
}

std::string Hardware::text() const {
  const std::string limit = quota > 0 ? fmt::format("{:.3g} cores", quota) : "none";
  std::string out = fmt::format("{}\ncores {}, quota {}, threads {}\ninstruction set {}, AMX {}\n\n", cpu, cores, limit,
                                threads, isa, amx ? "yes" : "no");
  std::vector<std::vector<std::string>> rows;
  for (const DTypeHardware& entry : dtypes) {
    rows.push_back({dtype_name(entry.dtype), entry.onednn, entry.products, number_text(entry.matmul, 0),
                    number_text(entry.conv2d, 0), number_text(entry.of_float32, 2)});
  }
  for (const std::string& line : detail::table_lines({{"dtype", false},
                                                      {"in oneDNN", false},
                                                      {"products here", false},
                                                      {"matmul GFLOP/s", true},
                                                      {"conv2d GFLOP/s", true},
                                                      {"of float32", true}},
                                                     rows)) {
    out += line + "\n";
  }
  const bool measured = std::all_of(dtypes.begin(), dtypes.end(), [](const DTypeHardware& entry) {
    return entry.matmul > 0 && entry.conv2d > 0 && entry.of_float32 > 0;
  });
  return measured ? out : out + "-: not measurable, two halves of the measurement differ by more than a tenth\n";
}

}  // namespace mezzo
