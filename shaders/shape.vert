#version 330 core
// Rectangles, lines, polygons, cells and glyphs: one quad each, in pixels with the origin
// at the top left. What a quad's corners share is not `flat`, and nothing is perspective:
// llvmpipe then sees a rectangle, where it would fill two triangles.
layout(location = 0) in vec2 a_px;    // pixels
layout(location = 1) in vec4 a_place; // from the shape's centre, along its axes; atlas texels
layout(location = 2) in vec4 a_box;   // half width, half height, corner radius, border
layout(location = 3) in vec4 a_fill;  // sRGB, not premultiplied
layout(location = 4) in vec4 a_line;  // the border's colour

layout(std140) uniform u_frame {
    vec4 u_view;  // pixels * xy + zw = clip space
    vec4 u_empty; // colours of the theme, sRGB, not premultiplied
    vec4 u_mask;
    vec4 u_hatch;
    vec4 u_odd;
    vec4 u_density; // x: pixels a point; y: pixels from hatch line to hatch line
};

noperspective out vec4 v_place;
noperspective out vec4 v_box;
noperspective out vec4 v_fill; // premultiplied
noperspective out vec4 v_line;

void main()
{
    v_place = a_place;
    v_box = a_box;
    v_fill = vec4(a_fill.rgb * a_fill.a, a_fill.a);
    v_line = vec4(a_line.rgb * a_line.a, a_line.a);
    gl_Position = vec4(a_px * u_view.xy + u_view.zw, 0.0, 1.0);
}
