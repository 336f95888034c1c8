// The sentence that a hang ends with, the notices of those that wait, and the limit before options are
// parsed.
#include <filesystem>
#include <unistd.h>

#include "check.hpp"
#include "core/hang.hpp"
#include "core/watchdog.hpp"

using weft::Hang;

namespace {

Hang hang(const std::vector<int>& with, std::optional<std::set<int>> waiting) {
  Hang result{"pt2pt",           "pt2pt.latency 0->1 8 pinned, sampling", 5, "rank 0 on a", {}, false, with,
              std::move(waiting)};
  for (int rank = 0; rank < 16; ++rank)
    result.members.push_back("rank " + std::to_string(rank) + " on " + (rank < 8 ? "a" : "b"));
  return result;
}

std::string said(const Hang& hang) {
  const std::string text = hang_sentence(hang);
  const std::string begin = "pt2pt: no progress for 5 s in pt2pt.latency 0->1 8 pinned, sampling: ";
  const std::string end = "; the run is ended (--watchdog-s).";
  CHECK_EQ(text.substr(0, begin.size()), begin);
  CHECK_EQ(text.substr(text.size() - end.size()), end);
  return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

}  // namespace

TEST(who_left_no_notice_does_not_answer) {
  CHECK_EQ(said(hang({0, 9}, std::set<int>{0})),
           std::string("rank 9 on b does not answer, rank 0 on a waits"));
  CHECK_EQ(said(hang({0, 1, 9}, std::set<int>{0, 1})),
           std::string("rank 9 on b does not answer, rank 0 on a and rank 1 on a wait"));
  CHECK_EQ(said(hang({0, 1, 9}, std::set<int>{1})),
           std::string("rank 0 on a and rank 9 on b do not answer, rank 1 on a waits"));
}

TEST(ranks_that_had_no_part_are_not_named) {
  CHECK_EQ(said(hang({0, 9}, std::set<int>{0, 3})),
           std::string("rank 9 on b does not answer, rank 0 on a waits"));
}

TEST(an_idle_rank_that_tells_waits) {
  CHECK_EQ(said(hang({8, 9}, std::set<int>{0})),
           std::string("rank 8 on b and rank 9 on b do not answer, rank 0 on a waits"));
}

TEST(ranks_that_all_wait_have_lost_a_message) {
  CHECK_EQ(said(hang({0, 9}, std::set<int>{0, 9})),
           std::string(
               "rank 0 on a and rank 9 on b answer and wait for each other: a message was lost, or the limit "
               "is too short"));
}

TEST(what_is_not_known_is_said_to_be_unknown) {
  CHECK_EQ(said(hang({0, 9}, std::nullopt)),
           std::string("rank 0 on a waits for other ranks, and which of them answer is not known"));
}

TEST(a_process_alone_waits_for_no_rank) {
  Hang alone = hang({}, std::nullopt);
  alone.alone = true;
  alone.self = "a";
  CHECK_EQ(said(alone), std::string("a device, its driver or a file system does not answer on a"));
}

TEST(many_ranks_are_counted) {
  std::vector<int> all;
  for (int rank = 0; rank < 16; ++rank)
    all.push_back(rank);
  const std::string text = said(hang(all, std::set<int>{0}));
  CHECK(text.find("rank 7 on a and 8 more do not answer") != std::string::npos);
  CHECK(text.find("rank 8 on b") == std::string::npos);
}

TEST(notices_are_read_by_all_and_cleared) {
  std::string folder = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
  CHECK(::mkdtemp(folder.data()) != nullptr);
  const weft::Notices notices(folder + "/records.jsonl.hung");
  CHECK(notices.read().empty());
  CHECK(notices.leave(3) && notices.leave(0));
  CHECK((notices.read() == std::set<int>{0, 3}));
  notices.clear();
  CHECK(std::filesystem::is_empty(folder));
  CHECK(!weft::Notices(folder + "/missing/hung").leave(0));
  std::filesystem::remove(folder);
}

TEST(the_limit_is_found_before_options_are_parsed) {
  const auto limit_s = [](std::vector<const char*> words) {
    words.insert(words.begin(), "pt2pt");
    return weft::watchdog::limit_s_of(static_cast<int>(words.size()), words.data());
  };
  CHECK_EQ(limit_s({"--quiet", "--watchdog-s", "7.5"}), 7.5);
  CHECK_EQ(limit_s({"--watchdog-s=0", "--quiet"}), 0);
  for (const std::vector<const char*>& words : std::vector<std::vector<const char*>>{
           {}, {"--watchdog-s"}, {"--watchdog-s", "soon"}, {"--watchdog-s=-1"}})
    CHECK_EQ(limit_s(words), weft::watchdog::default_limit_s);
}
