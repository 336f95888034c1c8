#include "core/environment.hpp"

namespace weft {

Json device_software() { return Json::object(); }

}  // namespace weft
