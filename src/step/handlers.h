/* Private to step: the handlers that stand in files of their own, and what they share. */
#ifndef HEADLIGHT_HANDLERS_H
#define HEADLIGHT_HANDLERS_H

#include "step.h"

/* Each applies its verb: false, state untouched, where it is not possible. */
bool do_next(struct step_state *s, const struct step_action *a);
bool do_prev(struct step_state *s, const struct step_action *a);
bool do_go(struct step_state *s, const struct step_action *a);
bool do_play(struct step_state *s, const struct step_action *a);
bool do_restart(struct step_state *s, const struct step_action *a);
bool do_scrub(struct step_state *s, const struct step_action *a);
bool do_beat(struct step_state *s, const struct step_action *a);
bool do_speed(struct step_state *s, const struct step_action *a);
bool do_speed_by(struct step_state *s, const struct step_action *a);
bool do_rows_to(struct step_state *s, const struct step_action *a);
bool do_rows_and(struct step_state *s, const struct step_action *a);
bool do_rows_by(struct step_state *s, const struct step_action *a);
bool do_row_also(struct step_state *s, const struct step_action *a);
bool do_row_walk(struct step_state *s, const struct step_action *a);
bool do_row_keep(struct step_state *s, const struct step_action *a);
bool do_overview(struct step_state *s, const struct step_action *a);
bool do_over_kind(struct step_state *s, const struct step_action *a);
bool do_over_sort(struct step_state *s, const struct step_action *a);
bool do_over_menu(struct step_state *s, const struct step_action *a);
bool do_over_at(struct step_state *s, const struct step_action *a);
bool do_over_open(struct step_state *s, const struct step_action *a);
bool do_rank(struct step_state *s, const struct step_action *a);
bool do_least(struct step_state *s, const struct step_action *a);
bool do_least_by(struct step_state *s, const struct step_action *a);

bool do_out_part(struct step_state *s, const struct step_action *a);
bool do_out_size(struct step_state *s, const struct step_action *a);
bool do_out_clear(struct step_state *s, const struct step_action *a);
bool do_out_all(struct step_state *s, const struct step_action *a);
bool do_out_format(struct step_state *s, const struct step_action *a);

extern const struct step_view step_fitted;          /* everything in view */
struct step_place *step_here(struct step_state *s); /* of the scale in view */
/* The overview looks at the block and head in view. */
void over_here(struct step_state *s);
void rows_one(struct step_place *p, int row); /* selects it alone */
void rows_cut(struct step_place *p);          /* rows that are no more are not selected */
void play_stop(struct step_state *s);

#endif
