/* The groups of step's tests, one a file; each returns how many tests failed. */
#ifndef TESTS_STEP_CASE_H
#define TESTS_STEP_CASE_H

int step_broken_tests(void);
int step_decode_tests(void);
int step_given_tests(void);

#endif
