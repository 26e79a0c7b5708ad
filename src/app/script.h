/* script: a session as text, one action a line, run without a window.
 *
 *   key NAME              a key as people write it: Right, t, Ctrl+=, F1, Space
 *   hover X Y             the pointer at a point of the layout
 *   click X Y             press and release;  double X Y: twice
 *   click "TEXT"          the control that bears this text, or this hover text with or
 *                         without its key in brackets
 *   drag X0 Y0 X1 Y1      press, move, release
 *   wheel X Y NOTCHES     up > 0
 *   leave                 the pointer leaves the window
 *   open "PATH"           begins to open a model, as in the window; see ready. One that
 *                         cannot be opened is the script's error at its end, unless a
 *                         line expects its message
 *   text "TEXT"           types the text, where one is edited
 *   size WxH              another picture size, pixels
 *   wait SECONDS          lets the animation's clock run, in no time
 *   ready                 waits until what is asked for is computed
 *   frame                 draws a frame
 *   export FILE.png       writes a picture, paths from the working folder
 *   set NAME VALUE        scale toy|gpt2, stage K (finished), time T, row I|first|middle|
 *                         last, head H, block B, seed S, tokens N, divide|mask|residual
 *                         on|off; whatever it was before
 *   tour WHAT             open, leave, next, back, over, reveal, again, or a stop
 *   present on|off        presenter mode;  blank on|off: its blank screen
 *   expect NAME VALUE     compares a part of the state: see script_names
 *   expect text "TEXT"    this text is on screen;  expect no-text "TEXT": it is not
 *
 * Empty lines and what follows a # outside quotes are skipped. */
#ifndef HEADLIGHT_SCRIPT_H
#define HEADLIGHT_SCRIPT_H

#include "app.h"

/* Runs the script. ERR_USAGE: a line that is none of the above; ERR_INPUT: a failed
 * expectation or an unreadable file. The error names file and line. */
bool script_run(struct app *a, const char *path, struct err *e);

/* One line of a script. */
bool script_line(struct app *a, const char *text, struct err *e);
/* Whether the line can be a tour's: it is well formed, writes no file and needs no pixel.
 * ERR_INPUT. */
bool script_tour_check(const char *text, struct err *e);

#endif
