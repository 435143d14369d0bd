#include <mezzo/backends/xsimd/batch_norm.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/channels.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/norm_gradient.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/compiler/pass_attributes.hpp>

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

/// With `statistics_only`, the kernel of batch_norm_statistics.
std::unique_ptr<Kernel> make_norm(const KernelRequest& request, bool statistics_only, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const double epsilon = request.attributes.get<double>("epsilon");
  const double momentum = request.attributes.get<double>("momentum");
  const bool training = request.attributes.get<bool>("training");
  const bool again = request.attributes.get_or(detail::again, false);  // the inputs are statistics of another norm
  const bool adds = request.inputs.size() > 5, shifts = statistics_only || request.outputs.size() > 5;
  const std::size_t at = statistics_only ? 0 : 1;  // of the statistics among the outputs
  const NormLimits limits(request, has_relu(request));
  const BatchNormFunctions& all = kernels(isa).batch_norm;
  const Channels channels(request.inputs[0]);
  const Spec y = request.outputs[0];
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
      // The rows are normalized about the mean as it is stored, which the gradient reads; `shift` has its rounding.
      const auto stored_mean = static_cast<float>(mean);
      const auto inverse = static_cast<float>(again ? old_variance : 1 / std::sqrt(variance + epsilon));
      const double slope = norm_slope(arguments.in<float>(1)[c], inverse);
      const double rounding = mean - static_cast<double>(stored_mean);
      scale[c] = static_cast<float>(slope);
      shift[c] = static_cast<float>(static_cast<double>(arguments.in<float>(2)[c]) - rounding * slope);
      const double kept = training ? momentum : 1;
      arguments.out<float>(at)[c] = stored_mean;
      arguments.out<float>(at + 1)[c] = inverse;
      arguments.out<float>(at + 2)[c] = static_cast<float>(kept * old_mean + (1 - kept) * mean);
      arguments.out<float>(at + 3)[c] = static_cast<float>(kept * old_variance + (1 - kept) * variance);
    }
    if (shifts) std::copy_n(shift, columns, arguments.out<float>(at + 4));
    if (statistics_only) return;
    const float* const mean = arguments.out<float>(1);
    const bool large = goes_past_caches(y, arguments.outputs[0]);
    channels.for_rows_backwards([&](Index offset, Index rows, Index left) {
      const char* residual = adds ? arguments.in<char>(5) + offset : nullptr;
      const bool past_caches = large && left >= kept_bytes;
      all.normalize[dtype](x + offset, residual, arguments.out<char>(0) + offset, mean, scale, shift, limits.least,
                           limits.most, rows, columns, past_caches);
      if (past_caches) finish_stores();
    });
  };
  std::vector<bool> overwrites;
  if (!statistics_only) overwrites = {true, false, false, false, false, true};
  return make_kernel(run, std::move(overwrites), scratch_bytes(channels, 3));
}

std::unique_ptr<Kernel> make_batch_norm(const KernelRequest& request, Isa isa, std::string& reason) {
  return make_norm(request, false, isa, reason);
}

std::unique_ptr<Kernel> make_batch_norm_statistics(const KernelRequest& request, Isa isa, std::string& reason) {
  return make_norm(request, true, isa, reason);
}

std::unique_ptr<Kernel> make_batch_norm_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[1].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const bool keeps = request.outputs.size() > 3, again = request.attributes.get_or("shift", false);
  ScratchLayout layout;
  const NormGradient gradient(request, isa, layout);
  const auto run = [=](const KernelArguments& arguments) {
    const auto prepared = gradient.prepare(arguments, arguments.out<float>(1), arguments.out<float>(2),
                                           keeps ? arguments.out<char>(3) : nullptr);
    gradient.channels().for_rows_backwards([&](Index offset, Index rows, Index) {
      gradient.rows(prepared, offset, rows, arguments.out<char>(0) + offset);
    });
  };
  return make_kernel(run, {true, true, false, false, false, !again}, layout.size());
}

}  // namespace

Entries batch_norm_entries() {
  return {entry<make_batch_norm>("batch_norm"), entry<make_batch_norm_statistics>("batch_norm_statistics"),
          entry<make_batch_norm_gradient>("batch_norm_gradient")};
}

}  // namespace mezzo::xsimd_kernels
