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
bool do_pair(struct step_state *s, const struct step_action *a);
bool do_second(struct step_state *s, const struct step_action *a);
bool do_second_by(struct step_state *s, const struct step_action *a);
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
bool do_lab(struct step_state *s, const struct step_action *a);
bool do_lab_to(struct step_state *s, const struct step_action *a);
bool do_lab_at(struct step_state *s, const struct step_action *a);
bool do_lab_by(struct step_state *s, const struct step_action *a);
bool do_lab_row(struct step_state *s, const struct step_action *a);
bool do_lab_of(struct step_state *s, const struct step_action *a);
bool do_lab_dims(struct step_state *s, const struct step_action *a);
bool do_lab_measure(struct step_state *s, const struct step_action *a);
bool do_rank(struct step_state *s, const struct step_action *a);
bool do_least(struct step_state *s, const struct step_action *a);
bool do_least_by(struct step_state *s, const struct step_action *a);

bool do_out_part(struct step_state *s, const struct step_action *a);
bool do_out_size(struct step_state *s, const struct step_action *a);
bool do_out_clear(struct step_state *s, const struct step_action *a);
bool do_out_all(struct step_state *s, const struct step_action *a);
bool do_out_format(struct step_state *s, const struct step_action *a);
bool do_switch(struct step_state *s, const struct step_action *a);
bool do_toggle(struct step_state *s, const struct step_action *a);
bool do_temperature(struct step_state *s, const struct step_action *a);
bool do_silence(struct step_state *s, const struct step_action *a);
bool do_correct(struct step_state *s, const struct step_action *a);
bool do_switches(struct step_state *s, const struct step_action *a);
bool do_see(struct step_state *s, const struct step_action *a);
bool do_give(struct step_state *s, const struct step_action *a);
bool do_ungive(struct step_state *s, const struct step_action *a);
bool do_field(struct step_state *s, const struct step_action *a);
bool do_field_type(struct step_state *s, const struct step_action *a);
bool do_field_edit(struct step_state *s, const struct step_action *a);
bool do_field_take(struct step_state *s, const struct step_action *a);
bool do_field_by(struct step_state *s, const struct step_action *a);
void field_close(struct step_state *s);
/* What the field's cell belongs to; where that is another than before, the field closes. */
struct field_place {
    enum step_scale scale;
    enum attn_stage stage;
    enum step_pair pair;
    enum step_see see;
    int head, block;
    bool over;
};
struct field_place field_place_of(const struct step_state *s);
void field_follow(struct step_state *s, const struct field_place *was);
bool do_undo(struct step_state *s, const struct step_action *a);
bool do_redo(struct step_state *s, const struct step_action *a);

/* ---- what can be undone ------------------------------------------------------------ */

/* A cell's number: given, or not. */
struct given_value {
    struct step_given edit;
    bool there;
};
enum change_kind {
    CHANGE_NONE, /* of a model that is no longer there */
    CHANGE_OPTS,
    CHANGE_SEED,
    CHANGE_TOKENS,
    CHANGE_TEXT,
    CHANGE_EDIT
};
struct change {
    enum change_kind kind;
    enum step_scale scale;
    bool chained; /* is undone with the one before */
    int topic;    /* not 0: one with the change before, where that has the same topic */
    union change_value {
        struct attn_opts opts;
        uint32_t number;
        struct given_value edit;
        struct {
            uint32_t text;
            int n_tok;
        } read;
    } before, after;
};
/* Keeps the change that is about to be made. false: no memory, it must not be made. */
bool past_push(struct step_state *s, const struct change *c);
void past_forget_model(struct step_state *s); /* of GPT-2 scale, but the options */
/* Edits are kept in one order, whatever order they were made in. */
void edit_put(struct step_place *p, const struct given_value *g);
bool given_same_cell(const struct step_given *a, const struct step_given *b);
void set_tokens(struct step_state *s, struct step_place *p, int n);

extern const struct step_view step_fitted;          /* everything in view */
struct step_place *step_here(struct step_state *s); /* of the scale in view */
/* The overview looks at the block and head in view. */
void over_here(struct step_state *s);
/* Another head is in view; the second is still another. */
void pair_other(struct step_place *p, int head);
void rows_one(struct step_place *p, int row); /* selects it alone */
void rows_cut(struct step_place *p);          /* rows that are no more are not selected */
void play_stop(struct step_state *s);
bool do_decode(struct step_state *s, const struct step_action *a);
/* What an action means in decode mode, where one row alone is computed. */
struct step_action decode_meant(const struct step_state *s, struct step_action a);
/* In decode mode: one row, of the prefill its last, and no cell that is not there. */
void decode_hold(struct step_state *s);
/* The token so many further on is decoded. false: there is none. */
bool decode_by(struct step_state *s, int by);
/* Whether the cell is one of the matrices of these dims. */
bool step_exists(struct step_ref r, struct attn_dims d);

bool do_code(struct step_state *s, const struct step_action *a);
bool do_code_tab(struct step_state *s, const struct step_action *a);
bool do_code_by(struct step_state *s, const struct step_action *a);
bool do_why(struct step_state *s, const struct step_action *a);
bool do_link(struct step_state *s, const struct step_action *a);
bool do_dive(struct step_state *s, const struct step_action *a);
bool do_climb(struct step_state *s, const struct step_action *a);
bool do_terms(struct step_state *s, const struct step_action *a);
bool do_tour(struct step_state *s, const struct step_action *a);
bool do_tour_to(struct step_state *s, const struct step_action *a);
bool do_tour_again(struct step_state *s, const struct step_action *a);
bool do_tour_answered(struct step_state *s, const struct step_action *a);
bool do_tour_by(struct step_state *s, const struct step_action *a);
bool do_tour_at(struct step_state *s, const struct step_action *a);
bool do_tour_pick(struct step_state *s, const struct step_action *a);
bool do_present(struct step_state *s, const struct step_action *a);
bool do_blank(struct step_state *s, const struct step_action *a);
bool tour_escape(struct step_state *s); /* false: there is nothing to leave */

#endif
