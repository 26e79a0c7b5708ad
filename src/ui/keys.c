/* Keys as two tables: what a key does, and the lines of the key help. */
#include "parts.h"

#include <ctype.h>
#include <string.h>

/* ---- what a key does ------------------------------------------------------------------ */

struct binding {
    int key, mods;
    bool shift_too; /* with Shift as well: letters, and signs that differ by layout */
    struct step_action action;
};

static const struct binding bindings[] = {
    /* clang-format off */
    {UI_KEY_RIGHT, 0,        false, {.verb = STEP_NEXT}},
    {UI_KEY_LEFT,  0,        false, {.verb = STEP_PREV}},
    {UI_KEY_DOWN,  0,        false, {.verb = STEP_ROW_BY, .i = 1}},
    {UI_KEY_UP,    0,        false, {.verb = STEP_ROW_BY, .i = -1}},
    {UI_KEY_DOWN,  UI_SHIFT, false, {.verb = STEP_ROWS_BY, .i = 1}},
    {UI_KEY_UP,    UI_SHIFT, false, {.verb = STEP_ROWS_BY, .i = -1}},
    {UI_KEY_DOWN,  UI_CTRL,  false, {.verb = STEP_ROW_WALK, .i = 1}},
    {UI_KEY_UP,    UI_CTRL,  false, {.verb = STEP_ROW_WALK, .i = -1}},
    {' ',          UI_CTRL,  false, {.verb = STEP_ROW_KEEP}},
    {UI_KEY_HOME,  0,        false, {.verb = STEP_GO, .i = 0}},
    {UI_KEY_END,   0,        false, {.verb = STEP_GO, .i = ATTN_STAGE_COUNT - 1}},
    {'1',          0,        false, {.verb = STEP_GO, .i = ATTN_PROJECTIONS}},
    {'2',          0,        false, {.verb = STEP_GO, .i = ATTN_SCORES}},
    {'3',          0,        false, {.verb = STEP_GO, .i = ATTN_SCALE}},
    {'4',          0,        false, {.verb = STEP_GO, .i = ATTN_MASK}},
    {'5',          0,        false, {.verb = STEP_GO, .i = ATTN_SOFTMAX}},
    {'6',          0,        false, {.verb = STEP_GO, .i = ATTN_WEIGHTED_SUM}},
    {'7',          0,        false, {.verb = STEP_GO, .i = ATTN_OUTPUT}},
    {' ',          0,        true,  {.verb = STEP_PLAY}},
    {',',          0,        false, {.verb = STEP_BEAT, .i = -1}},
    {'.',          0,        false, {.verb = STEP_BEAT, .i = 1}},
    {'.',          UI_SHIFT, false, {.verb = STEP_BEAT, .i = 1}}, /* when presenting */
    {'-',          0,        true,  {.verb = STEP_SPEED_BY, .i = -1}},
    {'=',          0,        true,  {.verb = STEP_SPEED_BY, .i = 1}},
    {'+',          0,        true,  {.verb = STEP_SPEED_BY, .i = 1}},
    {'r',          0,        true,  {.verb = STEP_RESTART}},
    {'t',          0,        true,  {.verb = STEP_SCALE_TO, .i = -1}},
    {'[',          0,        false, {.verb = STEP_HEAD_BY, .i = -1}},
    {']',          0,        false, {.verb = STEP_HEAD_BY, .i = 1}},
    {'[',          UI_SHIFT, false, {.verb = STEP_SECOND_BY, .i = -1}},
    {']',          UI_SHIFT, false, {.verb = STEP_SECOND_BY, .i = 1}},
    {'a',          0,        true,  {.verb = STEP_PAIR, .i = -1}},
    {UI_KEY_PAGE_UP, 0,      false, {.verb = STEP_BLOCK_BY, .i = -1}},
    {UI_KEY_PAGE_DOWN, 0,    false, {.verb = STEP_BLOCK_BY, .i = 1}},
    {'h',          0,        true,  {.verb = STEP_OVERVIEW}},
    {'/',          0,        false, {.verb = STEP_EDIT, .i = STEP_EDIT_TEXT}},
    {UI_KEY_ENTER, 0,        false, {.verb = STEP_EDIT, .i = STEP_EDIT_TEXT}},
    {'o',          UI_CTRL,  false, {.verb = STEP_EDIT, .i = STEP_EDIT_PATH}},
    {'s',          0,        true,  {.verb = STEP_LAB, .i = -1}},
    {'e',          0,        true,  {.verb = STEP_FIELD}}, /* of scene_field_cell */
    {'i',          0,        true,  {.verb = STEP_SWITCHES}},
    {'x',          0,        true,  {.verb = STEP_CORRECT}},
    {'v',          0,        true,  {.verb = STEP_SEE, .i = -1}},
    {'z',          UI_CTRL,  false, {.verb = STEP_UNDO}},
    {'y',          UI_CTRL,  false, {.verb = STEP_REDO}},
    {'z', UI_CTRL | UI_SHIFT, false, {.verb = STEP_REDO}},
    {'k',          0,        true,  {.verb = STEP_DECODE}},
    {'f',          0,        true,  {.verb = STEP_FIT}},
    {'l',          0,        true,  {.verb = STEP_LOG}},
    {'w',          0,        true,  {.verb = STEP_RANK, .i = -1}},
    {'b',          0,        false, {.verb = STEP_LEAST_BY, .i = 1}},
    {'b',          UI_SHIFT, false, {.verb = STEP_LEAST_BY, .i = -1}},
    {'m',          0,        true,  {.verb = STEP_DIFF, .i = -1}},
    {'n',          0,        true,  {.verb = STEP_ROLL}},
    {'o',          0,        true,  {.verb = STEP_TERMS}},
    {'c',          0,        true,  {.verb = STEP_CODE}},
    {'y',          0,        true,  {.verb = STEP_WHY}},
    {'g',          0,        true,  {.verb = STEP_TOUR}},
    {'p',          0,        true,  {.verb = STEP_PRESENT}},
    {'d',          0,        true,  {.verb = STEP_THEME, .i = -1}},
    {'/',          UI_SHIFT, false, {.verb = STEP_HELP}}, /* ? on an American keyboard */
    {'?',          0,        true,  {.verb = STEP_HELP}},
    {UI_KEY_F1,    0,        false, {.verb = STEP_HELP}},
    {UI_KEY_F11,   0,        false, {.verb = STEP_FULLSCREEN}},
    {UI_KEY_ESCAPE, 0,       false, {.verb = STEP_ESCAPE}},
    {'c',          UI_CTRL,  false, {.verb = STEP_COPY, .i = STEP_COPY_NUMBERS}},
    {'c',          UI_CTRL | UI_SHIFT, false, {.verb = STEP_COPY, .i = STEP_COPY_PICTURE}},
    {'e',          UI_CTRL,  false, {.verb = STEP_EDIT, .i = STEP_EDIT_EXPORT}},
    {'l',          UI_CTRL,  false, {.verb = STEP_COPY, .i = STEP_COPY_STATE}},
    {'q',          UI_CTRL,  false, {.verb = STEP_QUIT}},
    {'0',          UI_CTRL,  false, {.verb = STEP_UI_SIZE, .i = 100}},
    {'=',          UI_CTRL,  true,  {.verb = STEP_UI_SIZE_BY, .i = 1}},
    {'+',          UI_CTRL,  true,  {.verb = STEP_UI_SIZE_BY, .i = 1}},
    {'-',          UI_CTRL,  true,  {.verb = STEP_UI_SIZE_BY, .i = -1}},
    /* clang-format on */
};

struct step_action ui_key_action(int key, int mods)
{
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++) {
        const struct binding *b = &bindings[i];
        int kept = b->shift_too ? mods & ~UI_SHIFT : mods;
        if (b->key == key && b->mods == kept) return b->action;
    }
    return (struct step_action){.verb = STEP_NONE};
}

/* ---- the key help ----------------------------------------------------------------------- */

const struct ui_key_line ui_key_lines[] = {
    {GROUP_STEPS, {"\u2190", "\u2192"}, "previous, next stage"},
    {GROUP_STEPS, {"1", "\u2026", "7"}, "go to a stage"},
    {GROUP_STEPS, {"Home", "End"}, "first, last stage"},
    {GROUP_STEPS, {"space"}, "play, pause"},
    {GROUP_STEPS, {",", "."}, "one micro-step back, on"},
    {GROUP_STEPS, {"-", "="}, "slower, faster"},
    {GROUP_STEPS, {"R"}, "restart the stage"},
    {GROUP_STEPS, {"C", "Y"}, "its code, why it is here"},
    {GROUP_STEPS, {"Enter", "O"}, "a cell\u2019s origin, its order"},
    {GROUP_PRESENT, {"PgUp", "PgDn"}, "a clicker\u2019s: back, on"},
    {GROUP_PRESENT, {".", "B"}, "blank screen"},
    {GROUP_PRESENT, {",", "Shift ."}, "one micro-step back, on"},
    {GROUP_PRESENT, {"G"}, "the guided tour"},
    {GROUP_PRESENT, {"P", "Esc"}, "leave presenter mode"},
    {GROUP_INPUT, {"/", "Enter"}, "another text"},
    {GROUP_LOOK, {"\u2191", "\u2193"}, "select a row"},
    {GROUP_LOOK, {"Shift \u2191", "\u2193"}, "select several rows"},
    {GROUP_LOOK, {"Ctrl \u2191", "\u2193"}, "go past selected rows"},
    {GROUP_LOOK, {"Ctrl space"}, "keep this row selected"},
    {GROUP_LOOK, {"[", "]"}, "previous, next head"},
    {GROUP_LOOK, {"A"}, "two heads, difference"},
    {GROUP_LOOK, {"Shift [", "]"}, "another second head"},
    {GROUP_LOOK, {"H", "S"}, "every head, the labs"},
    {GROUP_LOOK, {"K"}, "decode: the KV cache"},
    {GROUP_LOOK, {"F"}, "everything in view"},
    {GROUP_LOOK, {"L"}, "weights on a log scale"},
    {GROUP_LOOK, {"W"}, "rank by contribution"},
    {GROUP_LOOK, {"B"}, "leave out small weights"},
    {GROUP_BREAK, {"I"}, "set any step wrong"},
    {GROUP_BREAK, {"E"}, "edit a cell; or double click"},
    {GROUP_BREAK, {"V"}, "broken or correct view"},
    {GROUP_BREAK, {"X"}, "all correct again"},
    {GROUP_BREAK, {"Ctrl Z", "Ctrl Y"}, "undo, redo"},
    {GROUP_INPUT, {"T"}, "toy or GPT-2 dimensions"},
    {GROUP_INPUT, {"Ctrl O"}, "open a model; or drop one"},
    {GROUP_INPUT, {"N"}, "other random weights"},
    {GROUP_MODEL, {"PgUp", "PgDn"}, "previous, next block"},
    {GROUP_COMPARE, {"M"}, "difference, theirs, ours"},
    {GROUP_WINDOW, {"Tab", "Shift Tab"}, "to a control and back"},
    {GROUP_WINDOW, {"Enter", "space"}, "press the control"},
    {GROUP_WINDOW, {"\u2190", "\u2192"}, "move a slider"},
    {GROUP_WINDOW, {"G", "P"}, "guided tour, presenter"},
    {GROUP_WINDOW, {"D", "F11"}, "light or dark, full screen"},
    {GROUP_WINDOW, {"Ctrl -", "Ctrl ="}, "smaller, larger"},
    {GROUP_WINDOW, {"Ctrl 0"}, "size 100%"},
    {GROUP_WINDOW, {"?", "F1"}, "this help"},
    {GROUP_WINDOW, {"Esc"}, "close the last layer"},
    {GROUP_WINDOW, {"Ctrl E"}, "export a picture or a film"},
    {GROUP_WINDOW, {"Ctrl C"}, "copy cell, row, matrix"},
    {GROUP_WINDOW, {"Ctrl Shift C"}, "copy the picture"},
    {GROUP_WINDOW, {"Ctrl L"}, "copy its command line"},
    {GROUP_WINDOW, {"Ctrl Q"}, "quit"},
    {GROUP_MOUSE, {"hover"}, "explain a cell"},
    {GROUP_MOUSE, {"click"}, "pin a cell or a row, dive"},
    {GROUP_MOUSE, {"Shift click"}, "select rows up to it"},
    {GROUP_MOUSE, {"Ctrl click"}, "select its row too"},
    {GROUP_MOUSE, {"wheel"}, "zoom at the pointer"},
    {GROUP_MOUSE, {"drag"}, "move the picture"},
    {GROUP_MOUSE, {"Ctrl wheel"}, "zoom into the heads"},
    {GROUP_MOUSE, {"double click"}, "edit a cell, fit a matrix"},
};
const int ui_key_line_count = sizeof ui_key_lines / sizeof *ui_key_lines;

const char *ui_group_name(enum ui_group g)
{
    static const char *const name[GROUP_COUNT] = {
        "STEPS AND TIME", "PRESENTING", "LOOKING", "WHAT IF", "INPUT",
        "MODEL",          "COMPARISON", "WINDOW",  "MOUSE"};
    return name[g];
}

/* ---- names in scripts --------------------------------------------------------------------- */

static const struct {
    const char *name;
    int key, mods;
} names[] = {
    {"Left", UI_KEY_LEFT, 0},      {"Right", UI_KEY_RIGHT, 0},
    {"Up", UI_KEY_UP, 0},          {"Down", UI_KEY_DOWN, 0},
    {"Home", UI_KEY_HOME, 0},      {"End", UI_KEY_END, 0},
    {"PageUp", UI_KEY_PAGE_UP, 0}, {"PageDown", UI_KEY_PAGE_DOWN, 0},
    {"Tab", UI_KEY_TAB, 0},        {"Enter", UI_KEY_ENTER, 0},
    {"Return", UI_KEY_ENTER, 0},   {"Escape", UI_KEY_ESCAPE, 0},
    {"Esc", UI_KEY_ESCAPE, 0},     {"Backspace", UI_KEY_BACKSPACE, 0},
    {"Delete", UI_KEY_DELETE, 0},  {"F1", UI_KEY_F1, 0},
    {"F11", UI_KEY_F11, 0},        {"Space", ' ', 0},
    {"?", '/', UI_SHIFT}, /* as an American keyboard types them */
    {"+", '=', UI_SHIFT},
};

static const struct {
    const char *name;
    int mod;
} prefixes[] = {{"Ctrl+", UI_CTRL}, {"Shift+", UI_SHIFT}, {"Alt+", UI_ALT}};

static int lower(char c)
{
    int u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? u - 'A' + 'a' : u;
}

/* Whether text begins with `with`, whatever the case; *rest is what is behind it. */
static bool begins(const char *text, const char *with, const char **rest)
{
    for (; *with; text++, with++)
        if (lower(*text) != lower(*with)) return false;
    *rest = text;
    return true;
}

bool ui_key_parse(const char *name, int *key, int *mods)
{
    int with = 0;
    const char *rest;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes;) {
        if (!begins(name, prefixes[i].name, &rest)) {
            i++;
            continue;
        }
        with |= prefixes[i].mod;
        name = rest;
        i = 0; /* prefixes come in any order */
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!begins(name, names[i].name, &rest) || *rest) continue;
        *key = names[i].key;
        *mods = with | names[i].mods;
        return true;
    }
    bool one = name[0] && !name[1];
    if (!one || !(isalnum((unsigned char)*name) || strchr(",.-=[];'`\\/", *name)))
        return false;
    *key = lower(*name);
    *mods = with;
    return true;
}
