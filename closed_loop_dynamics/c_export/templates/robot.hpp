// robot.h for C++17: std::array in and out, std::span where C++20 has it. Header only.
#ifndef ROBOT_HPP_
#define ROBOT_HPP_

#include <array>
#include <cstddef>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

#include "robot.h"

namespace robot {

using Real = real;

#if defined(__cpp_lib_span)
template <std::size_t n>
using In = std::span<const Real, n>;
template <std::size_t n>
using Out = std::span<Real, n>;
#else
template <std::size_t n>
using In = const std::array<Real, n> &;
template <std::size_t n>
using Out = std::array<Real, n> &;
#endif

enum class Status {
    ok = ROBOT_OK,
    invalid_input = ROBOT_INVALID_INPUT,
    closure_not_found = ROBOT_CLOSURE_NOT_FOUND,
    branch = ROBOT_BRANCH,
    actuation_singular = ROBOT_ACTUATION_SINGULAR,
    singular_inertia = ROBOT_SINGULAR_INERTIA
};

inline const char *text(Status status) noexcept { return robot_status_text(static_cast<int>(status)); }

// One for each thread; copies go on from where the original is. Nothing throws or allocates.
class Robot {
public:
    Robot() noexcept { robot_init(&memory_); }

    void reset() noexcept { robot_init(&memory_); }
    int where() const noexcept { return memory_.where; }
    int iterations() const noexcept { return memory_.iterations; }

@METHODS@

private:
    robot_memory memory_;
};

}  // namespace robot

#endif
