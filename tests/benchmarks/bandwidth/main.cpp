// Bandwidth of single ops against that of a triad, a = b + s c, in the same run.
//
// mezzo_bandwidth [--kib N] [--rounds N] [--only REGEX] [--below]
//
// Prints a table of Markdown: each op of the tables with its dtypes, GB/s, share of the triad and kernel. Each operand
// counts as read once and each result as written once; neither here nor in the triad does the read count that a write
// to memory costs. A round times the triad and then the op; figures are medians. With --below, only the ops below half
// of the triad's bandwidth. The last line names ops on arrays without a case. Exit code 1: an op fails.
#include <emmintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/op_registry.hpp>

#include "../median.hpp"
#include "cases.hpp"

namespace mezzo_bandwidth {
namespace {

using mezzo_bench::median;
using Clock = std::chrono::steady_clock;
using Index = std::int64_t;

/// Memory that cases use in turn, aligned to 64 bytes.
class Buffer {
 public:
  char* get(std::size_t bytes) {
    if (bytes > size_) {
      size_ = (bytes + 4095) / 4096 * 4096;
      data_.reset(static_cast<char*>(std::aligned_alloc(4096, size_)));
      if (!data_) throw std::bad_alloc();
    }
    return data_.get();
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
};

Buffer& buffer(std::size_t i) {
  static std::vector<std::unique_ptr<Buffer>> all;
  while (all.size() <= i) all.push_back(std::make_unique<Buffer>());
  return *all[i];
}

template <class Run>
double seconds(const Run& run) {
  const auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// a = b + 3 c on all threads. Returns GB/s.
double triad(std::size_t bytes) {
  const auto count = static_cast<Index>(bytes / sizeof(float));
  auto* a = reinterpret_cast<float*>(buffer(0).get(bytes));
  auto* b = reinterpret_cast<float*>(buffer(1).get(bytes));
  auto* c = reinterpret_cast<float*>(buffer(2).get(bytes));
  const double time = seconds([&] {
    mezzo::parallel_for(count / 4, mezzo::grain, [&](Index begin, Index end) {
      const __m128 three = _mm_set1_ps(3);
      for (Index i = begin * 4; i < end * 4; i += 4) {
        _mm_store_ps(a + i, _mm_add_ps(_mm_load_ps(b + i), _mm_mul_ps(three, _mm_load_ps(c + i))));
      }
    });
  });
  return 3e-9 * static_cast<double>(bytes) / time;
}

/// Fills memory with a pattern of numbers within the operand's bounds.
void fill(const Operand& operand, char* to) {
  const Index count = mezzo::element_count(operand.spec.shape);
  const Index period = operand.ascending ? count : std::min<Index>(count, 65521);
  std::vector<double> numbers(static_cast<std::size_t>(period));
  double fraction = 0;
  for (double& number : numbers) {
    fraction += 0.6180339887498949;
    if (fraction >= 1) fraction -= 1;
    const double place =
        operand.ascending ? static_cast<double>(&number - numbers.data()) / static_cast<double>(period) : fraction;
    number = operand.low + place * (operand.high - operand.low);
  }
  if (!is_floating(operand.spec.dtype)) {
    for (double& number : numbers) number = std::floor(number);
  }
  const mezzo::Tensor pattern = mezzo::Tensor({period}, numbers).cast(operand.spec.dtype);
  const std::size_t size = mezzo::dtype_size(operand.spec.dtype);
  for (Index i = 0; i < count; i += period) {
    std::memcpy(to + static_cast<std::size_t>(i) * size, pattern.raw(),
                static_cast<std::size_t>(std::min(period, count - i)) * size);
  }
}

std::size_t bytes_of_spec(const mezzo::Spec& spec) {
  return static_cast<std::size_t>(mezzo::element_count(spec.shape)) * mezzo::dtype_size(spec.dtype);
}

struct Result {
  double gb_per_s = 0, share = 0;
  std::string kernel;
};

Result measure(const Case& one, std::size_t triad_bytes, int rounds) {
  mezzo::KernelRequest request;
  request.op = &mezzo::find_op(one.op);
  request.attributes = one.attributes;
  for (const Operand& operand : one.operands) request.inputs.push_back(operand.spec);
  request.where = "[" + one.op + "]";
  request.outputs = request.op->infer({request.inputs, request.attributes, request.where});
  const mezzo::detail::ChosenKernel chosen = mezzo::choose_kernel(request);
  std::vector<const void*> in;
  std::vector<void*> out;
  std::size_t next = 3, bytes = 0;
  for (const Operand& operand : one.operands) {
    char* const to = buffer(next++).get(bytes_of_spec(operand.spec));
    fill(operand, to);
    in.push_back(to);
    bytes += bytes_of_spec(operand.spec);
  }
  for (const mezzo::Spec& spec : request.outputs) {
    out.push_back(buffer(next++).get(bytes_of_spec(spec)));
    bytes += bytes_of_spec(spec);
  }
  void* scratch = buffer(next).get(chosen.kernel->scratch_bytes());
  const auto run = [&] { chosen.kernel->run({in.data(), out.data(), scratch}); };
  run();
  const double first = seconds(run);
  constexpr double long_run = 0.25;  // seconds; long runs are far below the limit and timed once more only
  std::vector<double> times, triads;
  for (int i = 0; i < (first > long_run ? 1 : rounds); ++i) {
    triads.push_back(triad(triad_bytes));
    times.push_back(first > long_run ? first : seconds(run));
  }
  const double rate = 1e-9 * static_cast<double>(bytes) / median(times);
  const std::string detail = chosen.kernel->detail();
  return {rate, rate / median(triads), chosen.implementation + (detail.empty() ? "" : ":" + detail)};
}

struct Options {
  Index kib = 65536;
  int rounds = 5;
  std::string only;
  bool below = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--below") {
      options.below = true;
      continue;
    }
    if (i + 1 == argc) throw std::runtime_error("option " + name + " needs a value, or is unknown");
    const std::string value = argv[++i];
    if (name == "--kib") {
      options.kib = std::stoll(value);
    } else if (name == "--rounds") {
      options.rounds = std::stoi(value);
    } else if (name == "--only") {
      options.only = value;
    } else {
      throw std::runtime_error("unknown option " + name + "; valid: --kib, --rounds, --only, --below");
    }
  }
  if (options.kib < 1 || options.rounds < 1) throw std::runtime_error("--kib and --rounds must be at least 1");
  return options;
}

int run(const Options& options) {
  const auto bytes = static_cast<std::size_t>(options.kib) * 1024;
  const std::regex only(options.only);
  triad(bytes);
  std::vector<double> triads(5);
  for (double& one : triads) one = triad(bytes);
  std::cout << fmt::format("triad: {:.1f} GB/s on {} threads\n\n", median(triads), mezzo::thread_count());
  std::cout << "| op | | dtype | GB/s | of triad | kernel |\n|---|---|---|---|---|---|\n";
  std::set<std::string> missing;
  for (const Case& one : all_cases(static_cast<Index>(bytes), missing)) {
    if (!options.only.empty() && !std::regex_search(one.op, only)) continue;
    const Result result = measure(one, bytes, options.rounds);
    if (options.below && result.share >= 0.5) continue;
    std::cout << fmt::format("| `{}` | {} | {} | {:.1f} | {:.2f} | {} |", one.op, one.note,
                             mezzo::dtype_name(one.dtype), result.gb_per_s, result.share, result.kernel)
              << std::endl;
  }
  if (!missing.empty()) std::cout << fmt::format("\nwithout a case: {}\n", fmt::join(missing, ", "));
  return 0;
}

}  // namespace
}  // namespace mezzo_bandwidth

int main(int argc, char** argv) {
  try {
    return mezzo_bandwidth::run(mezzo_bandwidth::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "mezzo_bandwidth: " << error.what() << "\n";
    return 1;
  }
}
