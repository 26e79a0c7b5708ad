/* OpenGL objects with an owner. Shaders come from the program itself, or from a folder. */
#include "glo.h"

#include "shaders_embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHADER_MAX = 256 * 1024, LOG_MAX = 400 };

static const char *embedded(const char *file)
{
    for (size_t i = 0; i < sizeof shader_files / sizeof shader_files[0]; i++)
        if (strcmp(shader_files[i].name, file) == 0) return shader_files[i].text;
    return NULL;
}

/* Drivers write "0:12(5): error: ..." or "0(12) : error ...": string, line, column. */
static int log_line(const char *log)
{
    const char *at = log + strspn(log, "0123456789");
    if (at == log || (*at != ':' && *at != '(')) return 0;
    return (int)strtol(at + 1, NULL, 10);
}

static GLuint compile(GLenum kind, const char *file, const char *text, struct err *e)
{
    GLuint id = glCreateShader(kind);
    glShaderSource(id, 1, &text, NULL);
    glCompileShader(id);
    GLint ok = 0;
    glGetShaderiv(id, GL_COMPILE_STATUS, &ok);
    if (ok) return id;
    char log[LOG_MAX] = "";
    glGetShaderInfoLog(id, LOG_MAX, NULL, log);
    int line = log_line(log);
    log[strcspn(log, "\r\n")] = '\0';
    (void)err_set(e, ERR_INPUT, "%s:%d: %s", file, line, log);
    glDeleteShader(id);
    return 0;
}

/* The shader `file`, from shader_dir or built in; 0 on failure. */
static GLuint load(GLenum kind, const char *file, const char *shader_dir, struct err *e)
{
    if (!shader_dir) return compile(kind, file, embedded(file), e);
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", shader_dir, file);
    if (n < 0 || (size_t)n >= sizeof path) {
        (void)err_set(e, ERR_INPUT, "the shader folder's path is too long");
        return 0;
    }
    struct arena mem;
    if (!arena_init(&mem, SHADER_MAX + 64, e)) return 0;
    char *text = NULL;
    size_t size = 0;
    GLuint id = 0;
    if (file_read(path, SHADER_MAX, &mem, &text, &size, e))
        id = compile(kind, path, text, e);
    arena_free(&mem);
    return id;
}

static bool link_program(GLuint id, const char *name, struct err *e)
{
    glLinkProgram(id);
    GLint ok = 0;
    glGetProgramiv(id, GL_LINK_STATUS, &ok);
    if (ok) return true;
    char log[LOG_MAX] = "";
    glGetProgramInfoLog(id, LOG_MAX, NULL, log);
    log[strcspn(log, "\r\n")] = '\0';
    return err_set(e, ERR_INPUT, "%s.vert, %s.frag: %s", name, name, log);
}

static bool find_uniforms(struct gl_program *p, const struct gl_program_spec *spec,
                          struct err *e)
{
    GLuint frame = glGetUniformBlockIndex(p->id, "u_frame");
    if (frame == GL_INVALID_INDEX)
        return err_set(e, ERR_INPUT, "shader %s: block u_frame is missing", spec->name);
    glUniformBlockBinding(p->id, frame, 0);
    for (int i = 0; i < GL_PROGRAM_UNIFORMS && spec->uniforms[i]; i++) {
        p->at[i] = glGetUniformLocation(p->id, spec->uniforms[i]);
        if (p->at[i] < 0)
            return err_set(e, ERR_INPUT, "shader %s: uniform %s is missing or unused",
                           spec->name, spec->uniforms[i]);
    }
    return true;
}

bool gl_program_create(struct gl_program *p, const struct gl_program_spec *spec,
                       const char *shader_dir, struct err *e)
{
    *p = (struct gl_program){0};
    char file[64];
    (void)snprintf(file, sizeof file, "%s.vert", spec->name);
    GLuint vert = load(GL_VERTEX_SHADER, file, shader_dir, e);
    if (!vert) return false;
    (void)snprintf(file, sizeof file, "%s.frag", spec->name);
    GLuint frag = load(GL_FRAGMENT_SHADER, file, shader_dir, e);
    if (!frag) {
        glDeleteShader(vert);
        return false;
    }
    p->id = glCreateProgram();
    glAttachShader(p->id, vert);
    glAttachShader(p->id, frag);
    bool ok = link_program(p->id, spec->name, e) && find_uniforms(p, spec, e);
    glDeleteShader(vert);
    glDeleteShader(frag);
    if (!ok) gl_program_destroy(p);
    return ok;
}

void gl_program_destroy(struct gl_program *p)
{
    if (p->id) glDeleteProgram(p->id);
    *p = (struct gl_program){0};
}

GLuint gl_texture_create(GLint internal, int w, int h, GLenum format, GLenum type,
                         const void *data)
{
    GLuint id = 0;
    glGenTextures(1, &id);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, id);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, internal, w, h, 0, format, type, data);
    return id;
}

bool gl_target_create(struct gl_target *t, int w, int h, struct err *e)
{
    *t = (struct gl_target){.w = w, .h = h};
    t->color = gl_texture_create(GL_RGBA8, w, h, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &t->fbo);
    glBindFramebuffer(GL_FRAMEBUFFER, t->fbo);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t->color,
                           0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) return true;
    gl_target_destroy(t);
    return err_set(e, ERR_SYSTEM,
                   "OpenGL refuses a picture of %dx%d pixels; ask for less", w, h);
}

void gl_target_destroy(struct gl_target *t)
{
    if (t->fbo) glDeleteFramebuffers(1, &t->fbo);
    if (t->color) glDeleteTextures(1, &t->color);
    *t = (struct gl_target){0};
}

bool gl_check(const char *pass, struct err *e)
{
    GLenum code = glGetError();
    if (code == GL_NO_ERROR) return true;
    enum { ERRORS_MAX = 16 }; /* a lost context reports errors without end */
    for (int i = 0; i < ERRORS_MAX && glGetError() != GL_NO_ERROR; i++) continue;
    return err_set(e, ERR_SYSTEM, "OpenGL error 0x%04x while drawing (%s)", code, pass);
}
