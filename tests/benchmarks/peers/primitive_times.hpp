#pragma once
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

// Times of single oneDNN primitives and the bandwidth of memory, measured on this machine.
namespace roofline {

using dnnl::memory;
using DType = memory::data_type;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

inline dnnl::engine& engine() {
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds: the minimum of at least eleven runs and 0.05 s, since other processes may use the machine.
inline double time_of(const dnnl::primitive& primitive, const Arguments& arguments) {
  static dnnl::stream stream(engine());
  double best = 1e9;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 11 || seconds_since(begin) < 0.05; ++i) {
    const auto start = std::chrono::steady_clock::now();
    primitive.execute(stream, arguments);
    stream.wait();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

inline memory filled(const memory::desc& description) {
  memory out(description, engine());
  if (description.get_size() > 0) std::memset(out.get_data_handle(), 0x3c, description.get_size());
  return out;
}

// Bytes per second of a[i] = b[i] + 3 c[i], with as many threads as oneDNN uses.
inline double measure_bandwidth() {
  constexpr std::size_t count = std::size_t{16} << 20;
  std::vector<float> a(count), b(count, 1), c(count, 2);
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const std::size_t threads = asked != nullptr ? std::stoul(asked) : std::thread::hardware_concurrency();
  double best = 1e9;
  for (int round = 0; round < 8; ++round) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (std::size_t t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        for (std::size_t i = count * t / threads; i < count * (t + 1) / threads; ++i) a[i] = b[i] + 3 * c[i];
      });
    }
    for (std::thread& thread : pool) thread.join();
    best = std::min(best, seconds_since(start));
  }
  return 3 * sizeof(float) * count / best;
}

// Seconds of memory traffic of that many bytes.
inline double streaming(double bytes) {
  static const double bandwidth = measure_bandwidth();
  return bytes / bandwidth;
}

// Caches measurements by key, so that layers of the same sizes are measured once.
inline double once(const std::string& key, const std::function<double()>& measure) {
  static std::map<std::string, double> known;
  const auto found = known.find(key);
  return found != known.end() ? found->second : known[key] = measure();
}

inline std::string key_of(const char* what, const std::vector<long>& sizes, DType dtype) {
  std::string key = what;
  for (const long size : sizes) key += " " + std::to_string(size);
  return key + " " + std::to_string(static_cast<int>(dtype));
}

inline double time_matmul(long batch, long m, long n, long k, DType dtype) {
  const bool stacked = batch > 1;
  const auto plain = [&](long rows, long columns, Tag tag) {
    return stacked ? memory::desc({batch, rows, columns}, dtype, Tag::abc) : memory::desc({rows, columns}, dtype, tag);
  };
  const memory::desc x = plain(m, k, Tag::ab), w = plain(k, n, Tag::any), y = plain(m, n, Tag::ab);
#if DNNL_VERSION_MAJOR < 3
  const dnnl::matmul::primitive_desc product(dnnl::matmul::desc(x, w, y), engine());
#else
  const dnnl::matmul::primitive_desc product(engine(), x, w, y);
#endif
  return time_of(dnnl::matmul(product), {{DNNL_ARG_SRC, filled(product.src_desc())},
                                         {DNNL_ARG_WEIGHTS, filled(product.weights_desc())},
                                         {DNNL_ARG_DST, filled(product.dst_desc())}});
}

inline double matmul(long batch, long m, long n, long k, DType dtype) {
  return once(key_of("matmul", {batch, m, n, k}, dtype), [&] { return time_matmul(batch, m, n, k, dtype); });
}

// Seconds of a dense layer and its gradients; that of the input only if `with_input_gradient`.
inline double dense(long rows, long out, long in, DType dtype, bool with_input_gradient = true) {
  const double time = matmul(1, rows, out, in, dtype) + matmul(1, in, out, rows, dtype);
  return with_input_gradient ? time + matmul(1, rows, in, out, dtype) : time;
}

// A convolution of square images and its gradients; that of the images only if `with_input_gradient`.
struct Convolution {
  long batch, in, size, out, kernel, stride, padding;
  bool with_input_gradient = true;
};

inline double time_convolution(const Convolution& c, DType dtype) {
  using dnnl::convolution_backward_data;
  using dnnl::convolution_backward_weights;
  using dnnl::convolution_forward;
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  constexpr auto training = dnnl::prop_kind::forward_training;
  const long size = (c.size + 2 * c.padding - c.kernel) / c.stride + 1;
  const memory::dims strides{c.stride, c.stride}, padding{c.padding, c.padding},
      kernel{c.out, c.in, c.kernel, c.kernel};
  const memory::desc x({c.batch, c.in, c.size, c.size}, dtype, Tag::any),
      y({c.batch, c.out, size, size}, dtype, Tag::any);
  const memory::desc w(kernel, dtype, Tag::any), dw(kernel, DType::f32, Tag::any);
#if DNNL_VERSION_MAJOR < 3
  const convolution_forward::primitive_desc forward({training, direct, x, w, y, strides, padding, padding}, engine());
  const convolution_backward_data::primitive_desc data({direct, x, w, y, strides, padding, padding}, engine(), forward);
  const convolution_backward_weights::primitive_desc weights({direct, x, dw, y, strides, padding, padding}, engine(),
                                                             forward);
#else
  const convolution_forward::primitive_desc forward(engine(), training, direct, x, w, y, strides, padding, padding);
  const convolution_backward_data::primitive_desc data(engine(), direct, x, w, y, strides, padding, padding, forward);
  const convolution_backward_weights::primitive_desc weights(engine(), direct, x, dw, y, strides, padding, padding,
                                                             forward);
#endif
  double time = time_of(convolution_forward(forward), {{DNNL_ARG_SRC, filled(forward.src_desc())},
                                                       {DNNL_ARG_WEIGHTS, filled(forward.weights_desc())},
                                                       {DNNL_ARG_DST, filled(forward.dst_desc())}});
  time += time_of(convolution_backward_weights(weights), {{DNNL_ARG_SRC, filled(weights.src_desc())},
                                                          {DNNL_ARG_DIFF_WEIGHTS, filled(weights.diff_weights_desc())},
                                                          {DNNL_ARG_DIFF_DST, filled(weights.diff_dst_desc())}});
  if (!c.with_input_gradient) return time;
  return time + time_of(convolution_backward_data(data), {{DNNL_ARG_DIFF_SRC, filled(data.diff_src_desc())},
                                                          {DNNL_ARG_WEIGHTS, filled(data.weights_desc())},
                                                          {DNNL_ARG_DIFF_DST, filled(data.diff_dst_desc())}});
}

inline double convolution(const Convolution& c, DType dtype) {
  const std::vector<long> sizes{c.batch,  c.in,     c.size,    c.out,
                                c.kernel, c.stride, c.padding, c.with_input_gradient ? 1 : 0};
  return once(key_of("convolution", sizes, dtype), [&] { return time_convolution(c, dtype); });
}

}  // namespace roofline
