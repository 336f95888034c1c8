#include "core/software.hpp"

namespace weft {

Json software_of_backend() { return Json::object(); }

}  // namespace weft
