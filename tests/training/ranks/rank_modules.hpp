#pragma once

#include <algorithm>

#include <mezzo/training/profilers/plan_text.hpp>

#include "training/ranks/rank_runs.hpp"

// Trainings of any module by several ranks and by one process.
namespace mezzo_tests {

// Weights of a module of class M after a training, as numbers.
template <class M>
std::vector<double> weights_after(mezzo::Strategy strategy, mezzo::TrainerOptions options, std::int64_t samples,
                                  std::string* explained = nullptr) {
  const auto ranks = strategy.communicator();
  M module;
  module.build({1, 6});
  std::vector<mezzo::Tensor> weights = module.get_weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const mezzo::Tensor numbers(weights[i].shape(),
                                spread_numbers(weights[i].size(), 0.3 * static_cast<double>(i + 1)));
    weights[i] =
        (numbers * mezzo::Tensor::scalar(weights[i].size() > 10000 ? 0.05 : 1.0, mezzo::DType::float64)).tensor();
  }
  module.set_weights(weights);
  options.strategy = std::move(strategy);
  const std::int64_t count = ranks ? ranks->size() : 1;
  mezzo::Trainer(options).fit(module, mezzo::DataLoader(rank_data(samples), {.batch_size = 12 / count}));
  if (explained != nullptr) *explained = mezzo::detail::explain_text(module, "", {});
  std::vector<double> out;
  for (const mezzo::Tensor& weight : module.get_weights()) {
    const std::vector<double> numbers = weight.to_doubles();
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  return out;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  BOOST_REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

template <class M>
double difference_by_ranks(int ranks, const mezzo::TrainerOptions& options, std::int64_t samples) {
  const std::vector<double> one = weights_after<M>("single", options, samples);
  std::vector<std::vector<double>> results(static_cast<std::size_t>(ranks));
  const auto errors = run_ranks(ranks, [&](const std::shared_ptr<mezzo::Communicator>& own) {
    results[static_cast<std::size_t>(own->rank())] = weights_after<M>(own, options, samples);
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  for (const auto& result : results) BOOST_TEST((result == results[0]));
  return largest_difference(results[0], one);
}

}  // namespace mezzo_tests
