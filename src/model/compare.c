/* Somebody's arrays put beside ours, and how far apart the two are. What an array is, its
 * name says, or its shape, or, where these leave several, its numbers; and it is said. */
#include "match.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FORMS = 256 };

/* ---- how far -------------------------------------------------------------------------------- */

struct sums {
    double dot, ours, theirs, error, abs;
    int64_t finite;
};

static bool is_of(const struct model_heads *heads, int64_t i)
{
    if (!heads) return true;
    int64_t head = i / heads->each % heads->n;
    return heads->has ? heads->has[head] : head == heads->only;
}

static double rms_of(const float *x, int64_t n, const struct model_heads *heads)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!is_of(heads, i) || !isfinite(x[i])) continue;
        sum += (double)x[i] * (double)x[i];
        count++;
    }
    return count ? sqrt(sum / (double)count) : 0;
}

/* The distance of a cell from ours; infinite where one of the two alone is no number. */
static double distance(float ours, float theirs)
{
    if (ours == -INFINITY && theirs <= MODEL_MASK_LIKE) return 0;
    if (ours == theirs) return 0;
    if (!isfinite(ours) || !isfinite(theirs)) return (double)INFINITY;
    return fabs((double)theirs - (double)ours);
}

static void count_in(struct sums *s, double o, double t)
{
    s->dot += o * t;
    s->ours += o * o;
    s->theirs += t * t;
    s->error += (t - o) * (t - o);
    s->abs += fabs(t - o);
    s->finite++;
}

struct model_diff model_diff_of(const float *ours, const float *theirs, int64_t n,
                                const struct model_heads *heads, double tolerance)
{
    struct model_diff d = {.first = -1, .worst = -1, .cosine = 1};
    struct sums s = {0};
    double rms = rms_of(ours, n, heads), farthest = -1;
    for (int64_t i = 0; i < n; i++) {
        if (!is_of(heads, i) || isnan(ours[i])) continue;
        double away = distance(ours[i], theirs[i]);
        d.n++;
        if (isinf(away)) d.n_odd++;
        if (isfinite(ours[i]) && isfinite(theirs[i])) {
            count_in(&s, (double)ours[i], (double)theirs[i]);
            if (away > d.max_abs) d.max_abs = away;
        }
        bool bad = isinf(away) || away > tolerance * (fabs((double)ours[i]) + rms);
        if (bad && d.n_bad++ == 0) d.first = i;
        if (away > farthest) {
            farthest = away;
            d.worst = i;
        }
    }
    if (s.finite) d.mean_abs = s.abs / (double)s.finite;
    d.relative = s.error == 0 ? 0
                 : s.ours > 0 ? sqrt(s.error / s.ours)
                              : (double)INFINITY;
    if (s.ours > 0 && s.theirs > 0)
        d.cosine = s.dot / sqrt(s.ours) / sqrt(s.theirs);
    else if (s.ours != s.theirs)
        d.cosine = 0;
    return d;
}

/* ---- theirs ---------------------------------------------------------------------------------- */

static struct sizes sizes_of(const struct model_theirs *t)
{
    return (struct sizes){t->dims.n_tok, t->dims.d_model, t->dims.n_head, t->d_mlp};
}

/* Heads of a tensor as its cells lie. */
static struct model_heads heads_of(const struct model_theirs *t, enum model_tensor id)
{
    int64_t n = t->dims.n_tok;
    bool square = id >= MODEL_T_SCORES && id <= MODEL_T_WEIGHTS;
    return (struct model_heads){.has = t->has_head[id],
                                .each = square ? n * n : attn_d_head(t->dims),
                                .n = t->dims.n_head};
}

struct model_diff model_theirs_diff(const struct model_theirs *t, enum model_tensor id,
                                    const float *ours)
{
    struct model_numbers sizes = {.dims = t->dims, .d_mlp = t->d_mlp};
    struct model_heads heads = heads_of(t, id);
    return model_diff_of(ours, t->at[id], model_numbers_count(&sizes, id),
                         model_tensor_has_heads(id) ? &heads : NULL, t->tolerance[id]);
}

void model_theirs_free(struct model_theirs *t)
{
    arena_free(&t->mem);
    *t = (struct model_theirs){0};
}

static void note(struct model_theirs *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(struct model_theirs *t, const char *format, ...)
{
    va_list args;
    if (t->n_note == MODEL_NOTES) return;
    va_start(args, format);
    (void)vsnprintf(t->note[t->n_note++], sizeof t->note[0], format, args);
    va_end(args);
}

static bool lay_out(struct model_theirs *t, const struct model_numbers *ours,
                    struct err *e)
{
    size_t bytes = 4096, head = (size_t)ours->dims.n_head;
    for (int id = 0; id < MODEL_T_COUNT; id++)
        bytes +=
            (size_t)model_numbers_count(ours, (enum model_tensor)id) * sizeof(float) +
            head;
    bytes *= 2; /* an array is put in its place before it is known to be there */
    if (!arena_init(&t->mem, bytes, e)) return false;
    t->dims = ours->dims;
    t->d_mlp = ours->d_mlp;
    for (int id = 0; id < MODEL_T_COUNT; id++)
        t->has_head[id] = arena_push(&t->mem, head, sizeof(bool));
    return true;
}

/* ---- which it is -------------------------------------------------------------------------------- */

/* One array of the dump and all that it may be. */
struct candidate {
    struct form form[FORMS];
    struct model_diff diff[FORMS];
    int n;
    float *place[3]; /* where a form puts its numbers to be looked at */
};

struct reading {
    struct model_theirs *t;
    const struct model_numbers *ours;
    const struct model_want *want;
    struct arena mem; /* the candidate and its places */
    struct candidate *can;
};

static const char *shape_of(char out[128], const struct model_array *a)
{
    size_t n = 0;
    for (int i = 0; i < a->rank; i++)
        n += (size_t)snprintf(out + n, 128 - n, "%s%jd", i ? "," : "[",
                              (intmax_t)a->shape[i]);
    (void)snprintf(out + n, 128 - n, "%s", a->rank ? "]" : "one number");
    return out;
}

static double tolerance_of(const struct model_want *w, const struct model_array *a)
{
    static const double half = 2e-3, bf16 = 1.6e-2; /* four units of their last place */
    if (w->tolerance > 0) return w->tolerance;
    if (strstr(a->dtype, "f2")) return half;
    return strcmp(a->dtype, "bf16") == 0 ? bf16 : MODEL_TOLERANCE;
}

/* The difference that reading the array as form f leaves. */
static struct model_diff look(const struct reading *r, const struct form *f,
                              const float *data, double tolerance)
{
    struct model_diff all = {.first = -1};
    form_gather(r->can->place, f, sizes_of(r->t), data);
    for (int p = 0; p < (f->target.all_three ? 3 : 1); p++) {
        enum model_tensor id = form_tensor(f, p);
        struct model_heads heads = heads_of(r->t, id);
        heads.has = NULL;
        heads.only = f->head;
        struct model_diff d = model_diff_of(r->ours->at[id], r->can->place[p],
                                            model_numbers_count(r->ours, id),
                                            f->head >= 0 ? &heads : NULL, tolerance);
        all.n_bad += d.n_bad;
        all.n_odd += d.n_odd;
        all.relative += d.relative;
    }
    return all;
}

/* A part of a parameter is put over ours, so that the rest of it agrees. */
static void prepare_places(const struct reading *r, const struct form *f)
{
    if (f->target.part < 0) return;
    size_t n = (size_t)model_numbers_count(r->ours, f->target.tensor);
    memcpy(r->can->place[0], r->ours->at[f->target.tensor], n * sizeof(float));
}

/* All readings of an array that its name allows; any: that anything allows. */
static void collect(const struct reading *r, const struct named *name,
                    const struct model_array *a)
{
    struct candidate *c = r->can;
    struct sizes s = sizes_of(r->t);
    c->n = 0;
    for (int i = 0; i < name->n; i++)
        if (r->ours->at[name->at[i].tensor])
            c->n += forms_of(c->form + c->n, FORMS - c->n, name->at[i], name->head, s, a);
    for (int id = 0; name->n == 0 && id < MODEL_T_COUNT; id++) {
        struct target t = {(enum model_tensor)id, -1, false};
        if (r->ours->at[id])
            c->n += forms_of(c->form + c->n, FORMS - c->n, t, name->head, s, a);
    }
}

/* Where neither or both have infinities of their own, the smaller error. */
static bool is_nearer(const struct model_diff *a, const struct model_diff *b)
{
    if ((a->n_odd > 0) != (b->n_odd > 0)) return a->n_odd == 0;
    return a->relative < b->relative;
}

static int nearest(const struct candidate *c, bool agreeing)
{
    int best = -1;
    for (int i = 0; i < c->n; i++) {
        if (agreeing && c->diff[i].n_bad) continue;
        if (best < 0 || is_nearer(&c->diff[i], &c->diff[best])) best = i;
    }
    return best;
}

static bool same_target(const struct form *a, const struct form *b)
{
    return a->target.tensor == b->target.tensor && a->target.part == b->target.part;
}

/* "scores, scaled or masked": the targets of the readings. */
static const char *targets_text(char out[160], const struct candidate *c)
{
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < c->n && n < 140; i++) {
        bool known = false;
        for (int k = 0; k < i; k++)
            known = known || same_target(&c->form[k], &c->form[i]);
        if (!known)
            n += (size_t)snprintf(out + n, 160 - n, "%s%s", n ? ", " : "",
                                  model_tensor_name(c->form[i].target.tensor));
    }
    return out;
}

/* What the choice left open is said. chosen < 0: none was made. */
static void say(const struct reading *r, const char *name, const struct candidate *c,
                int chosen, bool agrees, bool named)
{
    char list[160];
    bool targets = false, heads = false, orders = false;
    for (int i = 1; i < c->n; i++) {
        targets = targets || !same_target(&c->form[i], &c->form[0]);
        heads = heads || c->form[i].head != c->form[0].head;
        orders = orders || strcmp(c->form[i].order, c->form[0].order) != 0;
    }
    (void)targets_text(list, c);
    if (chosen < 0) {
        note(r->t, "%s: may be %s; not compared: give it one of these names", name, list);
        return;
    }
    const struct form *f = &c->form[chosen];
    const char *as = model_tensor_name(f->target.tensor);
    const char *why = agrees ? "with which it agrees" : "the nearest; none agrees";
    if (targets)
        note(r->t, "%s: may be %s; taken as %s, %s", name, list, as, why);
    else if (!named)
        note(r->t, "%s: taken as %s by its shape", name, as);
    else if (heads)
        note(r->t, "%s: %s of one head, of which is not said; taken as head %d, %s", name,
             as, f->head + 1, why);
    else if (orders && !agrees)
        note(r->t, "%s: its shape can be read in several orders; %s", name, why);
}

/* Which reading it is; -1: that is open. */
static int choose(const struct reading *r, const char *name, const struct named *named,
                  const struct model_array *a)
{
    struct candidate *c = r->can;
    double tolerance = tolerance_of(r->want, a);
    for (int i = 0; i < c->n; i++) {
        if (named->head < 0 && r->want->head >= 0 && c->form[i].head >= 0 &&
            c->form[i].head != r->want->head) {
            c->form[i--] = c->form[--c->n]; /* --head says which */
            continue;
        }
    }
    for (int i = 0; c->n > 1 && i < c->n; i++) {
        prepare_places(r, &c->form[i]);
        c->diff[i] = look(r, &c->form[i], a->data, tolerance);
    }
    int chosen = c->n == 1 ? 0 : nearest(c, true);
    bool agrees = chosen >= 0;
    bool several = false;
    for (int i = 1; i < c->n; i++)
        several = several || !same_target(&c->form[i], &c->form[0]);
    if (chosen < 0 && (named->n > 0 || !several)) chosen = nearest(c, false);
    if (c->n > 1 || named->n == 0) say(r, name, c, chosen, agrees, named->n > 0);
    return chosen;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Whether something else has been taken for what form f says. */
static bool is_taken(const struct model_theirs *t, const struct form *f)
{
    enum model_tensor id = form_tensor(f, 0);
    if (!t->at[id] || f->target.part >= 0) return false;
    if (!model_tensor_has_heads(id)) return true;
    for (int h = 0; h < t->dims.n_head; h++)
        if ((f->head < 0 || f->head == h) && t->has_head[id][h]) return true;
    return false;
}

/* Whether the array holds, as form f reads it, what has been taken already. */
static bool is_the_same(const struct reading *r, const struct form *f,
                        const struct model_array *a)
{
    enum model_tensor id = form_tensor(f, 0);
    struct model_heads heads = heads_of(r->t, id);
    heads.has = NULL;
    heads.only = f->head;
    form_gather(r->can->place, f, sizes_of(r->t), a->data);
    return !f->target.all_three &&
           model_diff_of(r->t->at[id], r->can->place[0], model_numbers_count(r->ours, id),
                         f->head >= 0 ? &heads : NULL, 1e-7)
                   .n_bad == 0;
}

/* Puts what form f says of the array into *r->t. */
static void take(const struct reading *r, const struct form *f, const char *name,
                 const struct model_array *a)
{
    struct model_theirs *t = r->t;
    float *to[3] = {0};
    double tolerance = tolerance_of(r->want, a);
    if (is_taken(t, f)) {
        enum model_tensor id = form_tensor(f, 0);
        if (is_the_same(r, f, a)) return; /* a module and its last layer */
        note(t, "%s: %s is there already, as %s; not compared", name,
             model_tensor_name(id), t->name[id]);
        return;
    }
    for (int p = 0; p < (f->target.all_three ? 3 : 1); p++) {
        enum model_tensor id = form_tensor(f, p);
        size_t n = (size_t)model_numbers_count(r->ours, id);
        bool heads = model_tensor_has_heads(id);
        if (!t->at[id]) {
            t->at[id] = arena_take(&t->mem, n, sizeof(float));
            /* A part of a parameter goes over ours, of which the rest then agrees. */
            if (f->target.part >= 0)
                memcpy(t->at[id], r->ours->at[id], n * sizeof(float));
            (void)snprintf(t->name[id], sizeof t->name[id], "%s", name);
        }
        to[p] = t->at[id];
        for (int h = 0; heads && h < t->dims.n_head; h++)
            if (f->head < 0 || f->head == h) t->has_head[id][h] = true;
        if (tolerance > t->tolerance[id]) t->tolerance[id] = tolerance;
    }
    form_gather(to, f, sizes_of(t), a->data);
}

static bool does_not_fit(const struct reading *r, const char *name,
                         const struct named *named, const struct model_array *a,
                         struct err *e)
{
    char shape[128], want[160];
    forms_text(want, sizeof want, named->at[0], named->head, sizes_of(r->t));
    return err_set(e, ERR_INPUT, "%s: shape %s; %s of %d tokens is %s", name,
                   shape_of(shape, a), model_tensor_name(named->at[0].tensor),
                   r->t->dims.n_tok, want);
}

static bool is_in_model(const struct reading *r, const struct named *name)
{
    for (int i = 0; i < name->n; i++)
        if (r->ours->at[name->at[i].tensor]) return true;
    return name->n == 0;
}

static bool read_one(const struct reading *r, struct model_dump *d, int i, int64_t most,
                     struct err *e)
{
    char name[MODEL_NAME], shape[128];
    struct model_array a;
    (void)snprintf(name, sizeof name, "%s", model_dump_name(d, i));
    struct named named = name_read(name);
    if (named.ignored) return true;
    if (!is_in_model(r, &named)) {
        note(r->t, "%s: the model has no %s; not compared", name,
             model_tensor_name(named.at[0].tensor));
        return true;
    }
    if (named.head >= r->t->dims.n_head)
        return err_set(e, ERR_INPUT, "%s: head %d, counted from 0; the model has %d",
                       name, named.head, r->t->dims.n_head);
    if (!model_dump_read(d, i, &a, most, e)) return false;
    collect(r, &named, &a);
    bool ok = true;
    int chosen = -1;
    if (r->can->n == 0 && named.n > 0)
        ok = does_not_fit(r, name, &named, &a, e);
    else if (r->can->n == 0)
        note(r->t, "%s: neither name nor shape %s is known; not compared", name,
             shape_of(shape, &a));
    else
        chosen = choose(r, name, &named, &a);
    if (chosen >= 0) take(r, &r->can->form[chosen], name, &a);
    model_array_free(&a);
    return ok;
}

/* The block that an array is of, from 0. */
static int block_of(struct model_dump *d, int i, const struct model_want *want)
{
    struct named n = name_read(model_dump_name(d, i));
    return n.block < 0 ? want->usual_block : n.block - want->first;
}

static int64_t largest(const struct model_numbers *v)
{
    int64_t most = 0;
    for (int id = 0; id < MODEL_T_COUNT; id++) {
        int64_t n = model_numbers_count(v, (enum model_tensor)id);
        if (n > most) most = n;
    }
    return most;
}

bool model_theirs_read(struct model_theirs *t, struct model_dump *d,
                       const struct model_want *want, const struct model_numbers *ours,
                       struct err *e)
{
    *t = (struct model_theirs){0};
    struct reading r = {.t = t, .ours = ours, .want = want};
    int64_t most = largest(ours);
    bool ok =
        lay_out(t, ours, e) &&
        arena_init(&r.mem, sizeof *r.can + 3 * (size_t)most * sizeof(float) + 512, e);
    if (ok) {
        r.can = arena_push(&r.mem, 1, sizeof *r.can);
        for (int p = 0; p < 3; p++)
            r.can->place[p] = arena_take(&r.mem, (size_t)most, sizeof(float));
    }
    /* Twice the largest: an array of another shape is named, and not called too large. */
    for (int i = 0; ok && i < model_dump_count(d); i++)
        if (block_of(d, i, want) == want->block) ok = read_one(&r, d, i, 2 * most, e);
    arena_free(&r.mem);
    if (!ok) model_theirs_free(t);
    return ok;
}

/* ---- what a dump holds --------------------------------------------------------------------------- */

bool model_dump_first(struct model_dump *d, int n_block, int *first, struct err *e)
{
    int lowest = n_block, highest = -1;
    for (int i = 0; i < model_dump_count(d); i++) {
        int b = name_read(model_dump_name(d, i)).block;
        if (b < 0) continue;
        if (b > n_block)
            return err_set(e, ERR_INPUT, "%s: block %d; the model has %d",
                           model_dump_name(d, i), b, n_block);
        if (b < lowest) lowest = b;
        if (b > highest) highest = b;
    }
    *first = highest == n_block ? 1 : 0;
    if (highest == n_block && lowest == 0)
        return err_set(e, ERR_INPUT,
                       "its blocks are numbered 0 to %d; the model has %d of them",
                       highest, n_block);
    return true;
}

bool model_dump_has_block(struct model_dump *d, const struct model_want *want)
{
    for (int i = 0; i < model_dump_count(d); i++)
        if (block_of(d, i, want) == want->block &&
            !name_read(model_dump_name(d, i)).ignored)
            return true;
    return false;
}

/* Whether the array has a shape that its name can have with so many tokens. */
static bool can_be(const struct named *name, const struct model_array *a, struct sizes s)
{
    struct form f[4];
    for (int i = 0; i < name->n; i++)
        if (forms_of(f, 4, name->at[i], name->head, s, a) > 0) return true;
    return false;
}

bool model_dump_tokens(struct model_dump *d, const struct model_want *want,
                       struct attn_dims dims, int d_mlp, int *n_tok, struct err *e)
{
    struct sizes s = {dims.n_tok, dims.d_model, dims.n_head, d_mlp};
    struct model_numbers v = {.dims = dims, .d_mlp = d_mlp};
    v.dims.n_tok++;
    *n_tok = dims.n_tok;
    for (int i = 0; i < model_dump_count(d); i++) {
        struct named name = name_read(model_dump_name(d, i));
        bool parameter = name.n > 0 && name.at[0].tensor >= MODEL_T_W_QKV;
        if (name.n == 0 || parameter || block_of(d, i, want) != want->block) continue;
        struct model_array a;
        if (!model_dump_read(d, i, &a, 2 * largest(&v), e)) return false;
        s.n_tok = dims.n_tok + 1;
        if (can_be(&name, &a, s)) *n_tok = dims.n_tok + 1;
        s.n_tok = dims.n_tok;
        if (can_be(&name, &a, s)) *n_tok = dims.n_tok;
        model_array_free(&a);
        return true; /* the first tells; the others have to fit it */
    }
    return true;
}
