// The kernel that copies between devices: how it is launched, and how a launch is found that fits the
// hardware.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"

namespace weft {

/// The shape of a launch. `unroll`: words of 16 bytes that a thread loads before it stores the first of them.
struct KernelGrid {
  unsigned blocks = 1, threads = 1, unroll = 1;

  /// "BLOCKSxTHREADSxUNROLL"
  std::string text() const;
};

/// Bounds of what a grid may be, and the unrolls there are.
constexpr unsigned most_threads = 512;
constexpr unsigned unrolls[] = {1, 2, 4, 8, 16};

/// Reads what text() gives; UsageError for what cannot be launched.
KernelGrid parse_kernel_grid(const std::string& text);

/// The part of `grid` that a payload has work for: every thread a word, before any has two; every block one
/// round, before fewer of them have several.
KernelGrid fitting_grid(KernelGrid grid, std::size_t size_bytes);

/// Copies by a kernel on the stream's device, 16 bytes at a time and what is left byte by byte, launched with
/// the part of `grid` that fits. Both places must be addressable from there and aligned to 16 bytes. Host
/// backend: a loop of the stream's worker, whose grid is one thread.
void copy_by_kernel(Stream& stream, Place destination, Place source, std::size_t size_bytes,
                    const KernelGrid& grid);

/// The grids among which the best is looked for: of different numbers of blocks for each multiprocessor.
std::vector<KernelGrid> candidate_grids(int device);

/// The fastest of the candidates for large copies from `source` to `destination`, with peer access, by the
/// device that executes `operation`. Looked for once in a process for each architecture and operation.
KernelGrid tuned_grid(int source, int destination, const std::string& operation);

}  // namespace weft
