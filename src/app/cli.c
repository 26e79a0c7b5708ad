/* The command line as plain data: a table of options, checks, and the actions they mean. */
#include "cli_options.h"

#include "state.h"

#include <stdlib.h>
#include <string.h>

/* C17 promises no more than 4,095 bytes a literal. */
const char *const cli_help[] = {
    "Headlight shows what causal self-attention computes, number by number.\n"
    "\n"
    "usage: headlight [MODEL] [OPTION]...\n"
    "\n"
    "  MODEL                a GPT-2 from files: a folder with config.json and\n"
    "                       model.safetensors, a .safetensors file, or an llm.c .bin\n"
    "  --text TEXT          what it reads; ids in digits where it has no tokenizer\n"
    "  --cut end|front      what a text over its limit loses: its end, or its front\n"
    "  --block B            block in view, from 1\n"
    "  --scale toy|gpt2     a few tokens of eight numbers, or GPT-2's dimensions\n"
    "  --words TEXT         of the toy, 1 to 8; without a MODEL --text does the same\n"
    "  --tokens N           1 to 1024 tokens, at GPT-2 scale, without a MODEL\n"
    "  --seed S             of the random weights, 0 to 4294967295\n"
    "  --stage K            stage 1 to 7\n"
    "  --time T             how far its animation is, 0 to 1; with --stage\n"
    "  --head H             head in view, from 1\n"
    "  --row I[-J][,...]    selected rows, from 1: 3-7,9; the last one is in view\n"
    "  --decode P           decode mode: P tokens at once, then one at a time; the row "
    "in\n"
    "                       view is the token it is at\n"
    "  --pin M:I:J          the cell in row I, column J of matrix M is pinned: q:1:1,\n"
    "                       s_raw, s_scaled, s_masked, p, z, y, ...\n"
    "  --dive S,M:I:J[,...] from the cell pinned in stage S into an operand, and into "
    "its\n"
    "                       own: 5,s_masked:4:2,s_scaled:4:2\n"
    "  --hover M:I:J        a cell explained as if it were pointed at\n"
    "  --view ZOOM,X,Y      zoomed and moved, points; 1,0,0: all of it\n"
    "  --overview KIND      every head at a glance: scores, scaled, weights\n"
    "  --sort HOW           its order: place, entropy, previous, first, itself, "
    "induction\n"
    "  --overview-at N      its selected head, counted through all blocks from 1\n",
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
    "  --edit 'M I J V'     the cell in row I, column J of matrix M is V: 'Q 3 2 0.5';\n"
    "                       Q.2: head 2's; as often as there are cells\n"
    "  --see broken|correct|difference  of a broken result and the correct one\n"
    "  --switches           with the panel of all that can be set wrong\n"
    "  --code c|pytorch     with the stage's code; --why: and why the stage is there\n"
    "  --code-scroll N      N lines on from where the stage's code begins\n"
    "  --lab saturation|cost[,NAME=CHOICE...]  a lab in the stage's place: keys=row|16|\n"
    "                       128|1024, at=D; of=flops|bytes, dims=view|gpt2, at=N, "
    "measure\n"
    "  --terms              a cell's terms in their order, not the largest first\n"
    "  --tour FILE          a guided tour of your own, see assets/tour.txt\n"
    "  --stop K             opens the tour at stop K, from 1; --answer VERDICT:I:J: as "
    "it\n"
    "                       was answered, without the stop's own commands\n"
    "  --answered K:VERDICT[,...]  stops that have been answered: right, or shown\n"
    "  --presenter on|blank larger, the stage alone; blank: nothing at all\n"
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
    "A value may stand behind an = too, and has to where it begins with --:\n"
    "--text=--x. Blocks, heads, rows and stages count from 1. Keys: press F1 in the\n"
    "window.\n",
    NULL};

const char *const cli_option_names[OPT_COUNT] = {
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
    [OPT_DECODE] = "--decode",
    [OPT_PIN] = "--pin",
    [OPT_DIVE] = "--dive",
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
    [OPT_WORDS] = "--words",
    [OPT_EDIT] = "--edit",
    [OPT_CODE] = "--code",
    [OPT_CODE_SCROLL] = "--code-scroll",
    [OPT_LAB] = "--lab",
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
    [OPT_TOUR] = "--tour",
    [OPT_STOP] = "--stop",
    [OPT_ANSWER] = "--answer",
    [OPT_ANSWERED] = "--answered",
    [OPT_PRESENTER] = "--presenter",
    [OPT_HELP] = "--help",
    [OPT_VERSION] = "--version",
    [OPT_PLAY] = "--play",
    [OPT_STATE] = "--state",
    [OPT_WINDOW] = "--window",
    /* clang-format on */
};

static int option_named(const char *name, size_t n)
{
    int o = 0;
    while (o < OPT_COUNT && !(strlen(cli_option_names[o]) == n &&
                              strncmp(cli_option_names[o], name, n) == 0))
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
    const char *name = cli_option_names[o];
    if (g->at[o] && o != OPT_EDIT)
        return err_set(e, ERR_USAGE, "%s: given twice; give it once", name);
    if (o >= OPT_FLAGS) {
        if (value) return err_set(e, ERR_USAGE, "%s: takes no value", name);
        g->at[o] = "";
        return true;
    }
    const char *next = !value && *i + 1 < argc ? argv[*i + 1] : NULL;
    if (next && strncmp(next, "--", 2) == 0)
        return err_set(e, ERR_USAGE,
                       "%s: needs a value before %.40s; a value that begins with -- is "
                       "given as %s=%.40s",
                       name, next, name, next);
    if (next) value = argv[++*i];
    if (!value || value[0] == '\0')
        return err_set(e, ERR_USAGE, "%s: needs a value; see headlight --help", name);
    if (o == OPT_EDIT) {
        if (g->n_edit == STEP_GIVEN_MOST)
            return err_set(e, ERR_USAGE, "%s %.40s: at most %d numbers are edited", name,
                           value, STEP_GIVEN_MOST);
        g->edit[g->n_edit++] = value;
    }
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
                           cli_option_names[parts[i].option],
                           cli_option_names[parts[i].needs]);
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
                           cli_option_names[o], g->at[o]);
    return !picture || cli_picture_options(c, g, e);
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
    return mode_options(c, &g, e) && number_options(c, &g, e) &&
           cli_tour_options(c, &g, e) && cli_size_option(c, &g, e) &&
           cli_density_option(c, &g, e) && cli_place_options(c, &g, e) &&
           cli_read_options(c, &g, e) && cli_off_option(c, &g, e) &&
           cli_edit_options(c, &g, e) && cli_source_options(c, &g, e) &&
           cli_look_options(c, &g, e) && cli_time_options(c, &g, e) &&
           cli_pair_options(c, &g, e) && cli_shown_options(c, &g, e);
}
