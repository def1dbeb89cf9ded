#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sapwood {

/// Whom an error concerns, and so who can do something about it.
enum class ErrorKind : uint8_t {
  kUser,         ///< the caller passed something wrong: a malformed file, a loss that is not a scalar
  kUnsupported,  ///< right, but not something this version can compile; the caller may run eagerly
  kRuntime,      ///< the environment failed: out of memory, a file that cannot be written
  kInternal,     ///< an invariant of Sapwood is broken: a defect to report
};

/// The one exception type of the library. `what()` is "<stage>: <message>"; the message names what is wrong, where,
/// and what to do about it. Exceptions of LibTorch and of the caller's functions pass through as they are.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view stage, std::string_view message);

  ErrorKind kind() const { return kind_; }
  const std::string& stage() const { return stage_; }
  /// The text without the stage in front.
  const std::string& message() const { return message_; }

 private:
  ErrorKind kind_;
  std::string stage_;
  std::string message_;
};

}  // namespace sapwood
