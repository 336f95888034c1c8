#include "collective/library.hpp"
#include "core/error.hpp"

namespace weft::collective {

std::unique_ptr<Library> join_nccl(RankTeam&, const std::vector<Member>&, int) {
  throw Unsupported("this program was built without NCCL (host backend)");
}

const DeviceAllocator* nccl_allocator() { return nullptr; }

Json nccl_version() { return Json(); }

}  // namespace weft::collective
