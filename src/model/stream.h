/* Bytes that come one after another: a part of a file, as it is or deflated. */
#ifndef HEADLIGHT_MODEL_STREAM_H
#define HEADLIGHT_MODEL_STREAM_H

#include "base.h"

#define ZLIB_CONST /* what is packed is not written to */
#include <zlib.h>

struct stream {
    const struct file_in *in;
    uint64_t at, packed; /* the next byte in the file, and how many are left there */
    uint64_t left;       /* bytes still to come out */
    uint32_t crc;        /* of those that came */
    bool deflated, checked;
    bool ended; /* the packed data's end mark has been read */
    z_stream z;
    unsigned char buffer[1 << 14];
};

/* The n bytes of the file from `at` on. */
void stream_plain(struct stream *s, const struct file_in *in, uint64_t at, uint64_t n);
/* n bytes packed into `packed` ones. stream_end frees what this took. */
bool stream_deflated(struct stream *s, const struct file_in *in, uint64_t at,
                     uint64_t packed, uint64_t n, struct err *e);
/* Exactly n bytes. ERR_INPUT: there are fewer, or they are damaged. */
bool stream_read(struct stream *s, void *to, size_t n, struct err *e);
/* Whether all came, all packed ones were used, and the checksum is crc. */
bool stream_is_whole(struct stream *s, uint32_t crc, struct err *e);
void stream_end(struct stream *s);

#endif
