/* The rows of the export dialog: format, part, size, background. What is chosen is lit;
 * every choice is a button that Tab reaches. */
#include "parts.h"

#include <string.h>

enum { ROW_H = 34, BUTTON_H = 26, PAD = 10, GAP = 4, NAME_W = 92, RADIUS = 5 };

struct choice {
    const char *text, *tip;
};
static const struct choice formats[STEP_OUT_FORMAT_COUNT] = {
    [STEP_OUT_PNG] = {"PNG", "a picture of pixels"},
    [STEP_OUT_SVG] = {"SVG", "vectors, text as text"},
    [STEP_OUT_PDF] = {"PDF", "vectors, fonts inside"},
    [STEP_OUT_MP4] = {"MP4", "a film, by ffmpeg"},
    [STEP_OUT_GIF] = {"GIF", "a film, by ffmpeg"},
    [STEP_OUT_WEBM] = {"WebM", "a film, by ffmpeg"},
    [STEP_OUT_FRAMES] = {"frames", "a film as a folder of pictures"},
};
static const struct choice parts[STEP_OUT_PART_COUNT] = {
    [STEP_OUT_WINDOW] = {"window", "all that is on screen"},
    [STEP_OUT_STAGE] = {"stage", "without bars and panel"},
    [STEP_OUT_MATRIX] = {"matrix", "what the stage computes, as a figure"},
    [STEP_OUT_HEADS] = {"heads", "every head, as a figure"},
};
static const struct choice grounds[2] = {{"paper", NULL}, {"transparent", NULL}};
static const struct choice lengths[2] = {{"this stage", NULL}, {"all seven", NULL}};
static const struct choice sizes[STEP_OUT_SIZE_COUNT] = {
    [STEP_OUT_USUAL] = {"as it is", "the window\u2019s pixels, or what the part needs"},
    [STEP_OUT_720] = {"1280\u00D7720", NULL},
    [STEP_OUT_1080] = {"1920\u00D71080", NULL},
    [STEP_OUT_COLUMN] = {"85 mm", "a column of a paper"},
    [STEP_OUT_PAGE] = {"170 mm", "a page of a paper"},
};

enum step_out_format ui_out_format(const char *name, int n)
{
    static const char *const endings[STEP_OUT_FORMAT_COUNT] = {
        ".png", ".svg", ".pdf", ".mp4", ".gif", ".webm", "/"};
    int f = 0;
    for (; f < STEP_OUT_FORMAT_COUNT; f++) {
        int k = (int)strlen(endings[f]);
        if (n > k && strncmp(name + n - k, endings[f], (size_t)k) == 0) break;
    }
    return (enum step_out_format)f;
}

static void row(const struct ui *u, float x, float y, const char *name, int id,
                enum step_verb verb, const struct choice *c, int n, int on)
{
    float cy = y + ROW_H * 0.5f;
    (void)ui_text(u, x, cy, ALIGN_LEFT, ui_body, u->theme->ink_soft, name);
    x += NAME_W;
    for (int i = 0; i < n; i++) {
        float w = ui_width(u, ui_strong, c[i].text) + 2 * PAD;
        struct scene_rect box = {x, cy - BUTTON_H * 0.5f, w, BUTTON_H};
        ui_control(ui_face(u, box, RADIUS, i == on), id + i, ui_act(verb, i), c[i].tip);
        (void)ui_text(u, box.x + w / 2, cy, ALIGN_CENTER, i == on ? ui_strong : ui_body,
                      i == on ? u->theme->accent : u->theme->ink, c[i].text);
        x += w + GAP;
    }
}

float ui_export_rows_h(void)
{
    return 4 * ROW_H;
}

void ui_export_rows(const struct ui *u, const struct ui_editor *ed, float x, float y)
{
    const struct step_out *o = &u->s->out;
    enum step_out_format format = ui_out_format(ed->text, ed->n);
    int id = UI_ID_OUT;
    row(u, x, y, "format", id, STEP_OUT_FORMAT, formats, STEP_OUT_FORMAT_COUNT,
        (int)format);
    id += STEP_OUT_FORMAT_COUNT;
    row(u, x, y + ROW_H, "part", id, STEP_OUT_PART, parts, STEP_OUT_PART_COUNT,
        (int)o->part);
    id += STEP_OUT_PART_COUNT;
    row(u, x, y + 2 * ROW_H, "size", id, STEP_OUT_SIZE, sizes, STEP_OUT_SIZE_COUNT,
        (int)o->size);
    id += STEP_OUT_SIZE_COUNT;
    if (format >= STEP_OUT_FILMS && format < STEP_OUT_FORMAT_COUNT)
        row(u, x, y + 3 * ROW_H, "length", id, STEP_OUT_ALL, lengths, 2, o->all);
    else
        row(u, x, y + 3 * ROW_H, "background", id, STEP_OUT_CLEAR, grounds, 2,
            o->transparent);
}
