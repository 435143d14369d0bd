// Collective operations between threads: results, determinism, errors.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <numeric>

#include <mezzo/mezzo.hpp>

#include "support/rank_threads.hpp"

using namespace mezzo;
using mezzo_tests::run_ranks;

namespace {

using RankTexts = std::vector<std::string>;

const std::vector<DType> reduced_dtypes{DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int8,
                                        DType::int16,   DType::int32,   DType::int64,    DType::uint8};

// Numbers of a rank that all dtypes hold: small integers.
Tensor rank_numbers(int rank, std::int64_t size, DType dtype) {
  Tensor out({size}, DType::float64);
  const std::int64_t first = std::int64_t{3} * rank;
  for (std::int64_t i = 0; i < size; ++i) out.mutable_data<double>()[i] = static_cast<double>((i * 7 + first) % 11);
  return out.cast(dtype);
}

RankArray array_of(Tensor& x) { return {x.mutable_raw(), x.size(), x.dtype()}; }

bool is_error_free(const RankTexts& errors) { return errors == RankTexts(errors.size()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(communicators)

BOOST_AUTO_TEST_CASE(sums_minima_and_maxima_of_all_dtypes_and_sizes) {
  for (const int ranks : {1, 2, 3, 4}) {
    for (const std::int64_t size : {0, 1, 5, 3000}) {
      for (const DType dtype : reduced_dtypes) {
        const auto errors = run_ranks(ranks, [&](const std::shared_ptr<Communicator>& own) {
          BOOST_REQUIRE(own->size() == ranks);
          for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
            std::vector<double> expected = rank_numbers(0, size, dtype).to_doubles();
            for (int rank = 1; rank < ranks; ++rank) {
              const std::vector<double> more = rank_numbers(rank, size, dtype).to_doubles();
              for (std::size_t i = 0; i < more.size(); ++i) {
                expected[i] = op == ReduceOp::sum   ? expected[i] + more[i]
                              : op == ReduceOp::min ? std::min(expected[i], more[i])
                                                    : std::max(expected[i], more[i]);
              }
            }
            Tensor x = rank_numbers(own->rank(), size, dtype);
            own->all_reduce(array_of(x), op);
            if (x.to_doubles() != expected) throw Error("all_reduce");
            Tensor part = rank_numbers(own->rank(), size, dtype);
            own->reduce_scatter(array_of(part), op);
            for (std::int64_t i = own->part_begin(size, own->rank()); i < own->part_begin(size, own->rank() + 1); ++i) {
              if (part.to_doubles()[static_cast<std::size_t>(i)] != expected[static_cast<std::size_t>(i)]) {
                throw Error("reduce_scatter");
              }
            }
            own->all_gather(array_of(part));
            if (part.to_doubles() != expected) throw Error("all_gather");
          }
        });
        BOOST_TEST(is_error_free(errors), ranks << " ranks, " << size << " " << dtype_name(dtype) << ": " << errors[0]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(broadcasts_of_any_rank_and_texts) {
  const auto errors = run_ranks(3, [](const std::shared_ptr<Communicator>& own) {
    for (const int root : {0, 1, 2}) {
      Tensor x = rank_numbers(own->rank(), 1000, DType::float32);
      own->broadcast(array_of(x), root);
      if (x.to_doubles() != rank_numbers(root, 1000, DType::float32).to_doubles()) throw Error("broadcast");
    }
    const std::string text(static_cast<std::size_t>(own->rank()), 'x');
    if (own->gather_texts(text) != RankTexts{"", "x", "xx"}) throw Error("gather_texts");
    if (own->broadcast_text("rank " + std::to_string(own->rank())) != "rank 0") throw Error("broadcast_text");
    own->barrier();
  });
  BOOST_TEST(errors == RankTexts(3), boost::test_tools::per_element());
}

// 1 + 4 * 2^-9 in bfloat16 (8 bits): each addend alone is lost, their sum in float32 is not.
BOOST_AUTO_TEST_CASE(halves_are_summed_in_float32_and_rounded_once) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const double small = dtype == DType::bfloat16 ? 0x1p-8 : 0x1p-11;
    const auto errors = run_ranks(3, [&](const std::shared_ptr<Communicator>& own) {
      Tensor x = Tensor({1}, std::vector<double>{own->rank() == 0 ? 1 : small}).cast(dtype);
      own->all_reduce(array_of(x));
      if (x.to_doubles()[0] != 1 + 2 * small) throw Error("sum " + std::to_string(x.to_doubles()[0]));
    });
    BOOST_TEST(errors == RankTexts(3), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(sums_have_the_same_bits_at_all_ranks_and_in_all_runs) {
  for (const std::int64_t size : {100, 5000}) {  // one exchange, two exchanges
    std::vector<std::vector<float>> results(8);
    for (std::size_t run = 0; run < 2; ++run) {
      run_ranks(4, [&](const std::shared_ptr<Communicator>& own) {
        Tensor x({size}, DType::float32);
        for (std::int64_t i = 0; i < size; ++i) {
          x.mutable_data<float>()[i] = 1.0F / static_cast<float>(1 + i * 4 + own->rank());
        }
        own->all_reduce(array_of(x));
        results[run * 4 + static_cast<std::size_t>(own->rank())].assign(x.data<float>(), x.data<float>() + size);
      });
    }
    for (const auto& one : results) {
      BOOST_REQUIRE(one.size() == static_cast<std::size_t>(size));
      BOOST_TEST(std::memcmp(one.data(), results[0].data(), one.size() * sizeof(float)) == 0);
    }
    for (std::int64_t i = 0; i < size; ++i) {  // in the order of the ranks
      float sum = 1.0F / static_cast<float>(1 + i * 4);
      for (int rank = 1; rank < 4; ++rank) sum += 1.0F / static_cast<float>(1 + i * 4 + rank);
      BOOST_REQUIRE(results[0][static_cast<std::size_t>(i)] == sum);
    }
  }
}

// Parts of 4, 0 and 3 elements, of different dtypes.
BOOST_AUTO_TEST_CASE(parts_of_other_sizes_in_places_of_their_own) {
  const auto errors = run_ranks(3, [](const std::shared_ptr<Communicator>& own) {
    const auto parts_of = [&](int rank) {
      return std::vector<Tensor>{rank_numbers(rank, 4, DType::float32), rank_numbers(rank, 0, DType::float32),
                                 rank_numbers(rank + 1, 3, DType::float64)};
    };
    const auto arrays_of = [](std::vector<Tensor>& parts) {
      return std::vector<RankArray>{array_of(parts[0]), array_of(parts[1]), array_of(parts[2])};
    };
    const auto rank = static_cast<std::size_t>(own->rank());
    std::vector<Tensor> sums = parts_of(own->rank());
    own->start_reduce_scatter(arrays_of(sums)).wait();
    std::vector<double> expected = parts_of(0)[rank].to_doubles();
    for (const int other : {1, 2}) {
      const std::vector<double> more = parts_of(other)[rank].to_doubles();
      for (std::size_t i = 0; i < more.size(); ++i) expected[i] += more[i];
    }
    if (sums[rank].to_doubles() != expected) throw Error("reduce_scatter");
    std::vector<Tensor> all = parts_of(own->rank());
    own->start_all_gather(arrays_of(all)).wait();
    for (std::size_t i = 0; i < 3; ++i) {
      if (all[i].to_doubles() != parts_of(static_cast<int>(i))[i].to_doubles()) throw Error("all_gather");
    }
    std::vector<Tensor> gathered = parts_of(own->rank());
    const RankRequest request = own->start_gather(arrays_of(gathered), 1);
    request.wait();
    for (std::size_t i = 0; i < 3; ++i) {
      const int from = own->rank() == 1 ? static_cast<int>(i) : own->rank();
      if (gathered[i].to_doubles() != parts_of(from)[i].to_doubles()) throw Error("gather");
    }
    if (request.end() > std::chrono::steady_clock::now()) throw Error("end");
  });
  BOOST_TEST(errors == RankTexts(3), boost::test_tools::per_element());
}

// Ranks send 1 + 2^-8, 2^-8 and 2^-8 in turns: bfloat16 has 8 bits, so that a sum of 1 + 3 * 2^-8 is rounded.
BOOST_AUTO_TEST_CASE(sums_of_bfloat16_with_error_feedback) {
  const auto errors = run_ranks(3, [](const std::shared_ptr<Communicator>& own) {
    const std::int64_t size = 5000;
    const double number = own->rank() == 0 ? 1 : 3 * 0x1p-9;
    std::vector<float> rest(
        static_cast<std::size_t>(own->part_begin(size, own->rank() + 1) - own->part_begin(size, own->rank())));
    double total = 0;
    for (int run = 1; run <= 16; ++run) {
      Tensor x = Tensor({size}, std::vector<double>(static_cast<std::size_t>(size), number)).cast(DType::bfloat16);
      own->start_all_reduce(array_of(x), rest.data()).wait();
      const std::vector<double> sums = x.to_doubles();
      if (sums != std::vector<double>(sums.size(), sums[0])) throw Error("elements");
      total += sums[0];
      if (std::abs(total - run * (1 + 6 * 0x1p-9)) > 0x1p-8) throw Error("sum " + std::to_string(total));
    }
    Tensor x = Tensor({3}, std::vector<double>(3, number)).cast(DType::bfloat16);
    float sum = 0;
    auto* const data = x.mutable_data<bfloat16>();
    own->start_reduce_scatter({{data, 1, x.dtype()}, {data + 1, 1, x.dtype()}, {data + 2, 1, x.dtype()}}, &sum).wait();
    if (sum != 1 + 6 * 0x1p-9F) throw Error("unrounded sum");
  });
  BOOST_TEST(errors == RankTexts(3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(requests_run_in_the_background_in_order) {
  const auto errors = run_ranks(2, [](const std::shared_ptr<Communicator>& own) {
    std::vector<Tensor> buckets;
    for (int i = 0; i < 5; ++i) buckets.push_back(rank_numbers(own->rank() + i, 2000, DType::float32));
    std::vector<RankRequest> requests;
    for (Tensor& bucket : buckets) requests.push_back(own->start_all_reduce(array_of(bucket)));
    requests.back().wait();
    for (int i = 0; i < 5; ++i) {
      if (!requests[static_cast<std::size_t>(i)].done()) throw Error("an earlier request is not done");
      std::vector<double> expected = rank_numbers(i, 2000, DType::float32).to_doubles();
      const std::vector<double> more = rank_numbers(i + 1, 2000, DType::float32).to_doubles();
      for (std::size_t j = 0; j < more.size(); ++j) expected[j] += more[j];
      if (buckets[static_cast<std::size_t>(i)].to_doubles() != expected) throw Error("bucket");
    }
  });
  BOOST_TEST(errors == RankTexts(2), boost::test_tools::per_element());
  RankRequest none;
  none.wait();
  BOOST_TEST(none.done());
}

BOOST_AUTO_TEST_CASE(a_rank_that_fails_ends_the_others_with_its_reason) {
  const auto errors = run_ranks(3, [](const std::shared_ptr<Communicator>& own) {
    own->barrier();
    if (own->rank() == 1) {
      own->fail("disk is full");
      own->barrier();
    }
    Tensor x = rank_numbers(0, 10, DType::float32);
    own->all_reduce(array_of(x));
  });
  for (const std::string& error : errors) BOOST_TEST(error == "[Communicator] rank 1 has failed: disk is full");
}

// The others' own failures follow, and must not hide the first one.
BOOST_AUTO_TEST_CASE(the_first_failure_is_the_one_that_is_told) {
  const auto errors = run_ranks(4, [](const std::shared_ptr<Communicator>& own) {
    if (own->rank() == 2) {
      own->fail("first");
      return;
    }
    try {
      own->barrier();
    } catch (const RankError& error) {
      own->fail(error.what());
      own->barrier();
    }
  });
  for (const int rank : {0, 1, 3}) {
    BOOST_TEST(errors[static_cast<std::size_t>(rank)] == "[Communicator] rank 2 has failed: first");
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_leaves_ends_those_that_wait_for_it) {
  const auto errors = run_ranks(2, [](const std::shared_ptr<Communicator>& own) {
    if (own->rank() == 0) own->barrier();
  });
  BOOST_TEST(errors[0] == "[Communicator] rank 1 has left while rank 0 waited for it");
  BOOST_TEST(errors[1].empty());
}

BOOST_AUTO_TEST_CASE(other_sizes_are_errors_that_name_the_rank) {
  const auto errors = run_ranks(2, [](const std::shared_ptr<Communicator>& own) {
    Tensor x = rank_numbers(0, own->rank() == 0 ? 10 : 11, DType::float32);
    own->all_reduce(array_of(x));
  });
  BOOST_TEST(errors[0] == "[Communicator] rank 1 must send 40 bytes to rank 0; got 44");
  BOOST_TEST(errors[1] == "[Communicator] rank 0 must send 44 bytes to rank 1; got 40");
}

BOOST_AUTO_TEST_CASE(a_failure_while_an_operation_waits_ends_it) {
  std::promise<void> failed;
  const auto errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& own) {
    if (own->rank() == 1) {
      Tensor x = rank_numbers(0, 10, DType::float32);
      const RankRequest waits = own->start_all_reduce(array_of(x));  // rank 0 doesn't come
      own->fail("an error between two steps");
      failed.set_value();
      waits.wait();
    } else {
      failed.get_future().wait();
      own->barrier();
    }
  });
  BOOST_TEST(errors[0] == "[Communicator] rank 1 has failed: an error between two steps");
  BOOST_TEST(errors[1].find("[Communicator] rank 1 has failed") == 0U, errors[1]);
}

BOOST_AUTO_TEST_CASE(a_single_rank_and_wrong_arguments) {
  const auto single = Communicator::single();
  Tensor x = rank_numbers(0, 3, DType::float32);
  single->all_reduce(array_of(x));
  single->broadcast(array_of(x));
  single->barrier();
  BOOST_TEST(x.to_doubles() == rank_numbers(0, 3, DType::float32).to_doubles(), boost::test_tools::per_element());
  BOOST_TEST(single->gather_texts("a") == RankTexts{"a"}, boost::test_tools::per_element());
  const auto has = [](const char* text) {
    return [text](const Error& error) { return std::string(error.what()) == text; };
  };
  BOOST_CHECK_EXCEPTION(Communicator::threads(0), ValueError,
                        has("[Communicator] threads: ranks must be 1 or more; got 0"));
  BOOST_CHECK_EXCEPTION(single->broadcast(array_of(x), 1), ValueError,
                        has("[Communicator] root must lie in [0, 1); got 1"));
  BOOST_CHECK_EXCEPTION(single->start_all_gather(std::vector<RankArray>{}), ValueError,
                        has("[Communicator] there must be one part for each of 1 ranks; got 0"));
  BOOST_CHECK_EXCEPTION(single->start_all_reduce(array_of(x), nullptr), DTypeError,
                        has("[Communicator] dtype must be bfloat16; got float32"));
  Tensor flags({2}, DType::boolean);
  BOOST_CHECK_EXCEPTION(single->all_reduce(array_of(flags)), DTypeError,
                        has("[Communicator] a dtype with sums must be given; got bool"));
}

BOOST_AUTO_TEST_SUITE_END()
