#version 330 core
// A rounded box by its signed distance, times the atlas: glyphs have a box without end,
// boxes a white texel. The edge fades over one unit of distance: a pixel, or the width
// of a soft edge.
noperspective in vec4 v_place; // units from the centre; atlas texels
noperspective in vec4 v_box;   // half width, half height, corner radius, border; units
noperspective in vec4 v_fill;  // premultiplied
noperspective in vec4 v_line;
uniform sampler2D u_atlas; // R8, coverage
layout(location = 0) out vec4 o_color; // premultiplied

void main()
{
    vec2 q = abs(v_place.xy) - v_box.xy + v_box.z;
    float d = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - v_box.z;
    float cover = clamp(0.5 - d, 0.0, 1.0);
    cover *= texelFetch(u_atlas, ivec2(v_place.zw), 0).r;
    float inside = clamp(0.5 - d - v_box.w, 0.0, 1.0);
    o_color = mix(v_line, v_fill, inside) * cover;
}
