/* Private to scene: the labs, plots in the stage's place. */
#ifndef HEADLIGHT_SCENE_LAB_H
#define HEADLIGHT_SCENE_LAB_H

#include "plot.h"

/* Ids of their controls. */
enum {
    LAB_ID_KIND = 2100, /* + enum step_lab_kind */
    LAB_ID_CLOSE = 2105,
    LAB_ID_COST_LINE,  /* of a stage: under its caption */
    LAB_ID_ROW = 2110, /* + place in step_lab_keys */
    LAB_ID_OF = 2120,  /* + enum step_lab_of */
    LAB_ID_DIMS = 2125,
    LAB_ID_MEASURE = 2130,
    LAB_ID_PLOT = 2140 /* + number of the plot */
};
struct lab {
    struct scene *sc;
    const struct step_state *s;
    const struct scene_source *src;
    const struct scene_theme *t;
    struct scene_rect f;     /* the stage */
    float x, right;          /* between which things lie */
    bool bare;               /* a picture of the stage alone: no controls */
    float key_y;             /* middle of the legend's line */
    struct scene_rect plots; /* what is left for them */
};

/* Draws the open lab of the state where the stage would be. */
void lab_build(struct scene *sc, const struct step_state *s,
               const struct scene_source *src);
void lab_saturation(struct lab *l);
void lab_cost(struct lab *l);

/* The line under the title, and what the lab says below. */
void lab_words(const struct lab *l, const char *formula, const char *caption);
/* A button from x on; returns where the next begins. */
float lab_button(const struct lab *l, float x, const char *text, bool on, int id,
                 struct step_action a, const char *tip);
/* A word before buttons; returns where they begin. */
float lab_word(const struct lab *l, float x, const char *text);
/* A sample of a line with what it stands for; returns where the next begins. */
float lab_key(const struct lab *l, float x, struct plot_pen pen, bool band,
              const char *text);
/* The pointer and the arrows move along the x axis there; tip: what is read off. */
void lab_touch(const struct plot *p, int id, const char *tip);
/* What the pointer or the arrows have come to: the line, and, as a note, what it is. */
void lab_cursor(const struct plot *p, double v);
void lab_cursor_note(const struct plot *p, double v, const char *text);

#endif
