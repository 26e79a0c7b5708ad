/* OpenGL objects with an owner: programs, targets, textures. x_destroy accepts a zeroed
 * struct and zeroes it. */
#ifndef HEADLIGHT_GFX_GLO_H
#define HEADLIGHT_GFX_GLO_H

#include "base.h"

#include <epoxy/gl.h>
#include <stdbool.h>

enum { GL_PROGRAM_UNIFORMS = 16 };

/* What a program is made of. Every program reads the block u_frame at binding 0. */
struct gl_program_spec {
    const char *name;                          /* shaders/<name>.vert and .frag */
    const char *uniforms[GL_PROGRAM_UNIFORMS]; /* NULL behind the last */
};

struct gl_program {
    GLuint id;
    GLint at[GL_PROGRAM_UNIFORMS]; /* locations, in the order of the spec */
};

/* shader_dir NULL: the built-in shaders. ERR_INPUT: a file cannot be read or does not
 * compile (file and line), or a uniform is missing; *p is then zeroed. */
bool gl_program_create(struct gl_program *p, const struct gl_program_spec *spec,
                       const char *shader_dir, struct err *e);
void gl_program_destroy(struct gl_program *p);

/* A picture that can be drawn to: RGBA8, w x h pixels. */
struct gl_target {
    GLuint fbo, color;
    int w, h;
};
bool gl_target_create(struct gl_target *t, int w, int h, struct err *e);
void gl_target_destroy(struct gl_target *t);

/* A texture without filtering or levels, bound to unit 0. */
GLuint gl_texture_create(GLint internal, int w, int h, GLenum format, GLenum type,
                         const void *data);

/* The first OpenGL error since the last call, as ERR_SYSTEM. */
bool gl_check(const char *pass, struct err *e);

#endif
