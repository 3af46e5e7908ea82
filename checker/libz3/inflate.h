/* Unpacks a deflate stream (RFC 1951).

   What is unpacked was packed by the build script and is compared with its hash afterwards, so the
   only promise here is to stay inside both buffers. */

#include <stddef.h>
#include <stdint.h>

/* The longest code of a symbol, and how many symbols there are. */
enum { LONGEST = 15, LITERALS = 288, DISTANCES = 30 };

/* For the next 15 bits: the symbol whose code they begin with, and the length of that code; 0 where there is none. */
struct codes {
    uint16_t symbol[1 << LONGEST];
    uint8_t length[1 << LONGEST];
};

struct stream {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_begin, *out_end;
    uint64_t bits;
    unsigned count;
};

/* Makes at least 15 bits available; behind the end they are 0. */
static void fill(struct stream *s) {
    while (s->count <= 56 && s->in < s->in_end) {
        s->bits |= (uint64_t)*s->in++ << s->count;
        s->count += 8;
    }
}

static unsigned take(struct stream *s, unsigned count) {
    if (s->count < count) fill(s);
    unsigned value = (unsigned)(s->bits & ((UINT64_C(1) << count) - 1));
    s->bits >>= count;
    s->count = s->count < count ? 0 : s->count - count;
    return value;
}

/* 3.2.2: codes of one length are consecutive, shorter ones first; their bits arrive from the highest. */
static int assign(struct codes *codes, const uint8_t *lengths, unsigned symbols) {
    unsigned of_length[LONGEST + 1] = {0}, next[LONGEST + 2] = {0};
    for (unsigned symbol = 0; symbol < symbols; symbol++) of_length[lengths[symbol]]++;
    of_length[0] = 0;
    for (unsigned length = 1; length <= LONGEST; length++) {
        next[length + 1] = (next[length] + of_length[length]) << 1;
        if (next[length] + of_length[length] > 1u << length) return 0;
    }
    for (unsigned bits = 0; bits < 1 << LONGEST; bits++) codes->length[bits] = 0;
    for (unsigned symbol = 0; symbol < symbols; symbol++) {
        unsigned length = lengths[symbol], code, turned = 0;
        if (length == 0) continue;
        code = next[length]++;
        for (unsigned bit = 0; bit < length; bit++) turned |= (code >> bit & 1) << (length - 1 - bit);
        for (unsigned bits = turned; bits < 1 << LONGEST; bits += 1u << length) {
            codes->symbol[bits] = (uint16_t)symbol;
            codes->length[bits] = (uint8_t)length;
        }
    }
    return 1;
}

/* The next symbol; -1 if the bits are no code. */
static int decode(struct stream *s, const struct codes *codes) {
    if (s->count < LONGEST) fill(s);
    unsigned bits = (unsigned)(s->bits & ((1u << LONGEST) - 1)), length = codes->length[bits];
    if (length == 0 || length > s->count) return -1;
    s->bits >>= length;
    s->count -= length;
    return codes->symbol[bits];
}

/* 3.2.5: literals, and copies of what was written before. */
static int unpack_block(struct stream *s, const struct codes *literals, const struct codes *distances) {
    static const uint16_t base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t far[] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                   193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    for (;;) {
        int symbol = decode(s, literals);
        if (symbol < 0 || symbol > 285) return 0;
        if (symbol == 256) return 1;
        if (symbol < 256) {
            if (s->out == s->out_end) return 0;
            *s->out++ = (uint8_t)symbol;
            continue;
        }
        size_t length = base[symbol - 257] + take(s, extra[symbol - 257]);
        int place = decode(s, distances);
        if (place < 0 || place >= DISTANCES) return 0;
        size_t distance = far[place] + take(s, place < 2 ? 0 : (unsigned)place / 2 - 1);
        if (distance > (size_t)(s->out - s->out_begin) || length > (size_t)(s->out_end - s->out)) return 0;
        for (; length > 0; length--, s->out++) *s->out = s->out[-(ptrdiff_t)distance];
    }
}

/* 3.2.7: the lengths of the codes of a block are themselves in code. */
static int read_codes(struct stream *s, struct codes *literals, struct codes *distances) {
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + 32] = {0}, of_lengths[19] = {0};
    unsigned first = take(s, 5) + 257, second = take(s, 5) + 1, given = take(s, 4) + 4;
    if (first > LITERALS) return 0;
    for (unsigned at = 0; at < given; at++) of_lengths[order[at]] = (uint8_t)take(s, 3);
    if (!assign(literals, of_lengths, 19)) return 0;
    for (unsigned at = 0; at < first + second;) {
        int symbol = decode(s, literals);
        unsigned times = 1;
        uint8_t length = 0;
        if (symbol < 0) return 0;
        if (symbol < 16) length = (uint8_t)symbol;
        else if (symbol == 16 && at == 0) return 0;
        else if (symbol == 16) length = lengths[at - 1], times = 3 + take(s, 2);
        else if (symbol == 17) times = 3 + take(s, 3);
        else times = 11 + take(s, 7);
        if (times > first + second - at) return 0;
        for (; times > 0; times--) lengths[at++] = length;
    }
    return assign(literals, lengths, first) && assign(distances, lengths + first, second);
}

/* Whether a stream fills a buffer exactly. */
static int inflate(const uint8_t *in, size_t in_length, uint8_t *out, size_t out_length) {
    static struct codes literals, distances;
    struct stream s = {in, in + in_length, out, out, out + out_length, 0, 0};
    for (unsigned last = 0; !last;) {
        fill(&s);
        if (s.count == 0) return 0;
        last = take(&s, 1);
        switch (take(&s, 2)) {
        case 0: {
            /* 3.2.4: as it is, from the next byte on. */
            take(&s, s.count % 8);
            unsigned length = take(&s, 16);
            take(&s, 16);
            if (length > (size_t)(s.out_end - s.out)) return 0;
            for (; length > 0; length--) *s.out++ = (uint8_t)take(&s, 8);
            break;
        }
        case 1: {
            /* 3.2.6: codes that are the same everywhere. */
            uint8_t lengths[LITERALS], fives[32];
            for (unsigned at = 0; at < LITERALS; at++) lengths[at] = at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8;
            for (unsigned at = 0; at < 32; at++) fives[at] = 5;
            if (!assign(&literals, lengths, LITERALS) || !assign(&distances, fives, 32) ||
                !unpack_block(&s, &literals, &distances))
                return 0;
            break;
        }
        case 2:
            if (!read_codes(&s, &literals, &distances) || !unpack_block(&s, &literals, &distances)) return 0;
            break;
        default: return 0;
        }
    }
    return s.out == s.out_end;
}
