// Memory of the cases: one family of them has buffers at a time, and never so many that the machine runs out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/watchdog.hpp"

namespace weft {

/// Holds what one family of cases shares, e.g. the buffers that all sizes of a pair use. The next family's is
/// made after this one's is gone, so that two never need memory at once.
class Workspace {
 public:
  /// The workspace of all cases that are alive.
  static std::shared_ptr<Workspace> shared();

  /// What `family` holds: made by `make()` unless this family was the last to be asked for.
  template <class T, class Make>
  T& of(const std::string& family, Make make) {
    if (family_ != family) {
      const Activity activity("memory");
      content_.reset();
      family_.clear();
      content_ = std::make_shared<T>(make());
      family_ = family;
    }
    return *static_cast<T*>(content_.get());
  }

 private:
  std::string family_;
  std::shared_ptr<void> content_;
};

/// Memory that a family needs.
struct Need {
  Memory memory;
  int device;
  std::uint64_t bytes;
};

/// Why the needs cannot be met: they exceed half of a device's memory, or half of the host memory that was
/// available when the program started, the limit of its control group included.
std::optional<std::string> exceeds_memory(const std::vector<Need>& needs);

/// The largest of `sizes` whose needs can be met; 0 when there is none.
template <class Needs>
std::uint64_t largest_fitting(const std::vector<std::uint64_t>& sizes, Needs needs) {
  std::uint64_t largest = 0;
  for (const auto size : sizes) {
    if (size > largest && !exceeds_memory(needs(size))) largest = size;
  }
  return largest;
}

}  // namespace weft
