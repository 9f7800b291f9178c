#pragma once

#include <span>

#include "engine/cpu/decoder.h"
#include "engine/cpu/decoder_slots.h"

namespace starpo {

// Scratch of decode_attention for slots of up to `context` tokens, in floats.
std::size_t decode_attention_scratch(const Model&, int context);

// One layer's attention of every entry's new tokens, whose keys and values it stores, over all that the slot holds. qkv [tokens, Widths::qkv] and attended
// [tokens, Widths::queries] have a row for each new token, in the order of the entries. What entries next to each other begin with alike is read once for
// all of them; since every sum is a chain over the keys in their order, that changes no bit.
void decode_attention(const Model&, DecoderSlots&, std::span<const SlotTokens> entries, int layer, const float* qkv, float* attended, float* scratch, int context);

}  // namespace starpo
