/* Paths: what is to be filled, stroked or clipped to. */
#include "pen.h"

static void add(struct path *p, struct path_step s)
{
    if (p->n < p->room)
        p->at[p->n++] = s;
    else
        p->full = true;
}

void path_box(struct path *p, struct scene_rect box, float radius)
{
    add(p, (struct path_step){PATH_BOX, box.x, box.y, box.w, box.h, radius});
}

void path_move(struct path *p, float x, float y)
{
    add(p, (struct path_step){.kind = PATH_MOVE, .x = x, .y = y});
}

void path_line(struct path *p, float x, float y)
{
    add(p, (struct path_step){.kind = PATH_LINE, .x = x, .y = y});
}

void path_close(struct path *p)
{
    add(p, (struct path_step){.kind = PATH_CLOSE});
}
