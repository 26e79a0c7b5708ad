#version 330 core
// Plain areas on whole pixels: nothing but a colour.
layout(location = 0) in vec2 a_px;   // pixels
layout(location = 3) in vec4 a_fill; // sRGB, not premultiplied

layout(std140) uniform u_frame {
    vec4 u_view;  // pixels * xy + zw = clip space
    vec4 u_empty; // colours of the theme, sRGB, not premultiplied
    vec4 u_mask;
    vec4 u_hatch;
    vec4 u_odd;
    vec4 u_density; // x: pixels a point; y: pixels from hatch line to hatch line
};

noperspective out vec4 v_fill;

void main()
{
    v_fill = vec4(a_fill.rgb * a_fill.a, a_fill.a);
    gl_Position = vec4(a_px * u_view.xy + u_view.zw, 0.0, 1.0);
}
