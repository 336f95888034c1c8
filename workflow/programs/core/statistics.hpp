// Order statistics of a sample: median, quantiles, and the nonparametric confidence interval of the median.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

struct Interval {
  double low;
  double high;
};

/// The q-quantile, linear interpolation between order statistics (Hyndman & Fan 1996, type 7).
/// `sorted` is ascending and not empty; 0 <= q <= 1.
double quantile(const std::vector<double>& sorted, double q);

double median(const std::vector<double>& sorted);

/// Nonparametric confidence interval of the median from order statistics: the number of samples below the
/// median is binomial(n, 1/2), whatever the distribution (Le Boudec, Performance Evaluation, 2010, ch. 2;
/// Hoefler & Belli, SC'15, rule 5), interpolated between neighbouring ranks so that its coverage is the one
/// asked for (Hettmansperger & Sheather 1986). With too few samples for that confidence the interval is [min,
/// max].
Interval median_interval(const std::vector<double>& sorted, double confidence);

}  // namespace weft
