/* Options of what is looked at: source, place, rows, switches, time. */
#include "cli_options.h"

#include "breaks.h"
#include "model.h"
#include "names.h"
#include "scene.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = STATE_ROW_RUNS }; /* of rows, side by side */

/* "9" or "3-7" at the head of a list, both in 1 .. hi. Its end, or NULL: it is none. */
static const char *row_run(const char *at, long long hi, long long v[2], bool *range)
{
    char text[2][12] = {{0}};
    size_t n = strspn(at, "0123456789"), m = 0;
    *range = at[n] == '-';
    if (*range) m = strspn(at + n + 1, "0123456789");
    const char *end = at + n + (*range ? m + 1 : 0);
    if (n >= sizeof text[0] || m >= sizeof text[1] || (*end && *end != ',') ||
        (*end == ',' && !end[1]))
        return NULL;
    memcpy(text[0], at, n);
    memcpy(text[1], *range ? at + n + 1 : at, *range ? m : n);
    bool ok = cli_whole_number(text[0], &v[0]) && cli_whole_number(text[1], &v[1]);
    return ok && v[0] >= 1 && v[0] <= v[1] && v[1] <= hi ? end : NULL;
}

/* Marks rows from .. to, from 1. false: one was marked before. */
static bool take_rows(bool *taken, long long from, long long to)
{
    for (long long i = from - 1; i < to; i++) {
        if (taken[i]) return false;
        taken[i] = true;
    }
    return true;
}

/* --row: "9", "3-7,9". Each row is 1 .. hi. */
static bool row_list(struct step_actions *out, const struct given *g, long long hi,
                     struct err *e)
{
    const char *at = g->at[OPT_ROW];
    int parts = 0;
    bool taken[STEP_MODEL_TOKENS] = {false};
    for (; at && *at && parts < MOST_RUNS; parts++) {
        long long v[2] = {0, 0};
        bool range = false;
        const char *end = row_run(at, hi, v, &range);
        if (!end || !take_rows(taken, v[0], v[1])) break;
        step_push(out, (struct step_action){.verb = parts ? STEP_ROW_ALSO : STEP_ROW,
                                            .i = (int)v[0] - 1});
        if (range)
            step_push(out,
                      (struct step_action){.verb = STEP_ROWS_AND, .i = (int)v[1] - 1});
        at = *end ? end + 1 : end;
    }
    if (!at || (parts > 0 && !*at)) return true;
    return err_set(e, ERR_USAGE,
                   "--row %s: is a row or up to %d of them, each one for a token, "
                   "from 1 to %lld, each once, such as 3-7,9",
                   g->at[OPT_ROW], MOST_RUNS, hi);
}

/* With a model: its numbers are known when it is open, and asked for then. */
static bool model_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const ends[2] = {"end", "front"};
    static const struct {
        enum option option;
        enum step_verb verb;
        const char *what;
    } parts[] = {{OPT_BLOCK, STEP_BLOCK, "a block"}, {OPT_HEAD, STEP_HEAD, "a head"}};
    int front = 0;
    c->model = g->model;
    c->text = g->at[OPT_TEXT];
    if (!cli_one_of(g, OPT_CUT, ends, &front, e)) return false;
    c->cut_front = front == 1;
    static const char *const scales[2] = {"toy", "gpt2"};
    int scale = STEP_GPT2;
    long long seed = 0;
    if (!cli_one_of(g, OPT_SCALE, scales, &scale, e)) return false;
    for (int o = OPT_TOKENS; o <= OPT_SEED; o++)
        if (g->at[o] && !(o == OPT_SEED && scale == STEP_TOY))
            return err_set(e, ERR_USAGE,
                           "%s %s: is for random weights; leave it or the "
                           "model out",
                           cli_option_names[o], g->at[o]);
    if (!cli_whole(g, OPT_SEED, 0, UINT32_MAX, "a seed", &seed, e)) return false;
    if (scale == STEP_TOY) /* open, and a key away */
        step_push(&c->when_opened,
                  (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_TOY});
    if (g->at[OPT_SEED])
        step_push(&c->when_opened,
                  (struct step_action){.verb = STEP_SEED, .i = (int)(uint32_t)seed});
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        long long v = 1;
        if (!cli_whole(g, parts[i].option, 1, INT32_MAX, parts[i].what, &v, e))
            return false;
        if (g->at[parts[i].option])
            step_push(&c->when_opened,
                      (struct step_action){.verb = parts[i].verb, .i = (int)v - 1});
    }
    return row_list(&c->when_opened, g, STEP_MODEL_TOKENS, e);
}

/* The toy's words. It is in view at the start, whatever is asked for behind that. */
static bool words_option(struct cli *c, const struct given *g, bool toy, int *n,
                         struct err *e)
{
    struct model_words words;
    enum option o = g->at[OPT_WORDS] || g->model || !toy ? OPT_WORDS : OPT_TEXT;
    const char *text = g->at[o];
    char where[96];
    if (!text) return true;
    if (g->at[OPT_TEXT] && g->at[OPT_WORDS] && !g->model)
        return err_set(e, ERR_USAGE, "--text %.80s: leave it or --words out",
                       g->at[OPT_TEXT]);
    (void)snprintf(where, sizeof where, "%s %.80s", cli_option_names[o], text);
    if (!model_words_split(&words, text, strlen(text), e)) {
        e->code = ERR_USAGE;
        return err_at(e, where);
    }
    c->words = text;
    *n = words.n;
    step_push(&c->start,
              (struct step_action){.verb = STEP_READ, .i = 1, .x = (float)words.n});
    return true;
}

/* Scale, tokens, seed, head, row: each one's range depends on those before. */
bool cli_place_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const scales[2] = {"toy", "gpt2"};
    const struct step_state first = step_initial();
    int scale = STEP_TOY;
    int n_word = STEP_TOY_TOKENS;
    if (!cli_one_of(g, OPT_SCALE, scales, &scale, e) ||
        !words_option(c, g, scale == STEP_TOY, &n_word, e))
        return false;
    if (g->model) return model_options(c, g, e);
    for (int o = OPT_TEXT; o <= OPT_BLOCK; o++)
        if (g->at[o] && !(o == OPT_TEXT && scale == STEP_TOY))
            return err_set(e, ERR_USAGE,
                           "%s %s: is for a model; name one, see "
                           "headlight --help",
                           cli_option_names[o], g->at[o]);
    if (g->at[OPT_TOKENS] && scale == STEP_TOY)
        return err_set(e, ERR_USAGE,
                       "--tokens %s: the toy\u2019s are its words, see --words; or add "
                       "--scale gpt2",
                       g->at[OPT_TOKENS]);
    const struct attn_dims dims = first.place[scale].dims;
    long long tokens = scale == STEP_TOY ? n_word : dims.n_tok;
    long long seed = 0;
    long long head = 1;
    if (!cli_whole(g, OPT_TOKENS, 1, STEP_MAX_TOKENS, "the number of tokens", &tokens,
                   e) ||
        !cli_whole(g, OPT_SEED, 0, UINT32_MAX, "a seed", &seed, e) ||
        !cli_whole(g, OPT_HEAD, 1, dims.n_head, "a head at this scale", &head, e))
        return false;
    if (g->at[OPT_SCALE]) cli_push(c, STEP_SCALE_TO, scale, 0.0f);
    if (g->at[OPT_TOKENS]) cli_push(c, STEP_TOKENS, (int)tokens, 0.0f);
    if (g->at[OPT_SEED]) cli_push(c, STEP_SEED, (int)(uint32_t)seed, 0.0f);
    if (g->at[OPT_HEAD]) cli_push(c, STEP_HEAD, (int)head - 1, 0.0f);
    return row_list(&c->start, g, tokens, e);
}

/* Without a model: its heads are known already. */
static bool silent_are_there(const struct cli *c, struct err *e)
{
    struct step_state s = step_initial();
    for (int i = 0; i < c->start.n; i++) {
        struct step_action a = c->start.at[i];
        if (!step_apply(&s, a) && a.verb == STEP_SILENCE)
            return err_set(e, ERR_USAGE, "--break silent=%d: this scale has %d heads",
                           a.i + 1, step_place_of(&s)->dims.n_head);
    }
    return true;
}

/* What is broken, and how it is looked at. */
static bool break_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const sees[STEP_SEE_COUNT] = {"broken", "correct", "difference"};
    const char *see = g->at[OPT_SEE];
    /* A head of a model is silenced once its heads are known. */
    if (g->at[OPT_BREAK] &&
        !breaks_parse(g->model ? &c->when_opened : &c->start, g->at[OPT_BREAK], e))
        return false;
    if (!silent_are_there(c, e)) return false;
    if (g->at[OPT_SWITCHES]) cli_push(c, STEP_SWITCHES, 0, 0.0f);
    for (int i = 0; see && i < STEP_SEE_COUNT; i++) {
        if (strcmp(see, sees[i]) != 0) continue;
        cli_push(c, STEP_SEE, i, 0.0f);
        return true;
    }
    return see ? err_set(e, ERR_USAGE, "--see %s: is broken, correct or difference", see)
               : true;
}

/* What is read beside the picture. */
bool cli_read_options(struct cli *c, const struct given *g, struct err *e)
{
    int tab = STEP_CODE_C;
    if (!cli_one_of_many(g, OPT_CODE, state_code_tabs, STEP_CODE_TAB_COUNT, &tab, e))
        return false;
    if (g->at[OPT_CODE]) cli_push(c, STEP_CODE, 0, 0.0f);
    if (g->at[OPT_CODE]) cli_push(c, STEP_CODE_TAB, tab, 0.0f);
    if (g->at[OPT_WHY]) cli_push(c, STEP_WHY, 0, 0.0f);
    if (g->at[OPT_TERMS]) cli_push(c, STEP_TERMS, 0, 0.0f);
    return true;
}

bool cli_off_option(struct cli *c, const struct given *g, struct err *e)
{
    static const struct {
        const char *name;
        enum step_option option;
    } names[] = {{"scale", STEP_OPT_SCALE},
                 {"mask", STEP_OPT_CAUSAL},
                 {"residual", STEP_OPT_RESIDUAL}};
    enum { N = sizeof names / sizeof names[0] };
    bool off[N] = {false};
    const char *text = g->at[OPT_OFF];
    while (text && *text) {
        size_t n = strcspn(text, ",");
        int i = 0;
        while (i < N &&
               !(strlen(names[i].name) == n && strncmp(names[i].name, text, n) == 0))
            i++;
        if (i == N)
            return err_set(e, ERR_USAGE,
                           "--off %s: is one or more of scale,mask,residual",
                           g->at[OPT_OFF]);
        if (!off[i]) cli_push(c, STEP_TOGGLE, names[i].option, 0.0f);
        off[i] = true;
        text += n + (text[n] == ',' ? 1 : 0);
    }
    return break_options(c, g, e);
}

/* How a row's sources are listed. */
bool cli_source_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const ranks[2] = {"weight", "contribution"};
    int rank = STEP_RANK_WEIGHT;
    const char *text = g->at[OPT_LEAST];
    if (!cli_one_of(g, OPT_RANK, ranks, &rank, e)) return false;
    if (g->at[OPT_RANK]) cli_push(c, STEP_RANK, rank, 0.0f);
    if (!text) return true;
    char *end = NULL;
    float least = strtof(text, &end);
    bool known = false;
    for (int k = 0; k < STEP_LEASTS; k++) known = known || step_leasts[k] == least;
    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end || !known)
        return err_set(e, ERR_USAGE, "--least %s: is 0, 0.001, 0.01, 0.05 or 0.1", text);
    cli_push(c, STEP_LEAST, 0, least);
    return true;
}

/* Stage and time. A picture is of a finished stage unless told otherwise; a window and a
 * script start playing it. */
bool cli_time_options(struct cli *c, const struct given *g, struct err *e)
{
    long long stage = 1;
    enum attn_tensor tensor = ATTN_TENSOR_COUNT;
    if (c->out.part == EXPORT_MATRIX) /* the first one that has it */
        stage = 1 + (c->out.tensor == ATTN_TENSOR_COUNT ? ATTN_SCORES
                                                        : scene_stage_of(c->out.tensor));
    if (!cli_whole(g, OPT_STAGE, 1, ATTN_STAGE_COUNT, "a stage", &stage, e) ||
        !export_part_is_at(&c->out, (enum attn_stage)(stage - 1), &tensor, e))
        return false;
    const char *text = g->at[OPT_TIME];
    double t = 1.0;
    if (text) {
        char *end = NULL;
        if (!g->at[OPT_STAGE])
            return err_set(e, ERR_USAGE, "--time %s: is a time of a stage; add --stage K",
                           text);
        t = strtod(text, &end);
        if (strspn(text, "+-.0123456789eE") != strlen(text) || end == text ||
            *end != '\0' || !(t >= 0.0 && t <= 1.0))
            return err_set(e, ERR_USAGE, "--time %s: a time is a number from 0 to 1",
                           text);
    }
    cli_push(c, STEP_GO, (int)stage - 1, 0.0f);
    if (text || c->mode == CLI_EXPORT || c->mode == CLI_STATE)
        cli_push(c, STEP_SCRUB, 0, (float)t);
    return true;
}

static bool cell_option(struct cli *c, const struct given *g, enum option o,
                        enum step_verb verb, struct err *e)
{
    static const char is[] =
        "a cell is MATRIX:ROW:COLUMN, counted from 1 and inside it, like s_raw:3:2";
    struct step_action a = {.verb = verb};
    if (!g->at[o]) return true;
    struct err why = {0};
    if (!names_parse_cell(g->at[o], &a.ref, &why))
        return err_set(e, ERR_USAGE, "%s %s: %s", cli_option_names[o], g->at[o],
                       why.text);
    return cli_also(c, g, o, a, is, e);
}

static bool view_option(struct cli *c, const struct given *g, struct err *e)
{
    static const char is[] =
        "a view is ZOOM,X,Y: a zoom from 1 to 4096 and two distances in points";
    double v[3] = {0.0, 0.0, 0.0};
    const char *at = g->at[OPT_VIEW];
    if (!at) return true;
    for (int i = 0; i < 3; i++) {
        size_t n = strcspn(at, ",");
        if (!cli_number(at, n, &v[i]) || (at[n] == ',') != (i < 2))
            return err_set(e, ERR_USAGE, "--view %s: %s", g->at[OPT_VIEW], is);
        at += n + (i < 2 ? 1 : 0);
    }
    struct step_action a = {
        .verb = STEP_VIEW, .x = (float)v[1], .y = (float)v[2], .z = (float)v[0]};
    struct step_state s = step_initial();
    if (!step_apply(&s, a))
        return err_set(e, ERR_USAGE, "--view %s: %s", g->at[OPT_VIEW], is);
    return cli_also(c, g, OPT_VIEW, a, is, e);
}

static bool overview_options(struct cli *c, const struct given *g, struct err *e)
{
    int kind = STEP_OVER_WEIGHTS;
    int sort = STEP_SORT_PLACE;
    long long at = 1;
    for (int o = OPT_SORT; o <= OPT_OVERVIEW_AT; o++)
        if (g->at[o] && !g->at[OPT_OVERVIEW])
            return err_set(e, ERR_USAGE, "%s %s: is of the overview; add --overview KIND",
                           cli_option_names[o], g->at[o]);
    if (!cli_one_of_many(g, OPT_OVERVIEW, state_over_kinds, STEP_OVER_KIND_COUNT, &kind,
                         e) ||
        !cli_one_of_many(g, OPT_SORT, state_over_sorts, STEP_SORT_COUNT, &sort, e) ||
        !cli_whole(g, OPT_OVERVIEW_AT, 1, INT32_MAX, "a head", &at, e))
        return false;
    if (!g->at[OPT_OVERVIEW] && c->out.part != EXPORT_HEADS) return true;
    if (c->out.part == EXPORT_MATRIX)
        return err_set(e, ERR_USAGE, "--part %s: is of a stage; leave --overview out",
                       g->at[OPT_PART]);
    struct step_action open = {.verb = STEP_OVERVIEW};
    struct step_action to_kind = {.verb = STEP_OVER_KIND, .i = kind};
    struct step_action to_sort = {.verb = STEP_OVER_SORT, .i = sort};
    struct step_action to_head = {.verb = STEP_OVER_AT, .i = (int)at - 1};
    return cli_also(c, g, OPT_OVERVIEW, open, "", e) &&
           cli_also(c, g, OPT_OVERVIEW, to_kind, "", e) &&
           cli_also(c, g, OPT_SORT, to_sort, "", e) &&
           (!g->at[OPT_OVERVIEW_AT] ||
            cli_also(c, g, OPT_OVERVIEW_AT, to_head, "there are not so many heads", e));
}

static bool speed_option(struct cli *c, const struct given *g, struct err *e)
{
    double speed = 0.0;
    const char *text = g->at[OPT_SPEED];
    if (!text) return true;
    bool known = false;
    bool ok = cli_number(text, strlen(text), &speed);
    for (size_t i = 0; ok && i < sizeof step_speeds / sizeof step_speeds[0]; i++)
        known = known || (double)step_speeds[i] == speed;
    if (!known) return err_set(e, ERR_USAGE, "--speed %s: is 0.25, 0.5, 1, 2 or 4", text);
    c->speed_given = true;
    cli_push(c, STEP_SPEED, 0, (float)speed);
    return true;
}

/* What a window has been brought to by hand. */
bool cli_shown_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const switches[2] = {"off", "on"};
    int log = 0;
    if (!cli_one_of(g, OPT_LOG, switches, &log, e) || !speed_option(c, g, e))
        return false;
    c->log_given = g->at[OPT_LOG] != NULL;
    if (c->log_given) cli_push(c, STEP_LOG, log ? 1 : -1, 0.0f);
    if (g->at[OPT_PLAY]) {
        if (!g->at[OPT_STAGE] || g->at[OPT_OVERVIEW])
            return err_set(e, ERR_USAGE, "--play: plays a stage; add --stage K%s",
                           g->at[OPT_OVERVIEW] ? " and leave --overview out" : "");
        cli_push(c, STEP_PLAY, 1, 0.0f);
    }
    return cli_decode_option(c, g, e) && cell_option(c, g, OPT_PIN, STEP_PIN, e) &&
           cli_dive_option(c, g, e) && overview_options(c, g, e) &&
           cli_lab_option(c, g, e) && cell_option(c, g, OPT_HOVER, STEP_HOVER, e) &&
           view_option(c, g, e) && cli_scroll_option(c, g, e);
}

/* Two heads: after the stage, which has to be one that shows them. */
bool cli_pair_options(struct cli *c, const struct given *g, struct err *e)
{
    const struct step_state first = step_initial();
    bool toy = !g->at[OPT_SCALE] || strcmp(g->at[OPT_SCALE], "toy") == 0;
    int heads =
        g->model ? INT32_MAX : first.place[toy ? STEP_TOY : STEP_GPT2].dims.n_head;
    enum option o = g->at[OPT_MINUS] ? OPT_MINUS : OPT_BESIDE;
    struct step_actions *out = g->model ? &c->when_opened : &c->start;
    long long stage = 1, head = 1, second = 1;
    if (!g->at[o]) return true;
    if (g->at[OPT_MINUS] && g->at[OPT_BESIDE])
        return err_set(e, ERR_USAGE, "--minus %s: leave it or --beside out", g->at[o]);
    if (!cli_whole(g, OPT_STAGE, 1, ATTN_STAGE_COUNT, "a stage", &stage, e) ||
        !cli_whole(g, OPT_HEAD, 1, heads, "a head", &head, e) ||
        !cli_whole(g, o, 1, heads, "a head", &second, e))
        return false;
    if (stage < 2 || stage > 5)
        return err_set(e, ERR_USAGE, "%s %s: stages 2 to 5 show two heads; add --stage 5",
                       cli_option_names[o], g->at[o]);
    if (second == head)
        return err_set(e, ERR_USAGE, "%s %s: is the head in view; name another",
                       cli_option_names[o], g->at[o]);
    step_push(out, (struct step_action){.verb = STEP_SECOND, .i = (int)second - 1});
    if (o == OPT_MINUS)
        step_push(out, (struct step_action){.verb = STEP_PAIR, .i = STEP_PAIR_MINUS});
    return true;
}
