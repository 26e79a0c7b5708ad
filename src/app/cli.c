/* The command line as plain data: a table of options, checks, and the actions they mean. */
#include "cli.h"

#include "breaks.h"
#include "names.h"
#include "scene.h"
#include "state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_help[] =
    "Headlight shows what causal self-attention computes, number by number.\n"
    "\n"
    "usage: headlight [MODEL] [OPTION]...\n"
    "\n"
    "  MODEL                a GPT-2 from files: a folder with config.json and\n"
    "                       model.safetensors, a .safetensors file, or an llm.c .bin\n"
    "  --text TEXT          what it reads; ids in digits where it has no tokenizer\n"
    "  --cut end|front      what a text over its limit loses: its end, or its front\n"
    "  --block B            block in view, from 1\n"
    "  --scale toy|gpt2     five tokens of eight numbers, or GPT-2's dimensions\n"
    "  --tokens N           1 to 1024 tokens, at GPT-2 scale, without a MODEL\n"
    "  --seed S             of the random weights, 0 to 4294967295\n"
    "  --stage K            stage 1 to 7\n"
    "  --time T             how far its animation is, 0 to 1; with --stage\n"
    "  --head H             head in view, from 1\n"
    "  --row I[-J][,...]    selected rows, from 1: 3-7,9; the last one is in view\n"
    "  --pin M:I:J          the cell in row I, column J of matrix M is pinned: q:1:1,\n"
    "                       s_raw, s_scaled, s_masked, p, z, y, ...\n"
    "  --hover M:I:J        a cell explained as if it were pointed at\n"
    "  --view ZOOM,X,Y      zoomed and moved, points; 1,0,0: all of it\n"
    "  --overview KIND      every head at a glance: scores, scaled, weights\n"
    "  --sort HOW           its order: place, entropy, previous, first, itself, "
    "induction\n"
    "  --overview-at N      its selected head, counted through all blocks from 1\n"
    "  --log on|off         weights on a logarithmic colour scale\n"
    "  --speed X            0.25, 0.5, 1, 2 or 4\n"
    "  --play               goes on playing from where it is; with --stage\n"
    "  --beside H           head H beside the one in view; --minus H: that minus H\n"
    "  --off WHAT[,WHAT]    without: scale, mask, residual\n"
    "  --rank weight|contribution   what a row's sources are ranked by\n"
    "  --least W            weights below W are left out: 0, 0.001, 0.01, 0.05, 0.1\n"
    "  --break NAME=CHOICE[,...]  a stage done wrong: scale=off|d_head|sqrt_d_model,\n"
    "                       mask=off|shift, precision=bfloat16|float16, max=off,\n"
    "                       temperature=T, silent=HEAD, bias=off, qk=swapped, "
    "residual=off\n"
    "  --see broken|correct|difference  of a broken result and the correct one\n"
    "  --switches           with the panel of all that can be set wrong\n"
    "  --code c|pytorch     with the stage's code; --why: and why the stage is there\n"
    "  --terms              a cell's terms in their order, not the largest first\n"
    "  --theme light|dark\n"
    "  --ui PERCENT         UI size, 50 to 300\n"
    "  --size WxH           of the window or the picture, pixels; WxHmm or Wmm: of a\n"
    "                       picture, millimetres\n"
    "  --density D          pixels a point at UI size 100%, 0.5 to 8\n"
    "  --state              print the line that shows this again, and nothing else\n"
    "  --export FILE        write a picture, without a window: .png, .svg, .pdf; or a\n"
    "                       film: .mp4, .gif, .webm, or frames/, a folder of pictures\n"
    "  --part PART          window, stage, heads, or one matrix with its labels:\n"
    "                       X, Q, K, V, S, A, O, Y, w_q, ...\n"
    "  --film stage|all     of the stage given by --stage, or of all seven\n"
    "  --fps N              frames a second, 1 to 60; 30 unless given\n"
    "  --background WHAT    of the picture: paper or transparent\n"
    "  --dump DIR|FILE.npz  write every stage's matrices as numpy arrays\n"
    "  --stages, --blocks, --heads LIST\n"
    "                       which of them: 5, weights, 1,3-5; see README.md\n"
    "  --compare DIR|FILE   a dump of your own code beside these numbers: a table, exit\n"
    "                       code 0 where they agree; a .npz, a .npy or a folder of them\n"
    "  --with DIR|FILE      compare it with this dump of --dump, and not with a model\n"
    "  --tolerance T        of a cell, as a share of its matrix's size; 5e-5\n"
    "  --window             and show the comparison\n"
    "  --show WHAT          of it: difference, theirs, ours, or the animation\n"
    "  --script FILE        run a session, without a window: one action a line\n"
    "  --shader-dir DIR     shaders from files, read again when the window is entered\n"
    "  --help, --version\n"
    "\n"
    "Blocks, heads, rows and stages count from 1. Keys: press F1 in the window.\n";

enum option {
    OPT_TEXT,
    OPT_CUT,
    OPT_BLOCK,
    OPT_SCALE,
    OPT_TOKENS,
    OPT_SEED,
    OPT_STAGE,
    OPT_TIME,
    OPT_HEAD,
    OPT_ROW,
    OPT_PIN,
    OPT_HOVER,
    OPT_VIEW,
    OPT_OVERVIEW,
    OPT_SORT,
    OPT_OVERVIEW_AT,
    OPT_LOG,
    OPT_SPEED,
    OPT_DENSITY,
    OPT_BESIDE,
    OPT_MINUS,
    OPT_OFF,
    OPT_RANK,
    OPT_LEAST,
    OPT_BREAK,
    OPT_SEE,
    OPT_CODE,
    OPT_THEME,
    OPT_UI,
    OPT_SIZE,
    OPT_EXPORT,
    OPT_PART,
    OPT_BACKGROUND,
    OPT_FILM,
    OPT_FPS,
    OPT_SCRIPT,
    OPT_DUMP,
    OPT_STAGES,
    OPT_BLOCKS,
    OPT_HEADS,
    OPT_COMPARE,
    OPT_WITH,
    OPT_TOLERANCE,
    OPT_SHOW,
    OPT_SHADER_DIR,
    OPT_FLAGS, /* from here on without a value */
    OPT_HELP = OPT_FLAGS,
    OPT_SWITCHES,
    OPT_WHY,
    OPT_TERMS,
    OPT_VERSION,
    OPT_PLAY,
    OPT_STATE,
    OPT_WINDOW,
    OPT_COUNT
};

static const char *const option_names[OPT_COUNT] = {
    /* clang-format off */
    [OPT_TEXT] = "--text",
    [OPT_CUT] = "--cut",
    [OPT_BLOCK] = "--block",
    [OPT_SCALE] = "--scale",
    [OPT_TOKENS] = "--tokens",
    [OPT_SEED] = "--seed",
    [OPT_STAGE] = "--stage",
    [OPT_TIME] = "--time",
    [OPT_HEAD] = "--head",
    [OPT_ROW] = "--row",
    [OPT_PIN] = "--pin",
    [OPT_HOVER] = "--hover",
    [OPT_VIEW] = "--view",
    [OPT_OVERVIEW] = "--overview",
    [OPT_SORT] = "--sort",
    [OPT_OVERVIEW_AT] = "--overview-at",
    [OPT_LOG] = "--log",
    [OPT_SPEED] = "--speed",
    [OPT_DENSITY] = "--density",
    [OPT_BESIDE] = "--beside",
    [OPT_MINUS] = "--minus",
    [OPT_OFF] = "--off",
    [OPT_RANK] = "--rank",
    [OPT_LEAST] = "--least",
    [OPT_BREAK] = "--break",
    [OPT_SEE] = "--see",
    [OPT_CODE] = "--code",
    [OPT_SWITCHES] = "--switches",
    [OPT_WHY] = "--why",
    [OPT_TERMS] = "--terms",
    [OPT_THEME] = "--theme",
    [OPT_UI] = "--ui",
    [OPT_SIZE] = "--size",
    [OPT_EXPORT] = "--export",
    [OPT_PART] = "--part",
    [OPT_BACKGROUND] = "--background",
    [OPT_FILM] = "--film",
    [OPT_FPS] = "--fps",
    [OPT_SCRIPT] = "--script",
    [OPT_DUMP] = "--dump",
    [OPT_STAGES] = "--stages",
    [OPT_BLOCKS] = "--blocks",
    [OPT_HEADS] = "--heads",
    [OPT_COMPARE] = "--compare",
    [OPT_WITH] = "--with",
    [OPT_TOLERANCE] = "--tolerance",
    [OPT_SHOW] = "--show",
    [OPT_SHADER_DIR] = "--shader-dir",
    [OPT_HELP] = "--help",
    [OPT_VERSION] = "--version",
    [OPT_PLAY] = "--play",
    [OPT_STATE] = "--state",
    [OPT_WINDOW] = "--window",
    /* clang-format on */
};

enum { MOST_RUNS = STATE_ROW_RUNS }; /* of rows, side by side */

/* The values as given; NULL: not given. */
struct given {
    const char *model;
    const char *at[OPT_COUNT];
};

static int option_named(const char *name, size_t n)
{
    int o = 0;
    while (o < OPT_COUNT &&
           !(strlen(option_names[o]) == n && strncmp(option_names[o], name, n) == 0))
        o++;
    return o;
}

/* The option at argv[*i], whose value may be the next one. */
static bool collect_option(struct given *g, int argc, char *const *argv, int *i,
                           struct err *e)
{
    const char *arg = argv[*i];
    size_t n = strcspn(arg, "=");
    int o = option_named(arg, n);
    const char *value = arg[n] == '=' ? arg + n + 1 : NULL;
    if (o == OPT_COUNT)
        return err_set(e, ERR_USAGE,
                       "%.*s: there is no such option; see headlight --help", (int)n,
                       arg);
    const char *name = option_names[o];
    if (g->at[o]) return err_set(e, ERR_USAGE, "%s: given twice; give it once", name);
    if (o >= OPT_FLAGS) {
        if (value) return err_set(e, ERR_USAGE, "%s: takes no value", name);
        g->at[o] = "";
        return true;
    }
    if (!value && *i + 1 < argc && (o == OPT_TEXT || strncmp(argv[*i + 1], "--", 2) != 0))
        value = argv[++*i];
    if (!value || value[0] == '\0')
        return err_set(e, ERR_USAGE, "%s: needs a value; see headlight --help", name);
    g->at[o] = value;
    return true;
}

static bool collect(struct given *g, int argc, char *const *argv, struct err *e)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (arg[0] == '-' && arg[1] != '\0') {
            if (!collect_option(g, argc, argv, &i, e)) return false;
            continue;
        }
        if (g->model || arg[0] == '\0' || arg[0] == '-')
            return err_set(e, ERR_USAGE,
                           "%s: one model, a folder or a file, is opened; see "
                           "headlight --help",
                           arg);
        g->model = arg;
    }
    return true;
}

/* A whole decimal number and nothing else. */
static bool parse_whole(const char *text, long long *out)
{
    char *end = NULL;
    if (strspn(text, "+-0123456789") != strlen(text)) return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* Option o, if given, into *out; what names it in the error. */
static bool whole(const struct given *g, enum option o, long long lo, long long hi,
                  const char *what, long long *out, struct err *e)
{
    long long v = 0;
    if (!g->at[o]) return true;
    if (!parse_whole(g->at[o], &v) || v < lo || v > hi)
        return err_set(e, ERR_USAGE, "%s %s: %s is a whole number from %lld to %lld",
                       option_names[o], g->at[o], what, lo, hi);
    *out = v;
    return true;
}

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
    bool ok = parse_whole(text[0], &v[0]) && parse_whole(text[1], &v[1]);
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

static bool one_of_many(const struct given *g, enum option o, const char *const *names,
                        int n, int *out, struct err *e)
{
    char all[256] = "";
    size_t at = 0;
    if (!g->at[o]) return true;
    for (int i = 0; i < n; i++) {
        if (strcmp(g->at[o], names[i]) != 0) continue;
        *out = i;
        return true;
    }
    for (int i = 0; i < n && at < sizeof all; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s",
                               i == 0      ? ""
                               : i + 1 < n ? ", "
                                           : " or ",
                               names[i]);
    return err_set(e, ERR_USAGE, "%s %s: is %s%s", option_names[o], g->at[o],
                   n == 2 ? "either " : "", all);
}

static bool one_of(const struct given *g, enum option o, const char *const names[2],
                   int *out, struct err *e)
{
    return one_of_many(g, o, names, 2, out, e);
}

/* A decimal number and nothing else. */
static bool parse_number(const char *text, size_t n, double *out)
{
    enum { ROOM = 64 };
    char digits[ROOM];
    char *end = NULL;
    if (n == 0 || n >= ROOM || strspn(text, "+-.0123456789eE") < n) return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    *out = strtod(digits, &end);
    return *end == '\0' && end != digits && isfinite(*out);
}

static void push(struct cli *c, enum step_verb verb, int i, float x)
{
    step_push(&c->start, (struct step_action){.verb = verb, .i = i, .x = x});
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
    if (!one_of(g, OPT_CUT, ends, &front, e)) return false;
    c->cut_front = front == 1;
    static const char *const scales[2] = {"toy", "gpt2"};
    int scale = STEP_GPT2;
    long long seed = 0;
    if (!one_of(g, OPT_SCALE, scales, &scale, e)) return false;
    for (int o = OPT_TOKENS; o <= OPT_SEED; o++)
        if (g->at[o] && !(o == OPT_SEED && scale == STEP_TOY))
            return err_set(e, ERR_USAGE,
                           "%s %s: is for random weights; leave it or the "
                           "model out",
                           option_names[o], g->at[o]);
    if (!whole(g, OPT_SEED, 0, UINT32_MAX, "a seed", &seed, e)) return false;
    if (scale == STEP_TOY) /* open, and a key away */
        step_push(&c->when_opened,
                  (struct step_action){.verb = STEP_SCALE_TO, .i = STEP_TOY});
    if (g->at[OPT_SEED])
        step_push(&c->when_opened,
                  (struct step_action){.verb = STEP_SEED, .i = (int)(uint32_t)seed});
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        long long v = 1;
        if (!whole(g, parts[i].option, 1, INT32_MAX, parts[i].what, &v, e)) return false;
        if (g->at[parts[i].option])
            step_push(&c->when_opened,
                      (struct step_action){.verb = parts[i].verb, .i = (int)v - 1});
    }
    return row_list(&c->when_opened, g, STEP_MODEL_TOKENS, e);
}

/* Scale, tokens, seed, head, row: each one's range depends on those before. */
static bool place_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const scales[2] = {"toy", "gpt2"};
    const struct step_state first = step_initial();
    int scale = STEP_TOY;
    if (g->model) return model_options(c, g, e);
    for (int o = OPT_TEXT; o <= OPT_BLOCK; o++)
        if (g->at[o])
            return err_set(e, ERR_USAGE,
                           "%s %s: is for a model; name one, see "
                           "headlight --help",
                           option_names[o], g->at[o]);
    if (!one_of(g, OPT_SCALE, scales, &scale, e)) return false;
    if (g->at[OPT_TOKENS] && scale == STEP_TOY)
        return err_set(e, ERR_USAGE,
                       "--tokens %s: the toy always has %d tokens; add --scale gpt2",
                       g->at[OPT_TOKENS], STEP_TOY_TOKENS);
    const struct attn_dims dims = first.place[scale].dims;
    long long tokens = dims.n_tok;
    long long seed = 0;
    long long head = 1;
    if (!whole(g, OPT_TOKENS, 1, STEP_MAX_TOKENS, "the number of tokens", &tokens, e) ||
        !whole(g, OPT_SEED, 0, UINT32_MAX, "a seed", &seed, e) ||
        !whole(g, OPT_HEAD, 1, dims.n_head, "a head at this scale", &head, e))
        return false;
    if (g->at[OPT_SCALE]) push(c, STEP_SCALE_TO, scale, 0.0f);
    if (g->at[OPT_TOKENS]) push(c, STEP_TOKENS, (int)tokens, 0.0f);
    if (g->at[OPT_SEED]) push(c, STEP_SEED, (int)(uint32_t)seed, 0.0f);
    if (g->at[OPT_HEAD]) push(c, STEP_HEAD, (int)head - 1, 0.0f);
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
    if (g->at[OPT_SWITCHES]) push(c, STEP_SWITCHES, 0, 0.0f);
    for (int i = 0; see && i < STEP_SEE_COUNT; i++) {
        if (strcmp(see, sees[i]) != 0) continue;
        push(c, STEP_SEE, i, 0.0f);
        return true;
    }
    return see ? err_set(e, ERR_USAGE, "--see %s: is broken, correct or difference", see)
               : true;
}

/* What is read beside the picture. */
static bool read_options(struct cli *c, const struct given *g, struct err *e)
{
    int tab = STEP_CODE_C;
    if (!one_of_many(g, OPT_CODE, state_code_tabs, STEP_CODE_TAB_COUNT, &tab, e))
        return false;
    if (g->at[OPT_CODE]) push(c, STEP_CODE, 0, 0.0f);
    if (g->at[OPT_CODE]) push(c, STEP_CODE_TAB, tab, 0.0f);
    if (g->at[OPT_WHY]) push(c, STEP_WHY, 0, 0.0f);
    if (g->at[OPT_TERMS]) push(c, STEP_TERMS, 0, 0.0f);
    return true;
}

static bool off_option(struct cli *c, const struct given *g, struct err *e)
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
        if (!off[i]) push(c, STEP_TOGGLE, names[i].option, 0.0f);
        off[i] = true;
        text += n + (text[n] == ',' ? 1 : 0);
    }
    return break_options(c, g, e);
}

/* How a row's sources are listed. */
static bool source_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const ranks[2] = {"weight", "contribution"};
    int rank = STEP_RANK_WEIGHT;
    const char *text = g->at[OPT_LEAST];
    if (!one_of(g, OPT_RANK, ranks, &rank, e)) return false;
    if (g->at[OPT_RANK]) push(c, STEP_RANK, rank, 0.0f);
    if (!text) return true;
    char *end = NULL;
    float least = strtof(text, &end);
    bool known = false;
    for (int k = 0; k < STEP_LEASTS; k++) known = known || step_leasts[k] == least;
    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end || !known)
        return err_set(e, ERR_USAGE, "--least %s: is 0, 0.001, 0.01, 0.05 or 0.1", text);
    push(c, STEP_LEAST, 0, least);
    return true;
}

/* Stage and time. A picture is of a finished stage unless told otherwise; a window and a
 * script start playing it. */
static bool time_options(struct cli *c, const struct given *g, struct err *e)
{
    long long stage = 1;
    enum attn_tensor tensor = ATTN_TENSOR_COUNT;
    if (c->out.part == EXPORT_MATRIX) /* the first one that has it */
        stage = 1 + (c->out.tensor == ATTN_TENSOR_COUNT ? ATTN_SCORES
                                                        : scene_stage_of(c->out.tensor));
    if (!whole(g, OPT_STAGE, 1, ATTN_STAGE_COUNT, "a stage", &stage, e) ||
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
    push(c, STEP_GO, (int)stage - 1, 0.0f);
    if (text || c->mode == CLI_EXPORT || c->mode == CLI_STATE)
        push(c, STEP_SCRUB, 0, (float)t);
    return true;
}

/* What is to be done to the state in which everything so far has been done. A model's is
 * not known yet: it refuses what it cannot do when it is open. */
static bool also(struct cli *c, const struct given *g, enum option o,
                 struct step_action a, const char *is, struct err *e)
{
    if (g->model) {
        step_push(&c->when_opened, a);
        return true;
    }
    struct step_state s = step_initial();
    for (int i = 0; i < c->start.n; i++) (void)step_apply(&s, c->start.at[i]);
    if (!step_apply(&s, a))
        return err_set(e, ERR_USAGE, "%s %s: %s", option_names[o], g->at[o], is);
    step_push(&c->start, a);
    return true;
}

static bool cell_option(struct cli *c, const struct given *g, enum option o,
                        enum step_verb verb, struct err *e)
{
    static const char is[] =
        "a cell is MATRIX:ROW:COLUMN, counted from 1 and inside it, like s_raw:3:2";
    struct step_action a = {.verb = verb};
    if (!g->at[o]) return true;
    if (!names_parse_cell(g->at[o], &a.ref))
        return err_set(e, ERR_USAGE, "%s %s: %s", option_names[o], g->at[o], is);
    return also(c, g, o, a, is, e);
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
        if (!parse_number(at, n, &v[i]) || (at[n] == ',') != (i < 2))
            return err_set(e, ERR_USAGE, "--view %s: %s", g->at[OPT_VIEW], is);
        at += n + (i < 2 ? 1 : 0);
    }
    struct step_action a = {
        .verb = STEP_VIEW, .x = (float)v[1], .y = (float)v[2], .z = (float)v[0]};
    struct step_state s = step_initial();
    if (!step_apply(&s, a))
        return err_set(e, ERR_USAGE, "--view %s: %s", g->at[OPT_VIEW], is);
    return also(c, g, OPT_VIEW, a, is, e);
}

static bool overview_options(struct cli *c, const struct given *g, struct err *e)
{
    int kind = STEP_OVER_WEIGHTS;
    int sort = STEP_SORT_PLACE;
    long long at = 1;
    for (int o = OPT_SORT; o <= OPT_OVERVIEW_AT; o++)
        if (g->at[o] && !g->at[OPT_OVERVIEW])
            return err_set(e, ERR_USAGE, "%s %s: is of the overview; add --overview KIND",
                           option_names[o], g->at[o]);
    if (!one_of_many(g, OPT_OVERVIEW, state_over_kinds, STEP_OVER_KIND_COUNT, &kind, e) ||
        !one_of_many(g, OPT_SORT, state_over_sorts, STEP_SORT_COUNT, &sort, e) ||
        !whole(g, OPT_OVERVIEW_AT, 1, INT32_MAX, "a head", &at, e))
        return false;
    if (!g->at[OPT_OVERVIEW] && c->out.part != EXPORT_HEADS) return true;
    if (c->out.part == EXPORT_MATRIX)
        return err_set(e, ERR_USAGE, "--part %s: is of a stage; leave --overview out",
                       g->at[OPT_PART]);
    struct step_action open = {.verb = STEP_OVERVIEW};
    struct step_action to_kind = {.verb = STEP_OVER_KIND, .i = kind};
    struct step_action to_sort = {.verb = STEP_OVER_SORT, .i = sort};
    struct step_action to_head = {.verb = STEP_OVER_AT, .i = (int)at - 1};
    return also(c, g, OPT_OVERVIEW, open, "", e) &&
           also(c, g, OPT_OVERVIEW, to_kind, "", e) &&
           also(c, g, OPT_SORT, to_sort, "", e) &&
           (!g->at[OPT_OVERVIEW_AT] ||
            also(c, g, OPT_OVERVIEW_AT, to_head, "there are not so many heads", e));
}

static bool speed_option(struct cli *c, const struct given *g, struct err *e)
{
    double speed = 0.0;
    const char *text = g->at[OPT_SPEED];
    if (!text) return true;
    bool known = false;
    bool ok = parse_number(text, strlen(text), &speed);
    for (size_t i = 0; ok && i < sizeof step_speeds / sizeof step_speeds[0]; i++)
        known = known || (double)step_speeds[i] == speed;
    if (!known) return err_set(e, ERR_USAGE, "--speed %s: is 0.25, 0.5, 1, 2 or 4", text);
    c->speed_given = true;
    push(c, STEP_SPEED, 0, (float)speed);
    return true;
}

/* What a window has been brought to by hand. */
static bool shown_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const switches[2] = {"off", "on"};
    int log = 0;
    if (!one_of(g, OPT_LOG, switches, &log, e) || !speed_option(c, g, e)) return false;
    c->log_given = g->at[OPT_LOG] != NULL;
    if (c->log_given) push(c, STEP_LOG, log ? 1 : -1, 0.0f);
    if (g->at[OPT_PLAY]) {
        if (!g->at[OPT_STAGE] || g->at[OPT_OVERVIEW])
            return err_set(e, ERR_USAGE, "--play: plays a stage; add --stage K%s",
                           g->at[OPT_OVERVIEW] ? " and leave --overview out" : "");
        push(c, STEP_PLAY, 1, 0.0f);
    }
    return overview_options(c, g, e) && cell_option(c, g, OPT_PIN, STEP_PIN, e) &&
           cell_option(c, g, OPT_HOVER, STEP_HOVER, e) && view_option(c, g, e);
}

static bool density_option(struct cli *c, const struct given *g, struct err *e)
{
    double density = 1.0;
    const char *text = g->at[OPT_DENSITY];
    if (!text) return true;
    if (!parse_number(text, strlen(text), &density) ||
        !(density >= 0.5 && density <= 8.0))
        return err_set(e, ERR_USAGE, "--density %s: is a number from 0.5 to 8", text);
    c->density = c->out.density = (float)density;
    if (c->out.part != EXPORT_WINDOW || c->out.mm) return true;
    if (c->w || c->mode == CLI_WINDOW) return true;
    c->w = (int)lround(CLI_W * density);
    c->h = (int)lround(CLI_H * density);
    if (c->w > CLI_MAX_SIDE || c->h > CLI_MAX_SIDE)
        return err_set(e, ERR_USAGE,
                       "--density %s: makes a picture of %dx%d, at most %dx%d; give "
                       "--size WxH",
                       text, c->w, c->h, CLI_MAX_SIDE, CLI_MAX_SIDE);
    return true;
}

/* "160mm" or "160x90mm". */
static bool size_in_mm(struct cli *c, const char *text, struct err *e)
{
    double side[2] = {0.0, 0.0};
    size_t n = strcspn(text, "x");
    size_t all = strlen(text) - strlen("mm");
    bool both = text[n] == 'x';
    bool ok = parse_number(text, both ? n : all, &side[0]) &&
              (!both || parse_number(text + n + 1, all - n - 1, &side[1]));
    for (int i = 0; i < (both ? 2 : 1); i++)
        ok = ok && side[i] >= EXPORT_MIN_MM && side[i] <= EXPORT_MAX_MM;
    if (!ok || c->mode != CLI_EXPORT || c->out.format >= EXPORT_PICTURES)
        return err_set(e, ERR_USAGE,
                       "--size %s: a picture has WxHmm or Wmm, from %d to %d millimetres",
                       text, EXPORT_MIN_MM, EXPORT_MAX_MM);
    c->out.mm = true;
    c->out.w = (float)side[0];
    c->out.h = (float)side[1];
    return true;
}

/* Two heads: after the stage, which has to be one that shows them. */
static bool pair_options(struct cli *c, const struct given *g, struct err *e)
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
    if (!whole(g, OPT_STAGE, 1, ATTN_STAGE_COUNT, "a stage", &stage, e) ||
        !whole(g, OPT_HEAD, 1, heads, "a head", &head, e) ||
        !whole(g, o, 1, heads, "a head", &second, e))
        return false;
    if (stage < 2 || stage > 5)
        return err_set(e, ERR_USAGE, "%s %s: stages 2 to 5 show two heads; add --stage 5",
                       option_names[o], g->at[o]);
    if (second == head)
        return err_set(e, ERR_USAGE, "%s %s: is the head in view; name another",
                       option_names[o], g->at[o]);
    step_push(out, (struct step_action){.verb = STEP_SECOND, .i = (int)second - 1});
    if (o == OPT_MINUS)
        step_push(out, (struct step_action){.verb = STEP_PAIR, .i = STEP_PAIR_MINUS});
    return true;
}

static bool size_option(struct cli *c, const struct given *g, struct err *e)
{
    const char *text = g->at[OPT_SIZE];
    if (!text) return true;
    if (strlen(text) > 2 && strcmp(text + strlen(text) - 2, "mm") == 0)
        return size_in_mm(c, text, e);
    bool window = c->mode == CLI_WINDOW;
    int min_w = window ? SCENE_MIN_W : CLI_MIN_SIDE;
    int min_h = window ? SCENE_MIN_H : CLI_MIN_SIDE;
    char side[2][16] = {{0}};
    long long v[2] = {0, 0};
    size_t n = strcspn(text, "x");
    bool ok =
        text[n] == 'x' && n < sizeof side[0] && strlen(text + n + 1) < sizeof side[1];
    if (ok) {
        memcpy(side[0], text, n);
        memcpy(side[1], text + n + 1, strlen(text + n + 1));
        ok = parse_whole(side[0], &v[0]) && parse_whole(side[1], &v[1]) &&
             v[0] >= min_w && v[0] <= CLI_MAX_SIDE && v[1] >= min_h &&
             v[1] <= CLI_MAX_SIDE;
    }
    if (!ok)
        return err_set(e, ERR_USAGE,
                       "--size %s: the size of a %s is WxH pixels from %dx%d to %dx%d",
                       text, window ? "window" : "picture", min_w, min_h, CLI_MAX_SIDE,
                       CLI_MAX_SIDE);
    c->w = (int)v[0];
    c->h = (int)v[1];
    c->out.w = (float)v[0];
    c->out.h = (float)v[1];
    return true;
}

static bool look_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const themes[2] = {"light", "dark"};
    int theme = STEP_LIGHT;
    long long ui = 100;
    if (!one_of(g, OPT_THEME, themes, &theme, e) ||
        !whole(g, OPT_UI, STEP_MIN_UI, STEP_MAX_UI, "the UI size in percent", &ui, e))
        return false;
    c->theme_given = g->at[OPT_THEME] != NULL;
    c->ui_given = g->at[OPT_UI] != NULL;
    if (c->theme_given) push(c, STEP_THEME, theme, 0.0f);
    if (c->ui_given) push(c, STEP_UI_SIZE, (int)ui, 0.0f);
    double factor = (double)ui / 100.0 * (c->density > 0.0f ? (double)c->density : 1.0);
    if (c->mode == CLI_WINDOW || c->mode == CLI_STATE || factor <= 1.0) return true;
    if (c->out.part != EXPORT_WINDOW || c->out.mm) return true;
    /* No message bar answers here, so a size that would be cut is refused. */
    int need_w = (int)ceil(SCENE_MIN_W * factor);
    int need_h = (int)ceil(SCENE_MIN_H * factor);
    enum option o = c->density > 0.0f ? OPT_DENSITY : OPT_UI;
    if ((c->w ? c->w : CLI_W) < need_w || (c->h ? c->h : CLI_H) < need_h)
        return err_set(e, ERR_USAGE, "%s %s: needs a picture of at least --size %dx%d",
                       option_names[o], g->at[o], need_w, need_h);
    return true;
}

static bool film_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const which[2] = {"stage", "all"};
    static const enum option not_films[] = {OPT_TIME, OPT_OVERVIEW, OPT_PLAY, OPT_HOVER};
    int all = g->at[OPT_STAGE] ? 0 : 1;
    long long fps = 0;
    bool film = c->out.format >= EXPORT_PICTURES;
    for (int o = OPT_FILM; o <= OPT_FPS; o++)
        if (g->at[o] && !film)
            return err_set(e, ERR_USAGE,
                           "%s %s: is of a film; export to .mp4, .gif, .webm or a folder "
                           "with a slash behind it",
                           option_names[o], g->at[o]);
    if (!film) return true;
    if (c->out.part == EXPORT_HEADS || c->out.part == EXPORT_MATRIX)
        return err_set(e, ERR_USAGE,
                       "--part %s: does not move; a film is of the window or the stage",
                       g->at[OPT_PART]);
    if (c->out.transparent)
        return err_set(e, ERR_USAGE, "--background transparent: is not for a film");
    for (size_t i = 0; i < sizeof not_films / sizeof not_films[0]; i++)
        if (g->at[not_films[i]])
            return err_set(e, ERR_USAGE, "%s: is not for a film; leave it out",
                           option_names[not_films[i]]);
    if (!one_of(g, OPT_FILM, which, &all, e) ||
        !whole(g, OPT_FPS, 1, FILM_MAX_FPS, "the number of frames a second", &fps, e))
        return false;
    c->film_all = all == 1;
    c->fps = (int)fps;
    return true;
}

static bool picture_options(struct cli *c, const struct given *g, struct err *e)
{
    static const char *const grounds[2] = {"paper", "transparent"};
    int ground = 0;
    c->mode = CLI_EXPORT;
    c->out.path = g->at[OPT_EXPORT];
    if (!export_format_of(c->out.path, &c->out.format, e) ||
        (g->at[OPT_PART] && !export_part_of(g->at[OPT_PART], &c->out, e)) ||
        !one_of(g, OPT_BACKGROUND, grounds, &ground, e))
        return false;
    c->out.transparent = ground == 1;
    return film_options(c, g, e);
}

static bool tolerance_option(struct cli *c, const struct given *g, struct err *e)
{
    const char *text = g->at[OPT_TOLERANCE];
    char *end = NULL;
    if (!text) return true;
    c->tolerance = strtod(text, &end);
    if (strspn(text, "+-.0123456789eE") == strlen(text) && end != text && !*end &&
        c->tolerance > 0.0 && c->tolerance <= 1.0)
        return true;
    return err_set(e, ERR_USAGE, "--tolerance %s: is a number above 0, 1 at most", text);
}

static bool show_option(struct cli *c, const struct given *g, struct err *e)
{
    const char *show = g->at[OPT_SHOW];
    c->show = STEP_DIFF_DIFFERENCE;
    for (int d = 0; show && d < STEP_DIFF_COUNT; d++)
        if (strcmp(state_diffs[d], show) == 0) {
            c->show = (enum step_diff)d;
            return true;
        }
    return !show || err_set(e, ERR_USAGE,
                            "--show %s: is difference, theirs, ours or animation", show);
}

/* Options that say nothing without another one. */
static bool go_together(const struct given *g, struct err *e)
{
    static const struct {
        enum option option, needs;
    } parts[] = {{OPT_STAGES, OPT_DUMP},       {OPT_BLOCKS, OPT_DUMP},
                 {OPT_HEADS, OPT_DUMP},        {OPT_WITH, OPT_COMPARE},
                 {OPT_TOLERANCE, OPT_COMPARE}, {OPT_WINDOW, OPT_COMPARE},
                 {OPT_SHOW, OPT_COMPARE}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (g->at[parts[i].option] && !g->at[parts[i].needs])
            return err_set(e, ERR_USAGE, "%s: goes with %s",
                           option_names[parts[i].option], option_names[parts[i].needs]);
    return true;
}

/* What goes into numbers and what comes out; without a picture there is no window. */
static bool number_options(struct cli *c, const struct given *g, struct err *e)
{
    bool picture = g->at[OPT_EXPORT] || g->at[OPT_SCRIPT] || g->at[OPT_STATE];
    if (!go_together(g, e)) return false;
    if (g->at[OPT_DUMP] && (picture || g->at[OPT_COMPARE]))
        return err_set(e, ERR_USAGE, "--dump %s: is done alone; leave --%s out",
                       g->at[OPT_DUMP],
                       g->at[OPT_COMPARE]  ? "compare"
                       : g->at[OPT_EXPORT] ? "export"
                       : g->at[OPT_SCRIPT] ? "script"
                                           : "state");
    if (g->at[OPT_WITH] && (g->model || picture || g->at[OPT_WINDOW]))
        return err_set(e, ERR_USAGE,
                       "--with %s: compares two dumps, without a model and a picture",
                       g->at[OPT_WITH]);
    if (!tolerance_option(c, g, e) || !show_option(c, g, e)) return false;
    c->dump = g->at[OPT_DUMP];
    c->stages = g->at[OPT_STAGES];
    c->blocks = g->at[OPT_BLOCKS];
    c->heads = g->at[OPT_HEADS];
    c->block_given = g->at[OPT_BLOCK] != NULL;
    c->head_given = g->at[OPT_HEAD] != NULL;
    c->stage_given = g->at[OPT_STAGE] != NULL;
    c->compare = g->at[OPT_COMPARE];
    c->with = g->at[OPT_WITH];
    c->table = c->compare && !picture;
    if (c->dump) c->mode = CLI_DUMP;
    if (c->table && !g->at[OPT_WINDOW]) c->mode = CLI_COMPARE;
    return true;
}

static bool mode_options(struct cli *c, const struct given *g, struct err *e)
{
    const char *picture = g->at[OPT_EXPORT];
    const char *script = g->at[OPT_SCRIPT];
    c->shader_dir = g->at[OPT_SHADER_DIR];
    if (g->at[OPT_STATE]) {
        if (picture || script)
            return err_set(e, ERR_USAGE, "--state: prints a line alone; leave %s out",
                           picture ? "--export" : "--script");
        c->mode = CLI_STATE;
    }
    if (picture && script)
        return err_set(
            e, ERR_USAGE,
            "--export %s: a script exports by itself; write \"export %s\" in %s", picture,
            picture, script);
    if (script) c->mode = CLI_SCRIPT;
    c->path = picture ? picture : script;
    for (int o = OPT_PART; o <= OPT_FPS; o++)
        if (g->at[o] && !picture)
            return err_set(e, ERR_USAGE, "%s %s: is of a picture; add --export FILE",
                           option_names[o], g->at[o]);
    return !picture || picture_options(c, g, e);
}

bool cli_parse(struct cli *c, int argc, char *const *argv, struct err *e)
{
    *c = (struct cli){0};
    struct given g = {0};
    if (!collect(&g, argc, argv, e)) return false;
    if (g.at[OPT_HELP] || g.at[OPT_VERSION]) {
        c->mode = g.at[OPT_HELP] ? CLI_HELP : CLI_VERSION;
        return true;
    }
    return mode_options(c, &g, e) && number_options(c, &g, e) && size_option(c, &g, e) &&
           density_option(c, &g, e) && place_options(c, &g, e) &&
           read_options(c, &g, e) && off_option(c, &g, e) && source_options(c, &g, e) &&
           look_options(c, &g, e) && time_options(c, &g, e) && pair_options(c, &g, e) &&
           shown_options(c, &g, e);
}
