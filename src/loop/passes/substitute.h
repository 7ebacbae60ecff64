// Replaces loop variables by affine forms in expressions and statements.
#pragma once

#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// `value` mentions no variable that is itself replaced.
struct Replacement {
  VarId var = -1;
  Affine value;
};

Affine substitute(Affine affine, std::span<const Replacement> replacements);
void substitute(std::vector<Guard>& guards, std::span<const Replacement> replacements);
// The expression itself, without its operands; an Index that became constant is a Constant.
ExprId substitute(ExprBuilder& builder, Expr expr, std::span<const Replacement> replacements);

// The entire kernel, whose loops over the replaced variables have been removed already.
void substitute(Kernel& kernel, std::span<const Replacement> replacements);

// A copy of `stmts` with `var` replaced by `value`. New expressions join the kernel's table, old
// ones stay.
std::vector<Stmt> substitute(Kernel& kernel, const std::vector<Stmt>& stmts, VarId var,
                             const Affine& value);

}  // namespace lathe::loop
