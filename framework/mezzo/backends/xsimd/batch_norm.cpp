#include <mezzo/backends/xsimd/batch_norm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/channels.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Arrays of per-column numbers in scratch memory: two of doubles, then one of floats.
struct Scratch {
  double *first, *second;
  float* floats;

  Scratch(const Channels& channels, void* scratch)
      : first(static_cast<double*>(scratch)),
        second(first + channels.doubles()),
        floats(reinterpret_cast<float*>(second + channels.doubles())) {}
};

std::size_t scratch_bytes(const Channels& channels, Index arrays) {
  return 2 * channels.doubles() * sizeof(double) + channels.floats(arrays) * sizeof(float);
}

std::unique_ptr<Kernel> make_batch_norm(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const double epsilon = request.attributes.get<double>("epsilon");
  const double momentum = request.attributes.get<double>("momentum");
  const bool training = request.attributes.get<bool>("training");
  const bool adds = request.inputs.size() > 5;
  const float least = has_relu(request) ? 0 : -std::numeric_limits<float>::infinity();
  const BatchNormFunctions& all = kernels(isa).batch_norm;
  const Channels channels(request.inputs[0]);
  const auto run = [=, &all](const KernelArguments& arguments) {
    const Index columns = channels.columns;
    const Scratch scratch(channels, arguments.scratch);
    float *about = scratch.floats, *scale = about + columns, *shift = scale + columns;
    const char* x = arguments.in<char>(0);
    const float *moving_mean = arguments.in<float>(3), *moving_variance = arguments.in<float>(4);
    if (training && channels.rows > 0) {
      all.sample_mean[dtype](x, channels.rows, columns, about);
      channels.for_blocks([&](Index offset, Index rows, Index place) {
        all.sums[dtype](x + offset, about, rows, columns, scratch.first + place, scratch.second + place);
      });
      channels.add_blocks(scratch.first);
      channels.add_blocks(scratch.second);
    } else {
      std::copy_n(moving_mean, columns, about);
    }
    const double share = 1 / static_cast<double>(channels.rows);
    for (Index c = 0; c < columns; ++c) {
      const double old_mean = static_cast<double>(moving_mean[c]);
      const double old_variance = static_cast<double>(moving_variance[c]);
      const double offset = training ? scratch.first[c] * share : 0;
      const double mean = static_cast<double>(about[c]) + offset;
      const double variance = training ? std::max(scratch.second[c] * share - offset * offset, 0.0) : old_variance;
      const double inverse = 1 / std::sqrt(variance + epsilon);
      const double slope = inverse * static_cast<double>(arguments.in<float>(1)[c]);
      scale[c] = static_cast<float>(slope);
      shift[c] = static_cast<float>(static_cast<double>(arguments.in<float>(2)[c]) - offset * slope);
      const double kept = training ? momentum : 1;
      arguments.out<float>(1)[c] = static_cast<float>(mean);
      arguments.out<float>(2)[c] = static_cast<float>(inverse);
      arguments.out<float>(3)[c] = static_cast<float>(kept * old_mean + (1 - kept) * mean);
      arguments.out<float>(4)[c] = static_cast<float>(kept * old_variance + (1 - kept) * variance);
    }
    channels.for_rows([&](Index offset, Index rows) {
      const char* residual = adds ? arguments.in<char>(5) + offset : nullptr;
      all.normalize[dtype](x + offset, residual, arguments.out<char>(0) + offset, about, scale, shift, least, rows,
                           columns);
    });
  };
  return make_kernel(run, {true, false, false, false, false, true}, scratch_bytes(channels, 3));
}

std::unique_ptr<Kernel> make_batch_norm_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[1].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const bool training = request.attributes.get<bool>("training");
  const bool masks = request.inputs.size() > 5, keeps = request.outputs.size() > 3;
  const BatchNormFunctions& all = kernels(isa).batch_norm;
  const Channels channels(request.inputs[1]);
  const auto run = [=, &all](const KernelArguments& arguments) {
    const Index columns = channels.columns;
    const Scratch scratch(channels, arguments.scratch);
    float *from_g = scratch.floats, *from_x = from_g + columns, *shift = from_x + columns;
    const char *g = arguments.in<char>(0), *x = arguments.in<char>(1);
    const char* y = masks ? arguments.in<char>(5) : nullptr;
    char* masked = keeps ? arguments.out<char>(3) : nullptr;
    const float* mean = arguments.in<float>(3);
    const auto at = [](auto* p, Index offset) { return p != nullptr ? p + offset : nullptr; };
    std::fill_n(scratch.first, columns, 0.0);
    std::fill_n(scratch.second, columns, 0.0);
    channels.for_blocks([&](Index offset, Index rows, Index place) {
      all.gradient_sums[dtype](g + offset, at(y, offset), x + offset, mean, at(masked, offset), rows, columns,
                               scratch.first + place, scratch.second + place);
    });
    channels.add_blocks(scratch.first);
    channels.add_blocks(scratch.second);
    const double share = training ? 1 / static_cast<double>(channels.rows) : 0;
    for (Index c = 0; c < columns; ++c) {
      const double inverse = static_cast<double>(arguments.in<float>(4)[c]);
      const double slope = static_cast<double>(arguments.in<float>(2)[c]) * inverse;
      const double dbeta = scratch.first[c], dgamma = scratch.second[c] * inverse;
      arguments.out<float>(1)[c] = static_cast<float>(dgamma);
      arguments.out<float>(2)[c] = static_cast<float>(dbeta);
      from_g[c] = static_cast<float>(slope);
      from_x[c] = static_cast<float>(-slope * inverse * dgamma * share);
      shift[c] = static_cast<float>(-slope * dbeta * share);
    }
    if (keeps) {  // gradient_sums has masked g
      g = masked;
      y = nullptr;
    }
    channels.for_rows([&](Index offset, Index rows) {
      all.gradient[dtype](g + offset, at(y, offset), x + offset, arguments.out<char>(0) + offset, mean, from_g, from_x,
                          shift, rows, columns);
    });
  };
  return make_kernel(run, {true, true, false, false, false, true}, scratch_bytes(channels, 3));
}

}  // namespace

Entries batch_norm_entries() {
  return {entry<make_batch_norm>("batch_norm"), entry<make_batch_norm_gradient>("batch_norm_gradient")};
}

}  // namespace mezzo::xsimd_kernels
