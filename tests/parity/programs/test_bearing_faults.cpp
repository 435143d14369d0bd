// Finds machines with a faulty bearing in a table of words, codes and readings: see bearing_faults.py.
#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<std::string> greases = {"lithium", "polyurea", "calcium"};
const Tensor codes_of_series = array({6203, 22210, 32008, 6310});

struct Machines {
  Strings grease;
  Tensor series, hours, heat, bands;
};

// Machines, and 1 for each faulty one.
std::pair<Machines, Tensor> machines(std::uint32_t stream, std::int64_t count) {
  const Shape column = {count, 1};
  const Tensor kind = random_integers(stream, column, 3);
  std::vector<std::string> words;
  for (const double i : kind.to_doubles()) words.push_back(greases[static_cast<std::size_t>(i)]);
  const Machines table = {.grease = Strings(column, words),
                          .series = gather(codes_of_series, random_integers(stream + 1, column, 4)),
                          .hours = uniform_numbers(stream + 2, column, 0, 20000),
                          .heat = uniform_numbers(stream + 3, column, 30, 110),
                          .bands = uniform_numbers(stream + 4, {count, 3}, 0, 5)};
  const Value hot = logical_and(table.hours > 12000, table.heat > 80);
  const Value dry = logical_and(hot, not_equal(kind, 1));
  const Value rattling = logical_and(table.bands(all, slice(1)) > 4.5, table.series > 7000);
  return {table, cast(logical_or(dry, rattling), DType::int32)};
}

// Learns vocabularies and scales of a table, and the network that takes them.
class Inspection {
 public:
  explicit Inspection(const Machines& table)
      : center_(mean(table.bands, {.axes = {0}})), spread_(mezzo::std(table.bands, {.axes = {0}})) {
    words.adapt(table.grease);
    codes.adapt(table.series);
    hours_.adapt(table.hours);
    heat_.adapt(table.heat);
  }

  // The columns as numbers. Steps take no words.
  Tensors encode(const Machines& table) {
    return {{"grease", words(table.grease)},
            {"series", codes(table.series)},
            {"hours", table.hours},
            {"heat", table.heat},
            {"bands", (table.bands - center_) / spread_}};
  }

  Model network() {
    const Input grease({.shape = {1}, .dtype = "int64", .name = "grease"});
    const Input series({.shape = {1}, .dtype = "int64", .name = "series"});
    const Input hours({.shape = {1}, .name = "hours"}), heat({.shape = {1}, .name = "heat"});
    const Input bands({.shape = {3}, .name = "bands"});
    const Value features = layers::concatenate({
        layers::CategoryEncoding({.num_tokens = words.vocabulary_size(), .output_mode = "one_hot"})(grease),
        layers::CategoryEncoding({.num_tokens = codes.vocabulary_size(), .output_mode = "one_hot"})(series),
        hours_(hours),
        heat_(heat),
        bands,
    });
    const Value hidden = layers::Dropout(0.0)(layers::Dense(12, {.activation = "relu"})(features));
    return Model({grease, series, hours, heat, bands}, layers::Dense(1, {.activation = "sigmoid"})(hidden));
  }

  StringLookup words;
  IntegerLookup codes;

 private:
  Tensor center_, spread_;
  Normalization hours_, heat_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bearing_faults)

BOOST_AUTO_TEST_CASE(counts_and_odds_equal_keras) {
  auto keras = program("bearing_faults");
  const auto [table, faulty] = machines(40, 96);
  const auto [later, later_faulty] = machines(60, 64);
  Inspection inspection(table);
  check_numbers("word", inspection.words(Strings(greases)).to_doubles(), keras["words"]);
  check_numbers("code", inspection.codes(codes_of_series).tensor().to_doubles(), keras["codes"]);
  Model model = inspection.network();
  initialize(model, keras["shapes"]);
  const std::vector<double> counts = bincount(ravel(faulty)).tensor().to_doubles();
  check_numbers("count of class", counts, keras["counts"]);
  model.compile({.optimizer = optimizers::Adam(0.02),
                 .loss = "binary_crossentropy",
                 .metrics = {metrics::FalseNegatives({.name = "missed"}), metrics::FalsePositives({.name = "alarmed"}),
                             metrics::TrueNegatives({.name = "passed"}), metrics::TruePositives({.name = "found"}),
                             metrics::Precision({.name = "precision"}), metrics::Recall({.name = "recall"})}});
  const History history = model.fit(inspection.encode(table), faulty,
                                    {.batch_size = 16,
                                     .epochs = 4,
                                     .verbose = 0,
                                     .validation_data = {inspection.encode(later), later_faulty},
                                     .shuffle = false,
                                     .class_weight = {{0, 96 / (2 * counts[0])}, {1, 96 / (2 * counts[1])}}});
  check_history(history, keras["history"]);
  // A grease that no machine of the table has.
  const Machines machine = {
      .grease = {{"silicone"}}, .series = {{22210}}, .hours = {{15000}}, .heat = {{95}}, .bands = {{4.8, 1.5, 2.0}}};
  check_number("odds", model.predict(inspection.encode(machine)).item(), keras["odds"]);
}

BOOST_AUTO_TEST_SUITE_END()
