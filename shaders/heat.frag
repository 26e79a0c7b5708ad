#version 330 core
// Colours one matrix. Row 0 is at the top; texel (j, i) of u_values is M[i][j].
//
// An axis whose cells are at least a pixel wide is near: a pixel belongs to the cell its
// centre is in. On a far axis a pixel covers several cells, and the one of largest
// magnitude that is computed and not masked is shown; NaN and infinities come first.
// Cells large enough for corners and gaps are not drawn here: they are shapes.
noperspective in vec2 v_px; // pixels, origin at the top left

layout(std140) uniform u_frame {
    vec4 u_view;  // pixels * xy + zw = clip space
    vec4 u_empty; // colours of the theme, sRGB, not premultiplied
    vec4 u_mask;
    vec4 u_hatch;
    vec4 u_odd;
    vec4 u_density; // x: pixels a point; y: pixels from hatch line to hatch line
};

uniform sampler2D u_values; // R32F: the matrix, and beside it its levels of detail
uniform sampler2D u_maps;   // RGBA8, 256 wide, one row a colour map
uniform int u_map;          // the row
uniform ivec3 u_level;      // level of detail; where its texel (0, 0) lies
uniform vec4 u_grid;        // where cell (0, 0) begins; cell width, height; pixels
uniform vec4 u_bounds;      // of the drawn part, whole pixels: left, top, right, bottom
uniform ivec4 u_part;       // drawn cells: column, row of the first; behind the last
uniform ivec4 u_focus;      // the same of the cells that are not dimmed
uniform ivec2 u_limit;      // cells computed, in reading order; j - i from which masked
uniform vec4 u_range;       // values at the map's ends; gain; 1: logarithmic
uniform float u_least;      // values nearer to 0 are painted as 0 is
uniform vec2 u_alpha;       // in the focus, outside
layout(location = 0) out vec4 o_color; // premultiplied

const int ODD = 0x7f800000; // bits of an infinity; NaN is above

struct cells {
    int magnitude; // bits of the largest |value|, -1: none
    float value;
    bool masked; // a masked cell is among them
};

bool is_shown(ivec2 c) // column, row
{
    return (c.y - u_part.y) * (u_part.z - u_part.x) + c.x - u_part.x < u_limit.x;
}

// The largest of cells first.xy .. last.xy, both inside.
cells look(ivec2 first, ivec2 last)
{
    cells r = cells(-1, 0.0, first.x - last.y >= u_limit.y && is_shown(first));
    if (r.masked) return r;
    // Texels of a coarser level reach beyond the pixel: they serve only where all cells
    // below them are alike.
    ivec2 low = first >> u_level.x, high = last >> u_level.x;
    ivec2 from = low << u_level.x, to = ((high + 1) << u_level.x) - 1;
    bool coarse = u_level.x > 0 && to.x - from.y < u_limit.y && is_shown(to) &&
                  all(greaterThanEqual(from, u_part.xy)) && all(lessThan(to, u_part.zw));
    ivec2 at = coarse ? u_level.yz : ivec2(0);
    low = coarse ? low : first;
    high = coarse ? high : last;
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            float v = texelFetch(u_values, at + ivec2(x, y), 0).r;
            int m = floatBitsToInt(v) & 0x7fffffff;
            bool shown = coarse || is_shown(ivec2(x, y));
            bool masked = !coarse && x - y >= u_limit.y;
            r.masked = r.masked || (shown && masked);
            if (shown && !masked && m > r.magnitude) {
                r.magnitude = m;
                r.value = v;
            }
        }
    }
    return r;
}

vec4 value_color(float v)
{
    v *= u_range.z;
    if ((floatBitsToInt(v) & 0x7fffffff) >= ODD) return u_odd;
    if (abs(v) < u_least) v = 0.0;
    float u = u_range.y > u_range.x ? (v - u_range.x) / (u_range.y - u_range.x) : 0.5;
    if (u_range.w > 0.0) // the four decades below hi
        u = v > 0.0 && u_range.y > 0.0
                ? 1.0 + log2(v / u_range.y) * (0.30102999566 / 4.0)
                : 0.0;
    int at = int(roundEven(clamp(u, 0.0, 1.0) * 255.0));
    return texelFetch(u_maps, ivec2(at, u_map), 0);
}

void main()
{
    vec2 p = floor(v_px);
    vec2 centre = (p + 0.5 - u_grid.xy) / u_grid.zw;
    vec2 begin = (p - u_grid.xy) / u_grid.zw, end = (p + 1.0 - u_grid.xy) / u_grid.zw;
    bvec2 near = greaterThanEqual(u_grid.zw, vec2(1.0));
    ivec2 first = ivec2(floor(mix(begin, centre, near)));
    ivec2 last = ivec2(mix(ceil(end) - 1.0, floor(centre), near));
    // Rounding the bounds to pixels must not lose what lies under the rest.
    bvec2 is_first = lessThanEqual(p, u_bounds.xy);
    bvec2 is_last = greaterThanEqual(p + 1.0, u_bounds.zw);
    if (is_first.x && !near.x) first.x = u_part.x;
    if (is_first.y && !near.y) first.y = u_part.y;
    if (is_last.x && !near.x) last.x = u_part.z - 1;
    if (is_last.y && !near.y) last.y = u_part.w - 1;
    first = clamp(first, u_part.xy, u_part.zw - 1);
    last = clamp(last, first, u_part.zw - 1);

    cells seen = look(first, last);
    vec4 color = u_empty;
    if (seen.magnitude >= 0) {
        color = value_color(seen.value);
    } else if (seen.masked) {
        float period = u_density.y;
        float off = abs(mod(p.x + p.y, period) - floor(0.5 * period)) * 0.70710678;
        color = mix(u_mask, u_hatch, clamp(0.5 + 0.5 * u_density.x - off, 0.0, 1.0));
    }
    bool focus = all(lessThan(first, u_focus.zw)) && all(greaterThanEqual(last, u_focus.xy));
    float alpha = color.a * (focus ? u_alpha.x : u_alpha.y);
    o_color = vec4(color.rgb * alpha, alpha);
}
