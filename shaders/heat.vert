#version 330 core
// The part of a matrix that is inside its clip: one quad.
layout(location = 0) in vec2 a_px; // pixels, origin at the top left

layout(std140) uniform u_frame {
    vec4 u_view;  // pixels * xy + zw = clip space
    vec4 u_empty; // colours of the theme, sRGB, not premultiplied
    vec4 u_mask;
    vec4 u_hatch;
    vec4 u_odd;
    vec4 u_density; // x: pixels a point; y: pixels from hatch line to hatch line
};

noperspective out vec2 v_px;

void main()
{
    v_px = a_px;
    gl_Position = vec4(a_px * u_view.xy + u_view.zw, 0.0, 1.0);
}
