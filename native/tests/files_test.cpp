#include <doctest/doctest.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "error_code.h"
#include "files/base64.h"
#include "files/descriptor.h"
#include "files/float16.h"
#include "files/reading.h"
#include "files/sha256.h"
#include "files/temporary_file.h"
#include "journal/journal.h"
#include "rollout/rollout_writer.h"
#include "temporary_folder.h"
#include "train/run/background_writer.h"

using namespace starpo;
using nlohmann::json;

namespace {

std::string base64(std::string_view text) {
  return base64_encode({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::string decompressed(const std::string& frame) {
  std::string text(ZSTD_getFrameContentSize(frame.data(), frame.size()), '\0');
  REQUIRE(ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size()) == text.size());
  return text;
}

int entries(const std::filesystem::path& folder) {
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

bool has_rollout_event(const TemporaryFolder& run) {
  return read_text(run.path() / "events.jsonl").find("\"rollout\"") != std::string::npos;
}

}  // namespace

TEST_CASE("base64 matches the examples of RFC 4648") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xfb\xff\xbf") == "+/+/");
}

TEST_CASE("half precision rounds ties to even over the whole range") {
  CHECK(to_float16(0.0f) == 0x0000);
  CHECK(to_float16(-0.0f) == 0x8000);
  CHECK(to_float16(1.0f) == 0x3C00);
  CHECK(to_float16(-2.0f) == 0xC000);
  CHECK(to_float16(65504.0f) == 0x7BFF);
  CHECK(to_float16(65519.0f) == 0x7BFF);
  CHECK(to_float16(65520.0f) == 0x7C00);
  CHECK(to_float16(1.0f + 0x1p-11f) == 0x3C00);      // a tie: to even
  CHECK(to_float16(1.0f + 3 * 0x1p-11f) == 0x3C02);  // a tie: to even
  CHECK(to_float16(1.0f + 0x1.002p-11f) == 0x3C01);
  CHECK(to_float16(0x1p-14f) == 0x0400);
  CHECK(to_float16(0x1p-24f) == 0x0001);
  CHECK(to_float16(0x1p-25f) == 0x0000);
  CHECK(to_float16(0x1.8p-25f) == 0x0001);
  CHECK(to_float16(0x1.ff8p-15f) == 0x03FF);  // the largest subnormal
  CHECK(to_float16(0x1.ffap-15f) == 0x03FF);
  CHECK(to_float16(0x1.ffcp-15f) == 0x0400);  // a tie, into the normal numbers
  CHECK(to_float16(std::numeric_limits<float>::infinity()) == 0x7C00);
  CHECK((to_float16(std::nanf("")) & 0x7E00) == 0x7E00);
}

TEST_CASE("SHA-256 matches the examples of FIPS 180") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  TemporaryFolder folder;
  write_text(folder.path() / "a", std::string(1000000, 'a'));
  CHECK(sha256_of_file(folder.path() / "a") == sha256(std::string(1000000, 'a')));
  CHECK(error_code_of([&] { sha256_of_file(folder.path() / "none"); }) == "file_unreadable");
}

TEST_CASE("a temporary file gets its name only on commit") {
  TemporaryFolder folder;
  const auto path = folder.path() / "file";
  write_text(path, "old");
  {
    TemporaryFile file(path);
    file.write("given up");
    CHECK(read_text(path) == "old");
  }
  CHECK(entries(folder.path()) == 1);
  write_file_atomically(path, "new");
  CHECK(read_text(path) == "new");
  CHECK(entries(folder.path()) == 1);
  CHECK(error_code_of([&] { write_file_atomically(folder.path() / "none/file", "x"); }) == "file_unwritable");
}

TEST_CASE("a temporary file does not follow a link, but its folder may be behind one") {
  TemporaryFolder folder, elsewhere;
  const auto own = elsewhere.path() / "own", path = folder.path() / "file", partial = folder.path() / ".file.partial";
  write_text(own, "somebody's");
  std::filesystem::create_symlink(own, partial);
  CHECK(error_code_of([&] { write_file_atomically(path, "new"); }) == "file_unwritable");
  CHECK_THROWS_WITH(write_file_atomically(path, "new"), doctest::Contains("is a symbolic link"));
  CHECK(read_text(own) == "somebody's");
  CHECK(std::filesystem::is_symlink(partial));  // kept for inspection
  CHECK_FALSE(std::filesystem::exists(path));

  std::filesystem::remove(partial);
  std::filesystem::create_directory_symlink(folder.path(), elsewhere.path() / "folder");
  write_file_atomically(elsewhere.path() / "folder/file", "new");
  CHECK(read_text(path) == "new");

  std::filesystem::remove(path);
  std::filesystem::create_symlink(own, path);
  write_file_atomically(path, "newer");
  CHECK(read_text(path) == "newer");
  CHECK(read_text(own) == "somebody's");
}

TEST_CASE("each episode can be read separately by the index") {
  TemporaryFolder run;
  RolloutWriter writer(run.path(), 12, "train");
  std::vector<std::string> lines;
  for (int i = 0; i < 5; ++i) {
    const json summary{{"id", episode_id(12, "train", i)}, {"reward", i * 0.5}, {"success", i == 3}};
    json episode = summary;
    episode["initial"] = std::string(100 * i, '_') + "√\n";
    lines.push_back(episode.dump());
    writer.add(lines.back(), summary);
  }
  CHECK_FALSE(std::filesystem::exists(run.path() / "rollouts/000012-train.jsonl.zst"));
  const auto files = writer.finish();
  CHECK(files.file == "rollouts/000012-train.jsonl.zst");
  CHECK(files.index == "rollouts/000012-train.index.json");
  CHECK(files.episodes == 5);

  const auto bytes = read_text(run.path() / files.file);
  const auto index = json::parse(read_text(run.path() / files.index));
  CHECK(index.at("version") == 1);
  CHECK(index.at("iteration") == 12);
  CHECK(index.at("split") == "train");
  REQUIRE(index.at("episodes").size() == 5);
  std::size_t end = 0;
  for (int i = 0; i < 5; ++i) {
    const auto& entry = index.at("episodes")[i];
    CHECK(entry.at("id") == "000012-train-000" + std::to_string(i));
    CHECK(entry.at("reward") == i * 0.5);
    CHECK(entry.at("offset") == end);
    CHECK(decompressed(bytes.substr(entry.at("offset"), entry.at("length"))) == lines[i] + "\n");
    end += entry.at("length").get<std::size_t>();
  }
  CHECK(end == bytes.size());
}

TEST_CASE("a canceled rollout leaves no files; a rollout without episodes writes valid files") {
  TemporaryFolder run;
  {
    RolloutWriter writer(run.path(), 1, "train");
    writer.add("{\"id\":\"a\"}", {{"id", "a"}});
  }
  CHECK(entries(run.path() / "rollouts") == 0);
  const auto files = RolloutWriter(run.path(), 0, "frozen-lake").finish();
  CHECK(json::parse(read_text(run.path() / files.index)).at("episodes").empty());
  CHECK(read_text(run.path() / files.file).empty());
}

TEST_CASE("folder_entries lists the entries of a folder, and none for a path that is not a folder") {
  TemporaryFolder folder;
  write_text(folder.path() / "a", "");
  std::filesystem::create_directory(folder.path() / "b");
  auto entries = folder_entries(folder.path());
  std::sort(entries.begin(), entries.end());
  CHECK(entries == std::vector<std::filesystem::path>{folder.path() / "a", folder.path() / "b"});
  CHECK(folder_entries(folder.path() / "a").empty());
  CHECK(folder_entries(folder.path() / "missing").empty());
}

TEST_CASE("a rollout file is logged once, as soon as it is written, and training does not wait for it") {
  TemporaryFolder run;
  Journal journal(run.path());
  BackgroundWriter writer(run.path(), journal);
  writer.log_if_written();
  CHECK(writer.wait_and_log() == 0);

  std::promise<void> allow_writing;
  writer.start(3, "train", [held = allow_writing.get_future().share()](RolloutWriter& file) {
    held.wait();
    file.add("{}", {{"id", "000003-train-0000"}});
  });
  writer.log_if_written();
  CHECK_FALSE(has_rollout_event(run));
  allow_writing.set_value();
  while (!has_rollout_event(run)) {
    writer.log_if_written();
    std::this_thread::yield();
  }
  CHECK(std::filesystem::exists(run.path() / "rollouts/000003-train.index.json"));
  const auto next = journal.next_seq();
  CHECK(writer.wait_and_log() > 0);
  CHECK(writer.wait_and_log() == 0);
  CHECK(journal.next_seq() == next);
}

TEST_CASE("an error of the background writer is thrown when its result is logged") {
  TemporaryFolder run;
  Journal journal(run.path());
  std::filesystem::remove_all(run.path() / "rollouts");
  write_text(run.path() / "rollouts", "a file where the folder should be");
  BackgroundWriter writer(run.path(), journal);
  writer.start(3, "train", [](RolloutWriter&) {});
  CHECK(error_code_of([&] { writer.wait_and_log(); }) == "file_unwritable");
  writer.log_best_effort();
  CHECK_FALSE(has_rollout_event(run));
}

TEST_CASE("file errors of the operating system have a hint and are not called bugs") {
  const auto hint = [](int error_number) { return write_error("/run/file", error_number).hint(); };
  CHECK(hint(EACCES).find("permissions") != std::string::npos);
  CHECK(hint(EROFS).find("remount the disk with write access") != std::string::npos);
  CHECK(hint(ENOENT).find("was moved") != std::string::npos);
  CHECK(hint(EMFILE).find("ulimit -n") != std::string::npos);
  CHECK(hint(EIO).find("check the disk") != std::string::npos);

  const std::filesystem::filesystem_error rejected("cannot open", "/run/file",
                                                   std::make_error_code(std::errc::permission_denied));
  CHECK(unhandled_error(rejected).code() == "file_unusable");
  CHECK(unhandled_error(rejected).hint().find("permissions") != std::string::npos);
  const std::system_error limit(std::make_error_code(std::errc::resource_unavailable_try_again));
  CHECK(unhandled_error(limit).code() == "out_of_threads");
  CHECK(unhandled_error(std::logic_error("broken")).code() == "internal_error");
}
