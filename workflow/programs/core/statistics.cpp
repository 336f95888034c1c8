#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weft {

namespace {

void require_samples(const std::vector<double>& sorted) {
  if (sorted.empty()) throw std::invalid_argument("no samples");
}

/// Probability of `k` heads in `n` throws of a fair coin.
double fair_binomial(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  const double log_ways = log_factorial(n) - log_factorial(k) - log_factorial(n - k);
  return std::exp(log_ways - static_cast<double>(n) * std::log(2.0));
}

}  // namespace

double quantile(const std::vector<double>& sorted, double q) {
  require_samples(sorted);
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument("a quantile lies between 0 and 1");
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double median(const std::vector<double>& sorted) { return quantile(sorted, 0.5); }

Interval median_interval(const std::vector<double>& sorted, double confidence) {
  require_samples(sorted);
  if (!(confidence > 0 && confidence < 1)) throw std::invalid_argument("a confidence lies between 0 and 1");
  const std::size_t n = sorted.size();

  // From the middle outwards: the interval from the `rank`-th smallest to the `rank`-th largest sample holds
  // the median with probability P(rank <= B <= n - rank), B ~ binomial(n, 1/2).
  std::size_t rank = n / 2;
  double inner = 0, mass = fair_binomial(n, rank), coverage = n % 2 == 0 ? mass : 2 * mass;
  while (rank > 0 && coverage < confidence) {
    mass *= static_cast<double>(rank) / static_cast<double>(n - rank + 1);
    --rank;
    inner = coverage;
    coverage += 2 * mass;
  }
  if (rank == 0) return {sorted.front(), sorted.back()};

  const double d = static_cast<double>(rank), size = static_cast<double>(n);
  const double part = (coverage - confidence) / (coverage - inner);
  double weight = (size - d) * part / (d + (size - 2 * d) * part);
  const bool ends_meet = 2 * rank == n;  // the next ranks inwards have already crossed
  if (ends_meet) weight /= 2;
  const double low = sorted[rank - 1], low_inner = sorted[rank];
  const double high = sorted[n - rank], high_inner = sorted[n - rank - 1];
  return {low + weight * (low_inner - low), high + weight * (high_inner - high)};
}

}  // namespace weft
