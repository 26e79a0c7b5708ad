/* The groups of app's tests, one a file; each returns how many tests failed. */
#ifndef TESTS_APP_CASE_H
#define TESTS_APP_CASE_H

int app_broken_tests(void);
int app_edit_tests(void);

#endif
