// Attention: sums of values, weighted by how queries match keys. Axes are batch b, heads h, queries
// n and keys m; keys and values may have fewer heads g, each of which serves h / g of the queries'.
#pragma once

#include <cstdint>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;

// [b, n, h d] -> [b, h, n, d], and back.
Tensor split_heads(Tensor x, int64_t heads);
Tensor merge_heads(Tensor x);

// scale · q [b, h, n, d] · k [b, g, m, d]ᵀ -> [b, h, n, m], in the type that both are computed in.
Tensor attention_scores(Tensor q, Tensor k, float scale);
// weights [b, h, n, m] · v [b, g, m, e] -> [b, h, n, e].
Tensor weighted_values(Tensor weights, Tensor v);
// softmax along the last axis; a row that is -inf everywhere yields zeros.
Tensor masked_softmax(Tensor x);

// Which keys a query attends to. `first` is the position of the first query among the keys: I32 []
// or [b]. A query at position p attends to keys p - left to p + right; -1: unbounded on this side.
struct KeyWindow {
  Tensor first;
  int64_t left = -1, right = -1;
};
// The mask, bool [1 or b, 1, n, m]; invalid where every query attends to every key.
Tensor key_window_mask(const KeyWindow& window, int64_t queries, int64_t keys);
// bool [b, 1, 1, m]: the first lengths[b] keys.
Tensor length_mask(Tensor lengths, int64_t keys);

// The first first[b] rows along an axis of a buffer [b, ..], then the rows `fresh`, then what the
// buffer has there, or zeros. `first` is I32 [], or [b] with an axis after the first.
Tensor write_rows(Tensor buffer, Tensor fresh, Tensor first, bool preserve_rest, int axis = 2);

// x [b, h, n, d] where the first r numbers of each row are rotated pairwise by angles of cosines
// and sines [1 or b, n, r / 2]; pairs are neighbors, or else one half and the other. Su et al.,
// "RoFormer: Enhanced transformer with rotary position embedding", 2021.
Tensor rotary_embedding(Tensor x, Tensor cosine, Tensor sine, bool interleaved);

}  // namespace lathe::ops
