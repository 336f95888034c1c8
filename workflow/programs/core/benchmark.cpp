#include "core/benchmark.hpp"

#include <stdexcept>
#include <utility>

namespace weft {

namespace {

std::vector<Benchmark>& benchmarks() {
  static std::vector<Benchmark> all;  // made on first use: registrars run before main in any order
  return all;
}

}  // namespace

Registered::Registered(Benchmark benchmark) {
  for (const Benchmark& other : benchmarks())
    if (other.key == benchmark.key)
      throw std::logic_error("benchmark " + benchmark.key + " is registered twice");
  benchmarks().push_back(std::move(benchmark));
}

const std::vector<Benchmark>& registered_benchmarks() { return benchmarks(); }

}  // namespace weft
