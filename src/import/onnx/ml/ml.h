// What operators of ai.onnx.ml share: lists of numbers as constants, labels, what scores become.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx::rows {

Tensor floats_constant(graph::Builder& builder, Shape shape, std::span<const float> values);
Tensor indices_constant(graph::Builder& builder, Shape shape, std::span<const int32_t> values);

// Operand i as F32 or F64 [n, features]; a vector is one row.
Result<Tensor> features(Call& call, size_t i = 0);

// The labels with these I32 indices, of the attribute that has some: integers or strings. Strings
// require the indices at trace time.
Result<Value> labels(Call& call, Tensor indices, std::string_view integers, std::string_view texts);
// How many there are.
size_t count_labels(const Call& call, std::string_view integers, std::string_view texts);

// What `post_transform` makes of scores [n, k]. The numbers are those of TreeEnsemble.
enum class PostTransform : uint8_t { None, Softmax, Logistic, SoftmaxZero, Probit };
Result<PostTransform> post_transform_of(const Call& call);
Tensor transformed(Tensor scores, PostTransform transform);

// The two scores [n, 2] of a single one, s [n, 1], as in ONNX Runtime: only LOGISTIC
// transforms it, to 1 - sigmoid(s) and sigmoid(s); else 1 - s and s if it is a share, or -s and s.
Tensor binary_scores(Tensor single, bool is_share, PostTransform transform);

}  // namespace lathe::onnx::rows
