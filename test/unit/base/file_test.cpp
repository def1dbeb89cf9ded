#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/hash.h"

namespace sapwood {
namespace {

using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "sapwood_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string error_of(const std::filesystem::path& path, uint64_t limit = kMaxFileBytes) {
    try {
      read_file(path, limit);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kUser ? error.message() : "wrong kind";
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  const std::string content("a\0b\n\xff", 5);
  write_file_atomically(folder_ / "f", content);
  EXPECT_EQ(read_file(folder_ / "f"), content);
  write_file_atomically(folder_ / "f", "");
  EXPECT_EQ(read_file(folder_ / "f"), "") << "replaced by an empty file";
}

TEST_F(FileTest, LeavesNoTemporaryBehind) {
  write_file_atomically(folder_ / "f", "x");
  std::filesystem::create_directory(folder_ / "taken");
  EXPECT_THROW(write_file_atomically(folder_ / "taken", "x"), Error) << "a folder cannot be replaced by a file";
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++entries;
  EXPECT_EQ(entries, 2U);
}

TEST_F(FileTest, ReadErrorsNameThePathAndTheReason) {
  EXPECT_THAT(error_of(folder_ / "none"), HasSubstr("none': No such file"));
  EXPECT_THAT(error_of(folder_), HasSubstr("it is a folder"));
  write_file_atomically(folder_ / "f", "12345");
  EXPECT_THAT(error_of(folder_ / "f", 4), HasSubstr("holds 5 bytes, more than the limit of 4"));
  EXPECT_EQ(read_file(folder_ / "f", 5), "12345");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(folder_ / "pipe"), HasSubstr("not a regular file"));
}

TEST_F(FileTest, WriteErrorsAreRuntimeErrors) {
  try {
    write_file_atomically(folder_ / "missing" / "f", "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_THAT(error.message(), HasSubstr("missing/f"));
  }
}

TEST_F(FileTest, WritingThroughALinkKeepsTheLink) {
  write_file_atomically(folder_ / "f", "old");
  std::filesystem::create_symlink("f", folder_ / "link");
  write_file_atomically(folder_ / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "f"), "new");
  std::filesystem::create_symlink("later", folder_ / "dangling");
  write_file_atomically(folder_ / "dangling", "made");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(read_file(folder_ / "later"), "made");
  std::filesystem::create_symlink("circle", folder_ / "circle");
  EXPECT_THROW(write_file_atomically(folder_ / "circle", "x"), Error);
}

TEST_F(FileTest, WritingKeepsPermissions) {
  write_file_atomically(folder_ / "f", "old");
  ASSERT_EQ(::chmod((folder_ / "f").c_str(), 0640), 0);
  write_file_atomically(folder_ / "f", "new");
  struct stat status{};
  ASSERT_EQ(::stat((folder_ / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

/// A device or a pipe is written to, not replaced by a file.
TEST_F(FileTest, WritingToADeviceOrAPipe) {
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { std::getline(std::ifstream(pipe), got); });
  write_file_atomically(pipe, "through the pipe\n");
  reader.join();
  EXPECT_EQ(got, "through the pipe");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Hash, IsTheSameInEveryProcess) {
  EXPECT_EQ(hash_bytes(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(hash128_bytes("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hash_bytes("a"), hash_bytes("a", 1));
  EXPECT_NE(hash_mix(hash_mix(0, 1), 2), hash_mix(hash_mix(0, 2), 1));
}

}  // namespace
}  // namespace sapwood
