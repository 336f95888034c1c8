#include "core/link_traffic.hpp"

namespace weft {

LinkCounters read_link_counters(int) { return {}; }

}  // namespace weft
