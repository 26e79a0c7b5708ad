/* Deflated data is unpacked as it is asked for, never further than what was announced, so
 * that a small file cannot fill the memory. */
#include "stream.h"

#include <string.h>

void stream_plain(struct stream *s, const struct file_in *in, uint64_t at, uint64_t n)
{
    s->in = in;
    s->at = at;
    s->packed = s->left = n;
    s->crc = 0;
    s->deflated = s->checked = s->ended = false;
}

bool stream_deflated(struct stream *s, const struct file_in *in, uint64_t at,
                     uint64_t packed, uint64_t n, struct err *e)
{
    stream_plain(s, in, at, packed);
    s->left = n;
    s->z = (z_stream){0};
    /* Negative: without zlib's own header, as ZIP has it. */
    if (inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
        return err_set(e, ERR_SYSTEM, "no memory for unpacking");
    s->deflated = true;
    return true;
}

void stream_end(struct stream *s)
{
    if (s->deflated) (void)inflateEnd(&s->z);
    s->deflated = false;
}

static bool fill(struct stream *s, struct err *e)
{
    size_t n = s->packed < sizeof s->buffer ? (size_t)s->packed : sizeof s->buffer;
    if (n == 0) return err_set(e, ERR_INPUT, "the packed data ends too early");
    if (!file_read_at(s->in, s->buffer, n, s->at, e)) return false;
    s->at += n;
    s->packed -= n;
    s->z.next_in = s->buffer;
    s->z.avail_in = (uInt)n;
    return true;
}

static bool unpack(struct stream *s, unsigned char *to, size_t n, struct err *e)
{
    s->z.next_out = to;
    s->z.avail_out = (uInt)n;
    while (s->z.avail_out > 0) {
        if (s->ended) return err_set(e, ERR_INPUT, "less is packed in it than it says");
        if (s->z.avail_in == 0 && !fill(s, e)) return false;
        int r = inflate(&s->z, Z_NO_FLUSH);
        if (r == Z_MEM_ERROR) return err_set(e, ERR_SYSTEM, "no memory for unpacking");
        if (r != Z_OK && r != Z_STREAM_END)
            return err_set(e, ERR_INPUT, "the packed data is damaged");
        s->ended = r == Z_STREAM_END;
    }
    return true;
}

bool stream_read(struct stream *s, void *to, size_t n, struct err *e)
{
    enum { MOST = 1 << 30 }; /* at once: zlib counts in unsigned int */
    if (n > s->left)
        return err_set(e, ERR_INPUT, "%zu bytes are needed, %ju are there", n,
                       (uintmax_t)s->left);
    unsigned char *at = to;
    while (n > 0) {
        size_t part = n < MOST ? n : MOST;
        if (s->deflated ? !unpack(s, at, part, e)
                        : !file_read_at(s->in, at, part, s->at, e))
            return false;
        if (!s->deflated) {
            s->at += part;
            s->packed -= part;
        }
        if (s->checked) s->crc = (uint32_t)crc32(s->crc, at, (uInt)part);
        s->left -= part;
        at += part;
        n -= part;
    }
    return true;
}

bool stream_is_whole(struct stream *s, uint32_t crc, struct err *e)
{
    if (s->left > 0)
        return err_set(e, ERR_INPUT, "%ju bytes too many", (uintmax_t)s->left);
    unsigned char more; /* the end mark may still have to be read */
    s->z.next_out = &more;
    s->z.avail_out = 1;
    while (s->deflated && !s->ended && s->z.avail_out == 1) {
        if (s->z.avail_in == 0 && !fill(s, e)) return false;
        int r = inflate(&s->z, Z_NO_FLUSH);
        if (r != Z_OK && r != Z_STREAM_END)
            return err_set(e, ERR_INPUT, "the packed data is damaged");
        s->ended = r == Z_STREAM_END;
    }
    if (s->deflated &&
        (!s->ended || s->z.avail_out == 0 || s->z.avail_in > 0 || s->packed > 0))
        return err_set(e, ERR_INPUT, "more is packed in it than it says");
    if (s->crc != crc)
        return err_set(e, ERR_INPUT, "its checksum is %08x, not %08x: it is damaged",
                       (unsigned)s->crc, (unsigned)crc);
    return true;
}
