/* Seeded normals: element i of a stream is a function of (seed, stream, i) and of nothing
 * else, so that any part of a tensor can be made alone, in any order, on any machine. */
#ifndef HEADLIGHT_MODEL_RANDOM_H
#define HEADLIGHT_MODEL_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Names one stream; different (seed, stream) give unrelated numbers. */
uint64_t random_key(uint32_t seed, uint32_t stream);

/* out[k] = mean + sd * normal number (first + k) of the stream, k < n.
 *
 * Mean 0, variance 1 and kurtosis 3 like the normal distribution; its distribution
 * function is within 0.0005 of the normal one, and no number exceeds 5.7. Only integer
 * and single float32 operations: the same bits wherever floats are IEEE 754. */
void random_normals(float *out, size_t n, uint64_t key, size_t first, float mean,
                    float sd);

#endif
