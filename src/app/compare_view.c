/* The matrices of a comparison, stage by stage, for the block and head in view.
 */
#include "compare_view.h"

#include <SDL.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool compare_view_open(struct compare_view *v, const struct cli *cli, char *note,
                       size_t room, struct err *e)
{
    *v = (struct compare_view){.block = -1, .head = -1, .taking = -1};
    if (!compare_make(&v->cmp, cli, note, room, e)) return false;
    v->is_open = true;
    const struct model_diagnosis *why = &v->cmp.why;
    if (compare_agrees(&v->cmp))
        (void)snprintf(v->why, sizeof v->why, "Everything that was compared agrees.");
    else if (why->name)
        (void)snprintf(v->why, sizeof v->why, "%s (%s).", why->text, why->name);
    else
        (void)snprintf(v->why, sizeof v->why,
                       "None of the known mistakes gives these numbers.");
    if (v->why[0] >= 'a' && v->why[0] <= 'z') v->why[0] = (char)(v->why[0] - 'a' + 'A');
    return true;
}

void compare_view_close(struct compare_view *v)
{
    compare_view_settle(v);
    arena_free(&v->mem);
    compare_free(&v->cmp);
    *v = (struct compare_view){0};
}

/* ---- what is shown of a stage
 * ---------------------------------------------------------------- */

static enum attn_tensor shown_as(enum model_tensor t)
{
    static const enum attn_tensor as[] = {[MODEL_T_H] = ATTN_H,
                                          [MODEL_T_X] = ATTN_X,
                                          [MODEL_T_Q] = ATTN_Q,
                                          [MODEL_T_K] = ATTN_K,
                                          [MODEL_T_V] = ATTN_V,
                                          [MODEL_T_SCORES] = ATTN_S_RAW,
                                          [MODEL_T_SCALED] = ATTN_S_SCALED,
                                          [MODEL_T_MASKED] = ATTN_S_MASKED,
                                          [MODEL_T_WEIGHTS] = ATTN_P,
                                          [MODEL_T_Z] = ATTN_Z,
                                          [MODEL_T_MERGED] = ATTN_Z_ALL,
                                          [MODEL_T_Y_PROJ] = ATTN_Y_PROJ,
                                          [MODEL_T_Y] = ATTN_Y};
    return as[t];
}

/* The first of the stage's tensors that differs, else the last that is there.
 */
static bool tensor_of(const struct compare_block *b, enum attn_stage stage,
                      enum model_tensor *out)
{
    bool any = false;
    for (int t = 0; t <= (int)MODEL_T_Y; t++) {
        if (compare_stage((enum model_tensor)t) != stage || !b->there[t]) continue;
        *out = (enum model_tensor)t;
        any = true;
        if (b->diff[t].n_bad) break;
    }
    return any;
}

/* Where a head's matrix of a tensor begins, and its size. */
static struct attn_cmat slice(const float *data, enum model_tensor t, struct attn_dims d,
                              int head)
{
    int n = d.n_tok, each = attn_d_head(d);
    if (t >= MODEL_T_SCORES && t <= MODEL_T_WEIGHTS)
        return (struct attn_cmat){data + (size_t)head * (size_t)n * (size_t)n, n, n, n};
    if (model_tensor_has_heads(t))
        return (struct attn_cmat){data + (size_t)head * (size_t)each, n, each, d.d_model};
    return (struct attn_cmat){data, n, d.d_model, d.d_model};
}

static float largest(struct attn_cmat m)
{
    float most = 0;
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < m.cols; j++) {
            float x = fabsf(m.data[(size_t)i * (size_t)m.ld + (size_t)j]);
            if (isfinite(x) && x > most) most = x;
        }
    return most;
}

/* theirs - ours; 0 where both mask. */
static void subtract(float *out, struct attn_cmat theirs, struct attn_cmat ours)
{
    for (int i = 0; i < ours.rows; i++)
        for (int j = 0; j < ours.cols; j++) {
            float o = ours.data[(size_t)i * (size_t)ours.ld + (size_t)j];
            float t = theirs.data[(size_t)i * (size_t)theirs.ld + (size_t)j];
            bool masked = o == -INFINITY && t <= MODEL_MASK_LIKE;
            out[(size_t)i * (size_t)ours.cols + (size_t)j] = masked ? 0 : t - o;
        }
}

/* Whether both hide the same cells, those after a row's own token. */
static bool is_masked(const struct scene_compared *c)
{
    bool square = c->tensor == ATTN_S_MASKED || c->tensor == ATTN_P;
    for (int i = 0; square && i < c->ours.rows; i++)
        for (int j = i + 1; j < c->ours.cols; j++)
            if (c->difference.data[(size_t)i * (size_t)c->difference.ld + (size_t)j] != 0)
                return false;
    return square;
}

static void set_first(struct scene_compared *c, double tolerance)
{
    double rms = 0;
    int64_t n = 0;
    for (int i = 0; i < c->ours.rows; i++)
        for (int j = 0; j < c->ours.cols; j++) {
            double o = (double)c->ours.data[(size_t)i * (size_t)c->ours.ld + (size_t)j];
            if (!isfinite(o)) continue;
            rms += o * o;
            n++;
        }
    rms = n ? sqrt(rms / (double)n) : 0;
    for (int i = 0; i < c->ours.rows; i++)
        for (int j = 0; j < c->ours.cols; j++) {
            double o = (double)c->ours.data[(size_t)i * (size_t)c->ours.ld + (size_t)j];
            float d =
                c->difference.data[(size_t)i * (size_t)c->difference.ld + (size_t)j];
            bool bad = !isfinite(d) || fabs((double)d) > tolerance * (fabs(o) + rms);
            if (!bad) continue;
            c->first = (struct step_ref){c->tensor, i, j};
            return;
        }
}

/* Heads in arrays of their own have the first one's name in the block; in ours, ".h00.",
 * the number is the head's. */
static const char *name_of(struct arena *mem, const char *name, int head)
{
    const char *at = strstr(name, ".h");
    char *own = NULL;
    size_t n = strlen(name) + 1;
    while (at && !(isdigit((unsigned char)at[2]) && isdigit((unsigned char)at[3]) &&
                   at[4] == '.'))
        at = strstr(at + 2, ".h");
    if (!at || head > 99) return name;
    own = arena_take(mem, n, 1);
    if (!own) return name;
    memcpy(own, name, n);
    own[at - name + 2] = (char)('0' + head / 10);
    own[at - name + 3] = (char)('0' + head % 10);
    return own;
}

static bool fill_stage(struct compare_view *v, enum attn_stage stage,
                       const struct compare_block *b, int head)
{
    struct scene_compared *c = &v->view.stage[stage];
    const struct model_theirs *theirs = &v->cmp.theirs;
    enum model_tensor t = MODEL_T_H;
    *c = (struct scene_compared){.tensor = ATTN_TENSOR_COUNT, .from = ""};
    c->first = step_no_ref();
    if (!tensor_of(b, stage, &t)) return true;
    c->verdict = b->diff[t].n_bad ? SCENE_DIFFERS : SCENE_AGREES;
    c->tensor = shown_as(t);
    c->from = b->name[t];
    c->n = b->diff[t].n;
    c->n_bad = b->diff[t].n_bad;
    if (model_tensor_has_heads(t) && !theirs->has_head[t][head]) return true;
    if (model_tensor_has_heads(t)) c->from = name_of(&v->mem, c->from, head);
    c->ours = slice(v->cmp.ours.at[t], t, theirs->dims, head);
    c->theirs = slice(theirs->at[t], t, theirs->dims, head);
    size_t cells = (size_t)c->ours.rows * (size_t)c->ours.cols;
    float *out = arena_take(&v->mem, cells, sizeof *out);
    if (!out) return false;
    subtract(out, c->theirs, c->ours);
    c->difference = (struct attn_cmat){out, c->ours.rows, c->ours.cols, c->ours.cols};
    c->range = largest(c->ours);
    c->difference_range = largest(c->difference);
    c->masked = is_masked(c);
    set_first(c, theirs->tolerance[t]);
    return true;
}

static void fill_mlp(struct compare_view *v, const struct compare_block *b)
{
    v->mlp[0] = '\0';
    for (int t = MODEL_T_LN_2; t <= (int)MODEL_T_BLOCK; t++) {
        if (!b->there[t] || !b->diff[t].n_bad) continue;
        (void)snprintf(
            v->mlp, sizeof v->mlp,
            "In the MLP after the seven stages, the first array to differ is %s.",
            model_tensor_name((enum model_tensor)t));
        return;
    }
}

static bool fill(struct compare_view *v, int block, int head)
{
    struct err e = {0};
    const struct compare_block *b = compare_block_of(&v->cmp, block);
    v->view = (struct scene_compare){.why = v->why, .mlp = "", .version = ++v->version};
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        v->view.stage[s] = (struct scene_compared){
            .tensor = ATTN_TENSOR_COUNT, .from = "", .first = step_no_ref()};
    if (!b) return true;
    if (!compare_take(&v->cmp, block, &e)) return false;
    size_t n = (size_t)v->cmp.theirs.dims.n_tok, d = (size_t)v->cmp.theirs.dims.d_model;
    size_t bytes =
        ATTN_STAGE_COUNT * ((n > d ? n : d) * n * sizeof(float) + 64 + MODEL_NAME + 64) +
        64;
    arena_reset(&v->mem);
    if (v->mem.size < bytes) {
        arena_free(&v->mem);
        if (!arena_init(&v->mem, bytes, &e)) return false;
    }
    for (int s = 0; s < ATTN_STAGE_COUNT; s++)
        if (!fill_stage(v, (enum attn_stage)s, b, head)) return false;
    fill_mlp(v, b);
    v->view.mlp = v->mlp;
    return true;
}

/* ---- another block: a second of work for a long text ------------------------------------ */

static int SDLCALL take(void *data)
{
    struct compare_view *v = data;
    struct err e = {0};
    v->cmp.numbers.attn.cancel = &v->cancel;
    (void)compare_take(&v->cmp, v->taking, &e);
    v->cmp.numbers.attn.cancel = NULL;
    atomic_store(&v->taken, true);
    SDL_Event ev = {.type = v->event};
    (void)SDL_PushEvent(&ev);
    return 0;
}

bool compare_view_is_busy(struct compare_view *v)
{
    return v->thread && !atomic_load(&v->taken);
}

/* Waits for the thread. */
static void join(struct compare_view *v)
{
    SDL_WaitThread(v->thread, NULL);
    v->thread = NULL;
    if (__atomic_exchange_n(&v->cancel, 0, __ATOMIC_RELAXED))
        v->taking = -1; /* it may be asked for again */
}

void compare_view_settle(struct compare_view *v)
{
    if (v->thread) __atomic_store_n(&v->cancel, 1, __ATOMIC_RELAXED);
    join(v);
}

/* Whether the block is in hand, or nothing of it need be, or it has to be done here. */
static bool in_hand(struct compare_view *v, int block, bool wait)
{
    if (compare_view_is_busy(v) && v->taking != block)
        __atomic_store_n(&v->cancel, 1, __ATOMIC_RELAXED);
    if (compare_view_is_busy(v) && !wait) return false;
    join(v);
    if (v->cmp.at == block || v->event == 0 || wait || !compare_block_of(&v->cmp, block))
        return true;
    if (v->taking == block) return false; /* it could not be taken */
    v->taking = block;
    atomic_store(&v->taken, false);
    v->thread = SDL_CreateThread(take, "compare", v);
    return !v->thread;
}

bool compare_view_fits(const struct compare_view *v, struct run_key key)
{
    key.block = key.head = key.second = 0;
    return !v->keyed || run_key_same(v->key, key);
}

const struct scene_compare *compare_view_of(struct compare_view *v, struct run_key key,
                                            bool wait)
{
    if (!v->is_open) return NULL;
    int block = key.block, head = key.head;
    key.block = key.head = key.second = 0;
    /* While a window opens the model, something else is shown that fits. */
    if (!v->keyed && v->cmp.cli->model && !key.model) return NULL;
    if (!v->keyed) v->key = key;
    v->keyed = true;
    if (!run_key_same(v->key, key) || v->cmp.token_more) return NULL;
    if (!in_hand(v, block, wait)) return NULL;
    v->taking = -1;
    if (v->block == block && v->head == head) return &v->view;
    v->block = v->head = -1;
    if (!fill(v, block, head)) return NULL;
    v->block = block;
    v->head = head;
    return &v->view;
}

/* ---- where it opens
 * ---------------------------------------------------------------------------
 */

static void push(struct step_actions *out, enum step_verb verb, int i, float x)
{
    step_push(out, (struct step_action){.verb = verb, .i = i, .x = x});
}

void compare_view_start(const struct compare_view *v, struct step_actions *out,
                        bool stage_too)
{
    const struct compare *c = &v->cmp;
    int block = c->n ? c->block[c->bad < 0 ? 0 : c->bad].l : 0;
    if (c->token_more) return;
    if (c->numbers.net) push(out, STEP_BLOCK, block, 0);
    if (c->bad >= 0) {
        enum model_tensor t = c->first;
        enum attn_stage stage = compare_stage(t);
        if (t == MODEL_T_W_QKV || t == MODEL_T_B_QKV) stage = ATTN_PROJECTIONS;
        int64_t at = c->block[c->bad].diff[t].first, n = c->theirs.dims.n_tok;
        bool square = t >= MODEL_T_SCORES && t <= MODEL_T_WEIGHTS;
        if (square)
            push(out, STEP_HEAD, (int)(at / (n * n)), 0);
        else if (model_tensor_has_heads(t))
            push(out, STEP_HEAD,
                 (int)(at % c->theirs.dims.d_model) / attn_d_head(c->theirs.dims), 0);
        if (stage_too)
            push(out, STEP_GO, stage == ATTN_STAGE_COUNT ? (int)ATTN_OUTPUT : (int)stage,
                 0);
        if (stage_too) push(out, STEP_SCRUB, 0, 1);
    }
    push(out, STEP_DIFF, (int)c->cli->show, 0);
}
