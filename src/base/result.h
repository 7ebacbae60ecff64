// Result<T>: a value or an Error with a text for the user. Every boundary with user input returns
// one.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace lathe {

// Its members are out of line: every LATHE_TRY of the program would inline them.
struct Error {
  std::string message;

  Error(std::string text);
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(const Error& other);
  Error& operator=(Error&& other) noexcept;
  ~Error();
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

using Status = Result<void>;

std::unexpected<Error> fail(std::string message);

// LATHE_TRY(expression): returns the error of a Status or Result to the caller, drops the value.
#define LATHE_TRY(expression)                             \
  do {                                                    \
    if (auto result_ = (expression); !result_) {          \
      return std::unexpected(std::move(result_.error())); \
    }                                                     \
  } while (false)

// LATHE_ASSIGN_OR_RETURN(auto x, expression): x = the value, or returns the error to the caller.
#define LATHE_ASSIGN_OR_RETURN(target, expression) \
  LATHE_ASSIGN_OR_RETURN_(LATHE_JOIN(result_, __LINE__), target, expression)
#define LATHE_ASSIGN_OR_RETURN_(result, target, expression)       \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result.error())); \
  target = std::move(*result)
#define LATHE_JOIN(a, b) LATHE_JOIN_(a, b)
#define LATHE_JOIN_(a, b) a##b

}  // namespace lathe
