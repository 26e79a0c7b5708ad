/* What input means: one event and the scene that the person sees become actions. */
#include "field.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLICK_REACH = 4 };              /* points; farther from the press it is a drag */
enum { code_notch = 3 };               /* lines of code that the wheel scrolls by */
static const float zoom_notch = 1.15f; /* of the wheel */
static const float over_notch = 48;    /* points that it scrolls the overview */
static const float over_zoom_most = 16;
static const float fit_share = 0.94f; /* of the canvas that a fitted matrix fills */
static const float slider_keys =
    0.02f; /* of its range that an arrow key moves a slider */

static void push(struct step_actions *out, enum step_verb verb, int i)
{
    step_push(out, (struct step_action){.verb = verb, .i = i});
}

static bool is_view(enum scene_hit_kind k)
{
    return k == HIT_CELLS || k == HIT_CANVAS;
}

/* Whether a drag that began there moves the view: a head of the overview can be clicked
 * and dragged. */
static bool drags_view(const struct scene_hit *hit)
{
    return is_view(hit->kind) ||
           (hit->kind == HIT_ACTION && hit->action.verb == STEP_OVER_OPEN);
}

/* ---- sliders ---------------------------------------------------------------------------- */

static void slide_to(const struct scene_hit *hit, float value, struct step_actions *out)
{
    struct step_action a = hit->action;
    value = fminf(fmaxf(value, hit->lo), hit->hi);
    if (hit->whole)
        a.i = (int)lrintf(value);
    else
        a.x = value;
    step_push(out, a);
}

/* To where x is on the slider in box. */
static void slide(const struct scene_hit *hit, struct scene_rect box, float x,
                  struct step_actions *out)
{
    float share = (x - box.x - hit->inset) / fmaxf(box.w - 2 * hit->inset, 1);
    slide_to(hit, hit->lo + share * (hit->hi - hit->lo), out);
}

/* ---- the overview ------------------------------------------------------------------------- */

/* To a view of the overview's grid, kept where there is something to see. */
static void over_view(const struct scene *seen, struct step_view v,
                      struct step_actions *out)
{
    const struct scene_order *o = &seen->order;
    step_push(out, (struct step_action){.verb = STEP_VIEW,
                                        .x = fminf(fmaxf(v.x, o->far_x), 0),
                                        .y = fminf(fmaxf(v.y, o->far_y), 0),
                                        .z = v.zoom});
}

/* What is shown now: the view as scene keeps it. */
static struct step_view over_now(const struct scene *seen, const struct step_state *s)
{
    const struct scene_order *o = &seen->order;
    return (struct step_view){s->over.view.zoom, o->x - seen->canvas.x,
                              o->y - seen->canvas.y};
}

/* The cell under the pointer stays there. */
static void over_zoom(const struct scene *seen, const struct step_state *s, float x,
                      float y, float factor, struct step_actions *out)
{
    struct step_view v = over_now(seen, s);
    float zoom = fminf(fmaxf(v.zoom * factor, 1), over_zoom_most), f = zoom / v.zoom;
    x -= seen->canvas.x;
    y -= seen->canvas.y;
    step_push(out, (struct step_action){.verb = STEP_VIEW,
                                        .x = fminf(x - (x - v.x) * f, 0),
                                        .y = fminf(y - (y - v.y) * f, 0),
                                        .z = zoom});
}

static bool over_wheel(const struct ui_event *ev, const struct scene *seen,
                       const struct step_state *s, struct step_actions *out)
{
    if (!s->over.open || seen->order.n == 0) return false;
    struct step_view v = over_now(seen, s);
    v.y += ev->wheel * over_notch;
    if (ev->mods & UI_CTRL)
        over_zoom(seen, s, ev->x, ev->y, powf(zoom_notch, ev->wheel), out);
    else
        over_view(seen, v, out);
    return true;
}

/* Arrows go to the neighbour in the order shown, and bring it into view; Enter opens. */
static bool over_key(const struct ui_event *ev, const struct scene *seen,
                     const struct step_state *s, struct step_actions *out)
{
    const struct scene_order *o = &seen->order;
    if (!s->over.open || o->n == 0 || ev->mods) return false;
    if (ev->key == UI_KEY_ENTER) {
        push(out, STEP_OVER_OPEN, s->over.at);
        return true;
    }
    int right = (ev->key == UI_KEY_RIGHT) - (ev->key == UI_KEY_LEFT);
    int down = (ev->key == UI_KEY_DOWN) - (ev->key == UI_KEY_UP);
    if (right == 0 && down == 0) return false;
    int k = 0;
    while (k < o->n - 1 && o->at[k] != s->over.at) k++;
    int to = k + right + down * o->columns;
    if (to < 0 || to >= o->n) return true;
    push(out, STEP_OVER_AT, o->at[to]);
    struct step_view v = over_now(seen, s);
    float x = v.x + (float)(to % o->columns) * o->pitch;
    int row = to / o->columns;
    float y = v.y + (float)row * o->pitch;
    v.x += fmaxf(-x, 0) - fmaxf(x + o->pitch - seen->canvas.w, 0);
    v.y += fmaxf(-y, 0) - fmaxf(y + o->pitch - seen->canvas.h, 0);
    over_view(seen, v, out);
    return true;
}

/* ---- the pointer ------------------------------------------------------------------------- */

/* The view in which all of the heat map at `it` fills the canvas. On screen, a point q of
 * the fitted layout lies at q * zoom + (x, y). */
static void fit_matrix(const struct scene *seen, const struct scene_heat *t,
                       struct step_view v, struct step_actions *out)
{
    float w = (float)t->m.cols * t->cell_w, h = (float)t->m.rows * t->cell_h;
    struct scene_rect c = seen->canvas;
    if (!(w > 0 && h > 0)) return;
    float zoom = v.zoom * fit_share * fminf(c.w / w, c.h / h);
    float qx = (t->x + w / 2 - v.x) / v.zoom, qy = (t->y + h / 2 - v.y) / v.zoom;
    if (zoom <= 1) {
        push(out, STEP_FIT, 0);
        return;
    }
    step_push(out, (struct step_action){.verb = STEP_VIEW,
                                        .x = c.x + c.w / 2 - qx * zoom,
                                        .y = c.y + c.h / 2 - qy * zoom,
                                        .z = zoom});
}

/* Two heads are zoomed and panned as one: what happens in the second's pane happens in the
 * first's. */
static bool in_second_pane(const struct scene *seen, float x)
{
    return seen->pane_by > 0 && x >= seen->canvas.x + seen->pane_by;
}

/* A double click on a cell: its field opens, or the matrix fills the canvas. */
static void double_click(const struct scene_at *at, const struct scene *seen,
                         const struct step_state *s, float x, struct step_actions *out)
{
    struct scene_heat heat = at->item->u.heat;
    if (in_second_pane(seen, x)) heat.x -= seen->pane_by;
    if (seen->pane_by == 0 && field_open(at, s, out)) return;
    if (at->item->hit.kind == HIT_CELLS && at->item->kind == SCENE_HEAT)
        fit_matrix(seen, &heat, step_place_of(s)->view, out);
    else
        push(out, STEP_FIT, 0);
}

/* A click on a cell: into an operand of the number that is taken apart; any other is
 * pinned, the pinned one no longer. */
static void click_cell(struct ui_pointer *p, const struct scene_at *at,
                       const struct scene *seen, const struct step_state *s,
                       struct step_actions *out)
{
    struct step_actions second = {.n = 0};
    struct step_action a = {.verb = STEP_PIN, .ref = at->cell};
    bool into = seen->apart && scene_is_operand(seen->apart, at->cell) &&
                s->dive.n < STEP_DIVE_MOST;
    if (into) {
        a.verb = STEP_DIVE;
        double_click(at, seen, s, p->x, &second);
        p->second = second.at[0];
    }
    step_push(out, a);
}

static void on_down(struct ui_pointer *p, const struct ui_event *ev,
                    const struct scene *seen, const struct step_state *s,
                    struct step_actions *out)
{
    struct scene_at at = scene_pick(seen, ev->x, ev->y);
    p->down = true;
    p->moved = false;
    p->press_x = ev->x;
    p->press_y = ev->y;
    p->press = (struct scene_hit){.kind = HIT_NONE};
    struct step_action second = p->second;
    p->second = (struct step_action){.verb = STEP_NONE};
    if (ev->clicks == 2 && second.verb != STEP_NONE && s->dive.n > 0) {
        push(out, STEP_CLIMB, s->dive.n - 1);
        step_push(out, second);
        return;
    }
    if (s->focus) push(out, STEP_FOCUS, 0); /* the ring is for the keyboard */
    if (!at.item) return;
    p->press = at.item->hit;
    p->press_box = scene_item_box(seen, at.item);
    if (p->press.kind == HIT_SLIDER) slide(&p->press, p->press_box, p->x, out);
    if (ev->clicks == 2 && is_view(p->press.kind) && !s->lab.open) {
        double_click(&at, seen, s, ev->x, out);
        p->press.kind = HIT_NONE; /* its release is no click */
    }
}

/* A click on a row: with Shift on all up to it, with Ctrl on it too. */
static struct step_action row_action(int row, int mods)
{
    static const enum step_verb verb[4] = {STEP_ROW, STEP_ROWS_TO, STEP_ROW_ALSO,
                                           STEP_ROWS_AND};
    int k = (mods & UI_SHIFT ? 1 : 0) + (mods & UI_CTRL ? 2 : 0);
    return (struct step_action){.verb = verb[k], .i = row};
}

static bool is_weight(enum attn_tensor t)
{
    return t == ATTN_W_Q || t == ATTN_W_K || t == ATTN_W_V || t == ATTN_W_O;
}

/* A click on a head with Ctrl: it is looked at beside the one in view. */
static bool head_too(const struct scene_item *it, int mods)
{
    return it->hit.action.verb == STEP_HEAD && (mods & UI_CTRL);
}

/* One control drawn again: the same id, or, without one, the same place and action. */
static bool same_control(const struct ui_pointer *p, const struct scene_hit *hit,
                         struct scene_rect box)
{
    if (p->press.kind != hit->kind || p->press.id != hit->id) return false;
    return hit->id > 0 || (hit->action.verb == p->press.action.verb &&
                           hit->action.i == p->press.action.i &&
                           box.x == p->press_box.x && box.y == p->press_box.y);
}

static void on_up(struct ui_pointer *p, const struct ui_event *ev,
                  const struct scene *seen, const struct step_state *s,
                  struct step_actions *out)
{
    bool click = p->down && !p->moved;
    p->down = p->moved = false;
    if (!click || (p->press.kind != HIT_ACTION && p->press.kind != HIT_CELLS)) return;
    struct scene_at at = scene_pick(seen, ev->x, ev->y);
    if (!at.item || at.item->hit.kind != p->press.kind) return;
    if (ui_tour_click(&at, seen, s, out)) return;
    bool rows = (ev->mods & (UI_SHIFT | UI_CTRL)) != 0;
    if (p->press.kind == HIT_CELLS && rows && !is_weight(at.cell.tensor))
        step_push(out, row_action(at.cell.row, ev->mods));
    else if (p->press.kind == HIT_CELLS)
        click_cell(p, &at, seen, s, out);
    else if (same_control(p, &at.item->hit, scene_item_box(seen, at.item)))
        step_push(out, head_too(at.item, ev->mods)
                           ? (struct step_action){.verb = STEP_SECOND,
                                                  .i = at.item->hit.action.i}
                       : at.item->hit.action.verb == STEP_ROW
                           ? row_action(at.item->hit.action.i, ev->mods)
                           : at.item->hit.action);
}

static void hover(const struct scene *seen, const struct step_state *s, float x, float y,
                  struct step_actions *out)
{
    struct scene_at at = scene_pick(seen, x, y);
    if (at.item && at.item->hit.action.verb == STEP_LAB_AT) /* figures at the pointer */
        slide(&at.item->hit, scene_item_box(seen, at.item), x, out);
    struct step_ref ref =
        at.item && at.item->hit.kind == HIT_CELLS && !scene_is_to_come(&at)
            ? at.cell
            : step_no_ref();
    if (!step_ref_is(ref, s->hover))
        step_push(out, (struct step_action){.verb = STEP_HOVER, .ref = ref});
}

static void on_move(struct ui_pointer *p, const struct scene *seen,
                    const struct step_state *s, float dx, float dy,
                    struct step_actions *out)
{
    if (!p->down) {
        hover(seen, s, p->x, p->y, out);
        return;
    }
    bool was = p->moved;
    if (hypotf(p->x - p->press_x, p->y - p->press_y) > CLICK_REACH) p->moved = true;
    if (p->press.kind == HIT_SLIDER) slide(&p->press, p->press_box, p->x, out);
    if (p->moved && field_drag(p, seen, s, was ? dx : p->x - p->press_x, out)) return;
    if (s->lab.open || !drags_view(&p->press) || !p->moved) return;
    if (!was) { /* the drag begins: catch up with what was held back */
        dx = p->x - p->press_x;
        dy = p->y - p->press_y;
    }
    if (s->over.open) {
        struct step_view v = over_now(seen, s);
        v.x += dx;
        v.y += dy;
        over_view(seen, v, out);
        return;
    }
    step_push(out, (struct step_action){.verb = STEP_PAN, .x = dx, .y = dy});
}

static void on_wheel(const struct ui_event *ev, const struct scene *seen,
                     const struct step_state *s, struct step_actions *out)
{
    if (!s->help && ev->wheel != 0 && ui_inside(seen->frame.code, ev->x, ev->y)) {
        push(out, STEP_CODE_BY, ev->wheel > 0 ? -code_notch : code_notch);
        return;
    }
    struct scene_at at = scene_pick(seen, ev->x, ev->y);
    bool over = at.item && at.item->hit.kind != HIT_COVER &&
                ui_inside(seen->frame.stage, ev->x, ev->y);
    if (s->help || s->lab.open || !over || ev->wheel == 0) return;
    if (over_wheel(ev, seen, s, out)) return;
    step_push(out, (struct step_action){
                       .verb = STEP_ZOOM,
                       .x = in_second_pane(seen, ev->x) ? ev->x - seen->pane_by : ev->x,
                       .y = ev->y,
                       .z = powf(zoom_notch, ev->wheel)});
}

/* ---- the keyboard -------------------------------------------------------------------------- */

/* Of the card of reasons. */
static bool is_of_card(int id)
{
    return id == UI_ID_WHY_CLOSE || (id >= UI_ID_LINK && id < UI_ID_LINK + SCENE_LINKS);
}

/* Whether the control can be seen: what lies at its middle is the control itself. */
static bool reachable(const struct scene *seen, const struct scene_item *it)
{
    if (it->hit.id <= 0) return false;
    struct scene_rect b = scene_item_box(seen, it);
    return scene_pick(seen, b.x + b.w / 2, b.y + b.h / 2).item == it;
}

/* A control where it is read: in a part of the window, in a line of it. */
enum { STOPS = 512 };
struct stop {
    int id, part, line;
    float x, cy, h;
};

/* Top bar, rail, stage, the card over it, code, bottom bar, side panel. */
static int part_of(const struct scene *seen, int id, float x, float y)
{
    const struct scene_frame *f = &seen->frame;
    const struct scene_rect part[] = {f->top,  f->rail,   f->stage, {0, 0, 0, 0},
                                      f->code, f->bottom, f->panel};
    int n = sizeof part / sizeof *part;
    if (is_of_card(id)) return 3;
    for (int i = 0; i < n; i++)
        if (ui_inside(part[i], x, y)) return i;
    return n;
}

static int by_height(const void *a, const void *b)
{
    const struct stop *p = a, *q = b;
    if (p->part != q->part) return p->part - q->part;
    if (p->cy != q->cy) return p->cy < q->cy ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static int by_line(const void *a, const void *b)
{
    const struct stop *p = a, *q = b;
    if (p->part != q->part) return p->part - q->part;
    if (p->line != q->line) return p->line - q->line;
    return (p->x > q->x) - (p->x < q->x);
}

/* All that can be reached, as it is read. Returns how many. */
static int stops_of(const struct scene *seen, struct stop *stop)
{
    int n = 0, first = 0;
    for (int i = 0; i < seen->n && n < STOPS; i++) {
        const struct scene_item *it = &seen->items[i];
        if (!reachable(seen, it)) continue;
        struct scene_rect b = scene_item_box(seen, it);
        float cx = b.x + b.w / 2, cy = b.y + b.h / 2;
        int part = part_of(seen, it->hit.id, cx, cy);
        stop[n++] = (struct stop){it->hit.id, part, 0, b.x, cy, b.h};
    }
    qsort(stop, (size_t)n, sizeof *stop, by_height);
    for (int i = 0; i < n; i++) {
        float reach = fminf(stop[first].h, stop[i].h) / 2;
        if (stop[i].part != stop[first].part || stop[i].cy >= stop[first].cy + reach)
            first = i;
        stop[i].line = first;
    }
    qsort(stop, (size_t)n, sizeof *stop, by_line);
    return n;
}

/* The next control in reading order, round and round. */
static void move_focus(const struct scene *seen, int focus, int by,
                       struct step_actions *out)
{
    struct stop stop[STOPS];
    int n = stops_of(seen, stop), from = by > 0 ? -1 : n;
    for (int i = 0; i < n && focus > 0; i++)
        if (stop[i].id == focus) from = i;
    if (n > 0) push(out, STEP_FOCUS, stop[((from + by) % n + n) % n].id);
}

/* An action by the keyboard: the card of reasons takes the focus with it as it opens, and
 * gives it back as it closes. */
static void press(const struct step_state *s, struct step_action a,
                  struct step_actions *out)
{
    bool leaves = a.verb == STEP_ESCAPE && s->why && is_of_card(s->focus);
    if (leaves) push(out, STEP_FOCUS, 0); /* or that would be all that Esc does */
    step_push(out, a);
    if (a.verb == STEP_WHY)
        push(out, STEP_FOCUS, s->why && !s->lab.open ? 0 : UI_ID_WHY_CLOSE);
}

static float slider_value(const struct scene_hit *hit, const struct step_state *s)
{
    if (hit->action.verb == STEP_TEMPERATURE) return step_heat_of(s->opts);
    if (hit->action.verb == STEP_DECODE) return (float)step_place_of(s)->prefill;
    return hit->action.verb == STEP_TOKENS ? (float)step_place_of(s)->dims.n_tok
                                           : s->time;
}

/* A key that the focused control takes for itself. */
static bool focused_key(const struct ui_event *ev, const struct scene *seen,
                        const struct step_state *s, struct step_actions *out)
{
    const struct scene_item *it = scene_find(seen, s->focus);
    if (!it || ev->mods) return false;
    bool pressed = ev->key == UI_KEY_ENTER || ev->key == ' ';
    if (pressed && it->hit.kind == HIT_COVER) return true; /* a term: it tells already */
    if (pressed && it->hit.kind == HIT_ACTION) {
        press(s, it->hit.action, out);
        return true;
    }
    if (it->hit.kind != HIT_SLIDER || it->hit.action.verb == STEP_LAB_AT) return false;
    int by = (ev->key == UI_KEY_RIGHT) - (ev->key == UI_KEY_LEFT);
    if (by == 0) return false;
    float notch = it->hit.whole ? 1 : slider_keys * (it->hit.hi - it->hit.lo);
    slide_to(&it->hit, slider_value(&it->hit, s) + (float)by * notch, out);
    return true;
}

/* A clicker's keys in presenter mode: on, back, and nothing on screen. */
static bool presenter_key(const struct ui_event *ev, const struct step_state *s,
                          struct step_actions *out)
{
    if (!s->presenter.on || s->help || ev->mods) return false;
    if (ev->key == UI_KEY_PAGE_DOWN)
        push(out, STEP_NEXT, 0);
    else if (ev->key == UI_KEY_PAGE_UP)
        push(out, STEP_PREV, 0);
    else if (ev->key == '.' || ev->key == 'b')
        push(out, STEP_BLANK, 0);
    else
        return false;
    return true;
}

static void on_key(const struct ui_event *ev, const struct scene *seen,
                   const struct step_state *s, struct step_actions *out)
{
    if (s->presenter.blank) { /* whatever is pressed brings the picture back */
        push(out, STEP_BLANK, 0);
        return;
    }
    if (ev->key == UI_KEY_TAB && !(ev->mods & ~UI_SHIFT)) {
        move_focus(seen, s->focus, ev->mods & UI_SHIFT ? -1 : 1, out);
        return;
    }
    if (focused_key(ev, seen, s, out)) return;
    if (ui_tour_key(ev, seen, s, out) || presenter_key(ev, s, out)) return;
    if (!s->help && (over_key(ev, seen, s, out) || ui_lab_key(ev, s, out))) return;
    const struct scene_item *operand = scene_find(seen, UI_ID_OPERAND);
    if (ev->key == UI_KEY_ENTER && !ev->mods && operand && !s->help) {
        step_push(out, operand->hit.action);
        return;
    }
    struct step_action a = ui_key_action(ev->key, ev->mods);
    if (ev->key == UI_KEY_ENTER && s->dive.n > 0) return; /* nothing behind an input */
    if (a.verb == STEP_FIELD) a.ref = scene_field_cell(s);
    if (a.verb != STEP_NONE) press(s, a, out);
}

void ui_event(struct ui_pointer *p, const struct ui_event *ev, const struct scene *seen,
              const struct step_state *s, struct step_actions *out)
{
    float dx = ev->x - p->x, dy = ev->y - p->y;
    if (ev->kind == UI_MOVE || ev->kind == UI_DOWN || ev->kind == UI_UP ||
        ev->kind == UI_WHEEL) {
        p->x = ev->x;
        p->y = ev->y;
    }
    if (field_event(p, ev, seen, s, out)) return;
    switch (ev->kind) {
    case UI_KEY:
        on_key(ev, seen, s, out);
        return;
    case UI_MOVE:
        on_move(p, seen, s, dx, dy, out);
        return;
    case UI_DOWN:
        on_down(p, ev, seen, s, out);
        return;
    case UI_UP:
        on_up(p, ev, seen, s, out);
        return;
    case UI_WHEEL:
        on_wheel(ev, seen, s, out);
        return;
    case UI_LEAVE:
        if (!p->down) p->x = p->y = -1;
        if (s->hover.tensor != ATTN_TENSOR_COUNT)
            step_push(out,
                      (struct step_action){.verb = STEP_HOVER, .ref = step_no_ref()});
        return;
    case UI_TEXT:
    case UI_COMPOSE:
        return; /* an editor's */
    }
}
