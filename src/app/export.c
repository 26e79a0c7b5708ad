/* Pictures as files: which part, how large, and who draws it. */
#include "export.h"

#include "app.h"
#include "names.h"
#include "paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const float PX_MM = 96.0f / 25.4f; /* points a millimetre */

/* What a part is composed for: at least, and without a size given. Points. */
static const struct room {
    float least_w, least_h, w, h;
} rooms[EXPORT_PART_COUNT] = {
    [EXPORT_WINDOW] = {SCENE_MIN_W, SCENE_MIN_H, 1440.0f, 900.0f},
    [EXPORT_STAGE] = {552.0f, 544.0f, 872.0f, 804.0f}, /* as they are in these windows */
    [EXPORT_HEADS] = {SCENE_FIGURE_W, SCENE_FIGURE_H, 560.0f, 640.0f},
    [EXPORT_MATRIX] = {SCENE_FIGURE_W, SCENE_FIGURE_H, 560.0f, 640.0f},
};

/* ---- what is asked for ---------------------------------------------------------------- */

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path);
    size_t k = strlen(ending);
    if (n < k) return false;
    for (size_t i = 0; i < k; i++) {
        char c = path[n - k + i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != ending[i]) return false;
    }
    return true;
}

bool export_format_of(const char *path, enum export_format *format, struct err *e)
{
    static const char *const endings[EXPORT_FORMAT_COUNT] = {
        [EXPORT_PNG] = ".png", [EXPORT_SVG] = ".svg", [EXPORT_PDF] = ".pdf",
        [EXPORT_MP4] = ".mp4", [EXPORT_GIF] = ".gif", [EXPORT_WEBM] = ".webm",
        [EXPORT_FRAMES] = "/",
    };
    const char *slash = strrchr(path, '/');
    size_t name = strlen(slash ? slash + 1 : path);
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        bool named = i == EXPORT_FRAMES ? strlen(path) > 1 : name > strlen(endings[i]);
        if (!named || !ends_with(path, endings[i])) continue;
        *format = (enum export_format)i;
        return true;
    }
    return err_set(e, ERR_USAGE,
                   "--export %s: give it a name that ends in .png, .svg or .pdf for a "
                   "picture, in .mp4, .gif, .webm or a slash for a film",
                   path);
}

bool export_part_of(const char *text, struct export_ask *ask, struct err *e)
{
    static const char *const parts[] = {
        [EXPORT_WINDOW] = "window", [EXPORT_STAGE] = "stage", [EXPORT_HEADS] = "heads"};
    static const struct {
        const char *name;
        enum attn_tensor tensor;
    } letters[] = {{"S", ATTN_TENSOR_COUNT}, {"A", ATTN_P}, {"O", ATTN_Z}};
    for (int i = 0; i < (int)(sizeof parts / sizeof parts[0]); i++) {
        if (strcmp(text, parts[i]) != 0) continue;
        ask->part = (enum export_part)i;
        return true;
    }
    ask->part = EXPORT_MATRIX;
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if (strcmp(text, letters[i].name) != 0) continue;
        ask->tensor = letters[i].tensor;
        return true;
    }
    if (names_find_tensor(text, strlen(text), &ask->tensor)) return true;
    return err_set(
        e, ERR_USAGE,
        "--part %s: is window, stage, heads, or a matrix: X, Q, K, V, S, A, O, "
        "Y, w_q, w_k, w_v, s_raw, s_scaled, s_masked, p, z, z_all, w_o, y_proj, "
        "y, h",
        text);
}

bool export_part_is_at(const struct export_ask *ask, enum attn_stage stage,
                       enum attn_tensor *t, struct err *e)
{
    *t = ask->tensor;
    if (ask->part != EXPORT_MATRIX) return true;
    if (*t == ATTN_TENSOR_COUNT)
        *t = stage == ATTN_SCALE    ? ATTN_S_SCALED
             : stage <= ATTN_SCORES ? ATTN_S_RAW
                                    : ATTN_S_MASKED;
    enum attn_stage from = scene_stage_of(*t);
    if (stage >= from) return true;
    return err_set(e, ERR_USAGE,
                   "--part %s: is computed at stage %d and is not there at stage %d",
                   scene_tensor_name(*t), (int)from + 1, (int)stage + 1);
}

enum attn_tensor export_result_of(enum attn_stage stage)
{
    static const enum attn_tensor results[ATTN_STAGE_COUNT] = {
        [ATTN_PROJECTIONS] = ATTN_Q,  [ATTN_SCORES] = ATTN_S_RAW,
        [ATTN_SCALE] = ATTN_S_SCALED, [ATTN_MASK] = ATTN_S_MASKED,
        [ATTN_SOFTMAX] = ATTN_P,      [ATTN_WEIGHTED_SUM] = ATTN_Z,
        [ATTN_OUTPUT] = ATTN_Y,
    };
    return results[stage];
}

bool export_by_window(const struct export_ask *ask)
{
    if (ask->format >= EXPORT_PICTURES) return true;
    return ask->format == EXPORT_PNG && ask->part == EXPORT_WINDOW && !ask->transparent &&
           !ask->mm;
}

struct export_size export_usual_size(const struct app *a, const struct export_ask *ask)
{
    const struct room *r = &rooms[ask->part];
    float density = ask->density > 0.0f ? ask->density : 1.0f;
    if (ask->part == EXPORT_WINDOW)
        return (struct export_size){(float)a->px_w, (float)a->px_h};
    return (struct export_size){roundf(r->w * density), roundf(r->h * density)};
}

/* ---- composing ------------------------------------------------------------------------- */

/* How large the scene is, points, and how many pixels a point then has. */
struct frame {
    float w, h, density;
};

static struct frame frame_of(const struct app *a, const struct export_ask *ask,
                             bool presented)
{
    const struct room *r = &rooms[ask->part];
    float least_w = presented ? SCENE_PRESENTED_W : r->least_w;
    float least_h = presented ? SCENE_PRESENTED_H : r->least_h;
    float density = ask->density > 0.0f ? ask->density : 1.0f;
    float unit = ask->mm ? PX_MM : 1.0f / density; /* points */
    float w = ask->w * unit;
    float h = ask->h * unit;
    if (!(w > 0.0f)) w = h > 0.0f ? h * r->w / r->h : r->w;
    if (!(h > 0.0f)) h = w * r->h / r->w;
    if (ask->part == EXPORT_WINDOW && ask->mm) { /* the usual window, as large as that */
        h *= r->w / w;
        w = r->w;
    } else if (ask->part == EXPORT_WINDOW) {
        w *= 100.0f / (float)a->step.ui_percent;
        h *= 100.0f / (float)a->step.ui_percent;
    }
    if (presented) {
        w /= INPUT_PRESENTED;
        h /= INPUT_PRESENTED;
    }
    /* A page too small for it shows it smaller. */
    float more = fmaxf(1.0f, fmaxf(least_w / w, least_h / h));
    struct frame f = {w * more, h * more, 0.0f};
    float points = ask->w > 0.0f   ? ask->w * unit
                   : ask->h > 0.0f ? ask->h * unit
                   : presented     ? r->h
                                   : 0.0f;
    float across = ask->w > 0.0f ? f.w : f.h;
    f.density = points > 0.0f ? density * points / across : density;
    return f;
}

/* Nothing behind the items: the stage's own paper goes. */
static void without_paper(struct scene *sc)
{
    for (int i = 0; i < sc->n; i++)
        if (sc->items[i].kind == SCENE_RECT && sc->items[i].hit.kind == HIT_CANVAS)
            sc->items[i].u.rect.fill.a = 0;
}

/* As it would be with nobody at the keyboard. */
static struct step_state left_alone(const struct step_state *s, bool presented)
{
    struct step_state alone = *s;
    alone.focus = 0;
    alone.help = alone.over.menu = false;
    alone.editing = STEP_EDIT_NONE;
    alone.presenter = (struct step_presenter){.on = presented};
    return alone;
}

bool export_compose(struct app *a, const struct step_state *s,
                    const struct export_ask *ask, float *density, struct err *e)
{
    bool presented = ask->part == EXPORT_WINDOW && s->presenter.on;
    struct step_state st = left_alone(s, presented);
    if (ask->part == EXPORT_HEADS) st.over.open = true;
    if (ask->part == EXPORT_HEADS || ask->part == EXPORT_MATRIX) st.lab.open = false;
    struct scene_source src = source_for(&a->source, &st, a->headless);
    struct scene_tour tour;
    enum attn_tensor t = ATTN_TENSOR_COUNT;
    if (a->source.failed.code != ERR_NONE)
        return err_set(e, a->source.failed.code, "%s", a->source.failed.text);
    bool heads = st.over.open;
    int n_block = step_place_of(&st)->n_block > 1 ? step_place_of(&st)->n_block : 1;
    if (!src.fits || (heads && (!src.heads || src.heads->done < n_block)))
        return err_set(e, ERR_INPUT,
                       "it is still being computed; try again when it is "
                       "on screen");
    if (!export_part_is_at(ask, st.stage, &t, e)) return false;
    struct frame f = frame_of(a, ask, presented);
    arena_reset(&a->frame_mem);
    if (!scene_begin(&a->scene, &a->frame_mem, app_fonts(a), st.theme, f.w, f.h, e))
        return false;
    struct scene *sc = &a->scene;
    switch (ask->part) {
    case EXPORT_STAGE:
        sc->frame = (struct scene_frame){.stage = {0.0f, 0.0f, sc->w, sc->h}};
        scene_build(sc, &st, &src);
        break;
    case EXPORT_HEADS:
        scene_figure_heads(sc, &st, &src);
        break;
    case EXPORT_MATRIX:
        scene_figure(sc, &st, &src, t);
        break;
    case EXPORT_WINDOW:
    case EXPORT_PART_COUNT:
        if (tour_show(a, sc, &src, &tour)) src.tour = &tour;
        scene_build(sc, &st, &src);
        ui_build(sc, &st, &src, NULL);
        break;
    }
    if (ask->transparent) without_paper(sc);
    *density = f.density;
    return true;
}

/* ---- writing ---------------------------------------------------------------------------- */

/* A figure whose height nobody has given ends below what is in it. */
static struct scene_rect part_of(const struct scene *sc, const struct export_ask *ask)
{
    static const float margin = 12.0f;
    struct scene_rect part = {0.0f, 0.0f, sc->w, sc->h};
    bool figure = ask->part == EXPORT_HEADS || ask->part == EXPORT_MATRIX;
    if (!figure || ask->h > 0.0f) return part;
    part.h = 0.0f;
    for (int i = 0; i < sc->n; i++) {
        struct scene_rect box = scene_item_box(sc, &sc->items[i]);
        part.h = fmaxf(part.h, box.y + box.h);
    }
    part.h = ceilf(fminf(part.h + margin, sc->h));
    return part;
}

bool export_picture(struct app *a, const struct export_ask *ask, struct err *e)
{
    static const enum paper_format formats[] = {
        [EXPORT_PNG] = PAPER_PNG, [EXPORT_SVG] = PAPER_SVG, [EXPORT_PDF] = PAPER_PDF};
    float density = 1.0f;
    if (!file_can_write(ask->path, e)) return false;
    if (a->headless && !app_build(a, true, e)) return false; /* a model may be opening */
    if (!export_compose(a, &a->step, ask, &density, e)) return false;
    struct paper_page page = {.part = part_of(&a->scene, ask),
                              .transparent = ask->transparent,
                              .unit = ask->mm ? PAPER_MM : PAPER_PX,
                              .w = ask->w,
                              .h = ask->h,
                              .scale = density};
    if (ask->mm && ask->density > 0.0f) page.dpi = ask->density * PX_MM * 25.4f;
    if (a->scene.full)
        return err_set(e, ERR_SYSTEM, "%s: there is too much to draw", ask->path);
    return app_paper(a, e) &&
           paper_write(a->paper, &a->scene, &page, formats[ask->format], ask->path, e);
}
