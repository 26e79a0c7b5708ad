#version 330 core
// Rectangles, lines, polygons and glyphs: one quad each, in pixels with the origin at
// the top left.
layout(location = 0) in vec2 a_px;      // pixels
layout(location = 1) in vec2 a_local;   // pixels from the shape's centre, along its axes
layout(location = 2) in vec4 a_box;     // half width, half height, corner radius, border
layout(location = 3) in float a_feather; // 1 / pixels over which the edge fades
layout(location = 4) in vec2 a_texel;   // atlas texels
layout(location = 5) in vec4 a_fill;    // sRGB, not premultiplied
layout(location = 6) in vec4 a_line;    // the border's colour

layout(std140) uniform u_frame {
    vec4 u_view;       // pixels * xy + zw = clip space
    vec4 u_empty;      // colours of the theme, sRGB, not premultiplied
    vec4 u_empty_line;
    vec4 u_mask;
    vec4 u_hatch;
    vec4 u_odd;
    vec4 u_density;    // x: pixels a point
};

out vec2 v_local;
out vec2 v_texel;
flat out vec4 v_box;
flat out float v_feather;
flat out vec4 v_fill; // premultiplied
flat out vec4 v_line;

void main()
{
    v_local = a_local;
    v_texel = a_texel;
    v_box = a_box;
    v_feather = a_feather;
    v_fill = vec4(a_fill.rgb * a_fill.a, a_fill.a);
    v_line = vec4(a_line.rgb * a_line.a, a_line.a);
    gl_Position = vec4(a_px * u_view.xy + u_view.zw, 0.0, 1.0);
}
