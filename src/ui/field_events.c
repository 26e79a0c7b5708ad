/* What keys, wheel and mouse do to the field of an edited cell. */
#include "field.h"

#include <math.h>

static const float fine = 0.1f;        /* of a notch, with Shift */
static const float drag_notch = 0.05f; /* notches a point */
static const float cell_least = 14;    /* points: a smaller one is not what is meant */

static void push(struct step_actions *out, enum step_verb verb, int i)
{
    step_push(out, (struct step_action){.verb = verb, .i = i});
}

static void push_by(struct step_actions *out, float notches)
{
    step_push(out, (struct step_action){.verb = STEP_FIELD_BY, .x = notches});
}

static void push_cell(struct step_actions *out, struct step_ref r)
{
    step_push(out, (struct step_action){.verb = STEP_FIELD, .ref = r});
}

/* The next cell that way, past those that cannot be edited; else the same. */
static void move(const struct step_state *s, int down, int right,
                 struct step_actions *out)
{
    struct step_ref r = s->field.at;
    r.row += down;
    r.col += right;
    if (step_can_give(s, r) == STEP_WRONG_NOT) push_cell(out, r);
}

/* The next matrix of the stage, at the same row and column or its last ones. */
static void next_matrix(const struct step_state *s, int by, struct step_actions *out)
{
    enum attn_tensor can[8];
    int n = scene_field_tensors(s, can);
    int at = 0;
    while (at < n - 1 && can[at] != s->field.at.tensor) at++;
    struct step_ref r = s->field.at;
    r.tensor = can[(at + by + n) % n];
    while (r.row > 0 && step_can_give(s, (struct step_ref){r.tensor, r.row, 0})) r.row--;
    while (r.col > 0 && step_can_give(s, r)) r.col--;
    push_cell(out, r);
}

static bool arrow(const struct ui_event *ev, const struct step_state *s,
                  struct step_actions *out)
{
    int down = (ev->key == UI_KEY_DOWN) - (ev->key == UI_KEY_UP);
    int right = (ev->key == UI_KEY_RIGHT) - (ev->key == UI_KEY_LEFT);
    if (down == 0 && right == 0) return false;
    if (ev->mods & UI_CTRL)
        move(s, down, right, out);
    else if (down)
        push_by(out, (float)-down * (ev->mods & UI_SHIFT ? fine : 1.0f));
    else
        push(out, STEP_FIELD_EDIT, right > 0 ? STEP_FIELD_RIGHT : STEP_FIELD_LEFT);
    return true;
}

/* true: the key is the field's, whatever it does. */
static bool field_key(const struct ui_event *ev, const struct step_state *s,
                      struct step_actions *out)
{
    static const struct {
        int key;
        enum step_field_key to;
    } keys[] = {{UI_KEY_BACKSPACE, STEP_FIELD_BACK},
                {UI_KEY_DELETE, STEP_FIELD_DELETE},
                {UI_KEY_HOME, STEP_FIELD_HOME},
                {UI_KEY_END, STEP_FIELD_END}};
    if (arrow(ev, s, out)) return true;
    if (ev->key == UI_KEY_DELETE && ev->mods == UI_CTRL) {
        step_push(out,
                  (struct step_action){.verb = STEP_UNGIVE, .i = -1, .ref = s->field.at});
        return true;
    }
    /* What concerns the window still does. */
    bool window = (ev->mods & UI_CTRL) || ev->key == UI_KEY_F1 || ev->key == UI_KEY_F11 ||
                  ev->key == UI_KEY_ESCAPE;
    if (window) return false;
    if (ev->key == UI_KEY_ENTER) push(out, STEP_FIELD_TAKE, 0);
    if (ev->key == UI_KEY_TAB) next_matrix(s, ev->mods & UI_SHIFT ? -1 : 1, out);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].key == ev->key) push(out, STEP_FIELD_EDIT, (int)keys[i].to);
    return true; /* letters come as text */
}

static bool is_own(const struct scene_item *it)
{
    return it && it->hit.id >= UI_ID_FIELD_CARD && it->hit.id < UI_ID_FIELD_OPEN;
}

static bool is_its_cell(const struct scene_at *at, const struct step_state *s)
{
    return at->item && at->item->hit.kind == HIT_CELLS &&
           step_ref_is(at->cell, s->field.at);
}

bool field_open(const struct scene_at *at, const struct step_state *s,
                struct step_actions *out)
{
    if (!at->item || at->item->hit.kind != HIT_CELLS || at->item->kind != SCENE_HEAT)
        return false;
    const struct scene_heat *h = &at->item->u.heat;
    if (fminf(h->cell_w, h->cell_h) < cell_least || step_can_give(s, at->cell))
        return false;
    push_cell(out, at->cell);
    return true;
}

bool field_drag(const struct ui_pointer *p, const struct scene *seen,
                const struct step_state *s, float dx, struct step_actions *out)
{
    if (!step_field_is_open(s)) return false;
    struct scene_at from = scene_pick(seen, p->press_x, p->press_y);
    bool number = p->press.id == UI_ID_FIELD;
    if (!number && !(p->press.kind == HIT_CELLS && is_its_cell(&from, s))) return false;
    if (dx != 0) push_by(out, dx * drag_notch);
    return true;
}

bool field_event(const struct ui_pointer *p, const struct ui_event *ev,
                 const struct scene *seen, const struct step_state *s,
                 struct step_actions *out)
{
    (void)p;
    if (!step_field_is_open(s)) return false;
    struct scene_at at = {0};
    switch (ev->kind) {
    case UI_KEY:
        return field_key(ev, s, out);
    case UI_TEXT:
        for (const char *text = ev->text; *text;)
            push(out, STEP_FIELD_TYPE, (int)utf8_next(&text));
        return true;
    case UI_COMPOSE:
        return true;
    case UI_WHEEL:
        at = scene_pick(seen, ev->x, ev->y);
        if (!is_own(at.item) && !is_its_cell(&at, s)) return false;
        push_by(out, ev->wheel * (ev->mods & UI_SHIFT ? fine : 1.0f));
        return true;
    case UI_DOWN: /* elsewhere: it closes, and what was clicked is done */
        at = scene_pick(seen, ev->x, ev->y);
        if (!is_own(at.item) && !is_its_cell(&at, s)) push_cell(out, step_no_ref());
        return false;
    case UI_MOVE:
    case UI_UP:
    case UI_LEAVE:
        break;
    }
    return false;
}
