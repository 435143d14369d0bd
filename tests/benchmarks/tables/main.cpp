// Reads tables of comma-separated values.
//
// mezzo_tables time FILE [--runs N]: seconds of read_csv, the best of N runs, as a line of JSON. tables_peer.py
// measures pandas. mezzo_tables print FILE...: the columns of each file as a line of JSON, or its error, for
// tests/parity/tables.py.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <mezzo/core/parallel.hpp>
#include <mezzo/data/tables/read_csv.hpp>

namespace {

using namespace mezzo;
using nlohmann::json;

json value_of(const Column& column, const Strings& strings, std::int64_t row) {
  if (column.is_missing(row)) return nullptr;
  if (column.type() == "str") return strings[row];
  if (column.type() == "int64") return column.values().data<std::int64_t>()[row];
  if (column.type() == "bool") return column.values().data<bool>()[row];
  const double number = column.values().data<double>()[row];
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

json described(const std::string& path) {
  try {
    const Table table = read_csv(path);
    json columns = json::array();
    for (const std::string& name : table.columns()) {
      const Column& column = table[name];
      const Strings strings = column.type() == "str" ? column.strings() : Strings();
      json values = json::array();
      for (std::int64_t row = 0; row < table.rows(); ++row) values.push_back(value_of(column, strings, row));
      columns.push_back({{"name", name}, {"type", column.type()}, {"values", std::move(values)}});
    }
    return {{"columns", std::move(columns)}};
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

void print_time(const std::string& path, int runs) {
  double best = INFINITY;
  std::int64_t rows = 0, columns = 0;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const Table table = read_csv(path);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
    rows = table.rows();
    columns = static_cast<std::int64_t>(table.columns().size());
  }
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  std::cout << json{{"reader", "mezzo"}, {"seconds", best},    {"mb_per_second", bytes / best / 1e6},
                    {"rows", rows},      {"columns", columns}, {"threads", thread_count()}}
            << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "print") {
    for (std::size_t i = 1; i < arguments.size(); ++i)
      std::cout << described(arguments[i]).dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "time") {
    print_time(arguments[1], 1);
  } else if (arguments.size() == 4 && arguments[0] == "time" && arguments[2] == "--runs") {
    print_time(arguments[1], std::stoi(arguments[3]));
  } else {
    std::cerr << "usage: mezzo_tables time FILE [--runs N] | print FILE...\n";
    return 2;
  }
  return 0;
}
